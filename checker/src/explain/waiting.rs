//! What threads wait for at the end, and what that tells of the cause.

use super::cause::{Cause, Circling, Link};
use super::pair::{Second, Swap};
use crate::names::{Obj, ThreadName};
use crate::op::{Access, Mode, OpKind};
use crate::seam::{AgentView, On, Status};
use crate::trace::{Trace, TraceStep};

/// Who does the same again and again at the end, and who has brought about what each of them looks at.
pub(super) fn circling(trace: &Trace) -> Vec<Circling> {
    let left = trace.unrun.iter().filter(|left| !left.closed).map(|left| &left.view);
    left.filter_map(|view| {
        let thread = view.agent.thread();
        let awaits = match &view.status {
            Status::Blocked(On::Await(awaits)) => awaits.clone(),
            Status::Enabled => Vec::new(),
            _ => return None,
        };
        let changes = |step: &TraceStep| {
            let changes = |access: &Access| {
                !access.mode.leaves_as_it_is() && awaits.iter().any(|obj| obj.overlaps(&access.obj))
            };
            step.event.id.thread != thread && step.event.did.accesses.iter().any(changes)
        };
        let changed = trace.steps.iter().rposition(changes).map(|at| at as u32);
        Some(Circling { thread, awaits, changed })
    })
    .collect()
}

/// What threads wait for at the end; the swap is the one that makes the execution pass, and these pass.
pub(super) fn waiting(trace: &Trace, swap: Option<Swap>, passing: &[Trace]) -> Option<Cause> {
    let blocked: Vec<(&AgentView, &On)> = trace
        .unrun
        .iter()
        .filter(|left| !left.closed)
        .filter_map(|left| match &left.view.status {
            Status::Blocked(on) => Some((&left.view, on)),
            _ => None,
        })
        .collect();
    let links: Vec<Link> = blocked.iter().filter_map(|(view, on)| link(trace, view, on)).collect();
    if let Some(own) = links.iter().find(|link| link.owner == link.thread) {
        return Some(Cause::DoubleLock { thread: own.thread, lock: own.wants, taken: own.taken });
    }
    if let Some(circle) = circle(&links) {
        return Some(Cause::LockOrder(circle));
    }
    if let Some(link) = links.iter().find(|link| link.taken.is_some() && has_ended(trace, link.owner)) {
        return Some(Cause::MissingRelease(link.clone()));
    }
    blocked.iter().find_map(|(view, on)| match **on {
        On::Cond(condition) => Some(signalled(trace, view.agent.thread(), condition)),
        On::Futex(word) => changed(trace, view.agent.thread(), word, swap?),
        On::Sem(semaphore) => posted(trace, view.agent.thread(), semaphore, passing),
        _ => None,
    })
}

fn has_ended(trace: &Trace, thread: ThreadName) -> bool {
    !trace.unrun.iter().any(|left| !left.closed && left.view.agent.thread() == thread)
}

/// Who should have posted a semaphore: a thread that took it and ended, where whoever takes it there posts it in executions that pass.
fn posted(trace: &Trace, thread: ThreadName, semaphore: Obj, passing: &[Trace]) -> Option<Cause> {
    let is_post = |step: &TraceStep| step.event.op.kind == OpKind::SemPost && touches(step, semaphore);
    let is_take = |step: &TraceStep| {
        matches!(step.event.op.kind, OpKind::SemWait | OpKind::SemTryWait) && changes(step, semaphore)
    };
    let is_given_back = |steps: &[TraceStep], taken: usize| {
        let by = steps[taken].event.id.thread;
        steps[taken..].iter().any(|step| step.event.id.thread == by && is_post(step))
    };
    let gives_back = |taken: &TraceStep| {
        passing.iter().any(|trace| {
            let same = |step: &TraceStep| is_take(step) && step.event.site == taken.event.site;
            let takes = trace.steps.iter().enumerate().filter(|(_, step)| same(step));
            takes.into_iter().any(|(at, _)| is_given_back(&trace.steps, at))
        })
    };
    let is_kept = |at: &usize| {
        let taken = &trace.steps[*at];
        is_take(taken)
            && !is_given_back(&trace.steps, *at)
            && has_ended(trace, taken.event.id.thread)
            && gives_back(taken)
    };
    if let Some(taken) = (0..trace.steps.len()).rev().find(is_kept) {
        let owner = trace.steps[taken].event.id.thread;
        return Some(Cause::MissingRelease(Link {
            thread,
            wants: semaphore,
            owner,
            taken: Some(taken as u32),
        }));
    }
    let is_silent = !trace.steps.iter().any(is_post);
    is_silent.then_some(Cause::MissedNotification { thread, condition: semaphore })
}

