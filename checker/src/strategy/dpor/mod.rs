//! Dynamic partial-order reduction, in three forms that share what a race is.
//!
//! [`parsimonious`] is what `dpor` runs. [`wakeup`] finds the same classes by another algorithm, for comparison in tests.
//! [`bounded`] covers a bound on preemptions.

mod bounded;
mod branch;
mod later;
mod locks;
mod moves;
mod parsimonious;
mod races;
#[cfg(test)]
mod wakeup;

pub use self::bounded::BoundedDpor;
pub use self::branch::Branch;
pub use self::parsimonious::Dpor;
#[cfg(test)]
pub(crate) use self::wakeup::WakeupTrees;

/// Of an execution that was ended by a limit, the races of this many events are reversed.
const OF_A_CUT_ONE: usize = 2_000;
