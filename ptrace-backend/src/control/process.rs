//! One copy of the target, one thread of which runs at a time.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use checker::account::Unwatched;
use checker::failure::{FailureDetail, FailureKind, SignalOrigin};
use checker::names::{EventId, Obj, Site, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::program::{ExecutionError, Scope};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::World;
use crate::control::knowledge::Shared;
use crate::control::memory::sharing::Sharing;
use crate::control::state::file_names::Nameless;
use crate::control::state::flow::{Flow, ForkedMemory, system};
use crate::control::state::heap::Heap;
use crate::control::state::hidden::Hidden;
use crate::control::state::probes::Probes;
use crate::control::state::quarantine::Quarantine;
use crate::control::state::scope::Narrow;
use crate::control::state::sync_objects::{Index, Objects};
use crate::control::state::thread::{Part, Stage, Thread};
use crate::control::watchdog::Watch;
use crate::layout::Layout;
use crate::os::wait::Wait;
use crate::os::{Regs, Tid, memory, ptrace};
use crate::spec::Stepping;
use crate::stalls::Stalls;
use crate::target::origin::Origination;

/// A copy under control.
pub(crate) struct Process {
    /// The process, and its main thread.
    pub(crate) leader: Tid,
    /// In creation order.
    pub(crate) threads: Vec<Thread>,
    pub(crate) objects: Objects,
    pub(crate) layout: Arc<Layout>,
    pub(crate) shared: Arc<Shared>,
    /// A second thread exists, or existed.
    pub(crate) concurrent: bool,
    /// The process has ended itself, or was ended by the kernel: nothing can move.
    pub(crate) gone: bool,
    /// A thread has asked to end the process.
    pub(crate) exiting: bool,
    /// The main thread stops where it ends.
    pub(super) leader_stops_at_exit: bool,
    /// It stands there, and this is its stack.
    pub(super) left_from: Option<Vec<Site>>,
    /// Processes that the target has forked: they run, but unscheduled.
    pub(crate) bystanders: Vec<Tid>,
    /// New threads and processes that have reported before whatever created them did.
    pub(super) early: FxHashMap<Tid, Wait>,
    /// A thread may be executing another program, beside others.
    pub(super) executes: bool,
    pub(crate) notes: Vec<Peculiarity>,
    /// How many events have run.
    pub(crate) events: u64,
    /// See [`checker::program::Ending::left_out`].
    pub(crate) left_out: bool,
    /// See [`checker::program::Ending::unwatched`].
    pub(crate) unwatched: Vec<Unwatched>,
    /// See [`checker::program::Ending::drained`].
    pub(crate) drained: Vec<EventId>,
    /// Files of which it has mapped these bytes to be written, and shared.
    pub(super) shared_mappings: Vec<(PathBuf, Range<u64>)>,
    pub(crate) nameless: Nameless,
    /// It has been killed and reaped.
    pub(super) dead: bool,
    /// Who panicked first, and where.
    pub(crate) first_panic: Option<(ThreadName, Vec<Site>)>,
    pub(crate) exit_code_fails: bool,
    pub(crate) stepping: Stepping,
    /// Threads created in the current segment, whose own first segment is still to run.
    pub(crate) newborn: Vec<Index>,
    pub(crate) sharing: Sharing,
    pub(crate) heap: Heap,
    pub(crate) quarantine: Quarantine,
    /// Addresses on a thread's stack that another thread was seen to touch.
    pub(crate) exposed: FxHashSet<u64>,
    /// A thread has touched the thread-local memory of another one.
    pub(super) exposed_thread_locals: bool,
    /// A process whose code holds no traps but those that hold from the beginning.
    pub(crate) pristine: Tid,
    /// For how long a deadline may let another thread stand still in this execution, in nanoseconds.
    pub(crate) max_stall: u64,
    pub(crate) stalls: Arc<Stalls>,
    /// Virtual time of the last read and the last write of each object, in nanoseconds.
    pub(crate) times: FxHashMap<Obj, (u64, u64)>,
    /// Key points were found that were none when this execution began.
    pub(crate) promoted: bool,
    pub(crate) probes: Probes,
    pub(crate) scope: Scope,
    /// Once there is more than one thread, where the scope leaves something out.
    pub(super) narrow: Option<Narrow>,
    /// The event that ran last may have let another agent go.
    pub(super) let_go: bool,
    /// The next access of the thread that runs is a key point in any case.
    pub(crate) stops_next: bool,
    /// How often instructions have touched private memory where everything is watched: each in each thread, and all of them.
    pub(super) checked: (FxHashMap<(Index, usize), u32>, u32),
    /// Instructions that are not watched any more in a thread, and the thread for which their traps are lifted now.
    pub(super) lifted: Vec<(Index, usize)>,
    pub(super) lifted_for: Index,
    /// Instructions that are not watched as long as there is one thread only.
    pub(super) lifted_alone: Vec<usize>,
    /// Accesses of libraries, where they are asked for.
    pub(super) hidden: Hidden,
    pub(super) watch: Arc<Watch>,
}

impl Process {
    /// Takes control of a new process.
    pub(crate) fn new(
        begun: Origination,
        layout: Arc<Layout>,
        shared: Arc<Shared>,
        watch: Arc<Watch>,
        options: (bool, Stepping),
    ) -> Result<Self, ExecutionError> {
        let Origination { leader, pristine, world, tid_word, note } = begun;
        let regs = ptrace::registers(leader).map_err(system("read registers"))?;
        let stack = layout.main_stack.saturating_sub(8 << 20)..layout.main_stack + (1 << 20);
        let mut main = Thread::new(leader, ThreadName::MAIN, regs, stack, world);
        main.tid_word = Some(tid_word);
        if shared.is_test {
            main.part = Part::Harness;
        }
        Ok(Self {
            leader,
            threads: vec![main],
            objects: Objects::default(),
            layout,
            shared,
            concurrent: false,
            gone: false,
            exiting: false,
            leader_stops_at_exit: false,
            left_from: None,
            bystanders: Vec::new(),
            early: FxHashMap::default(),
            executes: false,
            notes: note.into_iter().collect(),
            events: 0,
            left_out: false,
            unwatched: Vec::new(),
            drained: Vec::new(),
            shared_mappings: Vec::new(),
            nameless: Nameless::new(),
            dead: false,
            first_panic: None,
            exit_code_fails: options.0,
            stepping: options.1,
            newborn: Vec::new(),
            sharing: Sharing::default(),
            heap: Heap::default(),
            quarantine: Quarantine::default(),
            exposed: FxHashSet::default(),
            exposed_thread_locals: false,
            pristine,
            max_stall: 0,
            stalls: Arc::default(),
            times: FxHashMap::default(),
            promoted: false,
            probes: Probes::default(),
            scope: Scope::All,
            narrow: None,
            let_go: true,
            stops_next: false,
            checked: (FxHashMap::default(), 0),
            lifted: Vec::new(),
            lifted_for: 0,
            lifted_alone: Vec::new(),
            hidden: Hidden::default(),
            watch,
        })
    }

    /// Lets a thread run, with the registers that it now has, to its next key point or its end; then lets every thread
    /// that it created run to its first key point.
    pub(crate) fn advance(&mut self, index: Index) -> Result<(), ExecutionError> {
        let is_wide = std::mem::replace(&mut self.let_go, true) | std::mem::take(&mut self.stops_next);
        self.widen(is_wide)?;
        self.segment(index)?;
        self.start_newborn()?;
        self.settle()
    }

    /// Lets threads that were created run to their first key points.
    pub(crate) fn start_newborn(&mut self) -> Result<(), ExecutionError> {
        while !self.gone && self.probes.stopped().is_none() && !self.newborn.is_empty() {
            let next = self.newborn.remove(0);
            self.widen(true)?;
            self.segment(next)?;
        }
        Ok(())
    }

    fn segment(&mut self, index: Index) -> Result<(), ExecutionError> {
        self.threads[index].pending = None;
        self.plant_for(index)?;
        self.watch.begin(self.leader, self.threads[index].tid);
        let mut signal = 0;
        let deferred = std::mem::take(&mut self.threads[index].deferred_signal);
        if deferred != 0 {
            match self.signalled(index, deferred)? {
                Flow::Resume(next) => signal = next,
                Flow::Rest => return Ok(()),
            }
        }
        self.run_on(index, signal)?;
        self.depend_if_asynchronous(index);
        Ok(())
    }

    /// Lets a thread run to its next key point, its end, or a probe; it gets this signal first, unless it is 0.
    pub(crate) fn run_on(&mut self, index: Index, mut signal: i32) -> Result<(), ExecutionError> {
        loop {
            self.resume(index, signal)?;
            let Some(status) = self.wait(index)? else { return Ok(()) };
            match self.stopped(index, status)? {
                Flow::Resume(next) => signal = next,
                Flow::Rest => return Ok(()),
            }
        }
    }

    pub(super) fn resume(&mut self, index: Index, signal: i32) -> Result<(), ExecutionError> {
        let tid = self.threads[index].tid;
        match ptrace::resume(tid, signal) {
            // The thread has been killed from outside meanwhile: waiting for it tells.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            result => result.map_err(system("resume a thread")),
        }
    }

    /// What a stop means.
    pub(crate) fn stopped(&mut self, index: Index, status: Wait) -> Result<Flow, ExecutionError> {
        match status {
            Wait::Exited(_) | Wait::Killed(_) => self.ended(index, status),
            Wait::Clone => self.created(index).map(|()| Flow::Resume(0)),
            Wait::Fork => self.forked(index, ForkedMemory::Copied).map(|()| Flow::Resume(0)),
            Wait::Vfork => self.forked(index, ForkedMemory::Shared).map(|()| Flow::Resume(0)),
            Wait::Exec => self.replaced(),
            Wait::Exit => self.exited(index),
            Wait::Stopped => Ok(Flow::Resume(0)),
            Wait::Seccomp => {
                self.read_registers(index)?;
                self.system_call(index)
            }
            Wait::Signal(signal) => {
                self.read_registers(index)?;
                self.signalled(index, signal)
            }
        }
    }

    pub(super) fn read_registers(&mut self, index: Index) -> Result<(), ExecutionError> {
        let thread = &mut self.threads[index];
        thread.regs = ptrace::registers(thread.tid).map_err(system("read registers"))?;
        Ok(())
    }

    /// Writes the registers that the thread now has.
    pub(crate) fn write_registers(&self, index: Index) -> Result<(), ExecutionError> {
        let thread = &self.threads[index];
        ptrace::set_registers(thread.tid, &thread.regs).map_err(system("write registers"))
    }

    /// Tells the user a peculiarity, once.
    pub(crate) fn note(&mut self, peculiarity: Peculiarity) {
        if !self.notes.contains(&peculiarity) {
            self.notes.push(peculiarity);
        }
    }

    /// Reads memory of the target.
    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        if memory::read(self.leader, addr, &mut bytes) { bytes } else { Vec::new() }
    }

    /// Reads a little-endian number of the target, 0 where nothing is mapped.
    pub(crate) fn number(&self, addr: u64, len: usize) -> u64 {
        memory::number(self.leader, addr, len).unwrap_or(0)
    }

    /// A thread or the whole process is gone.
    pub(crate) fn ended(&mut self, index: Index, status: Wait) -> Result<Flow, ExecutionError> {
        self.threads[index].stage = Stage::Ended;
        self.threads[index].reaped = true;
        match status {
            Wait::Killed(signal) => {
                self.gone = true;
                let signal = crate::os::signal_names::name(signal);
                let detail = FailureDetail::Signal { signal, origin: SignalOrigin::Outside };
                self.threads[index].stage =
                    Stage::Failed(self.failure(index, FailureKind::Crash, detail, Vec::new()));
            }
            // The only thread, by the bare system call: the kernel reports no end of a main thread that leaves others.
            Wait::Exited(code) if index == 0 => {
                self.gone = true;
                self.exit_with(index, code, Vec::new());
            }
            _ => self.end_if_deserted()?,
        }
        self.wake_changed_futexes(index);
        Ok(Flow::Rest)
    }

    /// A thread was created: names it and takes control of it.
    fn created(&mut self, index: Index) -> Result<(), ExecutionError> {
        self.note_raw_clone(index)?;
        self.plant_for_company()?;
        let parent = self.threads[index].tid;
        let tid = ptrace::event_message(parent).map_err(system("read an event"))? as Tid;
        self.hear_soon(tid)?;
        self.watch_leader(index, tid)?;
        let regs = ptrace::registers(tid).map_err(system("read registers"))?;
        self.read_registers(index)?;
        let (stack, tid_word) = self.clone_arguments(index, &regs);
        let creator = &mut self.threads[index];
        creator.children += 1;
        let name = creator.name.child(creator.children).ok_or_else(|| {
            ExecutionError::Unsupported(
                "the program nests thread creation more than 7 deep, which is not supported".to_owned(),
            )
        })?;
        let world = World::new(name, creator.world.now);
        let mut child = Thread::new(tid, name, regs, stack, world);
        child.part = self.part_of_child(index);
        self.newborn.push(self.threads.len());
        child.tid_word = tid_word;
        child.stops_at_exit = self.threads[index].stops_at_exit;
        self.threads.push(child);
        self.sharing.created(self.threads.len() - 1, index);
        Ok(())
    }

    /// The new thread's stack, and where the kernel is to clear a word when it ends. `clone3` says it in its argument,
    /// `clone` only where the stack ends.
    fn clone_arguments(&self, creator: Index, child: &Regs) -> (Range<u64>, Option<u64>) {
        /// The words of `struct clone_args`, as far as they matter.
        const WORDS: usize = 7;
        const CHILD_TID: usize = 2;
        const STACK: usize = 5;
        const STACK_SIZE: usize = 6;
        let regs = &self.threads[creator].regs;
        let known = |word: u64| (word != 0).then_some(word);
        if regs.orig_rax as i64 == libc::SYS_clone3 {
            let bytes = self.read(regs.rdi, 8 * WORDS);
            let word = |i: usize| {
                let bytes = bytes.get(8 * i..8 * i + 8).and_then(|bytes| bytes.try_into().ok());
                bytes.map_or(0, u64::from_le_bytes)
            };
            let low = word(STACK);
            let high = low.saturating_add(word(STACK_SIZE));
            return (low..with_control_block(high, child.fs_base), known(word(CHILD_TID)));
        }
        let top = child.rsp.max(child.fs_base);
        (top.saturating_sub(1 << 20)..top.saturating_add(0x1000), known(regs.r10))
    }
}

/// Where the memory ends that the C library has for a thread: above the stack lie its thread-local variables and its control
/// block, and a later thread may get all of it.
fn with_control_block(stack_end: u64, control_block: u64) -> u64 {
    /// The variables are at most so large, or memory of their own.
    const VARIABLES: u64 = 1 << 20;
    const PAGE: u64 = 4096;
    let is_above = (stack_end..stack_end.saturating_add(VARIABLES)).contains(&control_block);
    if is_above { (control_block + 1).next_multiple_of(PAGE) } else { stack_end }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
