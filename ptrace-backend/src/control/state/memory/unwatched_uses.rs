//! Memory that threads use as a whole, by accesses that are not watched one by one.

use std::ops::Range;

use checker::account::Unwatched;

use crate::control::memory::sharing::{TouchKind, UseDuration};
use crate::control::state::thread_index::ThreadIndex;

/// Memory that a thread has used so.
#[derive(Debug)]
pub(crate) struct UnwatchedUse {
    pub(crate) bytes: Range<u64>,
    pub(crate) thread: ThreadIndex,
    pub(crate) kind: TouchKind,
    /// The entry of the account where another thread touches it.
    pub(crate) entry: Unwatched,
    pub(crate) lasts: UseDuration,
    /// The call that uses it, until that is known to have returned.
    pub(crate) call: Option<OpenCall>,
    /// The use is a part of the event that the call is, and of further ones in its midst.
    pub(crate) in_event: bool,
}

/// A call, as it was at the entry of the function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenCall {
    /// The address at which its return address stands.
    pub(crate) stack: u64,
    pub(crate) returns_to: u64,
}

impl OpenCall {
    /// Whether the function has not returned yet, where the thread has this stack pointer; `at` reads an address from the stack.
    pub(crate) fn goes_on(&self, stack: u64, at: impl Fn(u64) -> u64) -> bool {
        stack <= self.stack && at(self.stack) == self.returns_to
    }
}
