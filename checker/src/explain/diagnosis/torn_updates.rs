//! An update of two variables that another thread sees half done.
//!
//! One thread writes both, one after the other, and another thread finds the one written and the other one as it was. It says
//! why an execution fails if every failing execution has it of these two variables, or of two others at these instructions, and
//! next to none that ends well has it there: by chance, both halves may come to the same. MUVI (Lu et al., SOSP 2007) infers
//! from the source which variables are changed together; here executions show it.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cause::{LateWrite, TornUpdate};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::{Mode, OpKind};
use crate::explain::evidence::Evidence;
use crate::explain::swap::{Second, Swap};
use crate::trace::Trace;
use crate::trace::queries::ObservedAccess;

/// So many times as many fail with such an update as end well, at the least.
const MOSTLY: usize = 3;

/// So many accesses of one thread lie between two that belong together, at the most.
const NEAR: usize = 8;

impl TornUpdate {
    /// The two variables.
    fn objects(&self) -> [Obj; 2] {
        let [one, other] = [self.written.obj, self.stale.obj];
        [one.min(other), one.max(other)]
    }

    fn is_of(&self, swap: Swap) -> bool {
        let all = [self.written, self.seen, self.stale].map(|seen| seen.position);
        let is = |at| all.contains(&at);
        is(swap.first) || matches!(swap.second, Second::Event(second) if is(second))
    }
}

/// The half-done update that tells a failing execution from those that end well: one that an event of the critical pair is
/// part of, if there is such a one, else the last one; of those that end alike, where the reader has looked first.
pub(super) fn torn(trace: &Trace, swap: Swap, evidence: &Evidence) -> Option<TornUpdate> {
    let follows: Follows = evidence
        .passing
        .iter()
        .flat_map(|passing| ExecutionAccesses::of(passing).updates().collect::<Vec<_>>())
        .collect();
    let all = |trace: &Trace| ExecutionAccesses::of(trace).torn(&follows);
    let sites = |trace: &Trace, torn: &TornUpdate| {
        [torn.written, torn.seen, torn.stale].map(|seen| trace.steps[seen.position].event.site)
    };
    let failing = evidence.failing.iter().map(|other| {
        let found = all(other);
        let objects: FxHashSet<[Obj; 2]> = found.iter().map(TornUpdate::objects).collect();
        let sites: FxHashSet<[Site; 3]> = found.iter().map(|torn| sites(other, torn)).collect();
        (objects, sites)
    });
    let failing: Vec<_> = failing.collect();
    let of_passing = |other: &Trace| all(other).iter().map(|torn| sites(other, torn)).collect();
    let passing: Vec<FxHashSet<[Site; 3]>> = evidence.passing.iter().map(of_passing).collect();
    let mut found = all(trace);
    found.retain(|torn| {
        let here = sites(trace, torn);
        failing.iter().all(|(objects, sites)| objects.contains(&torn.objects()) || sites.contains(&here))
            && passing.iter().filter(|sites| sites.contains(&here)).count() * MOSTLY <= failing.len() + 1
    });
    found.into_iter().max_by_key(|torn| {
        let last = torn.seen.position.max(torn.stale.position);
        (torn.is_of(swap), last, Reverse(torn.seen.position), torn.written.position)
    })
}

/// The pairs of variables of which the second is written soon after the first one, with both instructions.
type Follows = FxHashSet<(Site, [Obj; 2], Site)>;

/// An access of memory, with its number in its thread.
#[derive(Clone, Copy)]
struct NumberedAccess {
    seen: ObservedAccess,
    site: Site,
    /// The how manieth access of its thread, from 0.
    nth: usize,
}

/// The accesses of an execution, and of each thread, by their indices.
#[derive(Default)]
struct ExecutionAccesses {
    all: Vec<NumberedAccess>,
    threads: FxHashMap<ThreadName, Vec<usize>>,
    /// The objects that are compared and swapped, or slept on: mostly such an object keeps others out, and is no value by
    /// itself.
    gates: FxHashSet<Obj>,
}

