//! The points that an execution ahead of its turn has visited, and what had been noted by each.

use serde::{Deserialize, Serialize};

use crate::cache::BoundedState;
use crate::event::position::Position;

/// The points of an execution, with what had been noted by then.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Visits {
    pub(super) points: Vec<Visit>,
    /// The points at which alternatives became spare ones.
    pub(super) moves: Vec<Spared>,
    /// It was cut at the last one.
    pub(super) cut: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Visit {
    pub(super) place: BoundedState,
    /// The position of the point.
    pub(super) at: Position,
    pub(super) alternatives: u32,
    pub(super) spare: u32,
    pub(super) joins_matter: bool,
    pub(super) beyond: bool,
    pub(super) withheld: bool,
}

/// The alternatives from `from` on went to the end of the spare ones, which were `spare` by then.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Spared {
    /// Before this visit.
    pub(super) before: u32,
    pub(super) from: u32,
    pub(super) spare: u32,
}

impl Visits {
    /// A point is reached; `cut` says that the execution ends there.
    pub(super) fn note(&mut self, place: BoundedState, at: Position, notes: &Noted, cut: bool) {
        self.cut = cut;
        self.points.push(Visit {
            place,
            at,
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

/// The notes so far.
pub(super) struct Noted {
    pub(super) alternatives: usize,
    pub(super) spare: usize,
    pub(super) joins_matter: bool,
    pub(super) beyond: bool,
    pub(super) withheld: bool,
}
