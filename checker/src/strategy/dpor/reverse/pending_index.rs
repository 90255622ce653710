//! Operations of an execution that did not run, by thread and place.

use rustc_hash::FxHashMap;

use crate::event::agent::Agent;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::trace::{PendingAtEnd, Trace};

/// The operations that did not run.
#[derive(Debug)]
pub(super) struct PendingIndex<'t> {
    /// Of a thread, those that its event at a position took the chance away of, and the one that was left at the end.
    of_threads: FxHashMap<(usize, Option<Position>), &'t PendingAtEnd>,
    /// Of each thread whether its time could run out anywhere.
    timed: Vec<bool>,
    /// Of each thread, the time-outs that could not happen any more from a position on.
    closed_timeouts: Vec<Vec<&'t PendingAtEnd>>,
}

impl<'t> PendingIndex<'t> {
    /// Those of an execution.
    pub(super) fn of(run: &'t Trace) -> Self {
        let numbers: FxHashMap<ThreadName, usize> =
            run.threads.iter().enumerate().map(|(number, &name)| (name, number)).collect();
        let mut index = Self {
            of_threads: FxHashMap::default(),
            timed: vec![false; run.threads.len()],
            closed_timeouts: vec![Vec::new(); run.threads.len()],
        };
        for step in &run.steps {
            let has_time = step.event.op.limit.is_some() || !step.is_own();
            if let Some(&thread) = numbers.get(&step.event.id.thread).filter(|_| has_time) {
                index.timed[thread] = true;
            }
        }
        for pending in &run.pending_at_end {
            let Some(&thread) = numbers.get(&pending.view.agent.thread()) else { continue };
            match pending.view.agent {
                Agent::Thread(_) => {
                    let place = pending.closed.then_some(pending.at);
                    index.of_threads.entry((thread, place)).or_insert(pending);
                    index.timed[thread] |= pending.view.pending.as_ref().is_some_and(|op| op.limit.is_some());
                }
                Agent::Timeout(_) => {
                    index.timed[thread] = true;
                    if pending.closed {
                        index.closed_timeouts[thread].push(pending);
                    }
                }
                Agent::Flush(_) => {}
            }
        }
        index
    }

    /// The operation that a thread would have run instead of its event at `here`, or that was left at the end.
    pub(super) fn get(&self, thread: usize, here: Option<Position>) -> Option<&'t PendingAtEnd> {
        self.of_threads.get(&(thread, here)).copied()
    }

    /// Whether the time of a thread could run out anywhere.
    pub(super) fn may_time_out(&self, thread: usize) -> bool {
        self.timed[thread]
    }

    /// The time-outs of a thread that could not happen any more from a position on.
    pub(super) fn closed_timeouts(&self, thread: usize) -> &[&'t PendingAtEnd] {
        &self.closed_timeouts[thread]
    }
}
