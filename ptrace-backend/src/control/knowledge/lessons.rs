//! The knowledge that an execution depends on beside its choices, and the lessons that it teaches: both go from worker to worker.

use std::sync::Arc;

use checker::byte_set::ByteSet;
use checker::names::ObjName;
use checker::program::Epoch;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

use crate::control::knowledge::status::Status;
use crate::control::knowledge::unobserved::UnobservedAccess;

/// The knowledge that an execution depends on beside its choices.
#[derive(Debug, Clone)]
pub struct KnowledgeSnapshot(pub(super) Arc<SnapshotParts>);

#[derive(Debug)]
pub(super) struct SnapshotParts {
    pub(super) candidates: Vec<Status>,
    pub(super) memory: ByteSet,
    pub(super) ordered: FxHashSet<usize>,
    pub(super) epoch: u32,
    pub(super) settled: bool,
    pub(super) allocator: bool,
    pub(super) by_events: bool,
    pub(super) orders_uses: bool,
    pub(super) streams: bool,
    pub(super) outputs: bool,
}

/// The lessons that an execution has taught, beside key points.
#[derive(Debug, Default)]
pub struct Lessons(pub(super) Vec<(u64, Lesson)>);

#[derive(Debug)]
pub(super) enum Lesson {
    /// This instruction has touched memory; whether others share it.
    Private(usize, Vec<UnobservedAccess>, bool),
    /// A place on a stack lies in the frame of a function.
    Local(ObservedLocal),
}

/// A place on a stack that another thread uses, as it was seen.
#[derive(Debug, Clone)]
pub(crate) struct ObservedLocal {
    pub(crate) place: (ObjName, u32),
    /// The address at which the code of the function begins in whose frame it is.
    pub(crate) function: u64,
    /// The words for the variable at the place.
    pub(crate) words: Option<String>,
    /// Of no interest where anything is known of the place.
    pub(crate) if_new: bool,
}

/// The state of a copy that works for a search elsewhere.
#[derive(Debug, Default)]
pub(super) struct WorkerState {
    pub(super) known: Option<KnowledgeSnapshot>,
    /// Something was disarmed in the last execution, which is not known elsewhere.
    pub(super) disarmed: bool,
    /// It has shown something about instructions that touch shared memory: what it would have been with what is known by
    /// the time when it counts cannot be told.
    pub(super) unsure: bool,
    pub(super) touches: FxHashMap<usize, u32>,
    pub(super) words: FxHashMap<((ObjName, u32), u64), Option<String>>,
    pub(super) places: FxHashSet<(ObjName, u32)>,
    pub(super) learnt: Lessons,
}

impl WorkerState {
    /// Whether an execution of this copy has taught anything about a place on a stack. Looking for it takes time, and the
    /// executions that are reported on look for themselves.
    pub(super) fn knows(&self, place: (ObjName, u32)) -> bool {
        self.places.contains(&place)
    }
}

impl KnowledgeSnapshot {
    /// The set of key points.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch(self.0.epoch)
    }
}
