//! The memory of one execution: the parts of it that threads share, its blocks that live, and the places where it is watched.

pub(crate) mod file_names;
pub(crate) mod heap;
pub(crate) mod hidden;
pub(crate) mod quarantine;
pub(crate) mod scope;
pub(crate) mod shared_files;
pub(crate) mod unwatched_uses;

use std::ops::Range;
use std::sync::Arc;

use checker::names::{ObjName, ThreadName};
use checker::program::Scope;
use rustc_hash::FxHashMap;

use crate::control::knowledge::ProgramKnowledge;
use crate::control::memory::sharing::Sharing;
use crate::control::state::memory::file_names::Nameless;
use crate::control::state::memory::heap::Heap;
use crate::control::state::memory::hidden::Hidden;
use crate::control::state::memory::quarantine::Quarantine;
use crate::control::state::memory::scope::NarrowScope;
use crate::control::state::memory::shared_files::SharedFiles;
use crate::control::state::memory::unwatched_uses::UnwatchedUse;
use crate::control::state::thread_index::{PerThread, ThreadIndex};
use crate::layout::Layout;

/// Memory as the threads of one execution use it.
pub(crate) struct MemoryState {
    pub(crate) layout: Arc<Layout>,
    pub(crate) knowledge: Arc<ProgramKnowledge>,
    /// The stacks of all threads, in creation order, and their names.
    pub(crate) stacks: PerThread<(Range<u64>, ObjName)>,
    pub(crate) sharing: Sharing,
    pub(crate) heap: Heap,
    pub(crate) quarantine: Quarantine,
    pub(crate) nameless: Nameless,
    /// Addresses on a thread's stack that another thread was seen to touch, and the frame that held each then.
    pub(crate) exposed: FxHashMap<u64, LentFrame>,
    /// A thread has touched the thread-local memory of another one.
    pub(crate) exposed_thread_locals: bool,
    /// All instructions that work on the frames of their functions have been exposed.
    pub(crate) exposed_frames: bool,
    /// Key points were found that were none when this execution began.
    pub(crate) promoted: bool,
    pub(crate) scope: Scope,
    /// Once there is more than one thread, where the scope leaves something out.
    pub(crate) narrow: Option<NarrowScope>,
    /// The event that ran last may have let another agent go.
    pub(crate) let_go: bool,
    /// The next access of the thread that runs is a key point in any case.
    pub(crate) stops_next: bool,
    /// The number of times that instructions have touched private memory where everything is watched: each in each thread, and
    /// all of them.
    pub(crate) checked: (FxHashMap<(ThreadIndex, usize), u32>, u32),
    /// Instructions that are not watched any more in a thread, and the thread for which their traps are lifted now.
    pub(crate) lifted: Vec<(ThreadIndex, usize)>,
    pub(crate) lifted_for: ThreadIndex,
    /// Instructions that are not watched as long as there is one thread only.
    pub(crate) lifted_alone: Vec<usize>,
    /// Nor is where the thread that ends the process looks for functions that are to be called before.
    pub(crate) ends_alone: bool,
    /// Accesses of libraries, where they are asked for.
    pub(crate) hidden: Hidden,
    /// Memory that threads have used by accesses that are not watched one by one.
    pub(crate) unwatched_uses: Vec<UnwatchedUse>,
    /// Memory that streams of the C library have in the place of files: any call on a stream may read and write it.
    pub(crate) memory_files: Vec<Range<u64>>,
    pub(crate) shared_files: SharedFiles,
    /// Pages with code that the program can write, or could.
    pub(crate) written_code: Vec<Range<u64>>,
    /// Code of a file has been mapped since the start.
    pub(crate) has_late_files: bool,
    /// The first one to move the end of the program's data while there were several threads.
    pub(crate) break_mover: Option<BreakMover>,
}

/// The one whose calls move the end of the program's data (`brk`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakMover {
    /// The C library's, for its heap.
    Library,
    Program,
}

/// The frame of a function on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LentFrame {
    /// The address at which its return address stands.
    pub(crate) returns_at: u64,
    /// Its return address.
    pub(crate) returns_to: u64,
}

impl MemoryState {
    /// Whether executions from the next one on are others than this one, since it has shown what they have to watch.
    pub(crate) fn has_learnt(&self) -> bool {
        if self.sharing.looks_at_outputs {
            self.knowledge.look_at_outputs();
        }
        self.promoted || self.sharing.looks_at_outputs
    }

    /// Nothing has run yet.
    pub(crate) fn new(layout: Arc<Layout>, knowledge: Arc<ProgramKnowledge>, main_stack: Range<u64>) -> Self {
        let shares_files = layout.shares_files;
        let main_stack = (main_stack, knowledge.stack_name(ThreadName::MAIN));
        Self {
            written_code: layout.writable_code.clone(),
            layout,
            knowledge,
            stacks: PerThread::new(main_stack),
            sharing: Sharing::default(),
            heap: Heap::default(),
            quarantine: Quarantine::default(),
            nameless: Nameless::new(),
            exposed: FxHashMap::default(),
            exposed_thread_locals: false,
            exposed_frames: false,
            promoted: false,
            scope: Scope::All,
            narrow: None,
            let_go: true,
            stops_next: false,
            checked: (FxHashMap::default(), 0),
            lifted: Vec::new(),
            lifted_for: ThreadIndex::MAIN,
            lifted_alone: Vec::new(),
            ends_alone: false,
            hidden: Hidden::default(),
            unwatched_uses: Vec::new(),
            memory_files: Vec::new(),
            shared_files: SharedFiles::new(shares_files),
            has_late_files: false,
            break_mover: None,
        }
    }
}
