//! Executions that stand still: deadlock, lost wake-up, livelock.

use super::agents::AgentTable;
use super::wait_for_graph::WaitForGraph;
use crate::event::agent::{AgentView, Choice, Status};
use crate::event::failure::{Doing, Failure, FailureDetail, FailureKind, Party};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::OpKind;
use crate::event::wait::BlockedOn;
use crate::trace::queries::lost;
use crate::trace::{Trace, TraceStep};

/// Stacks of threads, looked up where a failure needs them.
type StackLookup<'a> = &'a mut dyn FnMut(ThreadName) -> Vec<Site>;

/// The failures of the threads that are held where they failed, that of `first` first.
///
/// None of them has the others in its past, so each could have been the first one, in an order of the same events.
pub(crate) fn failed(agents: &AgentTable, first: ThreadName, stack: StackLookup<'_>) -> Vec<Failure> {
    let mut failures: Vec<Failure> =
        agents.threads().iter().filter_map(|view| failure(view, &mut *stack)).collect();
    failures.sort_by_key(|failure| failure.thread != Some(first));
    failures
}

fn failure(view: &AgentView, stack: StackLookup<'_>) -> Option<Failure> {
    let thread = view.agent.thread();
    let Status::Failed(failure) = &view.status else { return None };
    let mut failure = failure.clone();
    failure.thread.get_or_insert(thread);
    if failure.stack.is_empty() {
        failure.stack = stack(thread);
    }
    if failure.stack.is_empty() {
        failure.stack.push(view.site);
    }
    Some(failure)
}

/// The failure where no thread can move; none, if all have finished.
pub(crate) fn stuck(agents: &AgentTable, trace: &Trace, stack: StackLookup<'_>) -> Option<Failure> {
    let rest = unfinished(agents);
    if rest.is_empty() {
        return None;
    }
    // Something may come from outside that lets a thread go on, and through it all but those that wait for each other in a
    // circle.
    if waits_for_outside(agents) && cycle(&rest).is_none() {
        return None;
    }
    let others = parties(&rest, stack);
    if rest.iter().any(|view| matches!(view.status, Status::Blocked(BlockedOn::Await(_)))) {
        return Some(nothing_changes(others));
    }
    let detail = deadlock(trace, &rest);
    Some(Failure::of_several(FailureKind::Deadlock, detail, others))
}

/// Whether a thread waits for something that may come from outside, or of a process that is not scheduled.
fn waits_for_outside(agents: &AgentTable) -> bool {
    let comes_from_outside =
        |view: &AgentView| matches!(view.status, Status::Blocked(BlockedOn::Outside(_) | BlockedOn::Process));
    agents.threads().iter().any(comes_from_outside)
}

/// Whether a thread waits for what may come from outside, and all others wait or let time pass.
pub(crate) fn is_idle(agents: &AgentTable) -> bool {
    let mut all = agents.threads().iter().chain(agents.others());
    waits_for_outside(agents) && !all.any(AgentView::has_work)
}

/// The livelock in which all threads that could move have only yielded.
pub(crate) fn livelock(agents: &AgentTable) -> Failure {
    let rest = unfinished(agents);
    let mut others = parties(&rest, &mut |_| Vec::new());
    for (party, view) in others.iter_mut().zip(&rest) {
        if view.status == Status::Enabled {
            let is_interrupted = view.pending.as_ref().is_some_and(|op| op.kind == OpKind::Kill);
            party.doing = if is_interrupted { Doing::InterruptedForever } else { Doing::YieldsForever };
        }
    }
    nothing_changes(others)
}

fn nothing_changes(others: Vec<Party>) -> Failure {
    Failure::of_several(FailureKind::Livelock, FailureDetail::NothingChanges, others)
}

/// The threads that have not finished; the harness of a test that stands still has no part in it, a timer does nothing by itself,
/// and a client only while it runs.
fn unfinished(agents: &AgentTable) -> Vec<&AgentView> {
    let takes_part = |view: &&AgentView| {
        let is_out = matches!(view.status, Status::Finished | Status::Blocked(BlockedOn::Test));
        !is_out && !view.agent.thread().is_timer() && !is_idle_client(view)
    };
    agents.threads().iter().filter(takes_part).collect()
}

/// Whether it is a client that has not begun, or has ended.
fn is_idle_client(view: &AgentView) -> bool {
    let kind = view.pending.as_ref().map(|op| op.kind);
    matches!(kind, Some(OpKind::StartClient | OpKind::AskToEnd))
}

/// Whether all that can be chosen is to ask the program to end while threads of it wait for each other in a circle.
pub(crate) fn is_asked_in_deadlock(agents: &AgentTable, choices: &[Choice]) -> bool {
    let asks = |choice: &Choice| agents.agent(choice.agent).is_some_and(is_idle_client);
    choices.iter().all(asks) && cycle(&unfinished(agents)).is_some()
}

fn parties(views: &[&AgentView], stack: StackLookup<'_>) -> Vec<Party> {
    let party = |view: &&AgentView| {
        let thread = view.agent.thread();
        let mut stack = stack(thread);
        if stack.is_empty() {
            stack.push(view.site);
        }
        Party { thread, doing: doing(view), stack }
    };
    views.iter().map(party).collect()
}

/// The reason for which no thread can move.
fn deadlock(trace: &Trace, rest: &[&AgentView]) -> FailureDetail {
    if let Some((waiter, condition, signal)) = lost_wakeup(trace, rest) {
        return FailureDetail::LostWakeUp { waiter, condition, signaller: signal.event.id.thread };
    }
    cycle(rest).map_or(FailureDetail::Standstill, FailureDetail::Circle)
}

/// A thread that waits for a signal, where the last signal came before that and woke none.
fn lost_wakeup<'t>(trace: &'t Trace, rest: &[&AgentView]) -> Option<(ThreadName, Obj, &'t TraceStep)> {
    let waiting = rest.iter().filter_map(|view| match view.status {
        Status::Blocked(BlockedOn::Cond(cond)) => Some((view.agent.thread(), cond)),
        _ => None,
    });
    let (waiter, cond, signal) = lost(trace, &waiting.collect::<Vec<_>>())?;
    Some((waiter, cond, &trace.steps[signal]))
}

/// The thread that a blocked thread waits for, if it is one certain thread.
fn waits_for(view: &AgentView) -> Option<ThreadName> {
    match &view.status {
        Status::Blocked(on) => on.thread(),
        _ => None,
    }
}

/// Threads that wait for each other in a circle.
fn cycle(rest: &[&AgentView]) -> Option<Vec<ThreadName>> {
    let edges = rest.iter().filter_map(|view| {
        let waits = view.agent.thread();
        Some((waits, waits_for(view)?, waits))
    });
    WaitForGraph::of(edges).cycle()
}

fn doing(view: &AgentView) -> Doing {
    match &view.status {
        Status::Blocked(on) => Doing::Waits(on.clone()),
        Status::Enabled if view.gives_way() => Doing::Yields,
        Status::Enabled => Doing::CouldGoOn,
        Status::Failed(failure) => Doing::Failed(Box::new(failure.detail.clone())),
        Status::Finished => Doing::Ended,
    }
}
