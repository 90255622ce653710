//! The state of an execution between two events: its agents, what can be chosen, and why nothing can.

pub mod agents;
pub(crate) mod blocked_state;
pub mod scheduling_point;
pub mod wait_for_graph;
