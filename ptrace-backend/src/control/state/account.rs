//! The account of an execution: all that is told of it beside its events.

use std::ops::Range;

use checker::account::Unwatched;
use checker::names::{Site, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::program::StoreBuffers;

/// The account of one execution.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) notes: Vec<Peculiarity>,
    /// See [`checker::program::ExecutionSummary::left_out`].
    pub(crate) left_out: bool,
    /// See [`checker::program::ExecutionSummary::unwatched`].
    pub(crate) unwatched: Vec<Unwatched>,
    /// See [`checker::program::ExecutionSummary::store_buffers`].
    pub(crate) store_buffers: StoreBuffers,
    /// Files of which the program has mapped bytes.
    pub(crate) file_mappings: Vec<FileMapping>,
    /// The thread that panicked first, and where.
    pub(crate) first_panic: Option<(ThreadName, Vec<Site>)>,
    /// An exit code other than 0 is a failure.
    pub(crate) exit_code_fails: bool,
}

impl Account {
    /// Tells the user a peculiarity, once.
    pub(crate) fn note(&mut self, peculiarity: Peculiarity) {
        if !self.notes.contains(&peculiarity) {
            self.notes.push(peculiarity);
        }
    }

    /// Enters what is not watched, once.
    pub(crate) fn enter_unwatched(&mut self, unwatched: Unwatched) {
        if !self.unwatched.contains(&unwatched) {
            self.unwatched.push(unwatched);
        }
    }
}

/// Bytes of a file that are mapped.
pub(crate) struct FileMapping {
    /// The words for it.
    pub(crate) file: String,
    pub(crate) bytes: Range<u64>,
    /// By this mapping the file is written.
    pub(crate) is_written: bool,
    /// Other writes to the file show in it at once.
    pub(crate) is_shared: bool,
}

impl FileMapping {
    /// Whether what is written by one of them shows in the other one, or may.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        (!self.is_shared || !other.is_shared)
            && (self.is_written || other.is_written)
            && self.file == other.file
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}
