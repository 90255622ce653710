//! A frontier's executions ahead of their turn: run without entering states, and looked up when the turn comes.
//!
//! An execution depends on the cache in one way only: by the place where it is cut. An execution ahead of its turn stops where
//! the cache knows a state already, and else goes on and keeps what it has visited. When it is the item's turn the visits are
//! entered one by one, and the first one that is known by then is where the execution would have been cut: what was noted
//! from there on is taken back. So the cache, and all that is learnt, is what it would be had the item been run in its turn.

use super::visits::{DeferredJoins, Noted, Visit, Visits};
use crate::cache::Cache;
use crate::strategy::{Notes, SpeculationValidity, WorkItem};

impl From<&Notes> for Noted {
    fn from(notes: &Notes) -> Self {
        Self {
            alternatives: notes.alternatives.len(),
            deferred_joins: notes.deferred_joins.len(),
            joins_matter: notes.joins_matter,
            bound_exceeded: notes.bound_exceeded,
            timeouts_bounded: notes.timeouts_bounded,
        }
    }
}

/// Enters what an execution has visited, up to where it would have been cut.
pub(super) fn validate(item: &WorkItem, notes: &mut Notes, cache: &Cache) -> SpeculationValidity {
    let Visits { points, moves, cut } = std::mem::take(&mut notes.visits);
    let known = points.iter().position(|visit| {
        let known = cache.enter(visit.place, item.cost, item.id);
        if !known {
            notes.entered.push(visit.place.state);
        }
        known
    });
    match known {
        None if cut => SpeculationValidity::Invalid,
        None => SpeculationValidity::Valid,
        Some(last) if cut && last + 1 == points.len() => SpeculationValidity::Valid,
        Some(at) => {
            let visit = &points[at];
            take_back(notes, visit, moves.iter().rev().take_while(|spared| spared.before > at as u32));
            SpeculationValidity::ValidUntil(visit.at)
        }
    }
}

/// Takes back what was noted from a visit on. `moves` are those since then, the last one first.
fn take_back<'m>(notes: &mut Notes, visit: &Visit, moves: impl Iterator<Item = &'m DeferredJoins>) {
    for &DeferredJoins { from, deferred_joins, .. } in moves {
        let back = notes.deferred_joins.split_off(deferred_joins as usize);
        notes.alternatives.truncate(from as usize);
        notes.alternatives.extend(back);
    }
    notes.alternatives.truncate(visit.alternatives as usize);
    notes.deferred_joins.truncate(visit.deferred_joins as usize);
    (notes.joins_matter, notes.bound_exceeded, notes.timeouts_bounded) =
        (visit.joins_matter, visit.bound_exceeded, visit.timeouts_bounded);
}
