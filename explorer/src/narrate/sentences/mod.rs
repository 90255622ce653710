//! Sentences of reports: operations, failures, notes of a search, entries of the account of unwatched code.

mod failures;
pub(crate) mod objects;
pub(crate) mod phrasing;
pub(crate) mod search_notes;
pub mod third_person;
pub(crate) mod unwatched;
