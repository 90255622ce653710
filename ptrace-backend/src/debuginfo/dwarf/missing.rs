//! Reasons for which something has no value.

use std::fmt;

/// A reason for which an expression has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// It needs what the program did not keep.
    Gone,
    /// It needs memory that cannot be read.
    Unreadable(u64),
    /// It asks for something that is not known here, or makes no sense.
    Unsupported(&'static str),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("optimised out"),
            Self::Unreadable(address) => write!(f, "unreadable memory at {address:#x}"),
            Self::Unsupported(what) => write!(f, "unknown: {what}"),
        }
    }
}
