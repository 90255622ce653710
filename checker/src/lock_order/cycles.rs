//! Cycles of lock orders in one execution.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::concurrency::{order_without, unordered};
use super::graph::LockOrderGraph;
use super::nested::{Acquisition, nested};
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::hb::HappensBefore;
use crate::race::learn;
use crate::trace::Trace;

/// So many continuations of chains are tried in an execution: their number is exponential in the worst case.
const ROUNDS: usize = 10_000;

/// For so many cycles of an execution its happens-before is computed anew, without their locks.
const ORDERS: usize = 20;

/// An edge of a cycle of the lock-order graph: a thread that has a lock and waits for another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockOrderEdge {
    /// The thread.
    pub thread: ThreadName,
    /// The acquisition of the lock that it has, and that the thread before it in the cycle waits for.
    pub outer: Acquisition,
    /// The acquisition of the lock that it waits for.
    pub inner: Acquisition,
}

/// The identity of an edge: its locks, and their places in the code.
pub(super) type LockOrderEdgeKey = (Obj, Site, Obj, Site);

impl LockOrderEdge {
    /// Its events.
    pub(super) fn events(&self) -> [Position; 2] {
        [self.outer.at, self.inner.at]
    }

    pub(super) fn key(&self) -> LockOrderEdgeKey {
        (self.outer.lock, self.outer.site, self.inner.lock, self.inner.site)
    }
}

/// The acquisitions of a thread that are alike: of one lock at one place, with the same others in hand, taken at the same
/// places.
struct Dependency {
    thread: ThreadName,
    /// Each with what the thread had then.
    all: Vec<(SmallVec<[Acquisition; 4]>, Acquisition)>,
}

impl Dependency {
    fn held(&self) -> &[Acquisition] {
        &self.all[0].0
    }

    fn inner(&self) -> &Acquisition {
        &self.all[0].1
    }

    /// The index of the lock in hand that an acquisition would wait for.
    fn waited_for(&self, by: &Acquisition) -> Option<usize> {
        self.held().iter().position(|held| held.excludes(by))
    }

    /// Whether the two threads cannot both have come there: they would have a lock in common.
    fn shuts_out(&self, other: &Self) -> bool {
        self.held().iter().any(|held| other.held().iter().any(|others| held.excludes(others)))
    }
}

/// The cycles of an execution that are potential deadlocks. Those that are known are not looked at again: `is_known` is given
/// the edges of each.
pub(super) fn cycles(
    trace: &Trace,
    graph: &LockOrderGraph,
    variables: &ByteSet,
    is_known: &mut dyn FnMut(&[LockOrderEdgeKey]) -> bool,
) -> Vec<Vec<LockOrderEdge>> {
    let dependencies = dependencies(trace, graph);
    let mut holders: FxHashMap<Obj, Vec<usize>> = FxHashMap::default();
    for (nth, dependency) in dependencies.iter().enumerate() {
        dependency.held().iter().for_each(|held| holders.entry(held.lock).or_default().push(nth));
    }
    let mut search = CycleSearch {
        orders: Orders { trace, graph, known: variables, learnt: None, left: ORDERS },
        dependencies: &dependencies,
        holders: &holders,
        is_known,
        left: ROUNDS,
        found: Vec::new(),
    };
    for first in 0..dependencies.len() {
        search.extend(&mut vec![first]);
    }
    search.found
}

/// The nested acquisitions that may be part of a cycle of the graph, in the order in which they first came.
fn dependencies(trace: &Trace, graph: &LockOrderGraph) -> Vec<Dependency> {
    let mut known = BTreeMap::new();
    let mut all: Vec<Dependency> = Vec::new();
    nested(trace, |thread, held, inner| {
        if !held.iter().any(|outer| graph.is_on_cycle(outer.lock, inner.lock)) {
            return;
        }
        let alike = |one: &Acquisition| (one.lock, one.shared, one.site);
        let key = (thread, alike(&inner), held.iter().map(alike).collect::<Vec<_>>());
        let nth = *known.entry(key).or_insert(all.len());
        if nth == all.len() {
            all.push(Dependency { thread, all: Vec::new() });
        }
        all[nth].all.push((held.into(), inner));
    });
    all
}

