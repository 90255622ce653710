//! A guard against schedules that keep a thread waiting for too long.
//!
//! A rule that prefers one thread to another can let threads that spin go for ever, while the one that all of them wait for
//! could go. The execution then runs into its step limit, and says nothing of the program.

use rustc_hash::FxHashMap;

use super::choices::agents;
use crate::event::agent::Agent;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;

/// The threads that are kept waiting in an execution.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct StarvationGuard {
    /// So many events a thread that can go is kept waiting.
    events: usize,
    /// The position from which on each thread that can go has not gone.
    kept_since: FxHashMap<ThreadName, Position>,
    taken: Position,
}

impl StarvationGuard {
    /// Of a search that has no reason to keep a thread waiting for long.
    pub(in crate::strategy) const SHORT: usize = 2_000;

    /// Of a search whose published bound rests on keeping threads waiting: more than most executions have events.
    pub(in crate::strategy) const LONG: usize = 20_000;

    /// One that lasts for so many events.
    pub(in crate::strategy) fn of(events: usize) -> Self {
        Self { events, kept_since: FxHashMap::default(), taken: Position::START }
    }

    /// Whether a thread that can go has been kept waiting for too long. Asked at every choice.
    pub(in crate::strategy) fn ends(&mut self, at: &SchedulingPoint<'_>) -> bool {
        for step in &at.trace.steps[self.taken..] {
            self.kept_since.remove(&step.event.id.thread);
        }
        self.taken = at.position();
        let can_go: Vec<ThreadName> = agents(at).filter_map(thread).collect();
        self.kept_since.retain(|thread, _| can_go.contains(thread));
        let kept = |since: Position| self.taken.count() - since.count() >= self.events;
        can_go.into_iter().any(|thread| kept(*self.kept_since.entry(thread).or_insert(self.taken)))
    }
}

/// The thread that an agent is, unless it is the end of its time.
fn thread(agent: Agent) -> Option<ThreadName> {
    match agent {
        Agent::Thread(name) => Some(name),
        Agent::Timeout(_) | Agent::Flush(_) => None,
    }
}
