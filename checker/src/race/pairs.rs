//! Races over all executions of a search, and of what explains its failures: once per pair of locations, and whether the order
//! of a pair decides.
//!
//! An execution has a pair in one *way* if the accesses race in it, and one of them always runs first, or each of them once.
//! A pair is harmful if it was had in several ways, of which one failed always and another one did not.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::detector::{AccessSite, Detector, Race};
use super::hidden::{HiddenSynchronisation, with};
use crate::event::names::{Obj, Site};
use crate::event::operation::Atomicity;
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::trace::Trace;

/// So many pairs are kept: each one needs an execution that shows it.
pub(crate) const MOST: usize = 200;

/// So many executions that show a pair are kept: what is found out later may order it in some of them.
const WITNESSES: usize = 4;

/// So often an execution is looked at again, each time further, before a race in it stays uncertain.
const MOST_ROUNDS: u32 = 8;

/// The ways in which an execution can have a pair: the first place first, the second one first, both.
const WAYS: usize = 3;

/// A pair of locations that races.
#[derive(Clone, Debug)]
pub struct RacingPair {
    /// In an execution that shows it, the first one of the search.
    pub race: Race,
    /// The trace of that execution.
    pub trace: Arc<Trace>,
    /// Nothing says that these accesses may be atomic.
    pub certain: bool,
    /// The harm that one of its orders does, if that was seen.
    pub harm: Option<HarmfulOrder>,
    /// Other executions that show it.
    others: Vec<(Arc<Trace>, Race)>,
}

/// The order of a pair that was seen to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HarmfulOrder {
    /// The accesses in the order that fails; `both`: each of them once ran before the other.
    pub order: [AccessSite; 2],
    /// In the executions that failed, accesses of the pair ran in either order.
    pub both: bool,
    /// The number of executions that had it this way: all of them failed.
    pub failed: u64,
    /// The number of executions that had it in another way, and of those among them that passed.
    pub others: (u64, u64),
}

/// The races of a search so far.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    detector: Detector,
    /// In the order in which they were found.
    found: Vec<RacingPair>,
    /// Of each pair of places, the numbers of executions that had it in each way: of those that failed and of those that
    /// passed.
    ways: FxHashMap<[AccessSite; 2], [(u64, u64); WAYS]>,
    dropped: bool,
}

impl Pairs {
    /// Takes in an execution. `failed` says how it ended, if it went to its end. `true`: it has shown new synchronisation
    /// variables.
    pub fn take(&mut self, trace: &Trace, failed: Option<bool>) -> bool {
        let new = self.detector.learn(trace);
        if new {
            self.check_again();
        }
        let races = self.detector.races(trace);
        let ways = ways(trace, &races);
        let mut kept = None;
        for race in races {
            let is_full = self.found.len() == MOST;
            let known = self.found.iter_mut().find(|pair| pair.locations() == locations(race.places));
            if known.as_ref().is_some_and(|pair| pair.is_enough(&race)) {
                continue;
            }
            if known.is_none() && is_full {
                self.dropped = true;
                continue;
            }
            let trace = Arc::clone(kept.get_or_insert_with(|| Arc::new(trace.clone())));
            match known {
                Some(pair) if pair.shown_by().any(|(known, _)| Arc::ptr_eq(known, &trace)) => {}
                Some(pair) => pair.add(trace, race),
                None => self.found.push(RacingPair::new(trace, race)),
            }
        }
        if let Some(failed) = failed {
            self.count(ways, failed);
        }
        new
    }

    /// Takes in an execution that was run to explain a failure: it counts for the pairs that the search has found, and adds none.
    pub fn compare(&mut self, trace: &Trace, failed: bool) {
        if self.found.is_empty() {
            return;
        }
        let mut ways = ways(trace, &self.detector.races(trace));
        ways.retain(|places, _| self.has(*places));
        self.count(ways, failed);
    }

    fn has(&self, places: [AccessSite; 2]) -> bool {
        self.found.iter().any(|pair| pair.locations() == locations(places))
    }

    fn count(&mut self, ways: FxHashMap<[AccessSite; 2], usize>, failed: bool) {
        for (places, way) in ways {
            let (fails, passes) = &mut self.ways.entry(places).or_default()[way - 1];
            *(if failed { fails } else { passes }) += 1;
        }
    }

