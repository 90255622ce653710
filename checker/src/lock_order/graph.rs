//! The lock-order graph over all executions of a search.

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;

use crate::event::names::Obj;

/// A graph of locks: an edge leads from each lock to each one that a thread waited for while it had the first.
#[derive(Clone, Debug, Default)]
pub(super) struct LockOrderGraph {
    graph: DiGraphMap<Obj, ()>,
    /// Of each lock that lies on a cycle, its strongly connected component.
    components: FxHashMap<Obj, usize>,
    /// Edges were added since the components were computed.
    outdated: bool,
}

impl LockOrderGraph {
    pub(super) fn add(&mut self, outer: Obj, inner: Obj) {
        if !self.graph.contains_edge(outer, inner) {
            self.graph.add_edge(outer, inner, ());
            self.outdated = true;
        }
    }

    /// Whether it has cycles.
    pub(super) fn is_cyclic(&mut self) -> bool {
        if std::mem::take(&mut self.outdated) {
            let components = kosaraju_scc(&self.graph).into_iter().enumerate();
            let cyclic = components.filter(|(_, members)| members.len() > 1);
            self.components =
                cyclic.flat_map(|(nth, members)| members.into_iter().map(move |lock| (lock, nth))).collect();
        }
        !self.components.is_empty()
    }

    /// The locks that lie on cycles.
    pub(super) fn on_cycles(&self) -> impl Iterator<Item = Obj> {
        self.components.keys().copied()
    }

    /// Whether an edge lies on a cycle of those that were there when [`Self::is_cyclic`] was last asked.
    pub(super) fn is_on_cycle(&self, outer: Obj, inner: Obj) -> bool {
        let component = self.components.get(&outer);
        component.is_some() && component == self.components.get(&inner)
    }
}
