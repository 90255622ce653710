//! The explanation of a failure: from a failing schedule to the simplest one that fails in the same way, and to what tells that
//! one from executions that end well.
//!
//! An explanation is made of further executions of the program, [`Explanation::executions`] of them; each stage has a
//! budget of its own. No other execution tells anything of a failure that comes whatever the schedule, and the one that was
//! found has to do: see `diagnosis::always_fails`.

mod bug_depth;
mod critical_pair;
mod diagnosis;
mod evidence;
mod experiment;
mod explanation;
mod fault_localisation;
mod known_executions;
mod minimise;
mod missing;
mod plan;
mod point_of_no_return;
mod reductions;
mod swap;
#[cfg(test)]
mod tests;

pub use self::bug_depth::Depth;
pub use self::critical_pair::CriticalPair;
pub use self::diagnosis::cause::{
    AwaitedAction, Cause, Diagnosis, FreedBlock, LateWrite, SignalDelivery, SpinningThread, StolenWakeUp,
    TornUpdate, WaitForEdge, WaitingThread, WokenThread,
};
pub use self::explanation::{Explanation, ExplanationError, LONGEST, explain};
pub use self::fault_localisation::{Pattern, PatternAccess, Suspect, rank};
pub use self::minimise::Effort;
pub use self::missing::{ExplanationStage, Missing, WhyMissing};
pub use self::point_of_no_return::PointOfNoReturn;
pub use self::swap::{Second, Swap};
pub use crate::trace::queries::ObservedAccess;
