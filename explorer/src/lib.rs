//! The product's verbs: explore, replay, report.

#![forbid(unsafe_code)]

pub mod place;
pub mod root;
pub mod schedule_file;
pub mod store;
pub mod text_value;
pub mod verdict;
