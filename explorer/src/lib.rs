//! The product's verbs: explore, replay, report. Plain data in and out: front ends translate it.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod account;
mod adapt;
mod atomics;
mod backend;
mod blame;
mod blamed;
mod callers;
pub mod config;
mod deadline;
pub mod debug;
mod diagnosis;
pub mod discover;
mod diverged;
pub mod doctor;
pub mod environment;
mod error;
mod explained;
mod explaining;
pub mod explanation;
mod explore;
mod failure_words;
mod finding;
pub mod fresh_dir;
pub mod kept;
pub mod lanes;
mod last_line;
pub mod lines;
mod minimise;
#[cfg(test)]
mod model_tests;
mod notified;
mod old_form;
mod only_synchronisation;
mod peculiar;
mod peculiarity_words;
pub mod place;
pub mod places;
mod race_text;
mod races;
mod replay;
pub mod report;
pub mod request;
pub mod root;
mod saving;
pub mod say;
pub mod schedule_file;
mod search_notes;
mod session;
pub mod shared;
pub mod shown;
pub mod source;
mod stacks;
mod standstill;
pub mod store;
mod story;
mod table;
mod test_framework;
pub mod text;
pub mod text_value;
pub mod third_person;
pub mod trust;
pub mod verdict;
pub mod watch;
mod why;
mod words;
pub mod workers;

pub use error::Error;
pub use explore::explore;
pub use minimise::minimise;
pub use ptrace_backend::resources;
pub use replay::replay;
pub use session::json;
