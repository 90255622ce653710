//! Builds before explorations, and their results.

mod build_results;
pub(crate) mod builds;
