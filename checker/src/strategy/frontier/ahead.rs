//! A frontier's executions ahead of their turn: run without entering states, and looked up when the turn comes.
//!
//! An execution depends on the cache in one way only: by the place where it is cut. An execution ahead of its turn stops where
//! the cache knows a state already, and else goes on and keeps what it has visited. When it is the item's turn the visits are
//! entered one by one, and the first one that is known by then is where the execution would have been cut: what was noted
//! from there on is taken back. So the cache, and all that is learnt, is what it would be had the item been run in its turn.

use super::visits::{Noted, Spared, Visit, Visits};
use crate::cache::Cache;
use crate::strategy::{Notes, Settled, WorkItem};

impl From<&Notes> for Noted {
    fn from(notes: &Notes) -> Self {
        Self {
            alternatives: notes.alternatives.len(),
            spare: notes.spare.len(),
            joins_matter: notes.joins_matter,
            beyond: notes.beyond,
            withheld: notes.withheld,
        }
    }
}

/// Enters what an execution has visited, up to where it would have been cut.
pub(super) fn settle(item: &WorkItem, notes: &mut Notes, cache: &Cache) -> Settled {
    let Visits { points, moves, cut } = std::mem::take(&mut notes.visits);
    let known = points.iter().position(|visit| {
        let known = cache.enter(visit.place, item.cost, item.id);
        if !known {
            notes.entered.push(visit.place.state);
        }
        known
    });
    match known {
        None if cut => Settled::Void,
        None => Settled::AsItIs,
        Some(last) if cut && last + 1 == points.len() => Settled::AsItIs,
        Some(at) => {
            let visit = &points[at];
            take_back(notes, visit, moves.iter().rev().take_while(|spared| spared.before > at as u32));
            Settled::CutAfter(visit.at)
        }
    }
}

/// Takes back what was noted from a visit on. `moves` are those since then, the last one first.
fn take_back<'m>(notes: &mut Notes, visit: &Visit, moves: impl Iterator<Item = &'m Spared>) {
    for &Spared { from, spare, .. } in moves {
        let back = notes.spare.split_off(spare as usize);
        notes.alternatives.truncate(from as usize);
        notes.alternatives.extend(back);
    }
    notes.alternatives.truncate(visit.alternatives as usize);
    notes.spare.truncate(visit.spare as usize);
    (notes.joins_matter, notes.beyond, notes.withheld) = (visit.joins_matter, visit.beyond, visit.withheld);
}
