//! A model program as data.

use std::sync::Arc;

use super::code::Code;

/// A program in memory.
#[derive(Clone, Debug)]
pub struct Model {
    /// One for each thread.
    pub(super) threads: Arc<[Code]>,
    /// The names of variables and synchronisation objects, with their initial values.
    pub(super) objects: Arc<[(String, i64)]>,
}
