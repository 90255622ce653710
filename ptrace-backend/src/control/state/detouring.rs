//! The detours that are in a copy's code ([`crate::instructions::detour`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::control::knowledge::armed_code::DetouredCode;
use crate::instructions::detour::access_logging::ARGUMENTS;

/// The detours of one copy.
#[derive(Debug, Default)]
pub(crate) struct Detouring {
    /// Those that may be in its code; `None`: there are none so far, or no more.
    pub(crate) used: Option<Arc<DetouredCode>>,
    /// Those at the entries of functions are in its code.
    pub(crate) of_functions: bool,
    /// There are to be no more.
    pub(crate) over: bool,
    /// They are in its code. Else there are traps in their place, for a while.
    pub(crate) on: bool,
    /// The number of stops at traps, of instructions that have a detour, that are left until the detours are put back.
    pub(crate) traps_left: u32,
    /// The arguments that were taken down last, of a call of which there may be more to come.
    pub(crate) arguments: [u64; ARGUMENTS],
    /// Whether calls that return to the first address, from the function whose entry is at the second one, are known where they are made.
    pub(crate) known_calls: FxHashMap<(u64, u64), bool>,
    /// The flag of `free` is set: threads stop there.
    pub(crate) stops_at_free: bool,
    /// The number of accesses that were taken down.
    pub(crate) entries: u64,
    /// The number of times that the code was written anew with more of them.
    pub(crate) plans: u32,
    /// The private addresses that are in the table.
    pub(crate) private: BTreeSet<u64>,
    /// The private chunks that are in the other table, by their numbers.
    pub(crate) private_chunks: BTreeSet<u64>,
}

impl Detouring {
    /// Whether an instruction has a detour that is in use, or was and will be again.
    pub(crate) fn covers(&self, candidate: usize) -> bool {
        self.used.as_ref().is_some_and(|detoured_code| detoured_code.candidates.contains(&candidate))
    }

    /// Whether memory is known to be private.
    pub(crate) fn knows_private(&self) -> bool {
        !self.private.is_empty() || !self.private_chunks.is_empty()
    }

    /// The code has been written anew, with detours.
    pub(crate) fn put_back(&mut self) {
        (self.on, self.traps_left) = (true, 0);
    }
}
