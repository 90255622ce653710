//! The least number of preemptions of any linearisation of a trace, or of some first part of it.
//!
//! States are how far each thread has gone, and who ran last: as many as there are ways to cut the trace, to the power of the
//! number of threads. They are visited in the order of their cost.

use rustc_hash::FxHashSet;
use smallvec::smallvec;

use super::canon::{Canon, Cut, State};
use super::known::reading;
use crate::op::OpKind;
use crate::seam::Agent;

/// What leaving a thread costs once the events are over that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    /// As much as anywhere.
    Cost,
    /// Nothing, unless what it is about to do cannot wait and has to come after the rest: it may have more events, which end
    /// where it has to wait.
    AreFree,
}

/// How far each thread has gone, and who ran last.
type Place = (Cut, Option<usize>);

/// The least cost of the events of `whole`, which are closed under happens-before, if it is at most `limit`.
pub(super) fn least(canon: &Canon<'_, '_>, whole: &Cut, ends: Ends, limit: u32) -> Option<u32> {
    let held_up: Vec<Cut> = match ends {
        Ends::AreFree => (0..whole.len()).map(|thread| canon.held_up(thread, whole)).collect(),
        Ends::Cost => Vec::new(),
    };
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut now: Vec<Place> = vec![(smallvec![0; whole.len()], None)];
    for cost in 0..=limit {
        let mut later = Vec::new();
        while let Some(place) = now.pop() {
            if place.0 == *whole {
                return Some(cost);
            }
            if !seen.insert(place.clone()) {
                continue;
            }
            let (cut, last) = place;
            let leaving = last.is_some_and(|last| match ends {
                Ends::AreFree if cut[last] == whole[last] => is_behind(&cut, &held_up[last]),
                _ => canon.can_go_on(last, &cut),
            });
            for thread in 0..whole.len() {
                let Some(at) = canon.next_in(thread, &cut, whole) else { continue };
                let is_own = canon.is_own(at);
                let mut next = cut.clone();
                next[thread] += 1;
                let costs = leaving && is_own && last != Some(thread);
                let next = (next, if is_own { Some(thread) } else { last });
                if costs { &mut later } else { &mut now }.push(next);
            }
        }
        now = later;
    }
    None
}

fn is_behind(cut: &Cut, other: &Cut) -> bool {
    cut.iter().zip(other).any(|(one, other)| one < other)
}

impl Canon<'_, '_> {
    fn is_own(&self, at: usize) -> bool {
        self.races.run.steps[at].is_own()
    }

    /// The position of a thread's next event, if it is among those of `whole` and all that happens before it has run.
    pub(super) fn next_in(&self, thread: usize, cut: &Cut, whole: &Cut) -> Option<usize> {
        if cut[thread] >= whole[thread] {
            return None;
        }
        let at = self.of[thread][cut[thread] as usize] as usize;
        let clock = self.races.run.hb.clock(at);
        (0..cut.len()).all(|other| other == thread || clock.get(other) <= cut[other]).then_some(at)
    }

    /// Whether leaving a thread is a preemption: it can go on, and does not give way. Where that is not known it is none.
    pub(super) fn can_go_on(&self, thread: usize, cut: &Cut) -> bool {
        let name = self.races.run.threads[thread];
        let gives_way = self.next_op(thread, cut).is_none_or(|op| op.kind.gives_way());
        !gives_way && self.state(Agent::Thread(name), cut) != State::Waits
    }

    /// Until how far the others have gone a thread that has run all its events of `whole` can go on wherever these are run, and
    /// yet cannot come to where it has to wait: before, what it comes to would have to be in `whole` itself.
    fn held_up(&self, thread: usize, whole: &Cut) -> Cut {
        let mut until: Cut = smallvec![0; whole.len()];
        let mut cut = whole.clone();
        while let Some(op) = self.next_op(thread, &cut) {
            let sure = match op.kind {
                OpKind::Read | OpKind::Write | OpKind::Update => op.may.clone(),
                OpKind::CompareExchange | OpKind::TryLock => reading(&op.may),
                _ => break,
            };
            for other in (0..whole.len()).filter(|&other| other != thread) {
                let own = &self.of[other][..whole[other] as usize];
                let conflicts = |&at: &u32| self.races.run.steps[at as usize].event.did.conflicts(&sure);
                let last = own.iter().rposition(conflicts).map_or(0, |slot| slot as u32 + 1);
                until[other] = until[other].max(last);
            }
            // What it does next is known where it has learnt nothing from others.
            if op.kind != OpKind::Write || cut[thread] as usize >= self.of[thread].len() {
                break;
            }
            cut[thread] += 1;
        }
        until
    }

    /// These events, and all that happens before them.
    pub(super) fn closed(&self, positions: impl Iterator<Item = usize>) -> Cut {
        let mut cut: Cut = smallvec![0; self.of.len()];
        for at in positions {
            let clock = self.races.run.hb.clock(at);
            (0..cut.len()).for_each(|thread| cut[thread] = cut[thread].max(clock.get(thread)));
        }
        cut
    }

    /// All events.
    pub(super) fn whole(&self) -> Cut {
        self.of.iter().map(|of| of.len() as u32).collect()
    }
}
