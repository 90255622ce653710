//! The memory that instructions had touched when they were given up watching: other instructions that touch the same may share
//! it with them.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use checker::names::{Obj, ObjName, ThreadName};
use checker::operation::OpKind;
use checker::trace::Trace;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// After so many touches of private memory alone, an instruction is no longer watched.
const PATIENCE: u32 = 32;

/// A touch of memory that others are known to share counts as this part of one: that it is private there as well shows only
/// once these others have come to it.
const OF_SHARED: u32 = 32;

/// An access by an instruction of memory that was not seen to be shared by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UnobservedAccess {
    pub(crate) thread: ThreadName,
    pub(crate) obj: Obj,
    pub(crate) writes: bool,
}

impl UnobservedAccess {
    fn may_conflict(&self, other: &Self) -> bool {
        self.thread != other.thread && (self.writes || other.writes) && self.obj.overlaps(&other.obj)
    }
}

/// The touches of instructions, each of them once.
type TouchesByInstruction = FxHashMap<usize, FxHashSet<UnobservedAccess>>;

/// The touches of all instructions, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct UnobservedAccesses {
    /// Of those that are watched.
    watched: TouchesByInstruction,
    /// Of those that are no longer watched.
    given_up: TouchesByInstruction,
    /// The same touches by the lines of memory that they are in.
    given_up_by_line: FxHashMap<Line, Vec<(usize, UnobservedAccess)>>,
    /// The pairs of which it was doubted whether they share memory. Once is enough: an audit tells.
    doubted: FxHashSet<(usize, usize)>,
    /// The instructions that executions have come to with the key points that there are now.
    seen: FxHashSet<usize>,
    /// The threads that a thread has created and joined, in turn, in executions with these key points, as a hash.
    orders: FxHashSet<(ThreadName, u64)>,
    in_doubt: bool,
}

/// A part of a block: its number from the beginning of the block.
type Line = (ObjName, u32);

/// The number of bytes of a line.
const LINE: u32 = 64;

/// The lines that hold bytes of an object.
fn lines(obj: Obj) -> impl Iterator<Item = Line> {
    let last = obj.offset.saturating_add(obj.len.saturating_sub(1));
    (obj.offset / LINE..=last / LINE).map(move |line| (obj.name, line))
}

impl UnobservedAccesses {
    /// A watched instruction has touched this. The touches of instructions that are no longer watched are not seen: it is
    /// doubtful whether what has run shows all that is shared if it has come to this instruction for the first time, or to
    /// memory that one of those has touched.
    pub(super) fn touched(&mut self, candidate: usize, touches: &[UnobservedAccess]) {
        let known = self.watched.entry(candidate).or_default();
        self.in_doubt |= self.seen.insert(candidate) && !self.given_up.is_empty();
        for touch in touches {
            if !known.contains(touch) {
                known.insert(touch.clone());
            }
            for line in lines(touch.obj) {
                for (other, theirs) in self.given_up_by_line.get(&line).into_iter().flatten() {
                    self.in_doubt |= theirs.may_conflict(touch) && self.doubted.insert((*other, candidate));
                }
            }
        }
    }

    /// An execution with this trace has ended. Memory whose accesses creation and join order is private, and instructions that
    /// touch it may be given up watching: where they order threads as they have not before, it is doubtful whether that is
    /// private as well.
    pub(super) fn ordered(&mut self, trace: &Trace) {
        let mut orders: FxHashMap<ThreadName, FxHasher> = FxHashMap::default();
        for event in trace.steps.iter().map(|step| &step.event) {
            if matches!(event.op.kind, OpKind::Create | OpKind::Join) {
                let order = orders.entry(event.id.thread).or_default();
                (event.op.kind, event.op.peer).hash(order);
            }
        }
        for (thread, order) in orders {
            self.in_doubt |= self.orders.insert((thread, order.finish())) && !self.given_up.is_empty();
        }
    }

    /// An instruction is no longer watched.
    pub(super) fn give_up(&mut self, candidate: usize) {
        let touches = self.watched.remove(&candidate).unwrap_or_default();
        index(&mut self.given_up_by_line, candidate, &touches);
        self.given_up.insert(candidate, touches);
    }

