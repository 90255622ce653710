//! Searches. A search is a planner that hands out work items, and a guide that takes one execution through one.
//!
//! A planner is shared by all workers and sees results only. A guide sees one execution, point by point, and no other.
//! Work items are plain data, so that they can go to another process and come back; results are taken in by item id,
//! once each, in the order in which items were handed out: workers that run ahead ([`Strategy::speculate`]) change how fast a
//! search is, and nothing else. A new search is a new file here and a line in [`StrategyKind::plan`].

mod auto;
mod brief;
mod default;
mod dpor;
mod follow;
mod frontier;
mod guide;
mod guided;
mod initial_schedule;
mod initial_schedules;
mod kind;
mod period;
mod planner;
mod sampling;
mod speculation;
mod vtb;

pub use self::auto::Auto;
pub use self::default::DefaultSchedule;
pub use self::dpor::{Branch, Expansion, ReverseSearch, WakeupTrees};
pub use self::follow::TraceGuide;
pub use self::frontier::{Bound, Delays, Frontier, Preemptions, Unbounded, Visits};
pub use self::guide::{Alternative, Decision, Guide, Notes};
pub use self::guided::Guided;
pub use self::initial_schedule::InitialSchedule;
pub use self::initial_schedules::InitialSchedules;
pub use self::kind::StrategyKind;
pub use self::period::Periods;
pub use self::planner::{Coverage, Next, SpeculationValidity, Strategy, WorkItem};
pub use self::sampling::*;
pub use self::vtb::{Bounds, Vtb};

#[cfg(test)]
pub(crate) use self::sampling::Script;
