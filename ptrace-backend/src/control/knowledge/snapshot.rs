//! One program in the hands of several workers: the knowledge that an execution depends on goes out, the lessons that it
//! teaches come back.
//!
//! Each worker has a copy of the program with knowledge of its own, which it takes over from the search before every execution
//! and forgets after it. A lesson of the execution is kept with the event after which it was taught, and learnt by the search
//! if, and as far as, the execution counts: then the search knows what it would know had it run it itself.

use std::sync::Arc;

use super::ProgramKnowledge;
use super::unobserved::{self, UnobservedAccess};
use crate::control::knowledge::lessons::{KnowledgeSnapshot, Lesson, Lessons, ObservedLocal, SnapshotParts};
use crate::control::knowledge::state::KnowledgeState;
use crate::control::knowledge::status::Status;

/// From so many accesses in an execution that are key points on, those are none that its events order.
const MANY: u64 = 300;

impl ProgramKnowledge {
    /// The knowledge that the next execution depends on.
    pub(crate) fn known(&self) -> KnowledgeSnapshot {
        let mut state = self.state();
        if let Some(known) = &state.known {
            return known.clone();
        }
        let uncounted = |status: &Status| match *status {
            Status::Watched(_) => Status::Watched(0),
            other => other,
        };
        let known = KnowledgeSnapshot(Arc::new(SnapshotParts {
            candidates: state.candidates.iter().map(uncounted).collect(),
            memory: state.memory.clone(),
            ordered: state.ordered.clone(),
            epoch: state.epoch,
            settled: state.settled,
            allocator: state.allocator,
            by_events: state.by_events,
            orders_uses: state.orders_uses,
            streams: state.streams,
            outputs: state.outputs,
        }));
        state.known = Some(known.clone());
        known
    }

    /// Makes the next execution one that would be the same where this is known. From now on this is knowledge of a copy. `false`: it is
    /// knowledge of the program with more or less of its code open.
    pub(crate) fn adopt(&self, known: &KnowledgeSnapshot) -> bool {
        let mut state = self.state();
        if known.0.candidates.len() != state.candidates.len() {
            return false;
        }
        state.locals.clear();
        let mut worker = state.worker.take().unwrap_or_default();
        worker.touches.clear();
        worker.learnt.0.clear();
        let is_current = worker.known.as_ref().is_some_and(|current| Arc::ptr_eq(&current.0, &known.0));
        if !is_current || worker.disarmed || worker.unsure {
            let SnapshotParts {
                candidates,
                memory,
                ordered,
                epoch,
                settled,
                allocator,
                by_events,
                orders_uses,
                streams,
                outputs,
            } = &*known.0;
            state.candidates.clone_from(candidates);
            state.memory.clone_from(memory);
            state.ordered.clone_from(ordered);
            (state.epoch, state.settled, state.allocator) = (*epoch, *settled, *allocator);
            (state.by_events, state.orders_uses) = (*by_events, *orders_uses);
            (state.streams, state.outputs) = (*streams, *outputs);
            state.changed();
            worker.known = Some(known.clone());
            (worker.disarmed, worker.unsure) = (false, false);
        }
        state.worker = Some(worker);
        true
    }

    /// An execution that began with the key points of now has ended, and has found no more.
    pub(crate) fn settle(&self) {
        let mut state = self.state();
        if state.worker.is_none() && !std::mem::replace(&mut state.settled, true) {
            state.known = None;
        }
    }

    /// The same of an execution of the search's own, with so many accesses among its events; `audit`: everything was watched in it. The
    /// first one tells whether executions are long, and the first audit with the key points of now, which sees what the first one may not
    /// have seen. Both are run before others are run ahead, so that it does not depend on workers.
    pub(crate) fn settle_own(&self, accesses: u64, audit: bool) {
        self.settle();
        let mut state = self.state();
        if state.worker.is_some() || state.fixed || state.by_events {
            return;
        }
        let is_first = !std::mem::replace(&mut state.has_settled, true);
        let is_first_audit = audit && !std::mem::replace(&mut state.audited, true);
        if (is_first || is_first_audit) && accesses >= MANY {
            state.judge_by_events();
        }
    }

    /// Accesses that the events of their execution order are no key points, whatever executions show.
    pub(crate) fn judge_by_events(&self) {
        self.state().judge_by_events();
    }

    /// Whether accesses that the events of their execution order are no key points.
    pub(crate) fn judges_by_events(&self) -> bool {
        self.state().by_events
    }

    /// Whether one has.
    pub(crate) fn is_settled(&self) -> bool {
        self.state().settled
    }

    /// The lessons that the last execution of a copy has taught; `None` if it cannot stand for one of the search's.
    pub(crate) fn learnt(&self) -> Option<Lessons> {
        let mut state = self.state();
        let worker = state.worker.as_mut()?;
        (!worker.unsure).then(|| std::mem::take(&mut worker.learnt))
    }

    /// Takes in what the first events of an execution elsewhere have taught.
    pub(crate) fn learn(&self, learnt: Lessons, events: u32) {
        for (_, lesson) in learnt.0.into_iter().filter(|(after, _)| *after <= u64::from(events)) {
            match lesson {
                Lesson::Private(candidate, touches, is_shared) => {
                    self.touched_privately(candidate, &touches, is_shared, 0);
                }
                Lesson::Local(local) => self.state().learn_local(local),
            }
        }
        self.settle();
    }

    /// An instruction has touched private memory in a copy. `true`: it need not be watched for the rest of the execution.
    pub(super) fn note_private(
        state: &mut KnowledgeState,
        candidate: usize,
        touches: &[UnobservedAccess],
        is_shared: bool,
        after: u64,
    ) -> Option<bool> {
        let worker = state.worker.as_mut()?;
        worker.learnt.0.push((after, Lesson::Private(candidate, touches.to_vec(), is_shared)));
        let parts = worker.touches.entry(candidate).or_default();
        *parts += unobserved::parts(is_shared);
        // The search may have seen it before: it would give it up here at the latest.
        let enough = unobserved::is_enough(*parts);
        if enough {
            worker.disarmed = true;
            state.candidates[candidate] = Status::Disarmed;
            state.changed();
        }
        Some(enough)
    }

    /// The same for a place on a stack; `words` are looked for once.
    pub(super) fn note_local(
        state: &mut KnowledgeState,
        local: &ObservedLocal,
        after: u64,
        words: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let Some(worker) = state.worker.as_mut() else { return words() };
        worker.places.insert(local.place);
        let words = worker.words.entry((local.place, local.function)).or_insert_with(words).clone();
        let local = ObservedLocal { words: words.clone(), ..local.clone() };
        worker.learnt.0.push((after, Lesson::Local(local)));
        words
    }
}
