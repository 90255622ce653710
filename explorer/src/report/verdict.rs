//! Verdict of a search or a replay, and the exit code that stands for it.

use serde::{Deserialize, Serialize};

/// The result of a search, as reports word it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was found, and the bound was covered.
    Clean,
    /// A failure was found.
    Found,
    /// Nothing was found, but the search ended before its bound was covered.
    Inconclusive,
}

impl Verdict {
    /// The exit code of a process whose work came to this.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Found => 1,
            Self::Inconclusive => 2,
        }
    }
}

/// The exit code of a process that could not do its work; usage errors too.
pub const EXIT_FAILED: u8 = 3;
