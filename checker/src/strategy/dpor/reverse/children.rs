//! The executions of which one is the parent: each of its races the other way round, if that leads back to it.

use std::cmp::Reverse;

use super::canonical::Canon;
use super::frame::{Child, Origin};
use super::known::reading;
use crate::event::lock_action::{Hold, LockAction};
use crate::event::operation::{Access, Effect, Mode, OpKind};
use crate::event::position::Position;
use crate::hb::vector_clock::Clock;
use crate::limit::Limit;
use crate::strategy::dpor::locks::{Can, Need};
use crate::strategy::dpor::moves::Move;
use crate::strategy::dpor::overtaken::{OvertakenOperation, precedence};
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::successor::Successor;

/// Of this many readers that keep a writer out at once, any may come after it. There are as many sets of them to look at as
/// there can be children; with more readers the search is not complete.
const READERS: usize = 12;

/// All children of an execution, and whether these are all.
pub(super) fn all(
    races: &Races<'_>,
    canon: &Canon<'_, '_>,
    (origin, limit): (&Origin, &Limit),
    to: Position,
) -> (Vec<Child>, bool) {
    let mut children: Vec<Child> = Vec::new();
    let mut whole = true;
    for later in races.laters(Position::START, to) {
        if Need::of(later.key.kind) == Need::Order {
            continue;
        }
        // The other ways of an event are those where it is; elsewhere it may have others, which are seen there.
        let is_other = |closer: Position| races.run.steps[closer].choice.agent == later.agent;
        // What can always run came right after the last one of those that it conflicts with, or it was not in a hurry.
        let hurries = later.ran && Need::of(later.key.kind) == Need::Nothing;
        let rivals = races.rivals(&later);
        for (nth, &earlier) in rivals.iter().enumerate() {
            if limit.is_over() {
                return (children, false);
            }
            if hurries && rivals[..nth].iter().rev().any(|&rival| races.is_undone(rival, &[earlier])) {
                continue;
            }
            let is_elsewhere = later.closer.is_some_and(|closer| is_other(closer) && closer != earlier);
            if origin.scheduled[earlier] || is_elsewhere {
                continue;
            }
            let (sets, all) = undone(races, &later, earlier);
            whole &= all;
            for undone in sets {
                let Some(child) = child(races, canon, origin, &later, &undone) else { continue };
                let same = |other: &Child| {
                    (other.at, &other.keep, other.next.agent, other.next.pick)
                        == (child.at, &child.keep, child.next.agent, child.next.pick)
                };
                if !children.iter().any(same) {
                    children.push(child);
                }
            }
        }
    }
    // The last one comes first: those of lesser threads show what the others need to know.
    children.sort_by_key(|child| Reverse(child.next.agent.thread()));
    (children, whole)
}

/// With which events besides the earlier one of a race it can be reversed. A writer can come before some of the readers that
/// keep it out, and after the others.
fn undone(races: &Races<'_>, later: &Successor<'_>, earlier: Position) -> (Vec<Vec<Position>>, bool) {
    let mut sets = vec![vec![earlier]];
    if later.key.kind != OpKind::WriteLock {
        return (sets, true);
    }
    let is_reader = |&at: &Position| {
        at > earlier
            && races.run.steps[at].event.acquired() == Some(Hold::Shared)
            && !races.is_undone(at, &[earlier])
    };
    let readers: Vec<Position> = races.rivals(later).into_iter().filter(is_reader).collect();
    for &reader in readers.iter().take(READERS) {
        let with = |set: &Vec<Position>| set.iter().copied().chain([reader]).collect();
        let more: Vec<Vec<Position>> = sets.iter().map(with).collect();
        sets.extend(more);
    }
    (sets, readers.len() <= READERS)
}

/// What is known of an operation before it runs where it did not run.
struct Foreseen {
    effect: Effect,
    /// It may leave everything as it is, or not.
    is_open: bool,
}

fn foresee(races: &Races<'_>, canon: &Canon<'_, '_>, later: &Successor<'_>, undone: &[Position]) -> Foreseen {
    let holds = |at| races.remains(at, later, undone);
    let lock = |need| {
        let had = later.effect.accesses.iter().any(|access| access.mode != Mode::Read);
        let free = races.lock_state(later, undone).holders.let_go(later.agent.thread(), need, had);
        Some(free == Can::Yes)
    };
    let (worked, mode) = match (later.key.kind, later.key.kind.lock_action()) {
        (_, Some(LockAction::TryAcquire(Hold::Exclusive))) => (lock(Need::Free), Mode::Write),
        (_, Some(LockAction::TryAcquire(Hold::Shared))) => (lock(Need::NoWriter), Mode::Share),
        (_, Some(LockAction::TryAcquire(Hold::Unit))) => {
            (canon.known.can_be_had(races, later.effect, holds), Mode::Write)
        }
        (OpKind::CompareExchange, _) => (canon.known.succeeds(races, later, holds), Mode::Write),
        _ => return Foreseen { effect: later.effect.clone(), is_open: false },
    };
    let Some(worked) = worked else { return Foreseen { effect: later.effect.clone(), is_open: true } };
    let mode = if worked { mode } else { Mode::Read };
    let accesses = later.effect.accesses.iter().map(|access| Access { obj: access.obj, mode });
    Foreseen { effect: Effect::on(accesses), is_open: false }
}

