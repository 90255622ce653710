//! The way in which two threads came past a lock of the program's own that should have kept one of them out.
//!
//! Such a lock is a variable that threads spin on. Both have come past it where one has looked at it, the other one has
//! too and takes it, and the first one takes it as well without having looked again; each of them changes it next when
//! it leaves. A thread that is kept out looks again instead.

use rustc_hash::FxHashMap;

use crate::event::names::{Obj, ThreadName};
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::explain::evidence::Evidence;
use crate::trace::queries::{ObservedAccess, has_ended};
use crate::trace::{Trace, TraceStep};

/// The look and the two changes by which the threads of a pattern came past a lock, if every failing execution has such, more
/// than one, and not every other one.
pub(super) fn bypassed_lock(
    told: &[ObservedAccess],
    trace: &Trace,
    evidence: &Evidence,
) -> Option<[ObservedAccess; 3]> {
    if evidence.failing.is_empty() {
        return None;
    }
    let mut locks: Vec<Obj> = Vec::new();
    for trace in std::iter::once(trace).chain(&evidence.failing).chain(&evidence.passing) {
        locks.extend(&trace.spun_on);
        locks.sort_unstable();
        locks.dedup();
    }
    locks.into_iter().find_map(|lock| {
        let history = CustomLockHistory::of(trace, lock);
        let entry = history.entries().find(|entry| history.is_around(told, entry))?;
        let enters = |trace: &Trace| CustomLockHistory::of(trace, lock).entries().next().is_some();
        let found = entry.map(|at| history.all[at].seen);
        (evidence.failing.iter().all(enters) && !evidence.passing.iter().all(enters)).then_some(found)
    })
}

/// An access of a lock.
struct LockAccess {
    seen: ObservedAccess,
    /// It changes the lock and may do so without looking: compilers store with an exchange whose result is not used.
    is_blind: bool,
    /// The accesses of the lock by its thread before this one, and after it.
    before: Option<usize>,
    next: Option<usize>,
}

/// All accesses of a lock, in order.
struct CustomLockHistory {
    all: Vec<LockAccess>,
    /// Threads that are still there at the end.
    left: Vec<ThreadName>,
}

impl CustomLockHistory {
    fn of(trace: &Trace, lock: Obj) -> Self {
        let mut all: Vec<LockAccess> = Vec::new();
        let mut last: FxHashMap<ThreadName, usize> = FxHashMap::default();
        for (position, step) in trace.steps.enumerate() {
            let Some((seen, is_blind)) = touch(step, position, lock) else { continue };
            let before = last.insert(seen.thread, all.len());
            if let Some(before) = before {
                all[before].next = Some(all.len());
            }
            all.push(LockAccess { seen, is_blind, before, next: None });
        }
        let left = last.into_keys().filter(|thread| !has_ended(trace, *thread)).collect();
        Self { all, left }
    }

    /// The places of a look, of the other thread's change, and of the change that follows the look.
    fn entries(&self) -> impl Iterator<Item = [usize; 3]> {
        (0..self.all.len()).filter_map(|late| {
            let look = self.enters(late)?;
            let is_first = |first: &usize| {
                let stays = self.all[*first].next.is_none_or(|next| next > late);
                self.all[*first].seen.thread != self.all[late].seen.thread
                    && stays
                    && self.enters(*first).is_some()
            };
            let first = (look + 1..late).find(is_first)?;
            Some([look, first, late])
        })
    }

    /// The look before a change that is made without looking again, if the thread's next touch is the change by which it leaves.
    fn enters(&self, at: usize) -> Option<usize> {
        let LockAccess { seen, is_blind, before, next } = &self.all[at];
        let look = before.filter(|&before| *is_blind && !self.all[before].seen.writes)?;
        let leaves = match next {
            Some(next) => self.all[*next].seen.writes,
            None => self.left.contains(&seen.thread),
        };
        leaves.then_some(look)
    }

    /// Whether both threads of a pattern access its object behind the lock.
    fn is_around(&self, told: &[ObservedAccess], [_, first, late]: &[usize; 3]) -> bool {
        [*first, *late].into_iter().all(|entry| {
            let LockAccess { seen: entry, next, .. } = &self.all[entry];
            let left = next.map(|next| self.all[next].seen.position);
            told.iter().any(|seen| {
                seen.thread == entry.thread
                    && seen.position >= entry.position
                    && left.is_none_or(|left| seen.position < left)
                    && !seen.obj.overlaps(&entry.obj)
            })
        })
    }
}

fn touch(step: &TraceStep, position: Position, lock: Obj) -> Option<(ObservedAccess, bool)> {
    let event = &step.event;
    let access = event.did.accesses.iter().find(|access| access.obj.overlaps(&lock))?;
    let writes = !access.mode.leaves_as_it_is();
    let is_blind = writes && matches!(event.op.kind, OpKind::Write | OpKind::Update);
    Some((ObservedAccess { thread: event.id.thread, writes, obj: access.obj, position }, is_blind))
}
