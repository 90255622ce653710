//! The states that a search has entered, so that it does not enter them twice.
//!
//! Madanlal Musuvathi, Shaz Qadeer: Partial-order reduction for context-bounded state exploration, MSR-TR-2007-12. The
//! hash of happens-before stands for the state. Under a bound it is not enough of a key: what is still affordable
//! depends on what was spent, and what is free depends on who ran last.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::hash::HbHash;
use crate::hb::ThreadTag;

/// Entries beyond this number are not kept: pruning gets weaker, results stay exact, memory stays bounded.
const CAPACITY: usize = 1_800_000;

/// A state as a bounded search sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Happens-before so far.
    pub state: HbHash,
    /// Who ran last, whatever came of him.
    pub ran: Runner,
    /// What the costs of the choices here depend on.
    pub position: Position,
}

/// A thread in an entry, or nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Runner(u32);

impl Runner {
    /// A thread's entry.
    #[must_use]
    pub fn of(tag: Option<ThreadTag>) -> Self {
        Self(tag.map_or(0, |tag| tag.0 as u32 | 1))
    }
}

/// What the costs of the choices at a state depend on, beyond the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// Nothing: every choice is free.
    Free,
    /// This thread: leaving it, or skipping it, costs.
    At(Runner),
    /// This thread is blocked, but its time-out would let it go on as if it had never stopped.
    Waits(Runner),
    /// This thread gave way and must wait for another to move, so that it cannot be chosen here.
    GaveWay(Runner),
}

/// Which entries stand for which states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The same position at no higher cost. Or any position at lower cost: one preemption leads from there to here.
    Preemptions,
    /// The same position at no higher cost.
    SamePosition,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ran: Runner,
    position: Position,
    cost: u16,
    item: u32,
}

/// The states entered in this epoch. Shared by all workers.
#[derive(Debug)]
pub struct Cache {
    rule: Option<Rule>,
    states: Mutex<States>,
}

#[derive(Debug, Default)]
struct States {
    entered: FxHashMap<Key, SmallVec<[Entry; 1]>>,
    /// Where executions ended.
    ends: FxHashSet<Key>,
}

/// A hash in halves: a `u128` would be aligned to 16 bytes and waste them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key([u64; 2]);

impl Key {
    /// A state together with who ran last.
    pub(crate) fn with(state: HbHash, ran: Runner) -> Self {
        let Self([low, high]) = state.into();
        Self([low, high ^ u64::from(ran.0) << 32])
    }
}

impl From<HbHash> for Key {
    fn from(hash: HbHash) -> Self {
        Self([hash.0 as u64, (hash.0 >> 64) as u64])
    }
}

impl Cache {
    /// An empty cache; without a rule it only counts the ends of executions and never prunes.
    #[must_use]
    pub fn new(rule: Option<Rule>) -> Self {
        Self { rule, states: Mutex::default() }
    }

    /// Whether it ever stops an execution.
    #[must_use]
    pub fn prunes(&self) -> bool {
        self.rule.is_some()
    }

    fn states(&self) -> MutexGuard<'_, States> {
        // A panic elsewhere leaves at worst an entry less.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an entry stands for this place at this cost; if not, the place is entered for `item`.
    pub fn enter(&self, place: Place, cost: u32, item: u64) -> bool {
        let Some(rule) = self.rule else { return false };
        let (cost, item) = (cost.min(u32::from(u16::MAX)) as u16, item as u32);
        let mut states = self.states();
        let full = states.entered.len() >= CAPACITY;
        let entry = Entry { ran: place.ran, position: place.position, cost, item };
        if full && !states.entered.contains_key(&place.state.into()) {
            return false;
        }
        let known = states.entered.entry(place.state.into()).or_insert_with(|| smallvec![entry]);
        // An item that is run again must not be stopped by its own first half.
        let mut others = known.iter().filter(|known| known.item != item);
        if others.any(|known| known.stands_for(rule, place.position, cost)) {
            return true;
        }
        match known.iter_mut().find(|known| known.position == place.position) {
            Some(known) if known.cost >= cost => *known = entry,
            Some(_) => {}
            None => known.push(entry),
        }
        false
    }

