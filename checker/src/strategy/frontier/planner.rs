//! The planner: a frontier of prefixes, taken in order of cost.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Bound;
use super::bound::least;
use super::guide::Explorer;
use super::path::{Path, PathPrefix, Steps};
use super::stack::Stack;
use crate::cache::{Cache, LastThread, StateKey};
use crate::event::position::Position;
use crate::program::Epoch;
use crate::strategy::speculation::WINDOW;
use crate::strategy::{
    Alternative, Coverage, Guide, Next, Notes, SpeculationValidity, Strategy, WorkItem, speculation,
};
use crate::trace::Trace;

/// A planner with a frontier.
pub struct Frontier<B> {
    bound: B,
    steps: Steps,
    /// Of each cost, what waits; the latest is taken first, which keeps it small.
    waiting: Vec<Stack<Waiting>>,
    /// The items that come next, in order, each with its cost. Those that an execution leads to come after these.
    next: VecDeque<(StateKey, Waiting, u32)>,
    /// The number of items that have had their turn.
    turned: u64,
    in_flight: FxHashMap<u64, IssuedItem>,
    started: bool,
    next_id: u64,
    current: u32,
    /// The alternatives that are explored only should it turn out that it matters when joins run.
    deferred_joins: Vec<(Arc<Path>, Alternative)>,
    /// The least cost at which something spare was dropped for want of room.
    deferred_dropped: Option<u32>,
    joins_matter: bool,
    /// The least cost with something waiting, and the number of turns that it has had.
    turns: (usize, u64),
    fairness_threshold: u64,
    /// Early items of a higher cost, which wait in their stacks as well: the cache drops them there.
    early: VecDeque<(StateKey, Waiting, u32)>,
    /// The number of items that wait or are spare, and the number that may.
    count: usize,
    capacity: usize,
    /// The least cost at which items were dropped for want of room.
    dropped: Option<u32>,
    bound_exceeded: bool,
    timeouts_bounded: bool,
    /// The least cost of an item in which a thread had to let others go.
    held_back: Option<u32>,
}

impl<B: Bound> Frontier<B> {
    /// A search that starts with the default schedule.
    pub fn new(bound: B) -> Self {
        Self {
            bound,
            steps: Steps::default(),
            waiting: Vec::new(),
            next: VecDeque::new(),
            turned: 0,
            in_flight: FxHashMap::default(),
            started: false,
            next_id: 0,
            current: 0,
            deferred_joins: Vec::new(),
            deferred_dropped: None,
            joins_matter: false,
            turns: (0, 0),
            fairness_threshold: FAIRNESS_THRESHOLD,
            early: VecDeque::new(),
            count: 0,
            capacity: CAPACITY,
            dropped: None,
            bound_exceeded: false,
            timeouts_bounded: false,
            held_back: None,
        }
    }