impl ExecutionAccesses {
    fn of(trace: &Trace) -> Self {
        use OpKind::{CompareExchange, FutexResume, FutexWait, FutexWake};
        let mut accesses = Self::default();
        for (position, step) in trace.steps.enumerate() {
            let (thread, kind) = (step.event.id.thread, step.event.op.kind);
            for access in &step.event.did.accesses {
                if matches!(kind, CompareExchange | FutexWait | FutexWake | FutexResume) {
                    accesses.gates.insert(access.obj);
                }
                if !kind.is_access() {
                    continue;
                }
                let writes = access.mode == Mode::Write;
                let own = accesses.threads.entry(thread).or_default();
                let seen = ObservedAccess { thread, writes, obj: access.obj, position };
                accesses.all.push(NumberedAccess { seen, site: step.event.site, nth: own.len() });
                own.push(accesses.all.len() - 1);
            }
        }
        accesses
    }

    /// The accesses of the same thread soon before and after an access, to other objects than that.
    fn near(&self, access: &NumberedAccess) -> impl Iterator<Item = &NumberedAccess> {
        let own = &self.threads[&access.seen.thread];
        let (from, to) = (access.nth.saturating_sub(NEAR), (access.nth + NEAR + 1).min(own.len()));
        let obj = access.seen.obj;
        own[from..to].iter().map(|&at| &self.all[at]).filter(move |other| !other.seen.obj.overlaps(&obj))
    }

    /// The writes that come soon after others of the same thread.
    fn updates(&self) -> impl Iterator<Item = (Site, [Obj; 2], Site)> {
        let writes = self.all.iter().filter(|access| access.seen.writes);
        writes.flat_map(|one| {
            let after = self.near(one).filter(|other| other.nth > one.nth && other.seen.writes);
            after.map(|other| (one.site, [one.seen.obj, other.seen.obj], other.site))
        })
    }

    /// The updates that were seen half done.
    fn torn(&self, follows: &Follows) -> Vec<TornUpdate> {
        let mut last: FxHashMap<Obj, &NumberedAccess> = FxHashMap::default();
        let mut found = Vec::new();
        let reads = |access: &&NumberedAccess| !access.seen.writes && !self.gates.contains(&access.seen.obj);
        for access in &self.all {
            let written =
                last.get(&access.seen.obj).filter(|written| written.seen.thread != access.seen.thread);
            let written = written.filter(|_| reads(&access));
            for stale in written.into_iter().flat_map(|_| self.near(access)).filter(reads) {
                let late = written.and_then(|written| self.late(written, stale, follows));
                found.extend(written.zip(late).map(|(written, late)| TornUpdate {
                    written: written.seen,
                    seen: access.seen,
                    stale: stale.seen,
                    late,
                }));
            }
            if access.seen.writes {
                last.insert(access.seen.obj, access);
            }
        }
        found
    }

    /// The write of the other variable by the thread that has written the one, after this access of it. In a loop, the two
    /// writes of one round are those next to each other, or begin with the variable that was written first of all.
    fn late(&self, written: &NumberedAccess, stale: &NumberedAccess, follows: &Follows) -> Option<LateWrite> {
        let is_it =
            |access: &&NumberedAccess| access.seen.writes && access.seen.obj.overlaps(&stale.seen.obj);
        let is_late = |write: &&NumberedAccess| write.seen.position > stale.seen.position;
        let (before, after): (Vec<&NumberedAccess>, Vec<&NumberedAccess>) =
            self.near(written).filter(is_it).partition(|write| write.nth < written.nth);
        let follow = || {
            let of_both = |(site, [one, other], _): &&(Site, [Obj; 2], Site)| {
                *site == written.site && one.overlaps(&written.seen.obj) && other.overlaps(&stale.seen.obj)
            };
            follows.iter().filter(of_both).map(|(.., late)| *late).min().map(LateWrite::Missing)
        };
        let is_begun_by_other = || {
            let own = self.threads[&written.seen.thread].iter().map(|&at| &self.all[at]);
            let mut of_both = own.filter(|access| {
                access.seen.writes && (is_it(access) || access.seen.obj.overlaps(&written.seen.obj))
            });
            of_both.next().is_some_and(|first| is_it(&first))
        };
        let same = match (before.last(), after.first()) {
            (Some(before), Some(after)) => {
                let (back, on) = (written.nth - before.nth, after.nth - written.nth);
                if back < on || back == on && is_begun_by_other() { before } else { after }
            }
            (Some(before), None) if is_begun_by_other() || is_late(before) => before,
            (None, Some(after)) => after,
            _ => return follow(),
        };
        is_late(same).then_some(LateWrite::Event(same.seen.position))
    }
}
