//! The wait-for graph of threads that stand still, and its cycles.
//!
//! A deadlock of single resources is a cycle in it: Coffman, Elphick, Shoshani: System deadlocks, Computing Surveys 1971. An edge
//! lies on a cycle exactly if both its ends are in one strongly connected component (Kosaraju's algorithm, which takes no more
//! stack for a longer chain), so that the search is linear in the edges, however many threads a thread waits for.

use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;

use crate::event::names::ThreadName;

/// A graph of threads; each edge has what the one waits for, and the other has.
#[derive(Debug)]
pub struct WaitForGraph<E> {
    graph: DiGraphMap<ThreadName, E>,
}

impl<E: Clone> WaitForGraph<E> {
    /// The graph of waiting threads, in this order: of several edges between the same threads the first one counts.
    pub fn of(edges: impl IntoIterator<Item = (ThreadName, ThreadName, E)>) -> Self {
        let mut graph = DiGraphMap::new();
        for (waits, owner, edge) in edges {
            if !graph.contains_edge(waits, owner) {
                graph.add_edge(waits, owner, edge);
            }
        }
        Self { graph }
    }

    /// The edges of a shortest cycle through the first edge that lies on one, from that edge on.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<E>> {
        let components = kosaraju_scc(&self.graph);
        let numbered = components.iter().enumerate();
        let component: FxHashMap<ThreadName, usize> =
            numbered.flat_map(|(nth, members)| members.iter().map(move |&member| (member, nth))).collect();
        let mut edges = self.graph.all_edges();
        let (start, owner, first) =
            edges.find(|(waits, owner, _)| component.get(waits) == component.get(owner))?;
        let (_, back) = astar(&self.graph, owner, |thread| thread == start, |_| 1_u32, |_| 0)?;
        let rest = back.windows(2).filter_map(|ends| self.graph.edge_weight(ends[0], ends[1]));
        Some(std::iter::once(first).chain(rest).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycle of a graph of threads with these numbers, as edges.
    fn cycle(edges: &[(u16, u16)]) -> Option<Vec<(u16, u16)>> {
        let name = |number| ThreadName::MAIN.child(number).unwrap();
        WaitForGraph::of(edges.iter().map(|&(a, b)| (name(a), name(b), (a, b)))).cycle()
    }

    #[test]
    fn a_cycle_is_told_from_the_first_edge_that_lies_on_one() {
        assert_eq!(cycle(&[(1, 2), (2, 3), (3, 2)]), Some(vec![(2, 3), (3, 2)]));
        assert_eq!(cycle(&[(1, 2), (2, 3), (3, 1)]), Some(vec![(1, 2), (2, 3), (3, 1)]));
        assert_eq!(cycle(&[(1, 2), (2, 2)]), Some(vec![(2, 2)]));
        assert_eq!(cycle(&[(1, 2), (1, 3), (2, 3)]), None);
        assert_eq!(cycle(&[]), None);
    }

    #[test]
    fn a_shortest_way_back_is_taken() {
        assert_eq!(cycle(&[(1, 2), (2, 3), (3, 4), (4, 1), (2, 1)]), Some(vec![(1, 2), (2, 1)]));
    }

    #[test]
    fn a_long_chain_takes_no_more_stack() {
        let chain: Vec<(u16, u16)> = (1..30_000).map(|a| (a, a + 1)).collect();
        assert_eq!(cycle(&chain), None);
        assert_eq!(cycle(&[chain, vec![(30_000, 1)]].concat()).map(|cycle| cycle.len()), Some(30_000));
    }

    #[test]
    fn many_threads_that_all_wait_for_all_behind_them_take_no_time() {
        let edges: Vec<(u16, u16)> = (1..200).flat_map(|a| (a + 1..=200).map(move |b| (a, b))).collect();
        assert_eq!(cycle(&edges), None);
        let closed = [edges, vec![(200, 1)]].concat();
        assert_eq!(cycle(&closed).map(|cycle| cycle.len()), Some(3));
    }
}
