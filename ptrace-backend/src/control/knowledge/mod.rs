//! The knowledge about the target from all executions so far: the instructions that are key points, and the memory on which
//! they are.

pub(crate) mod armed_code;
mod armed_traps;
mod facts;
pub(crate) mod lessons;
pub(crate) mod reached_code;
mod snapshot;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod unobserved;

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use checker::byte_set::ByteSet;
use checker::names::{Obj, ObjName, Site, ThreadName};
use checker::object_description::ObjectDescription;
use checker::operation::Access;
use checker::program::Epoch;

use crate::control::knowledge::lessons::ObservedLocal;
use crate::control::knowledge::state::{KnowledgeState, NamedObject};
use crate::control::knowledge::status::Status;
use crate::control::memory::blocks::block_names::AllocationOrigin;
use crate::control::state::memory::heap::Blocks;
use crate::debuginfo::AllocationType;
use crate::layout::functions::TrappedFunction;
use crate::layout::names::block_name;
use crate::layout::{Layout, Trap, TrapKind};
use crate::os::fd;
use crate::target::streams::Streams;
use crate::virtual_syscalls::VirtualSystem;

/// Shared by all executions of one program.
pub(crate) struct ProgramKnowledge {
    state: Mutex<KnowledgeState>,
    streams: Arc<Streams>,
    random: File,
    /// The program is a harness that runs tests.
    pub(crate) is_test: bool,
    /// Its main thread has run one itself.
    main_tests: AtomicBool,
    /// See [`Shared::note_outside`].
    has_external_effects: AtomicBool,
    /// The number of times that a thread that was late has shown something new.
    runaways: AtomicU32,
    /// See [`ProgramKnowledge::note_late_code`].
    late_code: AtomicBool,
}

impl ProgramKnowledge {
    /// The status of each candidate of which nothing is known yet.
    fn unknown(layout: &Layout) -> Vec<Status> {
        let of = |c: &crate::instructions::Candidate| {
            // An indivisible instruction empties the store buffer whatever it touches.
            let is_own = (c.stack.is_some() || c.thread_local) && !c.is_locked();
            if is_own { Status::Dormant } else { Status::Watched(0) }
        };
        layout.candidates.iter().map(of).collect()
    }

    /// Nothing is known yet.
    pub(crate) fn new(layout: &Layout, streams: Arc<Streams>) -> std::io::Result<Self> {
        let candidates = Self::unknown(layout);
        let state = Mutex::new(KnowledgeState { candidates, ..KnowledgeState::default() });
        let random = fd::memory_file(c"random")?;
        let mut virtual_system = VirtualSystem::new(ThreadName::MAIN, 0);
        let numbers = (0..1 << 15).flat_map(|_| virtual_system.random_number().to_le_bytes());
        (&random).write_all(&numbers.collect::<Vec<_>>())?;
        let is_test =
            |trap: &Trap| matches!(trap.kind, TrapKind::Function { function: TrappedFunction::Test, .. });
        let is_test = layout.traps.values().any(is_test);
        let has_external_effects = AtomicBool::new(layout.has_external_effects);
        Ok(Self {
            state,
            streams,
            random,
            is_test,
            main_tests: AtomicBool::new(false),
            has_external_effects,
            runaways: AtomicU32::new(0),
            late_code: AtomicBool::new(false),
        })
    }

    /// A thread has begun to run a test.
    pub(crate) fn test_began(&self, thread: ThreadName) {
        if thread == ThreadName::MAIN {
            self.main_tests.store(true, Ordering::Relaxed);
        }
    }

    /// Something was done by which executions at the same time could meet outside of their memory.
    pub(crate) fn note_external_effects(&self) {
        self.has_external_effects.store(true, Ordering::Relaxed);
    }

    /// Whether that was so.
    pub(crate) fn has_external_effects(&self) -> bool {
        self.has_external_effects.load(Ordering::Relaxed)
    }