    fn begin(&mut self, item: Option<Waiting>, cost: u32) -> Next {
        let speculation_id = item.as_ref().and_then(|item| item.speculation_id);
        let id = speculation_id.map_or_else(|| self.new_id(), |id| u64::from(id.get()));
        let from = item.map(|item| (item.prefix, item.alternative));
        let prefix = from
            .as_ref()
            .map_or_else(Vec::new, |(prefix, alternative)| self.steps.read(prefix, *alternative));
        self.in_flight.insert(id, IssuedItem { from, cost });
        self.current = cost;
        self.turned += 1;
        Next::Work(WorkItem { id, prefix, cost, branch: None })
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The least cost with something waiting.
    fn cheapest(&self) -> Option<usize> {
        self.waiting.iter().position(|items| !items.is_empty())
    }

    /// An item of the next cost, where it is its turn: every other time, once the least cost has had [`FAIRNESS_THRESHOLD`] turns.
    /// The earliest ones come first, since they differ most; the latest would all lie in one corner.
    fn of_next_cost(&mut self, least: usize, cache: &Cache) -> Option<(StateKey, Waiting, u32)> {
        if self.turns.0 != least {
            self.turns = (least, 0);
            self.early.retain(|(_, _, cost)| *cost as usize > least);
        }
        self.turns.1 += 1;
        if self.turns.1 <= self.fairness_threshold || !self.turns.1.is_multiple_of(2) {
            return None;
        }
        loop {
            let (key, item, cost) = self.early.pop_front()?;
            if !is_known(key, &item, cost, cache) {
                return Some((key, item, cost));
            }
        }
    }

    /// An item of the least cost, or of the next one, unless its state is known.
    fn choose(&mut self, least: usize, cache: &Cache) -> Option<(StateKey, Waiting, u32)> {
        let early = self.of_next_cost(least, cache);
        if early.is_some() {
            return early;
        }
        let (key, item) = self.waiting[least].pop()?;
        self.count -= 1;
        (!is_known(key, &item, least as u32, cache)).then_some((key, item, least as u32))
    }

    /// Chooses what comes next: as many items at once as can be run ahead, but none of a higher cost before all of the
    /// lower one have had their turn.
    fn fill_window(&mut self, cache: &Cache) {
        let wanted = (self.turned / TURNED_FOR_EACH).clamp(1, WINDOW as u64) as usize;
        while self.next.len() < wanted
            && let Some(least) = self.cheapest()
            && (self.next.is_empty() || least == self.turns.0)
        {
            let chosen = self.choose(least, cache);
            self.next.extend(chosen);
        }
    }

    /// Whether an alternative leads to a state that is not known yet and that nothing waiting leads to.
    fn is_worth_it(&self, alternative: &Alternative, cache: &Cache) -> bool {
        let Some((state, ran)) = alternative.state else { return true };
        let waits = |stack: &Stack<Waiting>| stack.holds(StateKey::with(state, ran));
        !cache.prunes()
            || !cache.expects(state, ran, alternative.cost)
                && !self.waiting.get(alternative.cost as usize).is_some_and(waits)
    }

    fn has_room_for(&self, cost: u32) -> bool {
        self.count < self.capacity || cost <= self.current
    }

    fn add(&mut self, path: &Arc<Path>, alternative: Alternative, prunes: bool) {
        let Alternative { at, step, cost, state } = alternative;
        if !self.has_room_for(cost) {
            self.dropped = least(self.dropped, Some(cost));
            return;
        }
        self.count += 1;
        let cost = cost as usize;
        if self.waiting.len() <= cost {
            self.waiting.resize_with(cost + 1, Stack::default);
        }
        let prefix = PathPrefix { path: path.clone(), length: at.count() as u32 };
        let ran = state.map_or_else(LastThread::default, |(_, ran)| ran);
        let key = state.filter(|_| prunes).map_or(StateKey::NONE, |(state, ran)| StateKey::with(state, ran));
        let item = Waiting { prefix, alternative: self.steps.number(step), ran, speculation_id: None };
        if key != StateKey::NONE && cost > self.current as usize && self.early.len() < EARLY {
            self.early.push_back((key, item.clone(), cost as u32));
        }
        self.waiting[cost].push(key, item);
    }
}

impl<B: Bound> Strategy for Frontier<B> {
    fn next(&mut self, cache: &Cache) -> Next {
        if !self.started {
            self.started = true;
            return self.begin(None, 0);
        }
        loop {
            self.fill_window(cache);
            let Some((key, item, cost)) = self.next.pop_front() else { break };
            // Those chosen before it may have shown its state.
            if !is_known(key, &item, cost, cache) {
                return self.begin(Some(item), cost);
            }
        }
        if self.in_flight.is_empty() { Next::Done } else { Next::Wait }
    }

    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a> {
        Box::new(Explorer::new(self.bound, cache, item))
    }

    fn speculate(&mut self, cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let item = self.hand_out_speculative(others)?;
        let guide = Explorer::speculative(self.bound, cache.view(), &item);
        Some((item, Box::new(guide)))
    }

    fn validate_speculation(
        &mut self,
        item: &WorkItem,
        notes: &mut Notes,
        cache: &Cache,
    ) -> SpeculationValidity {
        super::speculation::validate(item, notes, cache)
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache) {
        let Some(IssuedItem { from, cost }) = self.in_flight.remove(&item.id) else { return };
        self.held_back = least(self.held_back, Some(cost).filter(|_| run.holds_back()));
        self.bound_exceeded |= notes.bound_exceeded;
        self.timeouts_bounded |= notes.timeouts_bounded;
        if notes.joins_matter && !self.joins_matter {
            self.take_in_deferred(cache);
        }
        let worth_it = |all: Vec<Alternative>| -> Vec<Alternative> {
            all.into_iter().filter(|other| self.is_worth_it(other, cache)).collect()
        };
        let (wanted, deferred_joins) = (worth_it(notes.alternatives), worth_it(notes.deferred_joins));
        let Some(last) = wanted.iter().chain(&deferred_joins).map(|other| other.at).max() else { return };
        let shared = from.as_ref().map_or(0, |(prefix, _)| prefix.length as usize);
        let tail = run.steps[Position::after(shared).min(last)..last].iter();
        let tail = tail.map(|step| self.steps.number(step.replayed())).collect();
        let path = Arc::new(Path::new(from.map(|(prefix, _)| prefix), tail));
        for alternative in wanted {
            self.add(&path, alternative, cache.prunes());
        }
        for alternative in deferred_joins {
            self.defer(&path, alternative, cache.prunes());
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        self.waiting.clear();
        self.next.clear();
        self.turned = 0;
        self.in_flight.clear();
        self.early.clear();
        self.deferred_joins.clear();
        (self.deferred_dropped, self.joins_matter) = (None, false);
        self.steps = Steps::default();
        (self.started, self.bound_exceeded, self.timeouts_bounded, self.held_back) =
            (false, false, false, None);
        (self.current, self.count, self.dropped, self.turns) = (0, 0, None, (0, 0));
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let unfinished =
            if self.started { self.in_flight.values().map(|item| item.cost).min() } else { Some(0) };
        let waiting =
            least(self.cheapest().map(|cost| cost as u32), self.next.iter().map(|next| next.2).min());
        let first_gap = [cut, unfinished, waiting, self.dropped].into_iter().flatten().min();
        match first_gap {
            Some(0) => Coverage::default(),
            Some(gap) => {
                let bound = (gap - 1).min(self.bound.max());
                let in_turns_from = self.held_back.filter(|&cost| cost <= bound);
                Coverage { in_turns_from, ..self.bound.covered(bound) }
            }
            None => {
                let covered = self.bound.covered(self.bound.max());
                let whole = !self.bound_exceeded && !self.timeouts_bounded;
                let in_turns_from = self.held_back.filter(|_| whole || covered != Coverage::default());
                Coverage { everything: whole && self.held_back.is_none(), in_turns_from, ..covered }
            }
        }
    }

    fn bound(&self) -> Option<u32> {
        (self.bound.max() < u32::MAX).then_some(self.current)
    }
}

#[cfg(test)]
impl<B: Bound> Frontier<B> {
    /// A search with room for few items only.
    pub(crate) fn with_capacity(bound: B, capacity: usize) -> Self {
        Self { capacity, ..Self::new(bound) }
    }

