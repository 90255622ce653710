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
    /// The program looks at the state or the buffer of a standard stream: calls on that one are looked at as those on others.
    pub(super) outputs: bool,
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

    /// Threads share this memory. `true` if that was not known.
    ///
    /// Of long executions each shows other lines of a large block (slots of a queue) to be shared, and each of these has the search begin anew:
    /// with the third one, the memory around them counts as shared.
    pub(super) fn share(&mut self, memory: Obj) -> bool {
        /// The size of what counts as shared then, in bytes, and of what shows that.
        const AROUND: u32 = 4096;
        const TWO_LINES: u32 = 128;
        let mut all = memory;
        if self.by_events && memory.name.is_allocated() && memory.len < AROUND {
            let around = Obj { offset: memory.offset / AROUND * AROUND, len: AROUND, ..memory };
            let known: u32 = self.memory.inside(around).map(|shared| shared.len).sum();
            if known >= TWO_LINES && around.common(&memory) == Some(memory) {
                all = around;
            }
        }
        let is_new = self.memory.insert(memory);
        if is_new {
            self.memory.insert(all);
            self.watch_again(all);
        }
        is_new
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: u64, offset: u32) -> Obj {
        Obj { name: ObjName(name), offset, len: 64 }
    }

    #[test]
    fn the_third_line_of_a_block_tells_of_those_around_in_long_executions() {
        const BLOCK: u64 = ObjName::ALLOCATED | 7;
        let mut state = KnowledgeState { by_events: true, ..KnowledgeState::default() };
        assert!(state.share(line(BLOCK, 4096)) && state.share(line(BLOCK, 4096 + 640)));
        assert!(!state.share(line(BLOCK, 4096)), "it is known");
        assert!(!state.memory.overlap(line(BLOCK, 4096 + 1280)));
        assert!(state.share(line(BLOCK, 4096 + 2560)));
        assert!(!state.share(line(BLOCK, 4096 + 1280)) && !state.share(line(BLOCK, 8192 - 64)));
        assert!(!state.memory.overlap(line(BLOCK, 8192)) && !state.memory.overlap(line(BLOCK, 4032)));
        // Variables are no slots of one thing.
        assert!((0..3).all(|nth| state.share(line(7, 128 * nth))));
        assert!(!state.memory.overlap(line(7, 64)));
        let mut short = KnowledgeState::default();
        assert!((0..3).all(|nth| short.share(line(BLOCK, 128 * nth))));
        assert!(!short.memory.overlap(line(BLOCK, 64)), "each of its executions costs little");
    }
}
