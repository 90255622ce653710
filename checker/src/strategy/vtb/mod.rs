//! Variable and thread bounding: few preemptions, at accesses of few variables, under few orders of priority.
//!
//! Sandeep Bindal, Sorav Bansal, Akash Lal: Variable and Thread Bounding for Systematic Testing of Multithreaded Programs,
//! ISSTA 2013 (RankChecker, its exhaustive algorithm). Threads run by strict priority. For c preemptions against that
//! order, sets of v variables, and failures that take the order of t threads, in this order of iteration: so many random
//! orders of priority that the order of any t threads of the n, preempted ones counted anew, is among them with
//! probability 1 - ε (Lemma 4.1); of each, every way to preempt c times right after accesses of these variables, with
//! all of them used.
//!
//! Deviations:
//! * Preemptions are iterated first: an order of priority is a tree of preemptions that all sets of variables share, so
//!   no execution is run twice for several sets, and nothing needs to be pruned for it.
//! * There is no pruning by happens-before: one class has other successors under another order of priority.
//! * Each second order of priority is the reverse of the one before; two are enough where c = 0 and t = 2.
//! * The loop iteration number of a variable counts the variables that the same code touched first before it. Sets of
//!   variables come in order of it, for which the paper bounds it; where it cannot be told apart they come as they were seen.
//! * A signal wakes the first waiter, and time-outs have a priority of their own.
//! * "start" is a variable: that of a thread that has touched none.
//! * Where there can be no further preemption, only the accesses of the variables preempted at have to be key points, as in
//!   the paper; before that, all of them, since sets of variables share executions, and the accesses of each variable are
//!   where the next preemption can be. Preemptions are at the same places under both: [`preemption_point::PreemptionPoint`].
//! * It does not say that a bound is covered: the orders of priority are random.

mod guide;
mod preemption_point;
mod sets;
mod tree;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use self::guide::{RandomOrder, VtbGuide};
use self::preemption_point::PreemptionPoint;
use self::sets::{Sets, Variable, Variables};
use self::tree::{NodeId, PreemptionTree};
use super::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::cache::Cache;
use crate::event::names::ThreadName;
use crate::event::ranges::byte_set::ByteSet;
use crate::program::{Epoch, Scope};
use crate::trace::Trace;

/// The probability with which an order of threads may be missed (ε of the paper).
const MISSED: f64 = 0.01;

/// One execution in so many has every access as a key point, to learn from.
const ALL_OF: u64 = 10;

/// The highest bounds explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Preemptions against the order of priority.
    pub preemptions: u32,
    /// Variables that they are at.
    pub variables: u32,
    /// Threads whose order matters, at least 2.
    pub threads: u32,
}

/// The bounds that are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    preemptions: u32,
    variables: u32,
    threads: u32,
}

/// A planner that iterates over variables and threads.
pub struct Vtb {
    bounds: Bounds,
    seed: u64,
    /// The levels that come after the present one.
    levels: VecDeque<Level>,
    level: Option<Level>,
    /// The orders of priority of this level that are left for the present set of variables.
    orders: Vec<u32>,
    nth_order: usize,
    sets: Sets,
    set: Vec<Variable>,
    /// The path in the tree of the present order to the node where the next execution is looked for: of each node down to
    /// there, the next of its points and the variables of the set that are used.
    path: Vec<(NodeId, usize, u32)>,
    trees: Vec<PreemptionTree>,
    variables: Variables,
    threads: BTreeSet<ThreadName>,
    /// The variables that a thread has waited for in a loop: a thread that writes there decides which one can go.
    spun_on: ByteSet,
    /// Variables or threads were seen that this level did not know of when it began.
    grown: bool,
    in_flight: Option<(u64, u32, NodeId)>,
    next_id: u64,
}

impl Vtb {
    /// A search up to these bounds.
    #[must_use]
    pub fn new(bounds: Bounds, seed: u64) -> Self {
        let bounds = Bounds { threads: bounds.threads.max(2), ..bounds };
        let mut search = Self {
            bounds,
            seed,
            levels: VecDeque::new(),
            level: None,
            orders: Vec::new(),
            nth_order: 0,
            sets: Sets::default(),
            set: Vec::new(),
            path: Vec::new(),
            trees: Vec::new(),
            variables: Variables::default(),
            threads: BTreeSet::new(),
            spun_on: ByteSet::default(),
            grown: false,
            in_flight: None,
            next_id: 0,
        };
        search.start();
        search
    }

    fn start(&mut self) {
        let Bounds { preemptions, variables, threads } = self.bounds;
        self.levels.clear();
        for c in 0..=preemptions {
            for v in c.min(1)..=c.min(variables) {
                let levels = (2..=threads).map(|t| Level { preemptions: c, variables: v, threads: t });
                self.levels.extend(levels);
            }
        }
        self.level = None;
        self.next_level();
    }

    /// Begins the next level; whether there is one. One during which something new was seen is gone through again, which
    /// costs no execution that was run.
    fn next_level(&mut self) -> bool {
        if !self.grown {
            self.level = self.levels.pop_front();
        }
        self.grown = false;
        let Some(level) = self.level else { return false };
        self.orders = self.orders_of(level);
        self.sets = Sets::of(self.variables.shared(), level.variables as usize);
        self.next_set();
        true
    }

