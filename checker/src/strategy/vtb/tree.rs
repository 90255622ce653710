//! The executions of one order of priority: each by the events before which a thread is preempted.

use super::sets::Variable;

/// An execution in a [`Tree`].
pub(super) type Node = u32;

/// All of them that are known.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Execution>,
}

#[derive(Debug)]
struct Execution {
    /// The one without its last preemption, and where that is.
    from: Option<(Node, u32)>,
    /// Once it was run: where else a thread can be preempted after that, and which variable it accessed last.
    points: Option<Vec<(u32, Variable)>>,
    children: Vec<(u32, Node)>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Execution { from: None, points: None, children: Vec::new() }] }
    }
}

impl Tree {
    /// Without preemptions.
    pub(super) const ROOT: Node = 0;

    pub(super) fn points(&self, node: Node) -> Option<&[(u32, Variable)]> {
        self.nodes[node as usize].points.as_deref()
    }

    pub(super) fn learn(&mut self, node: Node, points: Vec<(u32, Variable)>) {
        self.nodes[node as usize].points = Some(points);
    }

    /// The execution with one more preemption.
    pub(super) fn child(&mut self, node: Node, at: u32) -> Node {
        let known = self.nodes[node as usize].children.iter().find(|(known, _)| *known == at);
        if let Some(&(_, child)) = known {
            return child;
        }
        let child = self.nodes.len() as Node;
        self.nodes.push(Execution { from: Some((node, at)), points: None, children: Vec::new() });
        self.nodes[node as usize].children.push((at, child));
        child
    }

    /// Before which events threads are preempted, in order.
    pub(super) fn preemptions(&self, mut node: Node) -> Vec<u32> {
        let mut all = Vec::new();
        while let Some((parent, at)) = self.nodes[node as usize].from {
            all.push(at);
            node = parent;
        }
        all.reverse();
        all
    }
}
