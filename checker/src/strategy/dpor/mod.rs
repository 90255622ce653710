//! Dynamic partial-order reduction: one execution of each Mazurkiewicz trace.
//!
//! [`wakeup`] is what `--strategy dpor` runs. [`reverse`] needs polynomial memory only and misses nothing, and is compared with
//! it and with brute force by tests; it is not offered before real programs have been compared as well. Both find races and
//! tell what can run elsewhere in the same way: [`races`], [`later`], [`locks`].

mod branch;
mod later;
mod locks;
mod moves;
mod races;
mod reverse;
mod wakeup;

pub use self::branch::Branch;
pub use self::reverse::ReverseSearch;
pub use self::wakeup::WakeupTrees;

/// Of an execution that was ended by a limit, the races of this many events are reversed.
const OF_A_CUT_ONE: usize = 2_000;
