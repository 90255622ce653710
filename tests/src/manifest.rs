//! The list of the bundled target programs, and what the tool is expected to say about each.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::paths;

/// The language of a target program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// C11 with GNU extensions.
    C,
    /// C++17, which compilers take where nothing is said, and C++20 for its headers.
    Cpp,
    /// Rust, edition 2024.
    Rust,
}

/// Headers of C++20 about threads.
const HEADERS_OF_CPP20: [&str; 4] = ["barrier", "latch", "semaphore", "stop_token"];

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C, Self::Cpp, Self::Rust];

    /// The name of the folder that its sources are in.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rust",
        }
    }

    /// The extension of its sources.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rs",
        }
    }

    /// The option by which a compiler takes a source in this language.
    pub(crate) fn standard(self, source: &str) -> &'static str {
        let has = |header: &&str| source.contains(&format!("#include <{header}>"));
        match self {
            Self::C => "-std=gnu11",
            // The other headers take twice as long to compile by that standard.
            Self::Cpp if HEADERS_OF_CPP20.iter().any(has) => "-std=c++20",
            Self::Cpp => "-std=c++17",
            Self::Rust => "--edition=2024",
        }
    }

    pub(crate) fn of_source(source: &Path) -> Option<Self> {
        let extension = source.extension()?;
        Self::ALL.into_iter().find(|language| extension == language.extension())
    }
}

/// The report of the tool that is expected about a program.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// Nothing: it is correct.
    Clean,
    /// Nothing with at most one preemption: it is correct, but the library that it uses is not beyond that.
    CleanWithinBound,
    /// A failure.
    #[serde(untagged)]
    Found {
        /// Its kind, as it is written in reports.
        kind: String,
        /// The fewest preemptions that show it.
        preemptions: u64,
    },
}

/// One bundled program.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name, without extension.
    pub name: String,
    /// The language of its source.
    pub language: Language,
    /// The report of the tool that is expected about it.
    pub expectation: Expectation,
    /// The cause of its failure, if it fails.
    pub cause: Option<Cause>,
}

/// The cause of a program's failure, as it is seeded in it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The sentence of its explanation.
    pub why: String,
    /// The same in optimised code, where that is another one.
    pub optimised: Option<String>,
    /// The lines of the critical pair, in the order in which it fails.
    pub pair: [u64; 2],
}

impl Target {
    /// Whether it is one with a bug of its own.
    #[must_use]
    pub const fn is_bug(&self) -> bool {
        matches!(self.expectation, Expectation::Found { .. })
    }

    /// Its source, relative to the targets' folder.
    #[must_use]
    pub fn source(&self) -> PathBuf {
        Path::new(self.language.folder()).join(&self.name).with_extension(self.language.extension())
    }

    /// The lines, from 1, of which one is where it fails: those that say so in a comment. A deadlock has several.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn failing_lines(&self) -> Result<Vec<u64>, ManifestError> {
        let text = read(&paths::targets().join(self.source()))?;
        Ok((1..)
            .zip(text.lines())
            .filter(|(_, line)| line.contains("FAILS HERE"))
            .map(|(at, _)| at)
            .collect())
    }
}

/// The list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is not what it should be.
    #[error("manifest.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
}

/// All bundled programs.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// In the order of their languages, then of their names.
    pub targets: Vec<Target>,
}

impl Manifest {
    /// Reads the lists that lie beside the sources.
    ///
    /// # Errors
    /// When it is not there or not well-formed.
    pub fn read() -> Result<Self, ManifestError> {
        let text = read(&paths::targets().join("manifest.toml"))?;
        let groups: BTreeMap<Language, BTreeMap<String, Expectation>> = toml::from_str(&text)?;
        let text = read(&paths::targets().join("causes.toml"))?;
        let mut causes: BTreeMap<Language, BTreeMap<String, Cause>> = toml::from_str(&text)?;
        let targets = groups.into_iter().flat_map(|(language, group)| {
            let mut causes = causes.remove(&language).unwrap_or_default();
            group.into_iter().map(move |(name, expectation)| {
                let cause = causes.remove(&name);
                Target { name, language, expectation, cause }
            })
        });
        Ok(Self { targets: targets.collect() })
    }
}

fn read(path: &Path) -> Result<String, ManifestError> {
    fs::read_to_string(path).map_err(|error| ManifestError::Unreadable { path: path.to_owned(), error })
}