    /// The synchronisation variables so far.
    #[must_use]
    pub fn variables(&self) -> &ByteSet {
        self.detector.variables()
    }

    /// Key points were added: what looked unordered may be ordered by what was not seen.
    pub fn restart(&mut self) {
        self.found.clear();
        self.ways.clear();
        self.dropped = false;
    }

    /// Whether a race was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether there were more pairs than are kept.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.dropped
    }

    /// All pairs, in the order in which they were found.
    #[must_use]
    pub fn into_found(mut self) -> Vec<RacingPair> {
        let mut found = std::mem::take(&mut self.found);
        for pair in &mut found {
            let all = self.ways.iter().filter(|(places, _)| locations(**places) == pair.locations());
            pair.harm = all
                .filter_map(|(places, ways)| harm(*places, ways))
                .max_by_key(|harm| (harm.failed, std::cmp::Reverse(harm.order)));
        }
        found
    }

    /// There are new synchronisation variables: keeps the pairs that race still.
    fn check_again(&mut self) {
        let detector = &mut self.detector;
        let all = |_: &[(Arc<Trace>, Race, bool)]| true;
        check(&mut self.found, all, |trace, _| (detector.races(trace), true));
        self.forget_ways();
    }

    /// Keeps the pairs that race also with what is found out about an execution that shows them. What is found out may include
    /// more about these events of it, the accesses of pairs.
    pub fn confirm(&mut self, mut find_out: impl FnMut(&Arc<Trace>, Vec<Position>) -> HiddenSynchronisation) {
        let known = &self.detector;
        let is_open = |still: &[(Arc<Trace>, Race, bool)]| !still.iter().any(|(_, _, is_all)| *is_all);
        check(&mut self.found, is_open, |trace, mut events| {
            let mut rounds = 0;
            loop {
                // The actions of libraries are known until then. An order of two accesses may leave later ones from the same
                // places racing.
                let until = events.iter().max().copied().unwrap_or(Position::START);
                let hidden_sync = find_out(trace, events.clone());
                let races = with(trace, &hidden_sync, known.variables()).races(known.clone());
                let (mut within, beyond): (Vec<Race>, Vec<Race>) =
                    races.into_iter().partition(|race| race.events[1] <= until);
                let is_new = |race: &&Race| {
                    within.iter().all(|other| locations(other.places) != locations(race.places))
                };
                let next: Vec<Position> = beyond.iter().filter(is_new).flat_map(|race| race.events).collect();
                rounds += 1;
                if next.is_empty() || hidden_sync.hidden.is_none() || rounds == MOST_ROUNDS {
                    let is_all = hidden_sync.hidden.is_some() && next.is_empty();
                    within.extend(beyond.into_iter().filter(|_| !is_all));
                    break (within, is_all);
                }
                events.extend(next);
            }
        });
        self.forget_ways();
    }

    fn forget_ways(&mut self) {
        let found = &self.found;
        self.ways.retain(|places, _| found.iter().any(|pair| pair.locations() == locations(*places)));
    }
}

/// Looks at the executions that show pairs, for each pair as long as more are wanted, and keeps those that still show it, with
/// whether a look has told all that may order accesses. A look is given the events of all pairs in its execution.
fn check(
    found: &mut Vec<RacingPair>,
    is_wanted: impl Fn(&[(Arc<Trace>, Race, bool)]) -> bool,
    mut look: impl FnMut(&Arc<Trace>, Vec<Position>) -> (Vec<Race>, bool),
) {
    let mut looks: Vec<(Arc<Trace>, Vec<Race>, bool)> = Vec::new();
    let all = std::mem::take(found);
    for pair in &all {
        let mut still: Vec<(Arc<Trace>, Race, bool)> = Vec::new();
        for (trace, race) in pair.shown_by() {
            if !is_wanted(&still) {
                break;
            }
            let known = looks.iter().position(|(known, ..)| Arc::ptr_eq(known, trace));
            let at = known.unwrap_or_else(|| {
                let shown =
                    all.iter().flat_map(RacingPair::shown_by).filter(|(other, _)| Arc::ptr_eq(other, trace));
                let (races, is_all) = look(trace, shown.flat_map(|(_, race)| race.events).collect());
                looks.push((Arc::clone(trace), races, is_all));
                looks.len() - 1
            });
            let (_, races, is_all) = &looks[at];
            let mut same = races.iter().filter(|other| locations(other.places) == pair.locations());
            // The very events if they race still.
            if let Some(race) = same.clone().find(|other| other.events == race.events).or_else(|| same.next())
            {
                still.push((Arc::clone(trace), *race, *is_all));
            }
        }
        still.sort_by_key(|(_, _, is_all)| !is_all);
        let mut still = still.into_iter();
        let Some((trace, race, is_all)) = still.next() else { continue };
        let others = still.map(|(trace, race, _)| (trace, race)).collect();
        let certain = is_all && is_certain(&trace, &race);
        found.push(RacingPair { race, trace, certain, harm: pair.harm, others });
    }
}

