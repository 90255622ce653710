//! The points that an execution ahead of its turn has visited, and what had been noted by each.

use serde::{Deserialize, Serialize};

use crate::cache::BoundedState;
use crate::event::position::Position;

/// The points of an execution, with what had been noted by then.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Visits {
    pub(super) points: Vec<Visit>,
    /// The points at which alternatives became spare ones.
    pub(super) moves: Vec<DeferredJoins>,
    /// It was cut at the last one.
    pub(super) cut: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Visit {
    pub(super) place: BoundedState,
    /// The position of the point.
    pub(super) at: Position,
    pub(super) alternatives: u32,
    pub(super) deferred_joins: u32,
    pub(super) joins_matter: bool,
    pub(super) bound_exceeded: bool,
    pub(super) timeouts_bounded: bool,
}

/// The alternatives from `from` on went to the end of the deferred ones, which were `deferred_joins` by then.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct DeferredJoins {
    /// Before this visit.
    pub(super) before: u32,
    pub(super) from: u32,
    pub(super) deferred_joins: u32,
}

impl Visits {
    /// A point is reached; `cut` says that the execution ends there.
    pub(super) fn note(&mut self, place: BoundedState, at: Position, notes: &Noted, cut: bool) {
        self.cut = cut;
        self.points.push(Visit {
            place,
            at,
            alternatives: notes.alternatives as u32,
            deferred_joins: notes.deferred_joins as u32,
            joins_matter: notes.joins_matter,
            bound_exceeded: notes.bound_exceeded,
            timeouts_bounded: notes.timeouts_bounded,
        });
    }

    pub(super) fn note_deferred(&mut self, from: usize, deferred_joins: usize) {
        let before = self.points.len() as u32;
        self.moves.push(DeferredJoins { before, from: from as u32, deferred_joins: deferred_joins as u32 });
    }
}

/// The notes so far.
pub(super) struct Noted {
    pub(super) alternatives: usize,
    pub(super) deferred_joins: usize,
    pub(super) joins_matter: bool,
    pub(super) bound_exceeded: bool,
    pub(super) timeouts_bounded: bool,
}
