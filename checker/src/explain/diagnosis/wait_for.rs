//! The waits of threads at the end, and the cause that they tell.

use super::cause::{AwaitedAction, Cause, SpinningThread, WaitForEdge};
use super::lock_state::{Held, lock_sites, posts, would};
use super::lock_words::holders;
use super::{condition_waits, wakeups};
use crate::event::agent::{AgentView, Status};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Access, OpKind};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::explain::swap::{Second, Swap};
use crate::state::wait_for_graph::WaitForGraph;
use crate::trace::queries::{blocked, has_ended, is_arrival, is_post, is_signal, touches};
use crate::trace::{Trace, TraceStep};

/// Whether a timer is among those whose events are the last ones.
fn expired_late(trace: &Trace, timer: ThreadName) -> bool {
    const LAST: usize = 16;
    trace.steps.iter().rev().take(LAST).any(|step| step.event.id.thread == timer)
}

/// The threads that do the same again and again at the end, and the last changes by others to what each of them looks at.
pub(super) fn circling(trace: &Trace) -> Vec<SpinningThread> {
    let left = trace.pending_at_end.iter().filter(|left| !left.closed).map(|left| &left.view);
    left.filter_map(|view| {
        let thread = view.agent.thread();
        let awaits = match &view.status {
            Status::Blocked(BlockedOn::Await(awaits)) => awaits.clone(),
            // A thread that a timer wakes each time waits.
            Status::Enabled if view.pending.as_ref().is_some_and(|op| op.kind == OpKind::Kill) => {
                return None;
            }
            Status::Enabled => Vec::new(),
            Status::Blocked(BlockedOn::Time(_)) if thread.is_timer() && expired_late(trace, thread) => {
                Vec::new()
            }
            _ => return None,
        };
        let changes = |step: &TraceStep| {
            let changes = |access: &Access| {
                !access.mode.leaves_as_it_is() && awaits.iter().any(|obj| obj.overlaps(&access.obj))
            };
            step.event.id.thread != thread && step.event.did.accesses.iter().any(changes)
        };
        let changed = trace.steps.rposition(changes);
        Some(SpinningThread { thread, awaits, changed })
    })
    .collect()
}

/// The cause that the waits of threads at the end tell; the swap is the one that makes the execution pass, and these pass.
pub(super) fn waiting(trace: &Trace, swap: Option<Swap>, passing: &[Trace]) -> Option<Cause> {
    entangled(trace, passing)
        .or_else(|| wakeups::cause(trace))
        .or_else(|| condition_waits::unanswered(trace))
        .or_else(|| {
            blocked(trace).find_map(|(view, on)| match *on {
                BlockedOn::Futex(word) => changed(trace, view.agent.thread(), word, swap?),
                BlockedOn::Sem(semaphore) => posted(trace, view.agent.thread(), semaphore, passing),
                _ => None,
            })
        })
}

/// The way in which threads stand in each other's way, or one in its own.
pub(super) fn entangled(trace: &Trace, passing: &[Trace]) -> Option<Cause> {
    let links: Vec<WaitForEdge> =
        blocked(trace).flat_map(|(view, on)| links(trace, view, on, passing)).collect();
    let locks = || {
        links.iter().filter_map(|link| match link.wants {
            AwaitedAction::Lock(lock, taken) => Some((link, lock, taken)),
            _ => None,
        })
    };
    if let Some((own, lock, taken)) = locks().find(|(link, ..)| link.owner == link.thread) {
        return Some(Cause::DoubleLock { thread: own.thread, lock, taken });
    }
    if let Some(circle) = circle(&links) {
        let is_of_locks = circle.iter().all(|link| matches!(link.wants, AwaitedAction::Lock(..)));
        return Some(if is_of_locks { Cause::LockOrder(circle) } else { Cause::Circle(circle) });
    }
    let is_missing =
        |link: &WaitForEdge, taken: Option<Position>| taken.is_some() && has_ended(trace, link.owner);
    if let Some((link, ..)) = locks().find(|(link, _, taken)| is_missing(link, *taken)) {
        return Some(Cause::MissingRelease(link.clone()));
    }
    // A thread that any other one may wake is said to wait for one of them only where another thread stands in the way.
    let deeds = blocked(trace).flat_map(|(view, on)| deeds(trace, view, on, passing));
    let all: Vec<WaitForEdge> = links.iter().cloned().chain(deeds).collect();
    let is_of_signals =
        |circle: &[WaitForEdge]| circle.iter().all(|link| matches!(link.wants, AwaitedAction::Signal(_)));
    circle(&all).filter(|circle| !is_of_signals(circle)).map(Cause::Circle)
}

/// A missed notification, if no thread posts a semaphore: none has, and no thread that is left has taken it, or posts it in
/// executions that pass.
fn posted(trace: &Trace, thread: ThreadName, semaphore: Obj, passing: &[Trace]) -> Option<Cause> {
    let is_left = |thread: ThreadName| !has_ended(trace, thread);
    let is_to_come =
        |other: ThreadName| other != thread && is_left(other) && posts(passing, semaphore, other);
    let is_missed = !trace.steps.iter().any(|step| is_post(step, semaphore))
        && !holders(trace, semaphore).iter().any(|held| is_left(held.thread))
        && !trace.threads.iter().any(|&other| is_to_come(other));
    is_missed.then_some(Cause::MissedNotification { thread, condition: semaphore, last: None, changed: None })
}

