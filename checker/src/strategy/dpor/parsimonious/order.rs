//! In which order events are scheduled to come before another one, where any order would do.
//!
//! Let d be pending and let e1, e2, … be the events that conflict with it and come before it in some trace. They are
//! scheduled one at a time: each time d runs by default again as soon as it can, and the race with the next one is
//! reversed. Of those that could come next, because none of the others happens before them, the one of the least thread
//! comes first. So an event that is scheduled before d, or comes by itself while d cannot run, must not be one that
//! should have been scheduled earlier.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::path::{Mark, Placed};
use crate::names::ThreadName;
use crate::op::Effect;
use crate::seam::Agent;

/// An event that other ones were scheduled to come before, and that has not run again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// Who will run it.
    pub(crate) agent: Agent,
    /// What it did.
    pub(crate) effect: Effect,
    /// The events before it that conflict with it, from the first scheduled one on.
    pub(crate) passed: Vec<Passed>,
}

/// An event that has come before another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Passed {
    /// Whose event it is.
    pub(crate) thread: ThreadName,
    /// Its position.
    pub(crate) at: u32,
    /// It was scheduled to come first; else it came while the other one could not run.
    pub(crate) chosen: bool,
}

impl Waiting {
    /// Whether an event of a thread may come next, before this one. `happens_before` says which of the events at given
    /// positions happen before it.
    pub(super) fn lets_pass(&self, thread: ThreadName, happens_before: impl Fn(usize) -> bool) -> bool {
        let later = self.passed.iter().rev().take_while(|passed| !happens_before(passed.at as usize));
        later.filter(|passed| passed.chosen).all(|passed| passed.thread < thread)
    }
}

/// An event that comes next.
pub(super) struct Next<'e> {
    /// Its position.
    pub(super) at: usize,
    pub(super) thread: ThreadName,
    pub(super) effect: &'e Effect,
    /// What it was scheduled to come before.
    pub(super) before: Option<&'e (Agent, Effect)>,
}

impl<'e> Next<'e> {
    /// An event of a path.
    pub(super) fn placed(at: usize, placed: &'e Placed) -> Self {
        let before = match &placed.mark {
            Mark::Scheduled { before, .. } => before.as_ref(),
            Mark::Default | Mark::Kept => None,
        };
        Self { at, thread: placed.event.thread(), effect: &placed.event.effect, before }
    }
}

/// Takes in the next event; says whether it may come. `happens_before` says which of the events at given positions happen
/// before it.
pub(super) fn pass(
    waiting: &mut Vec<Waiting>,
    next: &Next<'_>,
    happens_before: impl Fn(usize) -> bool,
) -> bool {
    let Next { at, thread, effect, before } = *next;
    let mut is_in_time = true;
    waiting.retain(|waiting| waiting.agent.thread() != thread);
    for waiting in &mut *waiting {
        let chosen = before.is_some_and(|(agent, _)| *agent == waiting.agent);
        if chosen || waiting.effect.conflicts(effect) {
            is_in_time &= waiting.lets_pass(thread, &happens_before);
            waiting.passed.push(Passed { thread, at: at as u32, chosen });
        }
    }
    if let Some((agent, effect)) = before
        && !waiting.iter().any(|waiting| waiting.agent == *agent)
    {
        let passed = vec![Passed { thread, at: at as u32, chosen: true }];
        waiting.push(Waiting { agent: *agent, effect: effect.clone(), passed });
    }
    is_in_time
}

/// What waits after some events.
pub(super) fn waiting(path: &[Arc<Placed>]) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    for (at, placed) in path.iter().enumerate() {
        pass(&mut waiting, &Next::placed(at, placed), |_| true);
    }
    waiting
}
