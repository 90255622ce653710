//! The detours of a program: where accesses are taken down without a stop ([`crate::instructions::detour`]).

use std::ops::Range;

use crate::instructions::detour::log::Log;
use crate::instructions::detour::{Detour, JUMP, landing};
use crate::os::Regs;

/// All detours that the program's code has room for, whether they are in use or not.
#[derive(Debug)]
pub(crate) struct Detours {
    pub(crate) log: Log,
    /// In the order of their instructions.
    pub(crate) all: Vec<Detour>,
    /// By the addresses of their copies: where those begin, and the places in `all`.
    by_copy: Vec<(u64, usize)>,
    /// The address behind the breakpoint at which threads stop where functions return to, and that of the trap in whose place it is.
    returned: (u64, u64),
    /// The places in `all` of those at the entries of thread functions.
    functions: Vec<usize>,
    /// The address to which functions are to return that are to stop at [`Layout::returned`](super::Layout::returned).
    pub(crate) returns_to: u64,
}

impl Detours {
    /// `returned`: the code to which functions return, with the address behind its breakpoint; `is_function`: whether a thread
    /// function is entered at an address.
    pub(crate) fn new(
        log: Log,
        mut all: Vec<Detour>,
        (returned, behind): (Detour, u64),
        is_function: impl Fn(u64) -> bool,
    ) -> Self {
        let (returns_to, trap) = (returned.to, returned.from);
        all.push(returned);
        all.sort_by_key(|detour| detour.from);
        let mut by_copy: Vec<(u64, usize)> =
            all.iter().enumerate().map(|(i, detour)| (detour.to, i)).collect();
        by_copy.sort_unstable();
        let is_at_function = |detour: &Detour| {
            is_function(detour.from) && detour.copied.iter().all(|copied| copied.candidate.is_none())
        };
        let functions = (0..all.len()).filter(|&place| is_at_function(&all[place])).collect();
        Self { log, all, by_copy, returned: (behind, trap), functions, returns_to }
    }

    /// The detour at whose first instruction a jump is, or in whose copy a thread stands, or where its jump lands.
    pub(crate) fn around(&self, rip: u64) -> Option<&Detour> {
        let after = self.by_copy.partition_point(|(start, _)| *start <= rip);
        let inside = after.checked_sub(1).map(|last| &self.all[self.by_copy[last].1]);
        inside.filter(|detour| rip - detour.to < detour.len).or_else(|| {
            // The distance is the same for all.
            let from = rip.wrapping_sub(landing(0));
            let at = self.all.binary_search_by_key(&from, |detour| detour.from).ok()?;
            Some(&self.all[at])
        })
    }

    /// The place of the detour whose jump overwrites the instruction at an address, or would.
    pub(crate) fn over(&self, at: u64) -> Option<usize> {
        let last = self.all.partition_point(|detour| detour.from <= at).checked_sub(1)?;
        (at - self.all[last].from < JUMP.len() as u64).then_some(last)
    }

    /// The address in the copy at which a thread goes on that has come to an instruction overwritten by a jump.
    pub(crate) fn entry(&self, at: u64) -> Option<u64> {
        let detour = &self.all[self.over(at)?];
        detour.entries.iter().find(|(from, _)| *from == at).map(|(_, to)| *to)
    }

    /// The address of the instruction in whose copy a thread has stopped, standing behind the breakpoint.
    pub(crate) fn asks(&self, rip: u64) -> Option<u64> {
        if rip == self.returned.0 {
            return Some(self.returned.1);
        }
        self.around(rip)?.copied.iter().find(|copied| copied.asks == rip).map(|copied| copied.address)
    }

    /// The address in the copy at which a thread goes on that has stopped at an instruction, or would stop at a trap in
    /// its place: nothing is taken down.
    pub(crate) fn runs(&self, address: u64) -> Option<u64> {
        let detour = &self.all[self.over(address)?];
        detour.copied.iter().find(|copied| copied.address == address).map(|copied| copied.runs)
    }

    /// Those at the entries of thread functions: they are in the code from the beginning.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Detour> {
        self.functions.iter().map(|&place| &self.all[place])
    }

    /// Whether one of those begins at an address.
    pub(crate) fn is_function(&self, address: u64) -> bool {
        self.functions().any(|detour| detour.from == address)
    }

    /// The code of the candidate's instruction in whose copy a thread stands, if it does.
    pub(crate) fn instruction_at(&self, rip: u64) -> Option<Range<u64>> {
        let detour = self.around(rip)?;
        let codes = detour.copied.iter().map(|copied| detour.code_from(copied.runs));
        codes.into_iter().find(|code| code.contains(&rip))
    }

    /// If a thread stands in a copy, makes its registers those of a thread outside of it. `saved`: the registers that the log keeps.
    pub(crate) fn restore(&self, regs: &mut Regs, saved: impl Fn() -> (u64, u64)) -> bool {
        self.around(regs.rip).is_some_and(|detour| detour.restore(regs, saved))
    }
}
