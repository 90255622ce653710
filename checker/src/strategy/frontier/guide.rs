//! The guide of a frontier: it takes one execution through an item.

use super::joins::joins_matter;
use super::place::{place, ran_after};
use super::visits::Noted;
use super::{Bound, joins};
use crate::cache::{BoundedState, Cache, View};
use crate::event::agent::Choice;
use crate::program::{Scope, Until};
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Alternative, Decision, Guide, Notes, WorkItem};

/// Takes one execution to its end without further cost, noting what else could have been done.
pub(super) struct Explorer<'a, B> {
    bound: B,
    cache: CacheAccess<'a>,
    item: u64,
    cost: u32,
    notes: Notes,
    /// Nothing but joins of one thread has run since a free point: where the alternatives from there on begin.
    joined: Option<usize>,
}

/// The cache, and how a guide may use it.
enum CacheAccess<'a> {
    /// It is the item's turn: its own are entered.
    Mine(&'a Cache),
    /// The item is run ahead of its turn: they are looked at, and its own are noted.
    Others(View),
}

impl<'a, B: Bound> Explorer<'a, B> {
    /// For an item whose turn it is.
    pub(super) fn new(bound: B, cache: &'a Cache, item: &WorkItem) -> Self {
        Self::with(bound, CacheAccess::Mine(cache), item)
    }

    /// For an item ahead of its turn.
    pub(super) fn speculative(bound: B, cache: View, item: &WorkItem) -> Explorer<'static, B> {
        Explorer::with(bound, CacheAccess::Others(cache), item)
    }

    fn with(bound: B, cache: CacheAccess<'a>, item: &WorkItem) -> Self {
        Self { bound, cache, item: item.id, cost: item.cost, notes: Notes::default(), joined: None }
    }

    fn prunes(&self) -> bool {
        match &self.cache {
            CacheAccess::Mine(cache) => cache.prunes(),
            CacheAccess::Others(cache) => cache.prunes(),
        }
    }

    fn is_known(&mut self, place: BoundedState, at: &SchedulingPoint<'_>) -> bool {
        match &self.cache {
            CacheAccess::Mine(cache) => {
                let known = cache.enter(place, self.cost, self.item);
                if !known {
                    self.notes.entered.push(place.state);
                }
                known
            }
            CacheAccess::Others(cache) => {
                let known = cache.knows(place, self.cost, self.item);
                let noted = Noted::from(&self.notes);
                self.notes.visits.note(place, at.position(), &noted, known);
                known
            }
        }
    }

    fn note(&mut self, at: &SchedulingPoint<'_>, taken: Choice) {
        self.notes.timeouts_bounded |= at.timeouts_bounded;
        for &choice in at.choices.iter().filter(|&&choice| choice != taken) {
            let cost = self.cost + self.bound.price(at, choice);
            if cost > self.bound.max() {
                self.notes.bound_exceeded = true;
                continue;
            }
            let Some(step) = at.planned(choice) else { continue };
            let state = at.predict(choice).map(|state| (state, ran_after(at, choice)));
            self.notes.alternatives.push(Alternative { at: at.position(), step, cost, state });
        }
    }

    /// The next choice: a join where one goes first, else the cheapest.
    fn next(&mut self, at: &SchedulingPoint<'_>, place: BoundedState) -> Option<Choice> {
        let another = joins::another(at).filter(|_| self.joined.is_some());
        if another.is_none()
            && let Some(from) = self.joined.take()
            && joins::rests(at, place.position)
        {
            let deferred_joins = self.notes.alternatives.split_off(from);
            if matches!(self.cache, CacheAccess::Others(_)) {
                self.notes.visits.note_deferred(from, self.notes.deferred_joins.len());
            }
            self.notes.deferred_joins.extend(deferred_joins);
        }
        let join = another.or_else(|| joins::first(at, place.position));
        if join.is_some() {
            self.joined.get_or_insert(self.notes.alternatives.len());
        }
        join.or_else(|| at.default_choice())
    }
}

impl<B: Bound> Guide for Explorer<'_, B> {
    /// A claim that every schedule was run rests on each of them.
    fn scope(&self) -> Scope {
        Scope::Audit
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        let place = place(&self.bound, at);
        self.notes.joins_matter |= joins_matter(at);
        let next = if self.prunes() { self.next(at, place) } else { at.default_choice() };
        let Some(choice) = next else { return Decision::Prune };
        if self.is_known(place, at) {
            return Decision::Prune;
        }
        self.note(at, choice);
        Decision::Run { choice, until: Until::one() }
    }

    /// Not called ahead of the item's turn, or at all as long as each batch is one event.
    fn pass(&mut self, at: &SchedulingPoint<'_>) {
        self.joined = None;
        self.notes.joins_matter |= joins_matter(at);
        if let Some(choice) = at.default_choice()
            && !self.is_known(place(&self.bound, at), at)
        {
            self.note(at, choice);
        }
    }

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}