/// Whether a condition variable was signalled when nobody waited for it.
fn signalled(trace: &Trace, thread: ThreadName, condition: Obj) -> Cause {
    let signals = |step: &TraceStep| {
        matches!(step.event.op.kind, OpKind::Signal | OpKind::Broadcast) && touches(step, condition)
    };
    match trace.steps.iter().rposition(|step| !step.woke && signals(step)) {
        Some(signal) => Cause::LostWakeUp { thread, condition, signal: signal as u32 },
        None => Cause::MissedNotification { thread, condition },
    }
}

/// A condition variable on a futex (Rust's) is a number that a signal changes. It came too early if the execution passes
/// with the change behind the look that the waiting thread takes at the number.
fn changed(trace: &Trace, thread: ThreadName, word: Obj, swap: Swap) -> Option<Cause> {
    let Second::Event(look) = swap.second else { return None };
    let [change, look] = [swap.first, look].map(|at| &trace.steps[at as usize]);
    let is_it = look.event.id.thread == thread && touches(change, word) && touches(look, word);
    is_it.then_some(Cause::LostWakeUp { thread, condition: word, signal: swap.first })
}

fn touches(step: &TraceStep, obj: Obj) -> bool {
    step.event.did.accesses.iter().any(|access| access.obj.overlaps(&obj))
}

/// Not that it only looked, and found that it cannot have it.
fn changes(step: &TraceStep, obj: Obj) -> bool {
    step.event.did.accesses.iter().any(|access| access.obj.overlaps(&obj) && access.mode != Mode::Read)
}

/// What a thread waits for, if it is a lock that somebody holds.
fn link(trace: &Trace, view: &AgentView, on: &On) -> Option<Link> {
    let (lock, owner) = match on {
        On::Mutex { obj, owner } => (*obj, *owner),
        On::Read(obj) | On::Write(obj) => (*obj, None),
        _ => return None,
    };
    let takes = |step: &TraceStep| {
        use OpKind::{Lock, Reacquire, ReadLock, TryLock, TryReadLock, TryWriteLock, WriteLock};
        let kind = step.event.op.kind;
        matches!(kind, Lock | ReadLock | Reacquire | TryLock | TryReadLock | TryWriteLock | WriteLock)
            && owner.is_none_or(|owner| owner == step.event.id.thread)
            && changes(step, lock)
    };
    let taken = trace.steps.iter().rposition(takes);
    let owner = owner.or_else(|| Some(trace.steps[taken?].event.id.thread))?;
    Some(Link { thread: view.agent.thread(), wants: lock, owner, taken: taken.map(|at| at as u32) })
}

/// Links that lead back to where they begin.
fn circle(links: &[Link]) -> Option<Vec<Link>> {
    links.iter().find_map(|start| {
        let mut circle = vec![start.clone()];
        loop {
            let last = circle.last()?;
            if last.owner == start.thread {
                return Some(circle);
            }
            let next = links.iter().find(|link| link.thread == last.owner)?;
            if circle.len() > links.len() {
                return None;
            }
            circle.push(next.clone());
        }
    })
}
