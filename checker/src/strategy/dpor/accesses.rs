//! The accesses of an execution by object, thread and mode: conflicting events of a thread are found by binary search.
//!
//! The accesses of one thread are ordered, so that those of a set which is closed under happens-before, or of the rest of an
//! execution without some events, are a first or a last part of each list. With n events and t threads a list is built in
//! O(n log n) all together, and asking for conflicts looks at O(t) lists.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::event::names::{Obj, ObjName};
use crate::event::operation::{Access, Mode};
use crate::event::position::{PerEvent, Position};
use crate::trace::TraceStep;

/// Objects by block, length and offset.
type Objects = FxHashMap<ObjName, BTreeMap<u32, BTreeMap<u32, ObjectAccesses>>>;

/// All accesses of an execution.
#[derive(Debug, Default)]
pub(super) struct AccessIndex {
    objects: Objects,
    /// The events that end the process: they conflict with all others.
    enders: Vec<Position>,
}

/// The accesses of one object.
#[derive(Debug, Default)]
struct ObjectAccesses {
    /// Of each thread that has any.
    threads: Vec<ThreadAccesses>,
    /// The events of all threads that are operations on locks, semaphores and the like.
    lock_operations: Vec<Position>,
}

/// The accesses of one object by one thread.
#[derive(Debug)]
struct ThreadAccesses {
    thread: usize,
    by_class: [Vec<Position>; ModeClass::COUNT],
    /// Those by events that write anything.
    of_writers: Vec<Position>,
}

/// Modes that conflict with the same modes, but for the generations of barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ModeClass {
    Read,
    Share,
    Write,
    Barrier,
}

impl ModeClass {
    const COUNT: usize = 4;

    const fn of(mode: Mode) -> Self {
        match mode {
            Mode::Read => Self::Read,
            Mode::Share => Self::Share,
            Mode::Write => Self::Write,
            Mode::Arrive(_) | Mode::Leave(_) => Self::Barrier,
        }
    }

    /// The classes in which something conflicts with it.
    const fn conflicting(self) -> &'static [Self] {
        match self {
            Self::Read => &[Self::Write, Self::Share],
            Self::Share => &[Self::Write, Self::Read],
            Self::Write => &[Self::Write, Self::Read, Self::Share, Self::Barrier],
            Self::Barrier => &[Self::Write, Self::Barrier],
        }
    }
}

/// Events of a thread that conflict with an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflicting<'a> {
    pub(super) thread: usize,
    /// In order, without repetition.
    pub(super) positions: &'a [Position],
    /// All of them do. Else it depends on the generation of a barrier.
    pub(super) all: bool,
}

impl AccessIndex {
    /// Those of events, each of a thread of this number.
    pub(super) fn of(steps: &PerEvent<TraceStep>, threads: &PerEvent<usize>) -> Self {
        let mut index = Self::default();
        for (at, step) in steps.enumerate() {
            let event = &step.event;
            if event.did.ends_process {
                index.enders.push(at);
            }
            let writes = event.did.accesses.iter().any(|access| access.mode == Mode::Write);
            for access in &event.did.accesses {
                let object = index.object(access.obj);
                let of_thread = object.of_thread(threads[at]);
                add(&mut of_thread.by_class[ModeClass::of(access.mode) as usize], at);
                if writes {
                    add(&mut of_thread.of_writers, at);
                }
                if event.op.kind.lock_action().is_some() {
                    add(&mut object.lock_operations, at);
                }
            }
        }
        index
    }

    fn object(&mut self, obj: Obj) -> &mut ObjectAccesses {
        let of_block = self.objects.entry(obj.name).or_default();
        of_block.entry(obj.len).or_default().entry(obj.offset).or_default()
    }

    /// The objects that share a byte with this one.
    fn overlapping(&self, obj: Obj) -> impl Iterator<Item = &ObjectAccesses> {
        let end = u64::from(obj.offset) + u64::from(obj.len);
        let last = u32::try_from(end.saturating_sub(1)).unwrap_or(u32::MAX);
        let of_block = self.objects.get(&obj.name).into_iter().flatten();
        of_block.flat_map(move |(&len, by_offset)| {
            let first = obj.offset.saturating_sub(len.saturating_sub(1));
            by_offset.range(first..=last.max(first)).map(|(_, accesses)| accesses)
        })
    }

