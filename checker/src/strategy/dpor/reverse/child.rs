//! A race of an execution the other way round, if the execution is the parent of the result.
//!
//! With t threads and n events it is looked at in O(t log n), but for two things: whether the rest of the execution is what the
//! canonical schedule would do ([`super::canonical`]), and what waits for operations that something was put before.

use super::canonical::CanonicalSchedule;
use super::frame::{Child, Origin};
use super::outcome_table::reading;
use crate::event::lock_action::{Hold, LockAction};
use crate::event::operation::{Access, Effect, Mode, OpKind};
use crate::event::position::Position;
use crate::hb::vector_clock::Clock;
use crate::strategy::dpor::locks::{EnablingCondition, Feasibility};
use crate::strategy::dpor::moves::Move;
use crate::strategy::dpor::overtaken::{OvertakenOperation, precedence};
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::successor::Successor;

/// The knowledge of an operation before it runs where it did not run.
struct PredictedEffect {
    effect: Effect,
    /// It may leave everything as it is, or not.
    is_open: bool,
}

fn predict_effect(
    races: &Races<'_>,
    canonical: &CanonicalSchedule<'_, '_>,
    later: &Successor<'_>,
    undone: &[Position],
) -> PredictedEffect {
    let holds = |at| races.remains(at, later, undone);
    let lock = |need| {
        let had = later.effect.accesses.iter().any(|access| access.mode != Mode::Read);
        let free = races.lock_state(later, undone).holders.let_go(later.agent.thread(), need, had);
        Some(free == Feasibility::Yes)
    };
    let (worked, mode) = match (later.key.kind, later.key.kind.lock_action()) {
        (_, Some(LockAction::TryAcquire(Hold::Exclusive))) => (lock(EnablingCondition::Free), Mode::Write),
        (_, Some(LockAction::TryAcquire(Hold::Shared))) => (lock(EnablingCondition::NoWriter), Mode::Share),
        (_, Some(LockAction::TryAcquire(Hold::Unit))) => {
            (canonical.known.can_be_had(races, later.effect, holds), Mode::Write)
        }
        (OpKind::CompareExchange, _) => (canonical.known.succeeds(races, later, holds), Mode::Write),
        _ => return PredictedEffect { effect: later.effect.clone(), is_open: false },
    };
    let Some(worked) = worked else { return PredictedEffect { effect: later.effect.clone(), is_open: true } };
    let mode = if worked { mode } else { Mode::Read };
    let accesses = later.effect.accesses.iter().map(|access| Access { obj: access.obj, mode });
    PredictedEffect { effect: Effect::on(accesses), is_open: false }
}

/// Whether an operation that had something put before it has not run by the time when a reversal comes.
fn is_left(
    races: &Races<'_>,
    operation: &OvertakenOperation,
    earlier: Position,
    is_kept: impl Fn(Position) -> bool,
) -> bool {
    let ran = races.run.hb.position(races.number(operation.id.thread), operation.id.index);
    ran.is_none_or(|at| at >= earlier && !is_kept(at))
}

/// Whether an event comes before an operation as well as what was put there, and is less than that.
fn is_less(races: &Races<'_>, operation: &OvertakenOperation, at: Position) -> bool {
    let event = &races.run.steps[at].event;
    precedence(event.op.kind, event.id.thread) < operation.least
        && event.did.conflicts(&operation.effect)
        && !operation.is_behind(races.run.hb.clock(at), &races.run.steps[..at], |thread| races.number(thread))
}

/// The events that have to come before an operation elsewhere: its past, and those that it conflicts with and that do not come
/// after the undone ones.
struct Before {
    past: Clock,
    /// The part that is certain: it may only read.
    certain: Clock,
}

impl Before {
    fn of(races: &Races<'_>, later: &Successor<'_>, effect: &Effect, undone: &[Position]) -> Self {
        let mut before = Self { past: later.past.clone(), certain: later.past.clone() };
        let least = reading(effect);
        let own = races.number(later.agent.thread());
        let remains = |at: Position| races.remains(at, later, undone);
        let is_racing = |at: &Position| races.threads[*at] != own && remains(*at);
        if effect.ends_process {
            let foreseen = Successor { effect, ..later.clone() };
            let racing_events =
                races.racing_events(&foreseen).into_iter().filter(|&at| !races.is_undone(at, undone));
            racing_events.for_each(|at| before.add(races, at, races.conflict(at, &least)));
            return before;
        }
        let closer = later.closer.filter(|&at| !races.is_undone(at, undone));
        closer.iter().for_each(|&at| before.add(races, at, races.conflict(at, &least)));
        for at in races.last_conflicting(effect, remains).filter(is_racing) {
            before.add(races, at, false);
        }
        let is_certain = |at: &Position| is_racing(at) && races.conflict(*at, effect);
        for at in races.last_conflicting(&least, remains).filter(is_certain) {
            before.add(races, at, true);
        }
        let is_ender = |at: &&Position| is_racing(at) && races.touches_block(**at, effect);
        let enders = races.accesses.enders().iter().filter(is_ender);
        enders.for_each(|&at| before.add(races, at, true));
        before
    }