/// Whether an operation that had something put before it has not run by the time when a reversal comes.
fn is_left(races: &Races<'_>, wait: &OvertakenOperation, earlier: Position, keep: &[Position]) -> bool {
    let ran = races.run.hb.position(races.number(wait.id.thread), wait.id.index);
    wait.at < earlier && ran.is_none_or(|at| at >= earlier && !keep.contains(&at))
}

/// Whether an event comes before an operation as well as what was put there, and is less than that.
fn is_less(races: &Races<'_>, wait: &OvertakenOperation, at: Position) -> bool {
    let event = &races.run.steps[at].event;
    precedence(event.op.kind, event.id.thread) < wait.least
        && event.did.conflicts(&wait.effect)
        && !wait.is_behind(races.run.hb.clock(at), &races.run.steps[..at], |thread| races.number(thread))
}

fn child(
    races: &Races<'_>,
    canon: &Canon<'_, '_>,
    origin: &Origin,
    later: &Successor<'_>,
    undone: &[Position],
) -> Option<Child> {
    let earlier = undone[0];
    let known = match Need::of(later.key.kind) {
        Need::One => canon.known.can_be_had(races, later.effect, |at| races.remains(at, later, undone)),
        _ => None,
    };
    let can = match known {
        Some(true) => Can::Yes,
        Some(false) => Can::No,
        None => races.is_let(later, undone),
    };
    if !matches!(can, Can::Yes | Can::Perhaps) {
        return None;
    }
    let Foreseen { effect, is_open: open } = foresee(races, canon, later, undone);
    let run = races.run;
    // What has to come before the later event: its past, and what it conflicts with and does not come after the earlier one.
    let mut past = later.past.clone();
    let mut certain = later.past.clone();
    let least = reading(&effect);
    let foreseen = Successor { effect: &effect, ..later.clone() };
    for rival in races.rivals(&foreseen) {
        if !races.is_undone(rival, undone) {
            past.join(run.hb.clock(rival));
            if run.steps[rival].event.did.conflicts(&least) {
                certain.join(run.hb.clock(rival));
            }
        }
    }
    let is_in = |clock: &Clock, at: Position| clock.get(races.threads[at]) > run.steps[at].event.id.index;
    let keep: Vec<Position> = earlier.next().until(later.before).filter(|&at| is_in(&past, at)).collect();
    if keep.iter().any(|&at| races.is_undone(at, undone)) {
        return None;
    }
    let thread = later.agent.thread();
    let known = if open { certain.by_ref() } else { past.by_ref() };
    let mut provided = Vec::new();
    let number = |thread| races.number(thread);
    for wait in origin.waits.iter().filter(|wait| is_left(races, wait, earlier, &keep)) {
        let mut before = wait.at.next().until(earlier).chain(keep.iter().copied());
        if before.any(|at| is_less(races, wait, at)) {
            return None;
        }
        let is_greater = wait.least < precedence(later.key.kind, thread);
        if is_greater || wait.is_behind(known, &run.steps[..earlier], number) {
            continue;
        }
        if open && wait.id == run.steps[earlier].event.id {
            provided.push(run.steps[wait.at].event.did.clone());
        } else if !open && wait.effect.conflicts(&effect) {
            return None;
        }
    }
    if later.key.kind == OpKind::BarrierArrive {
        // Of those who come before it, in whatever order, it is the last.
        let is_last = |at: Position| run.steps[at].event.id.thread < thread;
        if !races.rivals(later).into_iter().filter(|&at| !races.is_undone(at, undone)).all(is_last) {
            return None;
        }
    }
    let there = Position::START.until(earlier.next()).chain(keep.iter().copied());
    let is_other_way = later.closer == Some(earlier) && races.threads[earlier] == races.number(thread);
    let waits: Vec<&OvertakenOperation> = origin.waits.iter().filter(|wait| wait.at < earlier).collect();
    if !canon.completes(canon.cut(there), &waits, (!is_other_way).then_some(later.agent)) {
        return None;
    }
    let before = &run.steps[earlier];
    let mut waits: Vec<OvertakenOperation> =
        origin.waits.iter().filter(|wait| wait.at < earlier).cloned().collect();
    waits.push(OvertakenOperation {
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
            pick: later.pick,
            key: later.key.clone(),
            effect: later.effect.clone(),
            certain: false,
        },
        again: before.choice.agent,
        waits,
        provided,
        cost: 0,
    })
}
