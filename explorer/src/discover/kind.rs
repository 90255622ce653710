//! Build systems of executables.

use std::path::PathBuf;

/// The build system of an executable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Some compiler.
    Plain,
    /// Cargo.
    Cargo(CargoTarget),
}

/// A target that cargo was told to build.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CargoTarget {
    /// The package's name.
    pub package: String,
    /// Its kind within the package.
    pub kind: CargoKind,
    /// Its name: that of the program, of the library, or of the file of tests.
    pub name: String,
    /// Whether it is a test binary, which runs under the test harness.
    pub is_test: bool,
    /// The profile's folder: `target/debug`, for example.
    pub folder: PathBuf,
}

/// The kinds of targets that a package has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CargoKind {
    /// The library, as its unit tests.
    Lib,
    /// A program.
    Bin,
    /// An example.
    Example,
    /// A file of tests.
    Test,
    /// A benchmark.
    Bench,
}

impl CargoKind {
    /// As cargo's options name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Bin => "bin",
            Self::Example => "example",
            Self::Test => "test",
            Self::Bench => "bench",
        }
    }
}
