//! The later operation of a race.

use crate::event::agent::{Agent, OpOutcome};
use crate::event::operation::Effect;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::hb::vector_clock::Clock;

/// The later operation of a race. Where it has not run, its effect is what it may do.
#[derive(Clone)]
pub(super) struct Successor<'t> {
    pub(super) agent: Agent,
    /// `None` where each way is as good.
    pub(super) outcome: Option<OpOutcome>,
    pub(super) key: OpKey,
    pub(super) effect: &'t Effect,
    pub(super) ran: bool,
    /// Only events before this position can race with it.
    pub(super) before: Position,
    /// Its past in any case.
    pub(super) past: Clock,
    /// The position of its thread's event before it.
    pub(super) after: Option<Position>,
    /// The event that took its chance away, whatever it touched.
    pub(super) closer: Option<Position>,
}
