//! Dynamic partial-order reduction: one execution of each Mazurkiewicz trace.
//!
//! [`reverse`] is what `--strategy dpor` runs: it needs polynomial memory only. [`wakeup`], which can miss traces, is what
//! tests compare it with, beside brute force. Both find races and tell what can run elsewhere in the same way: [`races`],
//! [`later`], [`locks`].

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
