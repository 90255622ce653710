//! Findings in an editor: what is shown of them, and what becomes of them.

pub(crate) mod after_edits;
mod explained;
mod failing_lines;
mod minimising;
mod results;
pub(crate) mod showing;
pub(crate) mod stores;
mod warnings;
