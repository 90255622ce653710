//! Potential deadlocks: locks that threads take in opposite orders, in executions none of which deadlocked on them.
//!
//! GoodLock: Klaus Havelund: Using runtime analysis to guide model checking of Java programs, SPIN 2000; for any number of
//! threads, and with the order of threads taken into account: Saddek Bensalem, Klaus Havelund: Dynamic deadlock analysis of
//! multi-threaded programs, HVC 2005. A graph over all executions of a search has an edge from each lock to each one that a
//! thread waited for while it had the first. A cycle in it is a potential deadlock if one execution has all its acquisitions,
//! each by another thread, and leaves them unordered: otherwise than by these locks.
//!
//! No potential deadlock is a cycle
//! * in which two threads hold a lock in common (a gate lock), unless both hold it for reading;
//! * one acquisition of which can be had together with the hold that it would wait for: both are for reading;
//! * one acquisition of which ends without the lock: a try-lock, or one with a time limit;
//! * two acquisitions of which are ordered by creation, join, condition variables, other locks, atomic variables.
//!
//! Departures from the papers: gate locks that are no part of the cycle need no rule of their own, since they order the
//! acquisitions of each execution. A thread that goes another way because of data is not told from others.

mod concurrency;
mod cycles;
mod graph;
mod nested;
mod potential;
#[cfg(test)]
mod tests;

pub use self::cycles::LockOrderEdge;
pub use self::nested::Acquisition;
pub(crate) use self::potential::MOST;
pub use self::potential::{LockOrders, PotentialDeadlock};