impl RacingPair {
    fn new(trace: Arc<Trace>, race: Race) -> Self {
        Self { race, certain: is_certain(&trace, &race), trace, harm: None, others: Vec::new() }
    }

    /// Whether another execution that shows it so adds nothing. If the accesses stand side by side, facts that are found out
    /// later cannot order them.
    fn is_enough(&self, race: &Race) -> bool {
        let has_some = self.shown_by().any(|(_, known)| known.side_by_side);
        self.others.len() + 1 >= WITNESSES && (has_some || !race.side_by_side)
    }

    fn add(&mut self, trace: Arc<Trace>, race: Race) {
        self.others.truncate(WITNESSES - 2);
        self.others.push((trace, race));
    }

    /// The executions that show it, and where.
    fn shown_by(&self) -> impl Iterator<Item = (&Arc<Trace>, &Race)> {
        std::iter::once((&self.trace, &self.race))
            .chain(self.others.iter().map(|(trace, race)| (trace, race)))
    }

    /// The places of the two accesses, whichever is first.
    #[must_use]
    pub fn locations(&self) -> [Site; 2] {
        locations(self.race.places)
    }

    /// Something that the accesses have in common.
    #[must_use]
    pub fn obj(&self) -> Obj {
        self.race.obj
    }
}

fn locations(places: [AccessSite; 2]) -> [Site; 2] {
    let [a, b] = places.map(|place| place.site);
    [a.min(b), a.max(b)]
}

/// The ways in which an execution has each pair of places, as bits.
fn ways(trace: &Trace, races: &[Race]) -> FxHashMap<[AccessSite; 2], usize> {
    let mut ways = FxHashMap::default();
    for (places, way) in races.iter().map(|race| way(trace, race)) {
        *ways.entry(places).or_default() |= way;
    }
    ways
}

/// A pair of places in a fixed order, and in which way round it ran, as a bit.
fn way(trace: &Trace, race: &Race) -> ([AccessSite; 2], usize) {
    let [a, b] = race.places;
    let thread = |nth: usize| trace.steps[race.events[nth]].event.id.thread;
    let forth = if a == b { thread(0) < thread(1) } else { a < b };
    if forth { ([a, b], 1) } else { ([b, a], 2) }
}

/// The harm that one order of a pair does, by the executions that had it in each way.
fn harm([a, b]: [AccessSite; 2], ways: &[(u64, u64); WAYS]) -> Option<HarmfulOrder> {
    (0..WAYS)
        .filter_map(|way| {
            let (failed, passed) = ways[way];
            let others = ways.iter().enumerate().filter(|(other, _)| *other != way);
            let (all, well) = others.fold((0, 0), |(all, well), (_, (f, p))| (all + f + p, well + p));
            let order = if way == 1 { [b, a] } else { [a, b] };
            (failed > 0 && passed == 0 && well > 0).then_some(HarmfulOrder {
                order,
                both: way == 2,
                failed,
                others: (all, well),
            })
        })
        .max_by_key(|harm| harm.failed)
}

fn is_certain(trace: &Trace, race: &Race) -> bool {
    race.events.iter().all(|&at| trace.steps[at].event.op.atomicity == Atomicity::Plain)
}