    /// The events that conflict with an access, but for those that end the process.
    pub(super) fn conflicting(&self, access: &Access) -> impl Iterator<Item = Conflicting<'_>> {
        let classes = ModeClass::of(access.mode).conflicting();
        let both_barrier = |class| class == ModeClass::Barrier && !matches!(access.mode, Mode::Write);
        let lists = self.overlapping(access.obj).flat_map(|accesses| &accesses.threads);
        lists.flat_map(move |of_thread| {
            classes.iter().map(move |&class| Conflicting {
                thread: of_thread.thread,
                positions: &of_thread.by_class[class as usize],
                all: !both_barrier(class),
            })
        })
    }

    /// Of each thread, the events that touch an object and write something.
    pub(super) fn writers(&self, obj: Obj) -> impl Iterator<Item = &[Position]> {
        let lists = self.overlapping(obj).flat_map(|accesses| &accesses.threads);
        lists.map(|of_thread| of_thread.of_writers.as_slice())
    }

    /// The operations on locks, semaphores and the like that touch an object, in order.
    pub(super) fn lock_operations(&self, obj: Obj) -> Vec<Position> {
        let mut all: Vec<Position> =
            self.overlapping(obj).flat_map(|accesses| &accesses.lock_operations).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The events that end the process.
    pub(super) fn enders(&self) -> &[Position] {
        &self.enders
    }
}

impl ObjectAccesses {
    fn of_thread(&mut self, thread: usize) -> &mut ThreadAccesses {
        let found = self.threads.iter().rposition(|of_thread| of_thread.thread == thread);
        let at = found.unwrap_or_else(|| {
            let (by_class, of_writers) = (Default::default(), Vec::new());
            self.threads.push(ThreadAccesses { thread, by_class, of_writers });
            self.threads.len() - 1
        });
        &mut self.threads[at]
    }
}

/// Adds a position unless it is the last one.
fn add(list: &mut Vec<Position>, at: Position) {
    if list.last() != Some(&at) {
        list.push(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: ObjName = ObjName(3);

    fn index(touched: &[(usize, u32, u32, Mode)]) -> AccessIndex {
        let mut index = AccessIndex::default();
        for (nth, &(thread, offset, len, mode)) in touched.iter().enumerate() {
            let object = index.object(Obj { name: BLOCK, offset, len });
            add(&mut object.of_thread(thread).by_class[ModeClass::of(mode) as usize], Position::after(nth));
        }
        index
    }

    fn conflicts(index: &AccessIndex, offset: u32, len: u32, mode: Mode) -> Vec<usize> {
        let access = Access { obj: Obj { name: BLOCK, offset, len }, mode };
        let mut all: Vec<usize> =
            index.conflicting(&access).flat_map(|found| found.positions).map(|at| at.count()).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn what_shares_a_byte_conflicts() {
        let write = Mode::Write;
        let index = index(&[(0, 0, 4, write), (1, 4, 4, write), (0, 2, 4, write), (1, 0, u32::MAX, write)]);
        assert_eq!(conflicts(&index, 0, 1, Mode::Read), [0, 3]);
        assert_eq!(conflicts(&index, 3, 1, Mode::Read), [0, 2, 3]);
        assert_eq!(conflicts(&index, 3, 2, Mode::Read), [0, 1, 2, 3]);
        assert_eq!(conflicts(&index, 8, u32::MAX, Mode::Read), [3]);
    }

    #[test]
    fn classes_conflict_as_their_modes_do() {
        let modes = [Mode::Read, Mode::Share, Mode::Write, Mode::Arrive(0), Mode::Leave(0)];
        let touched: Vec<_> = modes.iter().map(|&mode| (0, 0, 1, mode)).collect();
        let index = index(&touched);
        for mode in modes {
            let access = Access { obj: Obj { name: BLOCK, offset: 0, len: 1 }, mode };
            for found in index.conflicting(&access) {
                for at in found.positions {
                    assert!(!found.all || mode.conflicts(modes[at.count()]), "{mode:?} {at}");
                }
            }
            let found = conflicts(&index, 0, 1, mode);
            let expected = (0..modes.len()).filter(|&nth| mode.conflicts(modes[nth]));
            expected.for_each(|nth| assert!(found.contains(&nth), "{mode:?} {nth}"));
        }
    }
}