/// A condition variable on a futex (Rust's) is a number that a signal changes. It came too early if the execution passes
/// with the change behind the look that the waiting thread takes at the number.
fn changed(trace: &Trace, thread: ThreadName, word: Obj, swap: Swap) -> Option<Cause> {
    let Second::Event(look) = swap.second else { return None };
    let [change, look] = [swap.first, look].map(|at| &trace.steps[at]);
    let is_it = look.event.id.thread == thread && touches(change, word) && touches(look, word);
    is_it.then_some(Cause::LostWakeUp { thread, condition: word, signal: swap.first })
}

/// The threads that a thread waits for, if that is for a lock, a semaphore that is used as one, or an end.
pub(super) fn links(trace: &Trace, view: &AgentView, on: &BlockedOn, passing: &[Trace]) -> Vec<WaitForEdge> {
    let thread = view.agent.thread();
    let of = |wants: Obj, held: Held| WaitForEdge {
        thread,
        owner: held.thread,
        wants: AwaitedAction::Lock(wants, Some(held.taken)),
    };
    match *on {
        BlockedOn::Mutex { obj, owner: Some(owner) } => {
            let held = holders(trace, obj).into_iter().find(|held| held.thread == owner);
            vec![WaitForEdge { thread, owner, wants: AwaitedAction::Lock(obj, held.map(|held| held.taken)) }]
        }
        BlockedOn::Mutex { obj, owner: None } | BlockedOn::Write(obj) => {
            holders(trace, obj).into_iter().map(|held| of(obj, held)).collect()
        }
        BlockedOn::Read(obj) => {
            let held = holders(trace, obj);
            let turns =
                if held.iter().all(|held| held.reads) { turns(trace, thread, obj) } else { Vec::new() };
            if turns.is_empty() { held.into_iter().map(|held| of(obj, held)).collect() } else { turns }
        }
        BlockedOn::Sem(obj) => {
            let sites = lock_sites(passing, obj);
            let is_locked = |held: &Held| sites.contains(&trace.steps[held.taken].event.site);
            holders(trace, obj).into_iter().filter(is_locked).map(|held| of(obj, held)).collect()
        }
        BlockedOn::Join(owner) => vec![WaitForEdge { thread, owner, wants: AwaitedAction::End }],
        _ => Vec::new(),
    }
}

/// The threads that would have done what a thread waits for, and have not come to it. A thread that takes a semaphore as a lock
/// waits for its holders.
fn deeds(trace: &Trace, view: &AgentView, on: &BlockedOn, passing: &[Trace]) -> Vec<WaitForEdge> {
    let thread = view.agent.thread();
    let (wants, obj, is_it): (AwaitedAction, Obj, fn(&TraceStep, Obj) -> bool) = match *on {
        BlockedOn::Sem(obj) if lock_sites(passing, obj).is_empty() => {
            (AwaitedAction::Post(obj), obj, is_post)
        }
        BlockedOn::Cond(obj) => (AwaitedAction::Signal(obj), obj, is_signal),
        BlockedOn::Barrier { obj, .. } => (AwaitedAction::Arrival(obj), obj, is_arrival),
        _ => return Vec::new(),
    };
    let is_it = |step: &TraceStep| is_it(step, obj);
    let owners = would(trace, passing, &is_it).into_iter();
    let owners = owners.filter(|&owner| owner != thread && comes_to(trace, passing, owner, &is_it));
    owners.map(|owner| WaitForEdge { thread, owner, wants: wants.clone() }).collect()
}

/// Whether a thread does such a thing in each of these executions after what it waits for here.
fn comes_to(
    trace: &Trace,
    passing: &[Trace],
    thread: ThreadName,
    is_it: &dyn Fn(&TraceStep) -> bool,
) -> bool {
    let left = blocked(trace).find(|(view, _)| view.agent.thread() == thread);
    let Some((site, kind)) = left.and_then(|(view, _)| Some((view.site, view.pending.as_ref()?.kind))) else {
        return false;
    };
    passing.iter().all(|other| {
        let mut own = other.steps.iter().filter(|step| step.event.id.thread == thread);
        own.any(|step| step.event.site == site && step.event.op.kind == kind) && own.any(is_it)
    })
}

/// The threads that a reader waits behind where readers alone have the lock: writers that wait for it.
fn turns(trace: &Trace, thread: ThreadName, lock: Obj) -> Vec<WaitForEdge> {
    let writers = blocked(trace).filter_map(|(view, on)| match *on {
        BlockedOn::Write(obj) if obj.overlaps(&lock) => Some(view.agent.thread()),
        _ => None,
    });
    let writers = writers.filter(|&writer| writer != thread);
    writers.map(|owner| WaitForEdge { thread, owner, wants: AwaitedAction::Turn(lock) }).collect()
}

/// Links that lead back to where they begin. A thread that waits for several, as a writer does for readers, waits for each.
fn circle(links: &[WaitForEdge]) -> Option<Vec<WaitForEdge>> {
    WaitForGraph::of(links.iter().map(|link| (link.thread, link.owner, link.clone()))).cycle()
}
