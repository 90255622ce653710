//! What reports say in words: operations, failures, notes of a search, what was not watched.

mod failures;
pub(crate) mod phrasing;
pub(crate) mod search_notes;
pub mod third_person;
pub(crate) mod unwatched;
