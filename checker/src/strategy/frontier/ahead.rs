//! A frontier's executions ahead of their turn: run without entering states, and looked up when the turn comes.
//!
//! What an execution does depends on the cache in one way only: where it is cut. Whoever runs ahead stops where the cache
//! knows a state already, and else goes on and keeps what it has visited. When it is the item's turn the visits are entered
//! one by one, and the first one that is known by then is where the execution would have been cut: what was noted from
//! there on is taken back. So the cache, and all that is learnt, is what it would be had the item been run in its turn.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Bound, Frontier, Notes, Settled};
use crate::cache::{Cache, Place};
use crate::strategy::WorkItem;
use crate::strategy::ahead;

/// The points of an execution, with what had been noted by then.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Visits {
    points: Vec<Visit>,
    /// When alternatives became spare ones.
    moves: Vec<Spared>,
    /// It was cut at the last one.
    cut: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Visit {
    place: Place,
    /// After how many events.
    at: u32,
    alternatives: u32,
    spare: u32,
    joins_matter: bool,
    beyond: bool,
    withheld: bool,
}

/// The alternatives from `from` on went to the end of the spare ones, which were `spare` by then.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Spared {
    /// Before this visit.
    before: u32,
    from: u32,
    spare: u32,
}

impl Visits {
    /// A point is reached; `cut` says that the execution ends there.
    pub(super) fn note(&mut self, place: Place, at: usize, notes: &Noted, cut: bool) {
        self.cut = cut;
        self.points.push(Visit {
            place,
            at: at as u32,
            alternatives: notes.alternatives as u32,
            spare: notes.spare as u32,
            joins_matter: notes.joins_matter,
            beyond: notes.beyond,
            withheld: notes.withheld,
        });
    }

    pub(super) fn note_spared(&mut self, from: usize, spare: usize) {
        let before = self.points.len() as u32;
        self.moves.push(Spared { before, from: from as u32, spare: spare as u32 });
    }
}

/// What has been noted so far.
pub(super) struct Noted {
    alternatives: usize,
    spare: usize,
    joins_matter: bool,
    beyond: bool,
    withheld: bool,
}

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

impl<B: Bound> Frontier<B> {
    /// Something of what comes next.
    pub(super) fn hand_out_ahead(&mut self, others: usize) -> Option<WorkItem> {
        let at = ahead::choose(self.next.iter().map(|(_, item, _)| item.ahead.is_some()), others)?;
        let (_, item, cost) = &mut self.next[at];
        self.next_id += 1;
        item.ahead = u32::try_from(self.next_id).ok().and_then(NonZeroU32::new);
        let prefix = self.steps.read(&item.prefix, item.alternative);
        Some(WorkItem { id: item.ahead?.get().into(), prefix, cost: *cost, branch: None })
    }
}
