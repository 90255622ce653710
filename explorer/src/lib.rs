//! The product's verbs: explore, replay, report.

#![forbid(unsafe_code)]

pub mod environment;
pub mod fresh_dir;
pub mod lanes;
pub mod place;
pub mod places;
pub mod report;
pub mod root;
pub mod schedule_file;
pub mod source;
pub mod store;
pub(crate) mod table;
pub mod text;
pub mod text_value;
pub mod verdict;