    /// The thread that only runs a harness, if there is one.
    pub(crate) fn harness(&self) -> Option<ThreadName> {
        (self.is_test && !self.main_tests.load(Ordering::Relaxed)).then_some(ThreadName::MAIN)
    }

    /// Executable memory was mapped or made after the start: that code has not been searched for instructions that read the
    /// processor's time stamps. `true` if that was not known, and the execution, in which they read what they find, is to be
    /// run again.
    pub(crate) fn note_late_code(&self) -> bool {
        let mut state = self.state();
        if self.late_code.swap(true, Ordering::Relaxed) || state.fixed {
            return false;
        }
        state.know_more();
        state.begin_anew();
        true
    }

    /// Whether each reading of the processor's time stamps has to fault, which costs two writes of a control register at every
    /// stop. Where all code is known, traps stand at these instructions. Of an execution with fixed key points it is not known
    /// what it will map.
    pub(crate) fn needs_time_stamps_to_fault(&self) -> bool {
        self.late_code.load(Ordering::Relaxed) || self.state().fixed
    }

    fn state(&self) -> MutexGuard<'_, KnowledgeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A path at which the target can open a fixed sequence of random numbers.
    pub(crate) fn random_file(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.random.as_raw_fd())
    }

    /// The output of the target so far.
    pub(crate) fn output(&self) -> (Vec<u8>, Vec<u8>, bool) {
        self.streams.output()
    }

    /// The number of times that key points have been added.
    pub(crate) fn epoch(&self) -> Epoch {
        Epoch(self.state().epoch)
    }

    /// The number of instructions that are no longer watched, and the number of all that touch memory.
    pub(crate) fn disarmed(&self) -> (usize, usize) {
        let state = self.state();
        (state.candidates.iter().filter(|s| **s == Status::Disarmed).count(), state.candidates.len())
    }

    /// The status of an instruction.
    pub(crate) fn status(&self, candidate: usize) -> Status {
        self.state().candidates[candidate]
    }

    /// Whether some of an object is shared.
    pub(crate) fn is_shared(&self, obj: Obj) -> bool {
        self.state().memory.overlap(obj)
    }

    /// The parts of an object that are shared.
    pub(crate) fn shared_parts(&self, obj: Obj) -> Vec<Obj> {
        self.state().memory.inside(obj).collect()
    }

    /// These instructions have touched this memory, which is shared; `current`, if it is one of them, is about to. `true` if
    /// that was not known, and executions would have been others with it.
    pub(crate) fn promote(&self, candidates: &[usize], current: Option<usize>, memory: &[Obj]) -> bool {
        let mut state = self.state();
        if state.fixed {
            return false;
        }
        let mut new = false;
        for &obj in memory {
            new |= state.share(obj);
        }
        for &candidate in candidates {
            let before = std::mem::replace(&mut state.candidates[candidate], Status::Promoted);
            // An instruction that was watched whenever it ran, and never touched shared memory, would have rested nowhere.
            let rests_here_first = Some(candidate) == current
                && matches!(before, Status::Watched(_))
                && !state.ordered.contains(&candidate);
            new |= before != Status::Promoted && !rests_here_first;
            if before != Status::Promoted {
                state.know_more();
            }
        }
        if new {
            state.begin_anew();
        }
        new
    }

    /// Whether a thread that is late may show what its loop waits for. Not for ever: a loop may look somewhere else each time,
    /// and never end.
    pub(crate) fn may_learn_more(&self) -> bool {
        const OFTEN: u32 = 16;
        self.runaways.load(Ordering::Relaxed) < OFTEN
    }

    /// A thread that was late has shown something new.
    pub(crate) fn note_runaway(&self) {
        self.runaways.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread waits for a change of this in a loop that counts.
    pub(crate) fn note_waited_for(&self, obj: Obj) {
        let mut state = self.state();
        if !state.waited_for.contains(&obj) {
            state.waited_for.push(obj);
        }
    }

    /// These objects, and those that threads were seen to wait for.
    pub(crate) fn with_waited_for(&self, objects: &Arc<ByteSet>) -> Arc<ByteSet> {
        let state = self.state();
        if state.waited_for.is_empty() {
            return Arc::clone(objects);
        }
        let mut all = ByteSet::clone(objects);
        for &obj in &state.waited_for {
            all.insert(obj);
        }
        Arc::new(all)
    }

    /// An instruction is let through although it touches memory that is shared: nothing else can come in between.
    pub(crate) fn passed_shared(&self, candidate: usize) {
        let mut state = self.state();
        if state.ordered.insert(candidate) {
            state.know_more();
        }
    }

    /// From now on exactly these instructions are key points, where they touch one of these objects.
    pub(crate) fn fix(&self, candidates: &[usize], memory: &[Obj]) {
        let mut state = self.state();
        (state.fixed, state.by_events, state.orders_uses) = (true, false, true);
        (state.streams, state.outputs) = (true, true);
        state.candidates.fill(Status::Disarmed);
        state.memory.clear();
        state.allocator = false;
        drop(state);
        self.know(candidates, memory);
    }

    /// Makes these candidates key points where they touch one of these objects, beside what is known.
    pub(crate) fn know(&self, candidates: &[usize], memory: &[Obj]) {
        let mut state = self.state();
        state.allocator |= memory.iter().any(|obj| obj.name.is_allocated());
        state.changed();
        for &candidate in candidates {
            state.candidates[candidate] = Status::Promoted;
        }
        for &obj in memory {
            state.memory.insert(obj);
        }
    }

    /// Allocations are watched, and the blocks that main allocates before it creates the first thread have not been seen yet.
    pub(crate) fn wants_early_blocks(&self) -> bool {
        let state = self.state();
        state.allocator && state.early.is_none()
    }

    /// Keeps the blocks that main allocates before it creates the first thread, in every execution.
    pub(crate) fn keep_early_blocks(&self, blocks: Blocks) {
        self.state().early = Some(Arc::new(blocks));
    }

    /// The same, as far as they are known.
    pub(crate) fn early_blocks(&self) -> Arc<Blocks> {
        self.state().early.clone().unwrap_or_default()
    }

    /// Another thread touches the frame that these instructions work on. `true` if that was not known.
    pub(crate) fn expose(&self, candidates: impl IntoIterator<Item = usize>) -> bool {
        let mut state = self.state();
        if state.fixed {
            return false;
        }
        let mut new = false;
        for candidate in candidates {
            if state.candidates[candidate] == Status::Dormant {
                state.candidates[candidate] = Status::Watched(0);
                new = true;
            }
        }
        if new {
            state.begin_anew();
        }
        new
    }

    /// The name of a thread's stack.
    pub(crate) fn stack_name(&self, thread: ThreadName) -> ObjName {
        let name = block_name(&format!("stack of {thread}"));
        self.state().names.entry(name).or_insert(NamedObject::Stack(thread));
        name
    }

    /// Whether it is known which variable is at a place on a stack.
    pub(crate) fn is_local_known(&self, place: (ObjName, u32)) -> bool {
        let state = self.state();
        state.locals.contains_key(&place) || state.worker.as_ref().is_some_and(|worker| worker.knows(place))
    }

    /// A place on a stack, in the frame of a function, is touched by another thread after so many events: remembers which
    /// variable it is.
    pub(crate) fn name_local(
        &self,
        local: ObservedLocal,
        after: u64,
        words: impl FnOnce() -> Option<String>,
    ) {
        let known = self.state().locals.get(&local.place).map(|(function, _)| *function);
        if known == Some(local.function) || known.is_some() && local.if_new {
            return;
        }
        let mut state = self.state();
        let words = Self::note_local(&mut state, &local, after, words);
        state.learn_local(ObservedLocal { words, ..local });
    }

    /// The name of the `count`-th block that a thread allocated for the caller at `site`; `asked` is where in the program's
    /// own code that was, and where in what is called there.
    pub(crate) fn heap_name(
        &self,
        thread: ThreadName,
        site: Site,
        count: u32,
        asked: impl FnOnce() -> (Site, Site),
    ) -> ObjName {
        let ObjName(digest) = block_name(&format!("allocation {count} of {thread} at {:#x}", site.0));
        let name = ObjName(digest | ObjName::ALLOCATED);
        let words =
            |(asked, through)| NamedObject::Heap(AllocationOrigin { thread, asked, through, site, count });
        self.state().names.entry(name).or_insert_with(|| words(asked()));
        name
    }

    /// An operation at a place in the code is about these objects. The blocks among them of which it is to be looked for there
    /// what they hold.
    pub(crate) fn note_told(&self, layout: &Layout, accesses: &[Access], at: Site) -> Vec<ObjName> {
        let names = accesses.iter().map(|access| access.obj.name).filter(|name| name.is_allocated());
        let is_wanted = |name: &ObjName| {
            let KnowledgeState { names, blocks, .. } = &mut *self.state();
            matches!(names.get(name), Some(NamedObject::Heap(block)) if blocks.note(layout, (*name, *block), at))
        };
        names.filter(is_wanted).collect()
    }

    /// A block was seen to hold this, the type of which is in the module of this index.
    pub(crate) fn note_pointee_type(&self, name: ObjName, (module, allocation): (usize, AllocationType)) {
        self.state().blocks.hold(name, module, allocation);
    }

    /// The name of a file's content in memory, by the words for the file and the upper half of the offset.
    pub(crate) fn content_name(&self, file: &str, high: u64) -> ObjName {
        let name = block_name(&format!("mapped from {high:#x} in {file}"));
        let new = || NamedObject::MappedFile { file: file.to_owned(), high };
        self.state().names.entry(name).or_insert_with(new);
        name
    }

    /// The name of memory that has no better one, by the upper half of its address.
    pub(crate) fn memory_name(&self, high: u64) -> ObjName {
        let name = block_name(&format!("memory {high:#x}"));
        self.state().names.entry(name).or_insert(NamedObject::Memory);
        name
    }

    /// Something that is no memory, and that threads share all the same.
    pub(crate) fn named(&self, words: String) -> Obj {
        let name = block_name(&words);
        self.state().names.entry(name).or_insert(NamedObject::Thing(words));
        Obj::whole(name.0)
    }

    /// Whether an object is of an atomic type; `None` if that is no static variable with a known type.
    pub(crate) fn is_atomic_data(&self, layout: &Layout, obj: Obj) -> Option<bool> {
        *self.state().atomic.entry(obj).or_insert_with(|| layout.is_atomic_data(obj))
    }

    /// A description of an object, if more is known of it than its name.
    pub(crate) fn describe(&self, layout: &Layout, obj: Obj) -> Option<ObjectDescription> {
        if let Some(module) = layout.modules.iter().find(|m| m.name == obj.name) {
            let start = u64::from(obj.offset);
            let variable = layout.grace.read(|| module.image.data_in(&(start..start + u64::from(obj.len))));
            return variable.map(ObjectDescription::Named);
        }
        if let Some((_, Some(local))) = self.state().locals.get(&(obj.name, obj.offset)) {
            return Some(ObjectDescription::Named(local.clone()));
        }
        let named = self.state().names.get(&obj.name).cloned()?;
        Some(match named {
            NamedObject::Stack(of) => ObjectDescription::Stack { of, offset: obj.offset },
            NamedObject::Heap(block) => {
                let KnowledgeState { names, blocks, .. } = &mut *self.state();
                let known = |name| match names.get(&name) {
                    Some(NamedObject::Heap(block)) => Some(*block),
                    _ => None,
                };
                ObjectDescription::Block(blocks.describe(layout, (obj, block), known))
            }
            NamedObject::Thing(name) => ObjectDescription::Named(name),
            NamedObject::MappedFile { file, high } => {
                ObjectDescription::MappedFile { file, offset: high << 32 | u64::from(obj.offset) }
            }
            NamedObject::Memory => ObjectDescription::Memory { address: obj.offset },
        })
    }
}
