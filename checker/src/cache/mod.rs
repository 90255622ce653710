//! The states that a search has entered, so that it does not enter them twice.
//!
//! Madanlal Musuvathi, Shaz Qadeer: Partial-order reduction for context-bounded state exploration, MSR-TR-2007-12. The
//! hash of happens-before stands for the state. Under a bound it is not enough of a key: what is still affordable
//! depends on what was spent, and what is free, or can be chosen at all, depends on the thread that ran last. That is a
//! [`ScheduleContext`].
//!
//! # Why an entry may stand for another position
//!
//! Two executions at one state have the same threads with the same pending operations, and any choice takes both to one
//! state again. After the choice of a thread both positions are the same as well, since that thread has now run last. So
//! if each choice costs no more at the entry, and nothing can be chosen here that cannot be chosen there, then whatever
//! can be reached from here within the bound is reached from the entry. Two things have to be looked at:
//!
//! * A time-out or a flush is a choice that runs no thread: the position stays, unless it lets the thread that ran last go on,
//!   as its own time-out does, or that of a thread that it joins. [`ScheduleContext::Waits`] is where that can happen, so that
//!   a [`ScheduleContext::Free`] stays free, and only the choice of a thread ends it.
//! * A thread that goes on past a yield is a different thread afterwards: it will have to wait sooner
//!   ([`crate::state::scheduling_point::SchedulingPoint::yields`]). Its positions are entered under a [`LastThread`] of their own.
//!
//! Under preemptions, at [`ScheduleContext::Free`] every choice costs 0 and no thread has to wait. So a free entry stands for
//! every position at no lower cost. And leaving any thread costs at most 1, so that an entry at a lower cost stands for every
//! position, unless its thread is at a yield or has gone past one: going on with that thread is not the same as coming back to
//! it. Under delays neither holds: the costs of all later choices are counted from the thread that ran last.

mod key;
mod table;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

pub(crate) use self::key::StateKey;
pub use self::key::{BoundedState, LastThread, ScheduleContext};
use self::table::{Entry, Slots, Table};
use crate::hb::hash::HbHash;

/// The rule by which entries stand for states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubsumptionRule {
    /// For costs where leaving a thread costs at most 1: the same position at no higher cost. Or a free one at no higher cost.
    /// Or any at lower cost: one preemption leads from there to here.
    Preemptions,
    /// The same position at no higher cost.
    SamePosition,
}

/// The states entered in this epoch. The search enters them in the order of its items; workers that run ahead look at them
/// through a [`View`].
#[derive(Debug)]
pub struct Cache {
    rule: Option<SubsumptionRule>,
    states: Mutex<VisitedStates>,
}

/// The states that were entered, and those at which executions ended.
#[derive(Debug, Default)]
struct VisitedStates {
    entered: Table,
    /// The states at which executions ended.
    ends: FxHashSet<StateKey>,
}

/// The entries of the search, for workers that run ahead: as they are, not as they were; but once its table grows, new entries
/// are no longer seen.
#[derive(Clone, Debug)]
pub struct View {
    rule: Option<SubsumptionRule>,
    entered: Arc<Slots>,
}

impl View {
    /// Whether an execution is ever stopped.
    #[must_use]
    pub fn prunes(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether an entry stands for this place at this cost.
    #[must_use]
    pub fn knows(&self, place: BoundedState, cost: u32, item: u64) -> bool {
        self.rule.is_some_and(|rule| knows(&self.entered, rule, place, cost, item))
    }
}

fn knows(entered: &Slots, rule: SubsumptionRule, place: BoundedState, cost: u32, item: u64) -> bool {
    let stands = |entry: &Entry| {
        entry.is_at(place.position) && entry.costs_at_most(cost) || stands_for_all(entry, rule, cost)
    };
    // An item that is run again must not be stopped by its own first half.
    let mut others = entered.of(place.state.into()).filter(|entry| entry.item != item as u32);
    others.any(|entry| stands(&entry))
}

impl Cache {
    /// An empty cache; without a rule it only counts the ends of executions and never prunes.
    #[must_use]
    pub fn new(rule: Option<SubsumptionRule>) -> Self {
        Self { rule, states: Mutex::default() }
    }

    /// Whether it ever stops an execution.
    #[must_use]
    pub fn prunes(&self) -> bool {
        self.rule.is_some()
    }

    fn states(&self) -> MutexGuard<'_, VisitedStates> {
        // A panic elsewhere leaves at worst an entry less.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an entry stands for this place at this cost; if not, the place is entered for `item`.
    pub fn enter(&self, place: BoundedState, cost: u32, item: u64) -> bool {
        let Some(rule) = self.rule else { return false };
        let mut states = self.states();
        if knows(states.entered.slots(), rule, place, cost, item) {
            return true;
        }
        let key = place.state.into();
        states.entered.insert(Entry::new(key, place.ran, place.position, cost, item));
        false
    }

    /// The view of it that workers have which run ahead.
    #[must_use]
    pub fn view(&self) -> View {
        View { rule: self.rule, entered: Arc::clone(self.states().entered.slots()) }
    }

