//! Thread interleavings as a search problem: operations, events, schedules, happens-before and the searches over them.
//!
//! This crate is pure: it knows no operating system, does no I/O and starts no thread. It drives anything that
//! implements [`seam::Program`] and [`seam::Execution`].

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

pub mod account;
pub mod cache;
mod cells;
pub mod clock;
pub mod cost;
pub mod difference;
mod end;
pub mod explain;
pub mod failure;
pub mod hash;
pub mod hb;
pub mod limit;
mod limits;
pub mod lock_action;
pub mod mirror;
pub mod model;
pub mod names;
pub mod op;
pub mod peculiarity;
pub mod point;
pub mod race;
pub mod recorded;
mod run;
pub mod seam;
pub mod search;
pub mod strategy;
pub mod stretches;
pub mod trace;
mod verbs;
mod verdict;
