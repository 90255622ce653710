//! The program to launch.

pub(crate) mod stalls;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use checker::limit::Limit;
use regex_lite::Regex;

use crate::spec::stalls::Stalls;

/// A program with everything that determines what it does.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// The executable.
    pub program: PathBuf,
    /// The name that it is called by, its first argument: its path, unless given.
    pub name: Option<OsString>,
    /// Its arguments, without the program's own name.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The file that it reads as standard input; an empty input if `None`.
    pub stdin: Option<PathBuf>,
    /// The longest time for which a thread may run, in processor time, or wait to come to its next key point.
    pub run_timeout: Duration,
    /// Whether a program, or a client, that ends with another exit code than 0 has failed.
    pub exit_code_fails: bool,
    /// The way in which the instruction under a trap is executed.
    pub stepping: Stepping,
    /// For how long a sleep or a timed wait that ends may let another thread stand still that could run. All copies of the
    /// program share it.
    pub stalls: Arc<Stalls>,
    /// The limit on everything: no wait for the program outlasts it.
    pub limit: Limit,
    /// The process that is started with each execution, if there is one.
    pub client: Option<ClientSpec>,
    /// The time at which the program's own code is decoded.
    pub opening: Opening,
}

/// The time at which the program's own code is decoded, which is a prerequisite of its being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Opening {
    /// Before the first execution.
    #[default]
    AtOnce,
    /// When an execution comes to it, page by page, in programs that have so many bytes of code at least. Executions that come to code
    /// for the first time count as those that find key points.
    AsReached {
        /// The number of bytes of code from which on this is worth while.
        least: u64,
    },
}

/// A client of the program: an agent of each execution, whose end ends that. It has the program's directory and environment.
#[derive(Debug, Clone)]
pub struct ClientSpec {
    /// The executable.
    pub program: PathBuf,
    /// The name that it is called by, its first argument.
    pub name: OsString,
    /// Its further arguments.
    pub args: Vec<OsString>,
    /// The condition for its beginning.
    pub ready: Ready,
}

/// The condition for the beginning of a client.
#[derive(Debug, Clone, Default)]
pub enum Ready {
    /// It listens at a socket, or all its threads wait for what comes from outside.
    #[default]
    Listens,
    /// A socket listens at this port.
    ListensAt(u16),
    /// A line that it has written matches this.
    Writes(Regex),
}

impl LaunchSpec {
    /// An executable without arguments and environment, in the folder for temporary files, with 10 s to each key point.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            name: None,
            args: Vec::new(),
            cwd: std::env::temp_dir(),
            env: Vec::new(),
            stdin: None,
            run_timeout: Duration::from_secs(10),
            exit_code_fails: true,
            stepping: Stepping::default(),
            stalls: Arc::default(),
            limit: Limit::default(),
            client: None,
            opening: Opening::AtOnce,
        }
    }
}

/// The way in which a thread passes a trapped instruction. Both ways give the same trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stepping {
    /// A relocated copy is executed, which jumps back: one stop per key point. An instruction that cannot be relocated
    /// is stepped in place.
    #[default]
    OutOfLine,
    /// The trap is lifted and the instruction single-stepped: two stops per key point. The reference.
    InPlace,
}
