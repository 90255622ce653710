//! Where an execution leaves what was run before.

use serde::{Deserialize, Serialize};

use super::moves::Move;
use super::parsimonious::Waiting;
use crate::op::Effect;
use crate::seam::Agent;

/// What has to be seen to after the end of a prefix.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Order {
    /// Where the prefix leaves the execution that it is of.
    pub(super) from: u32,
    /// What has to run again as soon as it can.
    pub(super) waiting: Vec<Waiting>,
    /// What comes next is scheduled to come before this.
    pub(super) before: Option<(Agent, Effect)>,
}

/// What an execution has to do where it leaves what was run before.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Branch {
    /// After how many events it leaves.
    pub(super) at: u32,
    /// What is asleep there: with any of these first, all has been explored, until something comes that does not commute
    /// with it.
    pub(super) asleep: Vec<Move>,
    /// What runs once the prefix has been replayed, if it can.
    pub(super) next: Option<Move>,
    /// For dpor: what comes after that.
    pub(super) order: Order,
}
