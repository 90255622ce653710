//! Thread interleavings as a search problem: operations, events, schedules, happens-before and the searches over them.
//!
//! This crate is pure: it knows no operating system, does no I/O and starts no thread. It drives anything that
//! implements [`program::Program`] and [`program::Execution`].

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

pub mod account;
pub mod cache;
pub mod event;
pub mod execution;
pub mod explain;
pub mod hb;
pub mod limit;
pub mod lock_order;
pub mod model;
pub mod peculiarity;
pub mod program;
pub mod race;
pub mod search;
pub mod state;
pub mod strategy;
pub mod trace;

pub use self::event::{
    byte_set, divergence, failure, lock_action, names, object_description, operation, position, recorded,
    timing,
};
pub use self::trace::cost;
