//! The knowledge of a program, as plain data.

use std::collections::BTreeSet;
use std::sync::Arc;

use checker::byte_set::ByteSet;
use checker::names::Obj;
use checker::names::ObjName;
use checker::names::ThreadName;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

use crate::control::knowledge::armed_code::{ArmedCode, DetouredCode};
use crate::control::knowledge::lessons::{KnowledgeSnapshot, ObservedLocal, WorkerState};
use crate::control::knowledge::status::Status;
use crate::control::knowledge::unobserved::UnobservedAccesses;
use crate::control::memory::blocks::block_names::{AllocationOrigin, BlockWords};
use crate::control::state::memory::heap::Blocks;

#[derive(Debug, Default)]
pub(super) struct KnowledgeState {
    pub(super) candidates: Vec<Status>,
    /// Those that were let through although what they touched is shared: creation and join ordered it.
    pub(super) ordered: FxHashSet<usize>,
    /// The number of times that an instruction with key points had none, since it touched private memory.
    pub(super) passed: FxHashMap<usize, u32>,
    /// Memory that threads share.
    pub(super) memory: ByteSet,
    /// Memory for a change of which threads were seen to wait in loops that count.
    pub(super) waited_for: Vec<Obj>,
    pub(super) epoch: u32,
    /// An execution with these key points has found no more of them.
    pub(super) settled: bool,
    /// An execution has found no more of them at least once, with these key points or others.
    pub(super) has_settled: bool,
    /// Such an execution was an audit.
    pub(super) audited: bool,
    /// Accesses are key points only where nothing orders them: executions are long.
    pub(super) by_events: bool,
    /// Threads use memory as a whole that others use too: where events order that, they share nothing.
    pub(super) orders_uses: bool,
    /// Threads share streams of the C library: calls on them are operations.
    pub(super) streams: bool,
    /// Threads share allocated memory: allocations are watched, to name them.
    pub(super) allocator: bool,
    /// The blocks that main has allocated when it creates the first thread, once they are known.
    pub(super) early: Option<Arc<Blocks>>,
    /// The key points are given, and no more are to be found.
    pub(super) fixed: bool,
    /// Closed code that an execution has come to, and that is not open yet.
    pub(super) reached: ReachedCode,
    /// The memory that instructions have touched without sharing it.
    pub(super) unobserved: UnobservedAccesses,
    /// Rebuilt when the set of watched instructions changes.
    pub(super) armed_code: Option<Arc<ArmedCode>>,
    /// The same with all that may be key points.
    pub(super) armed_code_of_all: Option<Arc<ArmedCode>>,
    /// Both with detours.
    pub(super) detoured_code: Option<Arc<DetouredCode>>,
    pub(super) detoured_code_of_all: Option<Arc<DetouredCode>>,
    /// Made anew when any of it changes.
    pub(super) known: Option<KnowledgeSnapshot>,
    /// This is knowledge of a copy that works for a search elsewhere.
    pub(super) worker: Option<WorkerState>,
    pub(super) names: FxHashMap<ObjName, NamedObject>,
    pub(super) blocks: BlockWords,
    /// Of static variables: whether they are atomic, as far as that is known.
    pub(super) atomic: FxHashMap<Obj, Option<bool>>,
    /// Variables on stacks that another thread was seen to touch: the function whose frame it was, and the words, if the
    /// place belongs to one function only.
    pub(super) locals: FxHashMap<(ObjName, u32), (u64, Option<String>)>,
}

/// Closed code that an execution has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReachedCode {
    /// These pages.
    Pages(BTreeSet<u64>),
    /// Any, as far as is known: the program does itself what decides which code can run.
    All,
}

impl Default for ReachedCode {
    fn default() -> Self {
        Self::Pages(BTreeSet::new())
    }
}

impl ReachedCode {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Pages(pages) if pages.is_empty())
    }
}

/// The meaning of a block's name.
#[derive(Debug, Clone)]
pub(super) enum NamedObject {
    Stack(ThreadName),
    Heap(AllocationOrigin),
    /// The content of a file in memory, from an offset on whose upper half is `high`.
    MappedFile {
        file: String,
        high: u64,
    },
    Memory,
    /// No memory at all.
    Thing(String),
}

impl KnowledgeState {
    /// More is known of an instruction that touches shared memory, under the same key points.
    pub(super) fn know_more(&mut self) {
        self.known = None;
        if let Some(worker) = &mut self.worker {
            worker.unsure = true;
        }
    }

    /// The set of what is watched has changed.
    pub(super) fn changed(&mut self) {
        self.armed_code = None;
        self.armed_code_of_all = None;
        self.detoured_code = None;
        self.detoured_code_of_all = None;
        self.known = None;
    }

    pub(super) fn learn_local(&mut self, local: ObservedLocal) {
        let known = self.locals.get(&local.place).map(|(function, _)| *function);
        if known == Some(local.function) || known.is_some() && local.if_new {
            return;
        }
        let words = if known.is_none() { local.words } else { None };
        self.locals.insert(local.place, (local.function, words));
    }
}

impl KnowledgeState {
    /// Key points were added.
    pub(super) fn begin_anew(&mut self) {
        self.epoch += 1;
        (self.settled, self.audited) = (false, false);
        self.unobserved.begin_anew();
        self.changed();
    }

    /// Something that key points depend on holds of the program. `true` if that was not known.
    pub(super) fn learn(&mut self, fact: impl FnOnce(&mut Self) -> &mut bool) -> bool {
        if self.fixed || std::mem::replace(fact(self), true) {
            return false;
        }
        self.begin_anew();
        true
    }

    /// Executions are long: accesses are key points from now on only where no event orders them, which is to be seen anew.
    pub(super) fn judge_by_events(&mut self) {
        self.by_events = true;
        self.memory.clear();
        self.ordered.clear();
        self.passed.clear();
        for status in self.candidates.iter_mut().filter(|status| **status == Status::Promoted) {
            *status = Status::Watched(0);
        }
        self.begin_anew();
    }

    /// This memory is shared: the instructions that have touched it before are watched, even those that were given up.
    pub(super) fn watch_again(&mut self, memory: Obj) {
        for candidate in self.unobserved.watch_again(memory) {
            if self.candidates[candidate] == Status::Disarmed {
                self.candidates[candidate] = Status::Watched(0);
            }
        }
    }
}