    fn add(&mut self, races: &Races<'_>, at: Position, certain: bool) {
        let clock = races.run.hb.clock(at);
        self.past.join(clock);
        if certain {
            self.certain.join(clock);
        }
    }
}

/// The child of an execution in which an operation runs without some events; `None` if the execution is not its parent.
pub(super) fn child(
    races: &Races<'_>,
    canonical: &CanonicalSchedule<'_, '_>,
    origin: &Origin,
    later: &Successor<'_>,
    undone: &[Position],
) -> Option<Child> {
    let earlier = undone[0];
    let remains = |at: Position| races.remains(at, later, undone);
    let known = match EnablingCondition::of(later.key.kind) {
        EnablingCondition::One => canonical.known.can_be_had(races, later.effect, remains),
        _ => None,
    };
    let can = match known {
        Some(true) => Feasibility::Yes,
        Some(false) => Feasibility::No,
        None => races.is_let(later, undone),
    };
    if !matches!(can, Feasibility::Yes | Feasibility::Perhaps) {
        return None;
    }
    let PredictedEffect { effect, is_open: open } = predict_effect(races, canonical, later, undone);
    let run = races.run;
    let Before { past, certain } = Before::of(races, later, &effect, undone);
    let (there, keep) = canonical.kept(earlier, later.before, past.by_ref());
    if keep.last().any(|at| races.is_undone(at, undone)) {
        return None;
    }
    let thread = later.agent.thread();
    let known = if open { certain.by_ref() } else { past.by_ref() };
    let mut required_conflicts = Vec::new();
    let number = |thread| races.number(thread);
    let over = origin.overtaken.partition_point(|operation| operation.at < earlier);
    let overtaken = &origin.overtaken[..over];
    let is_kept = |at: Position| at > earlier && canonical.holds(at, &there);
    for operation in overtaken.iter().filter(|operation| is_left(races, operation, earlier, is_kept)) {
        let kept = earlier.next().until(later.before).filter(|&at| is_kept(at));
        let mut before = operation.at.next().until(earlier).chain(kept);
        if before.any(|at| is_less(races, operation, at)) {
            return None;
        }
        let is_greater = operation.least < precedence(later.key.kind, thread);
        if is_greater || operation.is_behind(known, &run.steps[..earlier], number) {
            continue;
        }
        if open && operation.id == run.steps[earlier].event.id {
            required_conflicts.push(run.steps[operation.at].event.did.clone());
        } else if !open && operation.effect.conflicts(&effect) {
            return None;
        }
    }
    if later.key.kind == OpKind::BarrierArrive {
        // Of the arrivals that come before it, in whatever order, the name of its thread is the last.
        let is_last = |at: Position| run.steps[at].event.id.thread < thread;
        if !races.racing_events(later).into_iter().filter(|&at| !races.is_undone(at, undone)).all(is_last) {
            return None;
        }
    }
    let is_other_way = later.closer == Some(earlier) && races.threads[earlier] == races.number(thread);
    if !canonical.completes(there, overtaken, (!is_other_way).then_some(later.agent)) {
        return None;
    }
    let before = &run.steps[earlier];
    let mut overtaken = overtaken.to_vec();
    overtaken.push(OvertakenOperation {
        id: before.event.id,
        effect: before.event.did.clone(),
        from: earlier,
        at: Position::after(earlier.count() + keep.len()),
        least: precedence(later.key.kind, thread),
    });
    Some(Child {
        at: earlier,
        keep,
        next: Move {
            agent: later.agent,
            outcome: later.outcome,
            key: later.key.clone(),
            effect: later.effect.clone(),
            certain: false,
        },
        reversed_agent: before.choice.agent,
        overtaken,
        required_conflicts,
        cost: 0,
    })
}