    /// A search that takes turns early.
    pub(crate) fn with_fairness_threshold(bound: B, fairness_threshold: u64) -> Self {
        Self { fairness_threshold, ..Self::new(bound) }
    }
}

/// This many items fill about 100 MB. More wait only where executions are long and the bound is high; then those of
/// higher cost than the present one are dropped, and their bound is not covered.
const CAPACITY: usize = 2_000_000;

/// So many of the earliest items of a higher cost than the present one are kept aside, for when they take turns.
const EARLY: usize = 4096;

/// So many items of one cost come first; then early ones of the next cost take turns with it. Where the schedules of one cost
/// alone exceed any budget (eight threads that write one variable have 8! of them without a preemption), a failure one
/// preemption further would never be seen. Coverage is counted from the least cost that still waits, so it stays true.
const FAIRNESS_THRESHOLD: u64 = 2000;

/// For every so many items that have had their turn, one more is chosen at once: while few have run, what the next one shows
/// is much of what there is to choose by.
const TURNED_FOR_EACH: u64 = 4;

/// An item that was handed out.
struct IssuedItem {
    from: Option<(PathPrefix, u32)>,
    cost: u32,
}

#[derive(Clone)]
struct Waiting {
    prefix: PathPrefix,
    alternative: u32,
    /// The thread that will have run last.
    ran: LastThread,
    /// Its id, if it has been handed out ahead of its turn.
    speculation_id: Option<NonZeroU32>,
}

/// Whether nothing new comes of an item: it is dropped.
fn is_known(key: StateKey, item: &Waiting, cost: u32, cache: &Cache) -> bool {
    key != StateKey::NONE && cache.expects(key.state(item.ran), item.ran, cost)
}

impl<B: Bound> Frontier<B> {
    /// Keeps an alternative aside that need not be explored as long as it does not matter when joins run.
    pub(super) fn defer(&mut self, path: &Arc<Path>, alternative: Alternative, prunes: bool) {
        if self.joins_matter {
            self.add(path, alternative, prunes);
        } else if self.has_room_for(alternative.cost) {
            self.count += 1;
            self.deferred_joins.push((path.clone(), alternative));
        } else {
            self.deferred_dropped = least(self.deferred_dropped, Some(alternative.cost));
        }
    }

    /// Explores the alternatives that were kept aside: it does matter when joins run.
    pub(super) fn take_in_deferred(&mut self, cache: &Cache) {
        self.joins_matter = true;
        self.dropped = least(self.dropped, self.deferred_dropped.take());
        for (path, alternative) in std::mem::take(&mut self.deferred_joins) {
            self.count -= 1;
            if self.is_worth_it(&alternative, cache) {
                self.add(&path, alternative, cache.prunes());
            }
        }
    }
}

impl<B: Bound> Frontier<B> {
    /// Something of what comes next.
    pub(super) fn hand_out_speculative(&mut self, others: usize) -> Option<WorkItem> {
        let at =
            speculation::choose(self.next.iter().map(|(_, item, _)| item.speculation_id.is_some()), others)?;
        let (_, item, cost) = &mut self.next[at];
        self.next_id += 1;
        item.speculation_id = u32::try_from(self.next_id).ok().and_then(NonZeroU32::new);
        let prefix = self.steps.read(&item.prefix, item.alternative);
        Some(WorkItem { id: item.speculation_id?.get().into(), prefix, cost: *cost, branch: None })
    }
}
