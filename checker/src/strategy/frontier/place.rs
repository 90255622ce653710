//! The place of a frontier's execution, for the cache: the state, and what the choices there and their costs depend on.

use super::Bound;
use crate::cache::{BoundedState, LastThread, ScheduleContext};
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::names::ThreadName;
use crate::event::wait::BlockedOn;
use crate::hb::ThreadTag;
use crate::state::scheduling_point::SchedulingPoint;
use crate::trace::Previous;

pub(super) fn place(bound: &impl Bound, at: &SchedulingPoint<'_>) -> BoundedState {
    let ran = ran(at);
    let position = match at.last {
        Previous::Free(name) | Previous::Yielding(name) if is_enabled(at, name) => {
            ScheduleContext::Yields(ran)
        }
        Previous::Runnable(_) if at.yields > 0 => ScheduleContext::At(ran),
        _ => bound.position(at),
    };
    BoundedState { state: at.state(), ran, position }
}

/// The thread that ran last. The number of times that it gave way no longer matters when it is blocked: the move of another
/// agent lets it go on.
fn ran(at: &SchedulingPoint<'_>) -> LastThread {
    let goes_on = matches!(at.last, Previous::Runnable(_) | Previous::Yielding(_));
    runner(at, at.last.thread(), if goes_on { at.yields } else { 0 })
}

/// The thread that will have run last after a choice. A time-out or a flush runs no thread, but is a move.
pub(super) fn ran_after(at: &SchedulingPoint<'_>, choice: Choice) -> LastThread {
    let Agent::Thread(next) = choice.agent else { return runner(at, at.last.thread(), 0) };
    let pending = || at.agents.thread(next)?.pending.as_ref();
    let goes_on = at.last.thread() == Some(next);
    runner(at, Some(next), if goes_on { at.yields + pending().map_or(0, |op| op.kind.yields()) } else { 0 })
}

fn runner(at: &SchedulingPoint<'_>, thread: Option<ThreadName>, yields: u32) -> LastThread {
    let tag = |name| at.agents.index(name).map_or_else(|| ThreadTag::of(name), |i| at.trace.hb.tag(i));
    LastThread::of(thread.map(tag), yields)
}

fn is_enabled(at: &SchedulingPoint<'_>, name: ThreadName) -> bool {
    at.agents.thread(name).is_some_and(|view| view.status == Status::Enabled)
}

/// The thread at which costs are counted, for [`Bound::position`].
pub(in crate::strategy) fn at_thread(at: &SchedulingPoint<'_>, name: ThreadName) -> ScheduleContext {
    ScheduleContext::At(runner(at, Some(name), 0))
}

/// The position where the thread that ran last is blocked, but may find itself able to go on although no thread has
/// run: by a time-out of its own wait, or of one that ends the thread that it joins. It can then be left at a cost
/// again, which makes this another position than that of a thread that is simply blocked.
pub(in crate::strategy) fn waits(at: &SchedulingPoint<'_>) -> Option<ScheduleContext> {
    let Previous::Free(name) = at.last else { return None };
    let last = at.agents.thread(name)?;
    let Status::Blocked(on) = &last.status else { return None };
    let lets_go = |other: &AgentView| {
        let thread = other.agent.thread();
        let touches = || Some(other.pending.as_ref()?.may.conflicts(&last.pending.as_ref()?.may));
        thread == name || *on == BlockedOn::Join(thread) || touches() == Some(true)
    };
    at.agents.others().iter().any(lets_go).then(|| ScheduleContext::Waits(ran(at)))
}

/// The position where the time of any thread may run out, which depends on the thread that ran last in more ways than one.
pub(in crate::strategy) fn time_goes_on(at: &SchedulingPoint<'_>) -> Option<ScheduleContext> {
    (!at.agents.others().is_empty()).then(|| ScheduleContext::Waits(ran(at)))
}
