//! Narration of results of the checker in a report: places, labels of threads, lines of events, and sentences.

pub(crate) mod event_lines;
pub(crate) mod explanation;
pub(crate) mod failing_thread;
pub(crate) mod finding;
pub mod locations;
pub(crate) mod potential_deadlocks;
pub(crate) mod races;
pub(crate) mod run_again;
pub mod sentences;
pub(crate) mod stacks;
pub mod thread_labels;
pub(crate) mod user_frames;
