//! The kinds of files that are read, and how large each may be.

/// A kind of file. One that is larger than its kind may be is not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Settings and notes, of this tool and of others: `interleaver.toml`, `Cargo.toml`, `target.json`. At most 4 MiB.
    Settings,
    /// A text that a person or a generator wrote: a source, a list of tests. At most 16 MiB.
    Text,
    /// A record of an execution that this tool keeps: a schedule, a finding, a report. At most 256 MiB.
    Record,
    /// An executable or a library. At most 2 GiB.
    Program,
    /// The standard input of a program. At most 256 MiB.
    Input,
}

impl Kind {
    /// The most bytes that a file of the kind has.
    #[must_use]
    pub const fn largest(self) -> u64 {
        match self {
            Self::Settings => 4 << 20,
            Self::Text => 16 << 20,
            Self::Record | Self::Input => 256 << 20,
            Self::Program => 2 << 30,
        }
    }
}
