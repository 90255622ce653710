//! Memory that threads use as a whole, by accesses that are not watched one by one.

use std::ops::Range;

use checker::account::Unwatched;

use crate::control::state::thread_index::ThreadIndex;

/// Memory that a thread has used so.
#[derive(Debug)]
pub(crate) struct UsedUnseen {
    pub(crate) bytes: Range<u64>,
    pub(crate) thread: ThreadIndex,
    /// The entry of the account where another thread touches it.
    pub(crate) entry: Unwatched,
}
