//! The program of a seed, compiled.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;

use super::access::LIBRARY;
use super::term::Term;
use super::{dress, rust, source};
use crate::numbers::Numbers;

/// One program in so many is in Rust.
const ONE_IN_RUST: u64 = 32;

/// More rounds on private memory than these are no short execution.
const SHORT: u64 = 300;

/// The status with which a program fails: it aborts, or panics.
const ABORTED: &str = "signal 6";
const PANICKED: &str = "exit 101";

/// The way in which a term is written.
pub(super) enum Dress {
    C(Box<dress::Dress>),
    Rust(rust::Dress),
}

impl Dress {
    pub(super) fn draw(numbers: &mut Numbers, term: &Term) -> Self {
        match numbers.below(ONE_IN_RUST) {
            0 => Self::Rust(rust::Dress::draw(numbers)),
            _ => Self::C(Box::new(dress::Dress::draw(numbers, term))),
        }
    }

    /// Whether claims are to be made of it.
    pub(super) fn is_claimable(&self) -> bool {
        match self {
            Self::C(dress) => dress.is_claimable(),
            Self::Rust(_) => true,
        }
    }

    /// Whether its threads are processes.
    pub(super) fn is_forked(&self) -> bool {
        matches!(self, Self::C(dress) if dress.is_forked)
    }

    /// Whether it is one process whose executions are short.
    pub(super) fn is_short(&self) -> bool {
        match self {
            Self::C(dress) => !dress.is_forked && dress.warm_up.rounds() <= SHORT,
            Self::Rust(dress) => dress.rounds <= SHORT,
        }
    }

    /// Whether each load and store is one access, in which code ever.
    pub(super) fn is_indivisible(&self) -> bool {
        match self {
            Self::C(dress) => dress.access.is_claimable,
            Self::Rust(_) => true,
        }
    }

    /// Whether it has instructions that load and store: the enumerator knows of a preemption in the middle of them.
    pub(super) fn adds(&self) -> bool {
        matches!(self, Self::C(dress) if !dress.access.add.is_empty())
    }

    /// The status with which it ends where it fails.
    pub(super) fn failure(&self) -> &'static str {
        match self {
            Self::C(_) => ABORTED,
            Self::Rust(_) => PANICKED,
        }
    }

    pub(super) fn strategy(&self) -> &'static str {
        match self {
            Self::C(dress) => dress.strategy,
            Self::Rust(_) => "dpor",
        }
    }

    /// The kinds to which it belongs, by which programs are counted.
    pub(super) fn kinds(&self) -> Vec<String> {
        match self {
            Self::C(dress) => dress.kinds(),
            Self::Rust(dress) => dress.kinds(),
        }
    }

    pub(super) fn source(&self, term: &Term) -> String {
        match self {
            Self::C(dress) => source::source(term, dress),
            Self::Rust(dress) => dress.source(term),
        }
    }

    /// The program, below `folder`.
    pub(super) fn compile(&self, folder: &Path, term: &Term) -> Result<PathBuf, Failed> {
        let program = folder.join("term");
        let mut command = match self {
            Self::C(dress) => c(folder, dress)?,
            Self::Rust(dress) => {
                let mut command = Command::new("rustc");
                let level = if dress.is_optimised { "2" } else { "0" };
                command.args(["--edition", "2024", "-g", "-C", &format!("opt-level={level}")]);
                command.arg(folder.join("term.rs"));
                command
            }
        };
        let suffix = match self {
            Self::C(dress) if dress.place.is_cpp => "cpp",
            Self::C(_) => "c",
            Self::Rust(_) => "rs",
        };
        std::fs::write(folder.join(format!("term.{suffix}")), self.source(term))?;
        assert!(command.arg("-o").arg(&program).status()?.success(), "{self}\n{}", self.source(term));
        Ok(program)
    }
}

/// The command that compiles a program in C; its library is compiled first.
fn c(folder: &Path, dress: &dress::Dress) -> Result<Command, Failed> {
    let mut flags = vec!["-w", "-pthread", if dress.is_optimised { "-O2" } else { "-O0" }];
    flags.push(if dress.is_stripped { "-s" } else { "-g" });
    let library = folder.join("plug_in.so");
    if dress.access.name.ends_with("plug-in") {
        let code = folder.join("plug_in.c");
        std::fs::write(&code, LIBRARY)?;
        let mut command = Command::new("gcc");
        command.args(&flags).args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&code);
        assert!(command.status()?.success(), "{dress}");
    }
    if dress.is_fixed {
        flags.extend(["-fno-pie", "-no-pie"]);
    }
    let (compiler, code) = if dress.place.is_cpp { ("g++", "term.cpp") } else { ("gcc", "term.c") };
    let mut command = Command::new(compiler);
    command.args(flags).arg(format!("-DPLUG_IN=\"{}\"", library.display())).arg(folder.join(code));
    Ok(command)
}

impl fmt::Display for Dress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::C(dress) => dress.fmt(f),
            Self::Rust(dress) => dress.fmt(f),
        }
    }
}
