//! Landmarks of a scan: lines of the user's own code, breakpoints, changes of thread.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use checker::names::ThreadName;

use super::filters::Filters;
use super::scan::{Limit, Scan};
use crate::debug::breakpoints::Breakpoints;
use crate::debug::breakpoints::hit_count::Tally;
use crate::debug::live::code::Code;
use crate::debug::recording::Recording;
use crate::narrate::locations::Places;

/// The places at which a scan stops, and the code that tells lines apart.
pub(in crate::debug) struct Landmarks<'p> {
    pub(in crate::debug) places: Places<'p>,
    /// The user's own code; none of it without a program.
    pub(in crate::debug) code: Code,
    /// The addresses of the lines of the function that the program consists of for its user, where that is known: code that
    /// a test framework runs before is no part of the session, though some of it is generated into the user's files.
    pub(in crate::debug) body: BTreeSet<u64>,
    pub(in crate::debug) breakpoints: Breakpoints,
    pub(in crate::debug) filters: Filters,
    /// Set from another thread to break a move off.
    pub(in crate::debug) interrupt: Arc<AtomicBool>,
}

impl Landmarks<'_> {
    /// A scan that begins now, for breakpoints and the lines of a thread.
    pub(in crate::debug) fn scan<'a>(
        &'a self,
        recording: &'a Recording,
        thread: Option<(ThreadName, BTreeSet<u64>)>,
    ) -> Scan<'a> {
        Scan {
            recording,
            places: &self.places,
            code: &self.code,
            thread,
            breakpoints: &self.breakpoints,
            tally: Tally::default(),
            limit: Limit::new(&self.interrupt),
        }
    }

    /// The addresses at which lines of the user's own code begin.
    pub(in crate::debug) fn lines(&self) -> BTreeSet<u64> {
        self.code.all().map(|statement| statement.address).collect()
    }
}
