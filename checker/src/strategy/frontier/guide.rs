//! How a frontier takes one execution through an item.

use super::joins::{self, joins_matter};
use super::place::{place, ran_after};
use super::{Alternative, Bound, Decision, Guide, Notes};
use crate::cache::{Cache, Place};
use crate::point::Point;
use crate::seam::{Choice, Until};

/// Takes one execution to its end without further cost, noting what else could have been done.
pub(super) struct Explorer<'a, B> {
    pub(super) bound: &'a B,
    pub(super) cache: &'a Cache,
    pub(super) item: u64,
    pub(super) cost: u32,
    pub(super) notes: Notes,
    /// Nothing but joins of one thread has run since a free point: where the alternatives from there on begin.
    pub(super) joined: Option<usize>,
}

impl<B: Bound> Explorer<'_, B> {
    fn is_known(&mut self, place: Place) -> bool {
        if self.cache.enter(place, self.cost, self.item) {
            return true;
        }
        self.notes.entered.push(place.state);
        false
    }

    fn note(&mut self, at: &Point<'_>, taken: Choice) {
        self.notes.withheld |= at.withheld;
        for &choice in at.choices.iter().filter(|&&choice| choice != taken) {
            let cost = self.cost + self.bound.price(at, choice);
            if cost > self.bound.max() {
                self.notes.beyond = true;
                continue;
            }
            let Some(step) = at.planned(choice) else { continue };
            let state = at.predict(choice).map(|state| (state, ran_after(at, choice)));
            self.notes.alternatives.push(Alternative { at: at.position() as u32, step, cost, state });
        }
    }

    /// The next choice: a join where one goes first, else the cheapest.
    fn next(&mut self, at: &Point<'_>, place: Place) -> Option<Choice> {
        let another = joins::another(at).filter(|_| self.joined.is_some());
        if another.is_none()
            && let Some(from) = self.joined.take()
            && joins::rests(at, place.position)
        {
            let spare = self.notes.alternatives.split_off(from);
            self.notes.spare.extend(spare);
        }
        let join = another.or_else(|| joins::first(at, place.position));
        if join.is_some() {
            self.joined.get_or_insert(self.notes.alternatives.len());
        }
        join.or_else(|| at.default_choice())
    }
}

impl<B: Bound> Guide for Explorer<'_, B> {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        let place = place(self.bound, at);
        self.notes.joins_matter |= joins_matter(at);
        let next = if self.cache.prunes() { self.next(at, place) } else { at.default_choice() };
        let Some(choice) = next else { return Decision::Cut };
        if self.is_known(place) {
            return Decision::Cut;
        }
        self.note(at, choice);
        Decision::Run { choice, until: Until::one() }
    }

    fn pass(&mut self, at: &Point<'_>) {
        self.joined = None;
        self.notes.joins_matter |= joins_matter(at);
        if let Some(choice) = at.default_choice()
            && !self.is_known(place(self.bound, at))
        {
            self.note(at, choice);
        }
    }

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}
