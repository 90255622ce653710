//! Time slices: a thread that has seen the same in the same place some hundred times gives way.
//!
//! A loop that waits and counts its rounds, or backs off for longer from round to round, never comes back to where it was: it
//! is no spin loop ([`super::spin`]), since it may end by itself. But as a processor lets threads take turns, whatever their
//! code says, so it is here; else an execution in which the loop runs alone would never end, and be taken for a failure. A
//! loop that ends before runs as it would. Slices grow, so that a loop of many rounds gives way a few times only, and others
//! need not go far before it goes on: one that gives up in the end, say, is still seen to.
//!
//! What counts is what the thread's own events saw, so that equal threads give way in the same place in all executions of a
//! happens-before class. Where only few variables are watched, those that were waited for are among them.

use checker::op::{Op, OpKind};
use rustc_hash::FxHashMap;

use super::process::Process;
use super::sync::Index;
use super::thread::{Act, Need, Pending, Thread};
use crate::os::memory;

/// So many looks in one place may see the same before a thread gives way for the first time. The next slice is twice as long,
/// until something has changed.
const FIRST: u32 = 256;

/// The longest slice. An execution may have a hundred of them before it is said not to end, so that others come far even
/// where each lets them run one event only.
const LONGEST: u32 = 1_024;

/// What a thread saw when it came to a place last.
#[derive(Debug)]
struct Look {
    addr: u64,
    /// Not looked at the first time: most places are come to once.
    value: Option<u64>,
    /// How often it was the same, in this slice.
    count: u32,
}

/// What a thread has seen, and how long its slice is.
#[derive(Debug)]
pub(crate) struct Slices {
    looks: FxHashMap<u64, Look>,
    length: u32,
    /// How many events others had run at the end of the last slice.
    others: Option<u64>,
}

impl Default for Slices {
    fn default() -> Self {
        Self { looks: FxHashMap::default(), length: FIRST, others: None }
    }
}

impl Slices {
    /// The thread looks at an address; the value is what stands there.
    fn look(&mut self, place: u64, addr: u64, value: impl FnOnce() -> u64) {
        let first = || Look { addr, value: None, count: 0 };
        let Some(look) = self.looks.get_mut(&place) else {
            self.looks.insert(place, first());
            return;
        };
        if look.addr != addr {
            *look = first();
            return;
        }
        let value = value();
        if look.value.replace(value).is_some_and(|before| before != value) {
            look.count = 0;
            self.length = FIRST;
        } else {
            look.count += 1;
        }
    }

    /// Whether the thread has looked at the same for as long as it may; if so, another slice begins.
    fn is_over(&mut self, place: u64) -> bool {
        if self.looks.get(&place).is_none_or(|look| look.count < self.length) {
            return false;
        }
        self.length = (2 * self.length).min(LONGEST);
        self.looks.values_mut().for_each(|look| look.count = 0);
        true
    }
}

impl Process {
    /// The thread is about to do this. `tried`: whether it got what it tried to get, where it did.
    pub(super) fn note_look(&mut self, index: Index, pending: &Pending, tried: bool) {
        let thread = &self.threads[index];
        let place = thread.regs.rip;
        match pending.act {
            Act::Function { function, object, .. } if function.only_tries() => {
                self.threads[index].slices.look(place, object, || u64::from(tried));
            }
            Act::Access if pending.op.kind != OpKind::Write => {
                let accesses =
                    self.candidate_at(place).map(|candidate| candidate.accesses(&self.state(index)));
                let Some(read) = accesses.iter().flatten().find(|access| access.read).copied() else {
                    return;
                };
                let (process, len) = (self.leader, read.len.min(8) as usize);
                let value = || memory::number(process, read.addr, len).unwrap_or(0);
                self.threads[index].slices.look(place, read.addr, value);
            }
            _ => {}
        }
    }

    /// If the thread, which stands at a key point, has looked at the same there for long, it gives way first.
    pub(super) fn end_slice(&mut self, index: Index) {
        let place = self.threads[index].regs.rip;
        if !self.threads[index].slices.is_over(place) {
            return;
        }
        let Some(pending) = self.threads[index].pending.take() else { return };
        pending.op.may.accesses.iter().for_each(|access| self.shared.is_waited_for(access.obj));
        self.note_binding(index);
        let (op, site) = (Op::new(OpKind::Yield, []), pending.site);
        let act = Act::EndOfSlice(Box::new(pending));
        self.threads[index].pending = Some(Pending { op, site, need: Need::Nothing, act, deadline: None });
    }

    /// Tells the user if a thread has to give way: a search lets it past the end of a slice, but not of two in a row.
    fn note_binding(&mut self, index: Index) {
        let others = self.events - u64::from(self.threads[index].events);
        if self.threads[index].slices.others.replace(others) != Some(others) {
            return;
        }
        let could_go = |(other, thread): (Index, &Thread)| {
            let pending = thread.pending.as_ref().filter(|_| thread.is_live() && other != index);
            pending.is_some_and(|pending| self.holds(other, &pending.need))
        };
        if self.threads.iter().enumerate().any(could_go) {
            self.note(
                "a thread looks at the same for hundreds of times in a loop, while others could go: it gives way to them then, and \
                 what comes of its going on alone is left out of what is covered",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks so often at one place, and says at which looks a slice ended.
    fn ends(slices: &mut Slices, looks: u32, value: impl Fn(u32) -> u64) -> Vec<u32> {
        let look = |nth: &u32| {
            let is_over = slices.is_over(1);
            slices.look(1, 0x5000, || value(*nth));
            is_over
        };
        (0..looks).filter(look).collect()
    }

    #[test]
    fn slices_grow_while_nothing_changes() {
        assert_eq!(ends(&mut Slices::default(), 4_000, |_| 7), [257, 769, 1_793, 2_817, 3_841]);
    }

    #[test]
    fn a_slice_begins_anew_with_a_change() {
        let changed = |nth| u64::from(nth >= 300);
        assert_eq!(ends(&mut Slices::default(), 800, changed), [257, 557]);
        assert_eq!(ends(&mut Slices::default(), 800, u64::from), [0; 0]);
    }

    #[test]
    fn who_goes_through_memory_waits_for_nothing() {
        let mut slices = Slices::default();
        (0..4_000).for_each(|nth| slices.look(1, 0x5000 + 4 * nth, || 0));
        assert!(!slices.is_over(1));
    }
}
