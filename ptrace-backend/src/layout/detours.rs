//! The detours of a program: where accesses are taken down without a stop ([`crate::instructions::detour`]).

use rustc_hash::FxHashMap;

use crate::instructions::detour::{Detour, JUMP, Log, landing};
use crate::os::Regs;

/// All detours that the program's code has room for, whether they are in use or not.
#[derive(Debug)]
pub(crate) struct Detours {
    pub(crate) log: Log,
    /// In the order of their instructions.
    pub(crate) all: Vec<Detour>,
    /// By the addresses of their copies: where those begin, and the places in `all`.
    by_copy: Vec<(u64, usize)>,
    /// Where in a copy the instruction at an address is that a jump has overwritten.
    entries: FxHashMap<u64, u64>,
    /// By the address behind the breakpoint at which it stops in its copy.
    asking: FxHashMap<u64, usize>,
    /// Where the instruction of a candidate is in its copy.
    running: FxHashMap<usize, u64>,
}

impl Detours {
    pub(crate) fn new(log: Log, mut all: Vec<Detour>) -> Self {
        all.sort_by_key(|detour| detour.from);
        let mut by_copy: Vec<(u64, usize)> =
            all.iter().enumerate().map(|(i, detour)| (detour.to, i)).collect();
        by_copy.sort_unstable();
        let entries = all.iter().flat_map(|detour| detour.entries.iter().copied()).collect();
        let copied = || all.iter().flat_map(|detour| &detour.candidates);
        let asking = copied().map(|copied| (copied.asks, copied.candidate)).collect();
        let running = copied().map(|copied| (copied.candidate, copied.runs)).collect();
        Self { log, all, by_copy, entries, asking, running }
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

    /// Where a thread goes on that has come to an instruction that a jump has overwritten.
    pub(crate) fn entry(&self, at: u64) -> Option<u64> {
        self.entries.get(&at).copied()
    }

    /// The candidate that has stopped in its copy, the thread standing behind its breakpoint.
    pub(crate) fn asks(&self, rip: u64) -> Option<usize> {
        self.asking.get(&rip).copied()
    }

    /// Where a candidate goes on that has stopped, or would stop at a trap in its place: it runs without being taken down.
    pub(crate) fn runs(&self, candidate: usize) -> Option<u64> {
        self.running.get(&candidate).copied()
    }

    /// If a thread stands in a copy, makes its registers those of a thread outside of it. `saved`: the registers that the log keeps.
    pub(crate) fn restore(&self, regs: &mut Regs, saved: impl Fn() -> (u64, u64)) -> bool {
        self.around(regs.rip).is_some_and(|detour| detour.restore(regs, saved))
    }

    /// Whether these are the same, at the same places.
    pub(crate) fn are_like(&self, other: &Self) -> bool {
        let places = |detours: &Self| -> Vec<_> { detours.all.iter().map(|d| (d.from, d.to)).collect() };
        self.log == other.log && places(self) == places(other)
    }
}