    fn next_set(&mut self) -> bool {
        let Some(set) = self.sets.next() else { return false };
        (self.set, self.nth_order) = (set, 0);
        self.path.clear();
        true
    }

    /// The orders of priority that a level takes, without those that order all known threads alike.
    fn orders_of(&self, level: Level) -> Vec<u32> {
        let count = permutations(level, self.threads.len().max(2) as u32);
        let mut known = BTreeSet::new();
        let is_new = |&order: &u32| {
            let order = RandomOrder { seed: self.seed, number: order };
            known.insert(order.of(self.threads.iter().copied(), level.preemptions))
        };
        (0..count).filter(is_new).collect()
    }

    /// The scheduling points that an execution with these preemptions needs. After the last preemption that there can be it is
    /// not asked where else there could be one.
    fn scope(&self, id: u64, preemptions: &[PreemptionPoint]) -> Scope {
        let is_last = !preemptions.is_empty() && preemptions.len() == self.bounds.preemptions as usize;
        if !is_last || id.is_multiple_of(ALL_OF) {
            return Scope::All;
        }
        let mut objects = self.spun_on.clone();
        preemptions.iter().filter_map(|place| place.variable).for_each(|variable| {
            objects.insert(variable);
        });
        Scope::Objects(Arc::new(objects))
    }

    /// The next execution of the present level that was not run.
    fn find(&mut self) -> Option<(u32, NodeId)> {
        let level = self.level?;
        loop {
            let Some(&order) = self.orders.get(self.nth_order) else {
                if self.next_set() {
                    continue;
                }
                return None;
            };
            if self.trees.len() <= order as usize {
                self.trees.resize_with(order as usize + 1, PreemptionTree::default);
            }
            if self.path.is_empty() {
                self.path.push((PreemptionTree::ROOT, 0, 0));
            }
            if let Some(node) = self.descend(level, order) {
                return Some((order, node));
            }
            self.nth_order += 1;
        }
    }

    /// Goes on through the tree of an order to a node that was not run.
    fn descend(&mut self, level: Level, order: u32) -> Option<NodeId> {
        let tree = &mut self.trees[order as usize];
        while let Some((node, next, used)) = self.path.last_mut() {
            let Some(points) = tree.points(*node) else { return Some(*node) };
            let (node, used) = (*node, *used);
            let point: Option<PreemptionPoint> = points.get(*next).copied();
            *next += 1;
            let left = level.preemptions as usize + 1 - self.path.len();
            let Some(place) = point.filter(|_| left > 0) else {
                self.path.pop();
                continue;
            };
            let Some(nth) = self.set.iter().position(|&known| known == place.variable) else { continue };
            let used = used | 1 << nth;
            if self.set.len() - (used.count_ones() as usize) < left {
                self.path.push((tree.child(node, place), 0, used));
            }
        }
        None
    }
}

/// The number of random orders of n threads and c preempted ones that it takes to have the order of any t + c among them
/// (Lemma 4.1).
fn permutations(level: Level, n: u32) -> u32 {
    let Level { preemptions: c, threads, .. } = level;
    let t = threads.min(n);
    let logarithm = |n: u32| (1..=n).map(|k| f64::from(k).ln()).sum::<f64>();
    let factorial = (1..=t + c).map(f64::from).product::<f64>();
    (factorial * (logarithm(n + c) - logarithm(n - t) + MISSED.recip().ln())).ceil() as u32
}

impl Strategy for Vtb {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.in_flight.is_some() {
            return Next::Wait;
        }
        loop {
            if let Some((order, node)) = self.find() {
                let id = self.next_id;
                self.next_id += 1;
                self.in_flight = Some((id, order, node));
                let cost = self.trees[order as usize].preemptions(node).len() as u32;
                return Next::Work(WorkItem { id, prefix: Vec::new(), cost, branch: None });
            }
            if !self.next_level() {
                return Next::Done;
            }
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let (order, preemptions) = match self.in_flight {
            Some((id, order, node)) if id == item.id => (order, self.trees[order as usize].preemptions(node)),
            _ => (0, Vec::new()),
        };
        let scope = self.scope(item.id, &preemptions);
        Box::new(VtbGuide::new(RandomOrder { seed: self.seed, number: order }, preemptions, scope))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some((_, order, node)) = self.in_flight.take_if(|(id, ..)| *id == item.id) else { return };
        let before = self.threads.len();
        self.threads.extend(run.threads.iter().copied());
        self.grown |= self.variables.learn(run) | (self.threads.len() > before);
        run.spun_on.iter().for_each(|&obj| {
            self.spun_on.insert(obj);
        });
        let tree = &mut self.trees[order as usize];
        let is_last = tree.preemptions(node).len() == self.bounds.preemptions as usize;
        let points = notes.alternatives.iter().filter(|_| !is_last).map(|other| other.at);
        tree.learn(node, preemption_point::places(run, points));
    }

    fn reset(&mut self, _epoch: Epoch) {
        self.trees.clear();
        self.path.clear();
        self.variables = Variables::default();
        self.threads.clear();
        self.spun_on.clear();
        (self.in_flight, self.grown) = (None, false);
        self.start();
    }

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        self.level.map(|level| level.preemptions)
    }
}
