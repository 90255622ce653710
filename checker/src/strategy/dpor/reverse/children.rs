//! The executions of which one is the parent: each of its races the other way round, if that leads back to it.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::canonical::CanonicalSchedule;
use super::child::child;
use super::frame::{Child, KeptEvents, Origin};
use crate::event::agent::{Agent, OpOutcome};
use crate::event::lock_action::Hold;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::limit::Limit;
use crate::strategy::dpor::locks::{EnablingCondition, Feasibility};
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::successor::Successor;

/// The identity of a child among those of its parent: the place where it branches off, the events that it keeps, and its next move.
type ChildKey = (Position, KeptEvents, Agent, Option<OpOutcome>);

/// Of this many readers that keep a writer out at once, any may come after it. There are as many sets of them to look at as
/// there can be children; with more readers the search is not complete.
const READERS: usize = 12;

/// All children of an execution, and whether these are all.
pub(super) fn all(
    races: &Races<'_>,
    canonical: &CanonicalSchedule<'_, '_>,
    (origin, limit): (&Origin, &Limit),
    to: Position,
) -> (Vec<Child>, bool) {
    let mut children: Vec<Child> = Vec::new();
    let mut seen: FxHashSet<ChildKey> = FxHashSet::default();
    let mut whole = true;
    for later in races.successors(Position::START, to) {
        if EnablingCondition::of(later.key.kind) == EnablingCondition::Order {
            continue;
        }
        // The other ways of an event are those where it is; elsewhere it may have others, which are seen there.
        let is_other = |closer: Position| races.run.steps[closer].choice.agent == later.agent;
        let racing_events = races.racing_events(&later);
        let mut nearest = NearestRacingEvents::of(canonical, &later);
        for &earlier in &racing_events {
            if limit.is_over() {
                return (children, false);
            }
            if nearest.are_between(races, earlier) {
                continue;
            }
            let is_elsewhere = later.closer.is_some_and(|closer| is_other(closer) && closer != earlier);
            if origin.scheduled[earlier] || is_elsewhere {
                continue;
            }
            let (sets, all) = undone(races, &later, earlier, &racing_events);
            whole &= all;
            for undone in sets {
                let Some(child) = child(races, canonical, origin, &later, &undone) else { continue };
                if seen.insert((child.at, child.keep.clone(), child.next.agent, child.next.outcome)) {
                    children.push(child);
                }
            }
        }
    }
    // The last one comes first: those of lesser threads show what the others need to know.
    children.sort_by_key(|child| Reverse(child.next.agent.thread()));
    (children, whole)
}

/// The racing events of an operation that others cannot be reversed across: as it runs as soon as it can, it came right after them.
struct NearestRacingEvents<'l, 't> {
    later: &'l Successor<'t>,
    predecessor: ImmediatePredecessor,
    /// The latest ones so far.
    racing_events: Vec<Position>,
}

/// The racing event that an operation came right after, if it runs as soon as it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ImmediatePredecessor {
    /// The last one of those that it conflicts with: it can always run.
    RacingEvent,
    /// The last one that has taken its lock: just before that, it could have had the lock itself.
    Acquirer,
    /// There are none.
    None,
}

impl<'l, 't> NearestRacingEvents<'l, 't> {
    fn of(canonical: &CanonicalSchedule<'_, '_>, later: &'l Successor<'t>) -> Self {
        let is_lock = matches!(later.key.kind, OpKind::Lock | OpKind::Reacquire);
        let predecessor = match EnablingCondition::of(later.key.kind) {
            EnablingCondition::Nothing if later.ran => ImmediatePredecessor::RacingEvent,
            // The questions about semaphores decide how far ahead executions are chosen.
            EnablingCondition::Free if later.ran && is_lock && !canonical.waits_for_semaphores => {
                ImmediatePredecessor::Acquirer
            }
            _ => ImmediatePredecessor::None,
        };
        Self { later, predecessor, racing_events: Vec::new() }
    }

    /// Whether such a racing event comes after this one, which is before all those that were asked for.
    fn are_between(&mut self, races: &Races<'t>, earlier: Position) -> bool {
        if self.racing_events.iter().rev().any(|&at| races.is_undone(at, &[earlier])) {
            return true;
        }
        let is_one = match self.predecessor {
            ImmediatePredecessor::RacingEvent => true,
            ImmediatePredecessor::Acquirer => self.takes(races, earlier),
            ImmediatePredecessor::None => false,
        };
        if is_one {
            self.racing_events.push(earlier);
        }
        false
    }

    /// Whether an event takes the lock where the operation could have had it.
    fn takes(&self, races: &Races<'t>, at: Position) -> bool {
        let holders = || races.lock_state_after(self.later.effect, |earlier| earlier < at).holders;
        races.run.steps[at].event.acquired() == Some(Hold::Exclusive)
            && holders().let_go(self.later.agent.thread(), EnablingCondition::Free, true) == Feasibility::Yes
    }
}

/// With which events besides the earlier one of a race it can be reversed. A writer can come before some of the readers that
/// keep it out, and after the others.
fn undone(
    races: &Races<'_>,
    later: &Successor<'_>,
    earlier: Position,
    racing_events: &[Position],
) -> (Vec<Vec<Position>>, bool) {
    let mut sets = vec![vec![earlier]];
    if later.key.kind != OpKind::WriteLock {
        return (sets, true);
    }
    let is_reader = |&at: &Position| {
        at > earlier
            && races.run.steps[at].event.acquired() == Some(Hold::Shared)
            && !races.is_undone(at, &[earlier])
    };
    let readers: Vec<Position> = racing_events.iter().copied().filter(is_reader).collect();
    for &reader in readers.iter().take(READERS) {
        let with = |set: &Vec<Position>| set.iter().copied().chain([reader]).collect();
        let more: Vec<Vec<Position>> = sets.iter().map(with).collect();
        sets.extend(more);
    }
    (sets, readers.len() <= READERS)
}
