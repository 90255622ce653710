//! Joins go first where that costs nothing, and then nothing else needs to be tried there.
//!
//! A join that is enabled commutes with every event of another thread. If the joining thread waits again right after it,
//! it does not matter to the others whether it has joined: only that it is at an end could. So take a schedule that does
//! anything else at a free point, and the join somewhere later. With the join moved to the front it has the same
//! happens-before, and costs no more: the join is free where it is now, and so is what came first, because the position
//! after the join is free too; where the join was, the thread that ran before it goes on for nothing, or is left for what
//! leaving it for the join has cost. All events in between have the thread that they had before them.
//!
//! But for two things. The join let a thread past its next yield, because another one had moved; or the thread that ran last
//! waited with a time limit, the join came, and when the time ran out it was no longer the one that ran last and could be left
//! for nothing. A program that does such things shows this only when it does them. Until then the alternatives to a join are
//! kept aside, and none is lost: the first event before which a schedule could do something that its rearranged form cannot
//! shows a thread that has to give way or an open timed wait in that form too.

use crate::cache::ScheduleContext;
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::operation::{Effect, OpKind};
use crate::state::scheduling_point::SchedulingPoint;
use crate::trace::Previous;

/// A join that can go first here.
pub(super) fn first(at: &SchedulingPoint<'_>, position: ScheduleContext) -> Option<Choice> {
    let joins = |choice: &Choice| at.agents.agent(choice.agent).is_some_and(is_join);
    at.choices.iter().copied().find(joins).filter(|_| position == ScheduleContext::Free)
}

/// The next join of the thread that ran last.
pub(super) fn another(at: &SchedulingPoint<'_>) -> Option<Choice> {
    let Previous::Runnable(name) = at.last else { return None };
    let choice = Choice::thread(name);
    at.agents.thread(name).is_some_and(is_join).then_some(choice).filter(|choice| at.choices.contains(choice))
}

fn is_join(view: &AgentView) -> bool {
    let joins =
        view.pending.as_ref().is_some_and(|op| op.kind == OpKind::Join && op.may == Effect::default());
    joins && matches!(view.agent, Agent::Thread(_))
}

/// Whether the thread that has just joined waits again, and every choice is as free as it was before.
pub(super) fn rests(at: &SchedulingPoint<'_>, position: ScheduleContext) -> bool {
    let Previous::Free(name) = at.last else { return false };
    let blocked = |view: &AgentView| matches!(view.status, Status::Blocked(_));
    position == ScheduleContext::Free && at.agents.thread(name).is_some_and(blocked)
}

/// Whether something shows up at this point for which it matters when a join runs.
pub(super) fn joins_matter(at: &SchedulingPoint<'_>) -> bool {
    let ends_process = |view: &AgentView| view.pending.as_ref().is_some_and(|op| op.may.ends_process);
    matches!(at.last, Previous::Yielding(_))
        || !at.agents.others().is_empty()
        || at.agents.threads().iter().any(ends_process)
}