/// Happens-before of an execution without some of its locks.
struct Orders<'a> {
    trace: &'a Trace,
    graph: &'a LockOrderGraph,
    known: &'a ByteSet,
    /// The synchronisation variables that are known, with those of the execution; and the order that they make without any lock
    /// of a cycle of the graph: what that orders is ordered without the locks of one cycle, too.
    learnt: Option<(ByteSet, HappensBefore)>,
    left: usize,
}

impl Orders<'_> {
    /// Of each thread one of its events, so that nothing but these locks orders them.
    fn unordered(&mut self, locks: &ByteSet, chains: &[&[Position]]) -> Option<Vec<usize>> {
        let (variables, weakest) = self.learnt.get_or_insert_with(|| {
            let mut variables = self.known.clone();
            learn(&mut variables, self.trace);
            let order = order_without(self.trace, &variables, &self.graph.on_cycles().collect());
            (variables, order)
        });
        unordered(weakest, chains)?;
        self.left = self.left.checked_sub(1)?;
        unordered(&order_without(self.trace, variables, locks), chains)
    }
}

struct CycleSearch<'a> {
    orders: Orders<'a>,
    dependencies: &'a [Dependency],
    /// Of each lock, those that have it in hand.
    holders: &'a FxHashMap<Obj, Vec<usize>>,
    is_known: &'a mut dyn FnMut(&[LockOrderEdgeKey]) -> bool,
    left: usize,
    found: Vec<Vec<LockOrderEdge>>,
}

impl CycleSearch<'_> {
    /// Looks for cycles that begin by these dependencies, each of which waits for the next one. The first one's thread is the
    /// least, so that each cycle is found once.
    fn extend(&mut self, chain: &mut Vec<usize>) {
        let all = self.dependencies;
        let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return };
        for &next in self.holders.get(&all[last].inner().lock).into_iter().flatten() {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let waits = || all[next].waited_for(all[last].inner()).is_some();
            let is_free =
                |&other: &usize| all[other].thread != all[next].thread && !all[other].shuts_out(&all[next]);
            if all[next].thread <= all[first].thread || !waits() || !chain.iter().all(is_free) {
                continue;
            }
            chain.push(next);
            match all[first].waited_for(all[next].inner()) {
                Some(_) => self.judge(chain),
                None => self.extend(chain),
            }
            chain.pop();
        }
    }

    /// Takes in a cycle if its acquisitions are unordered.
    fn judge(&mut self, chain: &[usize]) {
        let all: Vec<&Dependency> = chain.iter().map(|&nth| &self.dependencies[nth]).collect();
        // Each has what the one before it in the cycle waits for.
        let before = |nth: usize| all[(nth + all.len() - 1) % all.len()];
        let edges = |chosen: &[usize]| -> Option<Vec<LockOrderEdge>> {
            let edge = |nth: usize| {
                let (held, inner) = &all[nth].all[chosen[nth]];
                let outer = held[all[nth].waited_for(before(nth).inner())?];
                Some(LockOrderEdge { thread: all[nth].thread, outer, inner: *inner })
            };
            (0..all.len()).map(edge).collect()
        };
        let Some(first) = edges(&vec![0; all.len()]) else { return };
        let keys: Vec<LockOrderEdgeKey> = first.iter().map(LockOrderEdge::key).collect();
        if (self.is_known)(&keys) || self.found.iter().any(|known| is_same(known, &keys)) {
            return;
        }
        let locks = first.iter().map(|edge| edge.inner.lock).collect();
        let chains: Vec<Vec<Position>> =
            all.iter().map(|one| one.all.iter().map(|(_, inner)| inner.at).collect()).collect();
        let chains: Vec<&[Position]> = chains.iter().map(Vec::as_slice).collect();
        self.found.extend(self.orders.unordered(&locks, &chains).and_then(|chosen| edges(&chosen)));
    }
}

/// Whether a cycle has these edges, whichever comes first.
pub(super) fn is_same(cycle: &[LockOrderEdge], keys: &[LockOrderEdgeKey]) -> bool {
    let sorted = |mut keys: Vec<LockOrderEdgeKey>| {
        keys.sort_unstable();
        keys
    };
    cycle.len() == keys.len()
        && sorted(cycle.iter().map(LockOrderEdge::key).collect()) == sorted(keys.to_vec())
}
