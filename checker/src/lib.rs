//! Thread interleavings as a search problem: operations, events, schedules, happens-before and the searches over them.
//!
//! This crate is pure: it knows no operating system, does no I/O and starts no thread. It drives anything that
//! implements [`seam::Program`] and [`seam::Execution`].

#![forbid(unsafe_code)]

pub mod failure;
pub mod names;
pub mod op;
pub mod seam;
