//! Guided by reads-from pairs: random schedules that are asked to let certain reads see certain writes, or not to.
//!
//! Dylan Wolff, Zheng Shi, Gregory J. Duck, Umang Mathur, Abhik Roychoudhury: Greybox Fuzzing for Concurrency Testing, ASPLOS
//! 2024 (RFF); its idea, written anew. A pair says which write a read sees, both abstract: operation, object, place in the
//! code. A plan (the paper's abstract schedule) is a set of pairs that an execution should have (positive constraints) or
//! should not (negative ones), made of the reads and writes seen so far. A plan whose execution showed a new pair is kept; kept
//! plans are changed by adding, dropping, negating or replacing a constraint, rare ones more often. An execution follows its
//! plan over partial order sampling ([`super::sampling::pos`]) where it can: constraints delay threads, and never block them.
//! No bound is published.
//!
//! Deviations: any operation that looks at what it changes (a lock, a compare-and-swap) reads; the number of changes of a plan
//! goes by the number of executions that had the same pairs as its own; a plan that keeps a thread waiting for too long
//! ([`super::sampling::starvation_guard`]) is given up.

mod guide;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use self::guide::ConstraintGuide;
use self::pairs::{Abstract, AbstractSchedule, Constraint, ReadsFrom, pairs};
pub(super) use self::pairs::{LastWrites, reads};
use super::sampling::rng::SeededRng;
use super::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::cache::Cache;
use crate::program::Epoch;
use crate::trace::Trace;

/// A plan has at most this many constraints.
const LONGEST: usize = 8;

/// A plan of the corpus is changed at most this many times in a row.
const MOST: u64 = 64;

/// A plan that is worth changing.
#[derive(Debug)]
struct CorpusEntry {
    plan: AbstractSchedule,
    /// The pairs of its execution.
    shown: BTreeSet<ReadsFrom>,
    /// The number of turns that it has had.
    turns: u32,
}

/// A planner that keeps plans.
#[derive(Debug)]
pub struct Guided {
    seed: u64,
    next_id: u64,
    corpus: Vec<CorpusEntry>,
    /// The plan whose turn it is, and the number of changes of it that are left.
    turn: (usize, u64),
    /// Every pair seen.
    known: BTreeSet<ReadsFrom>,
    /// Every read and every write in them.
    reads: BTreeSet<Abstract>,
    writes: BTreeSet<Abstract>,
    /// The number of executions that had these pairs.
    counts: BTreeMap<BTreeSet<ReadsFrom>, u64>,
    in_flight: FxHashMap<u64, AbstractSchedule>,
}

impl Guided {
    /// All schedules of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            next_id: 0,
            corpus: Vec::new(),
            turn: (0, 0),
            known: BTreeSet::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            counts: BTreeMap::new(),
            in_flight: FxHashMap::default(),
        }
    }

    /// The number of changes of a kept plan that are worth it: twice as many each time, and the fewer the more executions did
    /// the same; at least one.
    fn energy(&self, entry: &CorpusEntry) -> u64 {
        let alike = self.counts.get(&entry.shown).copied().unwrap_or(1).max(1);
        ((1 << entry.turns.min(16)) / alike).clamp(1, MOST)
    }

    /// The plan of the next execution.
    fn plan(&mut self, rng: &mut SeededRng) -> AbstractSchedule {
        if self.corpus.is_empty() {
            return AbstractSchedule::new();
        }
        if self.turn.1 == 0 {
            let next = (self.turn.0 + 1) % self.corpus.len();
            self.corpus[next].turns += 1;
            self.turn = (next, self.energy(&self.corpus[next]));
        }
        self.turn.1 -= 1;
        let mut plan = self.corpus[self.turn.0].plan.clone();
        self.change(&mut plan, rng);
        plan
    }

    /// A read, and a write that it could see or what was there at first.
    fn draw(&self, rng: &mut SeededRng) -> Option<ReadsFrom> {
        let reads: Vec<Abstract> = self.reads.iter().copied().collect();
        let read = rng.one_of(&reads)?;
        let writes = self.writes.iter().filter(|write| write.obj.overlaps(&read.obj)).copied();
        let writes: Vec<Option<Abstract>> = std::iter::once(None).chain(writes.map(Some)).collect();
        Some(ReadsFrom { read, write: rng.one_of(&writes)? })
    }

    /// Takes in what an execution showed that was to follow this plan.
    fn take_in(&mut self, run: &Trace, plan: AbstractSchedule) {
        let (shown, writes) = pairs(run);
        self.reads.extend(shown.iter().map(|pair| pair.read));
        self.writes.extend(writes);
        let before = self.known.len();
        self.known.extend(shown.iter().copied());
        *self.counts.entry(shown.clone()).or_default() += 1;
        if self.known.len() > before {
            self.corpus.push(CorpusEntry { plan, shown, turns: 0 });
        }
    }

    fn change(&self, plan: &mut AbstractSchedule, rng: &mut SeededRng) {
        let Some(pair) = self.draw(rng) else { return };
        let fresh = Constraint { pair, holds: rng.below(2) == 0 };
        let at = rng.below(plan.len());
        let kinds = if plan.is_empty() { 1 } else { 4 };
        match rng.below(kinds) {
            0 if plan.len() < LONGEST => plan.push(fresh),
            1 => drop(plan.remove(at)),
            2 => plan[at].holds = !plan[at].holds,
            _ => plan[at] = fresh,
        }
    }
}

impl Strategy for Guided {
    fn next(&mut self, _cache: &Cache) -> Next {
        let id = self.next_id;
        self.next_id += 1;
        // The drawing of plans and the following of them have streams of their own.
        let plan = self.plan(&mut SeededRng::new(self.seed, id << 1 | 1));
        self.in_flight.insert(id, plan);
        Next::Work(WorkItem { id, prefix: Vec::new(), cost: 0, branch: None })
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let plan = self.in_flight.get(&item.id).cloned().unwrap_or_default();
        Box::new(ConstraintGuide::new(SeededRng::new(self.seed, item.id << 1), plan))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, _notes: Notes, _cache: &Cache) {
        if let Some(plan) = self.in_flight.remove(&item.id) {
            self.take_in(run, plan);
        }
    }

    fn observe(&mut self, run: &Trace) {
        self.take_in(run, AbstractSchedule::new());
    }

    fn reset(&mut self, _epoch: Epoch) {
        let next_id = self.next_id;
        *self = Self { next_id, ..Self::new(self.seed) };
    }

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}
