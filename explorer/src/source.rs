//! What reports need to know of a program beside its executions: words for what the checker knows by name only.

use std::path::PathBuf;

use checker::names::{Obj, Site};

/// Words for sites and objects.
pub trait Source {
    /// The functions that the code at `site` belongs to, the innermost inlined one first; empty if unknown.
    fn locate(&self, site: Site) -> Vec<Frame>;

    /// The words for an object ("`counter`", "`queue.head`").
    fn describe(&self, obj: Obj) -> Option<String>;
}

/// A function, and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its readable name.
    pub function: String,
    /// The source file, where there is debug information.
    pub file: Option<PathBuf>,
    /// The line, from 1, where there is debug information.
    pub line: Option<u32>,
}
