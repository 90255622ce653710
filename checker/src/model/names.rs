//! The names of objects and sites in a model program.

use crate::event::names::{Obj, Site};

/// The object with a number. Numbers from 1 are names, so that a zeroed name is none.
pub(super) fn object(number: usize) -> Obj {
    Obj::whole(number as u64 + 1)
}

/// The site of an instruction: thread and place, both from 1.
pub(super) fn site(thread: usize, at: usize) -> Site {
    Site(((thread as u64 + 1) << 32) | (at as u64 + 1))
}
