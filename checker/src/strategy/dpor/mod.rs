//! Dynamic partial-order reduction: one execution of each Mazurkiewicz trace.
//!
//! [`reverse`] is what `--strategy dpor` runs: it needs polynomial memory only. [`wakeup`] is what tests compare it with,
//! beside brute force. Both find races and tell what can run elsewhere in the same way: [`races`], [`successors`], [`locks`], which
//! look events up by object and thread: [`accesses`], [`lock_history`].

mod accesses;
mod branch;
mod enumerator;
mod lock_history;
mod locks;
mod moves;
mod overtaken;
mod planned;
mod races;
mod reverse;
mod successor;
mod successors;
#[cfg(test)]
mod tests;
mod wakeup;

pub use self::branch::Branch;
use self::enumerator::Enumerator;
pub use self::reverse::Expansion;
use self::reverse::Reverse;
use self::wakeup::Wakeup;
use crate::limit::Limit;

/// A planner that runs each Mazurkiewicz trace once, by reverse search.
pub type ReverseSearch = Enumerator<Reverse>;

/// A planner that runs each Mazurkiewicz trace once, by source sets and wakeup trees.
pub type WakeupTrees = Enumerator<Wakeup>;

impl ReverseSearch {
    /// One whose planning this limit ends.
    #[must_use]
    pub fn until(mut self, limit: &Limit) -> Self {
        self.enumeration.limit = limit.clone();
        self
    }

    /// One that runs each trace with at most so many preemptions once.
    #[must_use]
    pub fn within(preemptions: u32) -> Self {
        Self::of(Reverse::within(preemptions))
    }
}