    /// Whether an execution that enters this state, `ran` having run last, would be stopped there or end there.
    #[must_use]
    pub fn expects(&self, state: HbHash, ran: Runner, cost: u32) -> bool {
        let Some(rule) = self.rule else { return false };
        let cost = cost.min(u32::from(u16::MAX)) as u16;
        let states = self.states();
        let key = state.into();
        states.ends.contains(&key)
            || states.entered.get(&key).is_some_and(|known| {
                // Who ran last and the state fix the position, but it is not known here.
                let same = |entry: &Entry| entry.ran == ran && entry.cost <= cost;
                known.iter().any(|entry| same(entry) || entry.is_cheaper(rule, cost))
            })
    }

    /// Notes that an execution ended in this state; says whether it is the first one.
    pub fn end(&self, state: HbHash) -> bool {
        self.states().ends.insert(state.into())
    }

    #[cfg(test)]
    pub(crate) fn ends(&self) -> std::collections::BTreeSet<HbHash> {
        let hash = |Key([low, high]): &Key| HbHash(u128::from(*low) | u128::from(*high) << 64);
        self.states().ends.iter().map(hash).collect()
    }

    /// Takes the entries of an item back: what follows its states was not explored.
    pub fn withdraw(&self, states: &[HbHash], item: u64) {
        let mut all = self.states();
        for &state in states {
            if let Some(known) = all.entered.get_mut(&state.into()) {
                known.retain(|entry| entry.item != item as u32);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.states() = States::default();
    }
}

impl Entry {
    fn stands_for(&self, rule: Rule, position: Position, cost: u16) -> bool {
        (self.position == position && self.cost <= cost) || self.is_cheaper(rule, cost)
    }

    fn is_cheaper(&self, rule: Rule, cost: u16) -> bool {
        rule == Rule::Preemptions && self.cost < cost && !matches!(self.position, Position::GaveWay(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ThreadName;

    fn runner(ordinal: u16) -> Runner {
        Runner::of(ThreadName::MAIN.child(ordinal).map(ThreadTag::of))
    }

    fn at(ordinal: u16) -> Place {
        Place { state: HbHash(1), ran: runner(ordinal), position: Position::At(runner(ordinal)) }
    }

    #[test]
    fn a_state_is_entered_again_by_another_thread_at_the_same_cost() {
        let cache = Cache::new(Some(Rule::Preemptions));
        assert!(!cache.enter(at(1), 1, 1));
        assert!(cache.enter(at(1), 1, 2));
        assert!(!cache.enter(at(2), 1, 3));
    }

    #[test]
    fn a_cheaper_entry_stands_for_every_thread_under_preemptions_only() {
        for (rule, stopped) in [(Rule::Preemptions, true), (Rule::SamePosition, false)] {
            let cache = Cache::new(Some(rule));
            assert!(!cache.enter(at(1), 0, 1));
            assert_eq!(cache.enter(at(2), 1, 2), stopped);
            assert_eq!(cache.expects(HbHash(1), runner(3), 1), stopped);
        }
    }

    #[test]
    fn a_thread_that_gave_way_stands_for_nobody_else() {
        let cache = Cache::new(Some(Rule::Preemptions));
        assert!(!cache.enter(Place { position: Position::GaveWay(runner(1)), ..at(1) }, 0, 1));
        assert!(!cache.enter(at(2), 1, 2));
    }

    #[test]
    fn an_item_is_not_stopped_by_itself_nor_by_what_was_withdrawn() {
        let cache = Cache::new(Some(Rule::Preemptions));
        assert!(!cache.enter(at(1), 0, 1));
        assert!(!cache.enter(at(1), 0, 1));
        assert!(cache.enter(at(1), 0, 2));
        cache.withdraw(&[HbHash(1)], 1);
        assert!(!cache.enter(at(1), 0, 2));
    }

    #[test]
    fn without_a_rule_only_ends_are_known() {
        let cache = Cache::new(None);
        assert!(!cache.enter(at(1), 0, 1) && !cache.enter(at(1), 0, 2));
        assert!(cache.end(HbHash(1)) && !cache.end(HbHash(1)));
        assert!(!cache.expects(HbHash(1), runner(1), 9));
    }
}