    /// The instructions that are no longer watched and have touched this memory. From now on they are watched.
    pub(super) fn watch_again(&mut self, memory: Obj) -> Vec<usize> {
        let there = lines(memory).filter_map(|line| self.given_up_by_line.get(&line)).flatten();
        let touching =
            there.filter(|(_, touch)| touch.obj.overlaps(&memory)).map(|(candidate, _)| *candidate);
        let found: BTreeSet<usize> = touching.collect();
        if !found.is_empty() {
            self.given_up.retain(|candidate, _| !found.contains(candidate));
            self.given_up_by_line.clear();
            for (&candidate, touches) in &self.given_up {
                index(&mut self.given_up_by_line, candidate, touches);
            }
        }
        found.into_iter().collect()
    }

    /// Key points were added: what was audited was so without them.
    pub(super) fn begin_anew(&mut self) {
        self.seen.clear();
        self.doubted.clear();
        self.orders.clear();
    }

    /// Whether something was doubtful since this was last asked.
    pub(super) fn take_doubt(&mut self) -> bool {
        std::mem::take(&mut self.in_doubt)
    }
}

/// Adds the touches of an instruction to an index of touches by lines of memory.
fn index(
    by_line: &mut FxHashMap<Line, Vec<(usize, UnobservedAccess)>>,
    candidate: usize,
    touches: &FxHashSet<UnobservedAccess>,
) {
    for touch in touches {
        for line in lines(touch.obj) {
            by_line.entry(line).or_default().push((candidate, touch.clone()));
        }
    }
}

/// The number of parts that a touch counts.
pub(super) fn parts(is_shared: bool) -> u32 {
    if is_shared { 1 } else { OF_SHARED }
}

/// Whether an instruction has touched memory often enough.
pub(super) fn is_enough(parts: u32) -> bool {
    parts >= PATIENCE * OF_SHARED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(ordinal: u16, offset: u32, writes: bool) -> UnobservedAccess {
        let thread = ThreadName::MAIN.child(ordinal).unwrap();
        UnobservedAccess { thread, obj: Obj { name: ObjName(7), offset, len: 4 }, writes }
    }

    /// Whether it is doubtful what an instruction does, for the second time, beside one that is no longer watched.
    fn doubts(given_up: UnobservedAccess, other: UnobservedAccess) -> bool {
        let mut unobserved = UnobservedAccesses::default();
        unobserved.touched(1, &[given_up]);
        unobserved.touched(2, std::slice::from_ref(&other));
        unobserved.give_up(1);
        assert!(!unobserved.take_doubt());
        unobserved.touched(2, &[other]);
        unobserved.take_doubt()
    }

    #[test]
    fn two_threads_that_touch_the_same_are_doubtful_if_one_writes() {
        assert!(doubts(touch(1, 0, false), touch(2, 2, true)));
        assert!(doubts(touch(1, 0, true), touch(2, 0, false)));
        assert!(!doubts(touch(1, 0, false), touch(2, 0, false)));
        assert!(!doubts(touch(1, 0, true), touch(1, 0, true)));
        assert!(!doubts(touch(1, 0, true), touch(2, 4, true)));
    }

    #[test]
    fn two_instructions_are_doubted_once() {
        let mut unobserved = UnobservedAccesses::default();
        unobserved.touched(1, &[touch(1, 0, false)]);
        unobserved.give_up(1);
        unobserved.touched(2, &[touch(2, 0, true)]);
        assert!(unobserved.take_doubt() && !unobserved.take_doubt());
        unobserved.touched(2, &[touch(3, 0, true)]);
        assert!(!unobserved.take_doubt());
    }

    #[test]
    fn what_an_instruction_does_for_the_first_time_is_doubtful() {
        let mut unobserved = UnobservedAccesses::default();
        unobserved.touched(1, &[touch(1, 0, false)]);
        assert!(!unobserved.take_doubt());
        unobserved.give_up(1);
        let mut is_doubtful = || {
            unobserved.touched(2, &[touch(1, 4, false)]);
            unobserved.take_doubt()
        };
        assert!(is_doubtful() && !is_doubtful());
        unobserved.begin_anew();
        unobserved.touched(2, &[touch(1, 4, false)]);
        assert!(unobserved.take_doubt());
    }

    #[test]
    fn those_that_have_touched_what_is_shared_are_watched_again() {
        let mut unobserved = UnobservedAccesses::default();
        unobserved.touched(1, &[touch(1, 0, false)]);
        unobserved.touched(2, &[touch(1, 8, false)]);
        unobserved.give_up(1);
        unobserved.give_up(2);
        let shared = touch(1, 2, false).obj;
        assert_eq!(unobserved.watch_again(shared), [1]);
        assert_eq!(unobserved.watch_again(shared), [0_usize; 0]);
    }
}