    /// Whether an execution that enters this state, `ran` having run last, would be stopped there or end there.
    #[must_use]
    pub fn expects(&self, state: HbHash, ran: LastThread, cost: u32) -> bool {
        let Some(rule) = self.rule else { return false };
        let states = self.states();
        let key = state.into();
        // The thread that ran last and the state fix the position, which is not known here.
        let stands = |entry: &Entry| {
            entry.ran == ran && entry.costs_at_most(cost) || stands_for_all(entry, rule, cost)
        };
        states.ends.contains(&key) || states.entered.slots().of(key).any(|entry| stands(&entry))
    }

    /// Notes that an execution ended in this state; says whether it is the first one.
    pub fn end(&self, state: HbHash) -> bool {
        self.states().ends.insert(state.into())
    }

    #[cfg(test)]
    pub(crate) fn ends(&self) -> std::collections::BTreeSet<HbHash> {
        self.states().ends.iter().map(|key| key.state(LastThread::default())).collect()
    }

    /// Takes the entries of an item back: what follows its states was not explored.
    pub fn withdraw(&self, states: &[HbHash], item: u64) {
        let mut all = self.states();
        states.iter().for_each(|&state| all.entered.withdraw(state.into(), item));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.states() = VisitedStates::default();
    }
}

/// Whether an entry stands for every position of its state.
fn stands_for_all(entry: &Entry, rule: SubsumptionRule, cost: u32) -> bool {
    rule == SubsumptionRule::Preemptions
        && (entry.is_at(ScheduleContext::Free) && entry.costs_at_most(cost)
            || entry.costs_less_than(cost) && entry.is_unbound())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::names::ThreadName;
    use crate::hb::ThreadTag;

    fn runner(ordinal: u16) -> LastThread {
        LastThread::of(ThreadName::MAIN.child(ordinal).map(ThreadTag::of), 0)
    }

    fn at(ordinal: u16) -> BoundedState {
        BoundedState {
            state: HbHash(1),
            ran: runner(ordinal),
            position: ScheduleContext::At(runner(ordinal)),
        }
    }

    #[test]
    fn a_state_is_entered_again_by_another_thread_at_the_same_cost() {
        let cache = Cache::new(Some(SubsumptionRule::Preemptions));
        assert!(!cache.enter(at(1), 1, 1));
        assert!(cache.enter(at(1), 1, 2));
        assert!(!cache.enter(at(2), 1, 3));
    }

    #[test]
    fn a_view_shows_what_is_entered_until_the_table_grows() {
        let cache = Cache::new(Some(SubsumptionRule::SamePosition));
        assert!(!cache.enter(at(1), 1, 1));
        let view = cache.view();
        assert!(view.knows(at(1), 1, 2) && !view.knows(at(1), 1, 1) && !view.knows(at(1), 0, 2));
        assert!(!cache.enter(at(2), 1, 2));
        assert!(view.knows(at(2), 1, 3));
        (3..100).for_each(|ordinal| assert!(!cache.enter(at(ordinal), 1, 3)));
        assert!(!view.knows(at(99), 1, 4) && view.knows(at(1), 1, 4));
        assert!(cache.view().knows(at(99), 1, 4));
    }

    #[test]
    fn a_cheaper_entry_stands_for_every_thread_under_preemptions_only() {
        for (rule, stopped) in [(SubsumptionRule::Preemptions, true), (SubsumptionRule::SamePosition, false)]
        {
            let cache = Cache::new(Some(rule));
            assert!(!cache.enter(at(1), 0, 1));
            assert_eq!(cache.enter(at(2), 1, 2), stopped);
            assert_eq!(cache.expects(HbHash(1), runner(3), 1), stopped);
        }
    }

    #[test]
    fn a_thread_that_gives_way_or_gave_way_stands_for_nobody_else() {
        let gave_way = LastThread::of(ThreadName::MAIN.child(1).map(ThreadTag::of), 1);
        for position in [
            ScheduleContext::Yields(runner(1)),
            ScheduleContext::Yields(gave_way),
            ScheduleContext::At(gave_way),
        ] {
            let cache = Cache::new(Some(SubsumptionRule::Preemptions));
            assert!(!cache.enter(BoundedState { position, ..at(1) }, 0, 1));
            assert!(!cache.enter(at(2), 1, 2));
            assert!(!cache.enter(at(1), 1, 2));
        }
    }

    #[test]
    fn a_free_position_stands_for_every_other_one_under_preemptions_only() {
        for (rule, stopped) in [(SubsumptionRule::Preemptions, true), (SubsumptionRule::SamePosition, false)]
        {
            let cache = Cache::new(Some(rule));
            assert!(!cache.enter(BoundedState { position: ScheduleContext::Free, ..at(1) }, 1, 1));
            assert!(!cache.enter(at(2), 0, 2));
            assert_eq!(cache.enter(at(3), 1, 2), stopped);
            assert_eq!(cache.expects(HbHash(1), runner(4), 1), stopped);
        }
    }

    #[test]
    fn an_item_is_not_stopped_by_itself_nor_by_what_was_withdrawn() {
        let cache = Cache::new(Some(SubsumptionRule::Preemptions));
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
