//! The executions of one order of priority: each by the places at which a thread is preempted.

use super::preemption_point::PreemptionPoint;

/// An execution in an [`PreemptionTree`].
pub(super) type NodeId = u32;

/// All executions of an order of priority that are known.
#[derive(Debug)]
pub(super) struct PreemptionTree {
    nodes: Vec<PreemptionNode>,
}

#[derive(Debug)]
struct PreemptionNode {
    /// The one without its last preemption, and where that is.
    from: Option<(NodeId, PreemptionPoint)>,
    /// Once it was run: where else a thread can be preempted after that.
    points: Option<Vec<PreemptionPoint>>,
    children: Vec<(PreemptionPoint, NodeId)>,
}

impl Default for PreemptionTree {
    fn default() -> Self {
        Self { nodes: vec![PreemptionNode { from: None, points: None, children: Vec::new() }] }
    }
}

impl PreemptionTree {
    /// Without preemptions.
    pub(super) const ROOT: NodeId = 0;

    pub(super) fn points(&self, node: NodeId) -> Option<&[PreemptionPoint]> {
        self.nodes[node as usize].points.as_deref()
    }

    pub(super) fn learn(&mut self, node: NodeId, points: Vec<PreemptionPoint>) {
        self.nodes[node as usize].points = Some(points);
    }

    /// The execution with one more preemption.
    pub(super) fn child(&mut self, node: NodeId, at: PreemptionPoint) -> NodeId {
        let known = self.nodes[node as usize].children.iter().find(|(known, _)| *known == at);
        if let Some(&(_, child)) = known {
            return child;
        }
        let child = self.nodes.len() as NodeId;
        self.nodes.push(PreemptionNode { from: Some((node, at)), points: None, children: Vec::new() });
        self.nodes[node as usize].children.push((at, child));
        child
    }

    /// The points at which threads are preempted, in order.
    pub(super) fn preemptions(&self, mut node: NodeId) -> Vec<PreemptionPoint> {
        let mut all = Vec::new();
        while let Some((parent, at)) = self.nodes[node as usize].from {
            all.push(at);
            node = parent;
        }
        all.reverse();
        all
    }
}
