//! The program under exploration: launching it, copies of it for workers, and the signs of its executions beside events.

pub(crate) mod client;
pub mod doctor;
pub(crate) mod exit_attribution;
pub mod fresh_dir;
pub(crate) mod launch;
pub(crate) mod return_line;
mod run_note_words;
pub(crate) mod run_notes;
pub mod source;
pub(crate) mod source_atomics;
pub(crate) mod test_output;
pub mod worker_pool;
