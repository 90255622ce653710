//! The potential deadlocks of a search.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::concurrency::{order_without, unordered};
use super::cycles::{LockOrderEdge, LockOrderEdgeKey, cycles, is_same};
use super::graph::LockOrderGraph;
use super::nested::nested;
use crate::event::failure::{Doing, Failure, Party};
use crate::event::names::Obj;
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::event::wait::BlockedOn;
use crate::race::{HiddenSynchronisation, MergedTrace, learn, with};
use crate::trace::Trace;

/// So many potential deadlocks are kept: each one needs an execution that shows it.
pub(crate) const MOST: usize = 50;

/// So many executions that show a potential deadlock are kept: what is found out later may order it in some of them.
const WITNESSES: usize = 4;

/// Locks that threads take in a circle.
#[derive(Clone, Debug)]
pub struct PotentialDeadlock {
    /// Of each thread, the lock that it has and the one that it waits for, which the next one has; in an execution that shows
    /// it, the first one of the search.
    pub edges: Vec<LockOrderEdge>,
    /// The trace of that execution.
    pub trace: Arc<Trace>,
    /// Other executions that show it.
    others: Vec<(Arc<Trace>, Vec<LockOrderEdge>)>,
}

/// The orders in which the executions of a search take locks.
#[derive(Clone, Debug, Default)]
pub struct LockOrders {
    graph: LockOrderGraph,
    /// In the order in which they were found.
    found: Vec<PotentialDeadlock>,
    dropped: bool,
    /// The locks that threads waited for in executions that deadlocked.
    deadlocked: BTreeSet<BTreeSet<Obj>>,
}

impl LockOrders {
    /// Takes in an execution; `variables` are the synchronisation variables that are known.
    pub(crate) fn take(&mut self, trace: &Trace, variables: &ByteSet) {
        let graph = &mut self.graph;
        nested(trace, |_, held, inner| held.iter().for_each(|outer| graph.add(outer.lock, inner.lock)));
        if !graph.is_cyclic() {
            return;
        }
        let found = &self.found;
        let mut is_full = |keys: &[LockOrderEdgeKey]| {
            let known = found.iter().find(|known| is_same(&known.edges, keys));
            known.is_some_and(|known| known.others.len() + 1 >= WITNESSES)
        };
        let new = cycles(trace, &self.graph, variables, &mut is_full);
        let mut kept = None;
        for edges in new {
            let keys: Vec<LockOrderEdgeKey> = edges.iter().map(LockOrderEdge::key).collect();
            let known = self.found.iter().position(|known| is_same(&known.edges, &keys));
            if known.is_none() && self.found.len() == MOST {
                self.dropped = true;
                continue;
            }
            let trace = Arc::clone(kept.get_or_insert_with(|| Arc::new(trace.clone())));
            match known {
                Some(known) => self.found[known].others.push((trace, edges)),
                None => self.found.push(PotentialDeadlock { edges, trace, others: Vec::new() }),
            }
        }
    }

    /// Takes in a failure: threads that wait for locks in a circle are a deadlock, and no potential one.
    pub(crate) fn fails(&mut self, failure: &Failure) {
        let waits = |party: &Party| match party.doing {
            Doing::Waits(BlockedOn::Mutex { obj, .. } | BlockedOn::Read(obj) | BlockedOn::Write(obj)) => {
                Some(obj)
            }
            _ => None,
        };
        let locks: BTreeSet<Obj> = failure.others.iter().filter_map(waits).collect();
        if locks.len() > 1 {
            self.deadlocked.insert(locks);
        }
    }

    /// Key points were added: what looked unordered may be ordered by what was not seen.
    pub(crate) fn restart(&mut self) {
        self.graph = LockOrderGraph::default();
        self.found.clear();
        self.dropped = false;
    }

    /// Drops those that were seen to be deadlocks; all of them where every schedule was run.
    pub(crate) fn drop_observed(&mut self, is_everything: bool) {
        let deadlocked = &self.deadlocked;
        self.found.retain(|potential| {
            let is_shown = |locks: &BTreeSet<Obj>| {
                let is_among =
                    |edge: &LockOrderEdge| locks.iter().any(|lock| lock.overlaps(&edge.inner.lock));
                potential.edges.iter().all(is_among)
            };
            !is_everything && !deadlocked.iter().any(is_shown)
        });
        self.dropped &= !is_everything;
    }

    /// Whether there were more of them than are kept.
    #[must_use]
    pub(crate) fn is_cut(&self) -> bool {
        self.dropped
    }

    /// Whether none was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Keeps those that are unordered also with all that is known in the end, and with what is found out about an execution
    /// that shows them. What is found out may include more about these events of it, the acquisitions.
    pub fn confirm(
        &mut self,
        variables: &ByteSet,
        mut find_out: impl FnMut(&Arc<Trace>, Vec<Position>) -> HiddenSynchronisation,
    ) {
        let mut looks: Vec<(Arc<Trace>, MergedTrace)> = Vec::new();
        let all = std::mem::take(&mut self.found);
        for potential in &all {
            let still = potential.shown_by().find_map(|(trace, edges)| {
                let known = looks.iter().position(|(known, _)| Arc::ptr_eq(known, trace));
                let at = known.unwrap_or_else(|| {
                    let shown = all.iter().flat_map(PotentialDeadlock::shown_by);
                    let shown = shown.filter(|(other, _)| Arc::ptr_eq(other, trace));
                    let events =
                        shown.flat_map(|(_, edges)| edges.iter().flat_map(LockOrderEdge::events)).collect();
                    let hidden_sync = find_out(trace, events);
                    looks.push((Arc::clone(trace), with(trace, &hidden_sync, variables)));
                    looks.len() - 1
                });
                is_unordered(&looks[at].1, edges, variables).then(|| (Arc::clone(trace), edges.to_vec()))
            });
            if let Some((trace, edges)) = still {
                self.found.push(PotentialDeadlock { edges, trace, others: Vec::new() });
            }
        }
    }

    /// All of them, in the order in which they were found.
    #[must_use]
    pub fn into_found(self) -> Vec<PotentialDeadlock> {
        self.found
    }
}

impl PotentialDeadlock {
    /// The executions that show it, and where.
    fn shown_by(&self) -> impl Iterator<Item = (&Arc<Trace>, &[LockOrderEdge])> {
        let others = self.others.iter().map(|(trace, edges)| (trace, edges.as_slice()));
        std::iter::once((&self.trace, self.edges.as_slice())).chain(others)
    }
}

/// Whether the acquisitions of a cycle are unordered in an execution of which more is known.
fn is_unordered(whole: &MergedTrace, edges: &[LockOrderEdge], variables: &ByteSet) -> bool {
    let mut variables = variables.clone();
    learn(&mut variables, whole.trace());
    let locks = edges.iter().map(|edge| edge.inner.lock).collect();
    let order = order_without(whole.trace(), &variables, &locks);
    let chains: Vec<[Position; 1]> = edges.iter().map(|edge| [whole.position(edge.inner.at)]).collect();
    let chains: Vec<&[Position]> = chains.iter().map(<[Position; 1]>::as_slice).collect();
    unordered(&order, &chains).is_some()
}
