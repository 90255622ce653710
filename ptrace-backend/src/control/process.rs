//! One copy of the target, one thread of which runs at a time.

use std::ops::Range;
use std::sync::Arc;

use checker::failure::{FailureDetail, FailureKind, SignalOrigin};
use checker::names::ThreadName;
use checker::program::ExecutionError;
use rustc_hash::FxHashMap;

use crate::answers::World;
use crate::control::knowledge::Shared;
use crate::control::state::account::Account;
use crate::control::state::flow::{Flow, ForkedMemory, system};
use crate::control::state::memory::MemoryState;
use crate::control::state::probes::Probes;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Index, Objects};
use crate::control::state::thread::{Part, Stage, Thread};
use crate::control::tracee::{Task, Tracee};
use crate::control::watchdog::Watch;
use crate::layout::Layout;
use crate::os::wait::Wait;
use crate::os::{Regs, Tid, memory, ptrace};
use crate::spec::Stepping;
use crate::target::origin::Origination;

/// A copy under control, by its parts. What works on some of them takes those.
pub(crate) struct Process {
    pub(crate) tracee: Tracee,
    pub(crate) scheduling: Scheduling,
    pub(crate) objects: Objects,
    pub(crate) memory: MemoryState,
    pub(crate) account: Account,
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
        let mut task = Task::new(leader, regs, Some(tid_word));
        if shared.is_test {
            task.part = Part::Harness;
        }
        let memory = MemoryState::new(Arc::clone(&layout), Arc::clone(&shared), stack);
        let tracee = Tracee {
            leader,
            pristine,
            layout,
            shared,
            tasks: vec![task],
            concurrent: false,
            gone: false,
            dead: false,
            executes: false,
            leader_stops_at_exit: false,
            left_from: None,
            bystanders: Vec::new(),
            early: FxHashMap::default(),
            stepping: options.1,
            probes: Probes::default(),
            watch,
        };
        Ok(Self {
            tracee,
            scheduling: Scheduling::new(Thread::new(ThreadName::MAIN, world)),
            objects: Objects::default(),
            memory,
            account: Account {
                notes: note.into_iter().collect(),
                exit_code_fails: options.0,
                ..Account::default()
            },
        })
    }

    /// Lets a thread run, with the registers that it now has, to its next key point or its end; then lets every thread
    /// that it created run to its first key point.
    pub(crate) fn advance(&mut self, index: Index) -> Result<(), ExecutionError> {
        let is_wide =
            std::mem::replace(&mut self.memory.let_go, true) | std::mem::take(&mut self.memory.stops_next);
        self.widen(is_wide)?;
        self.segment(index)?;
        self.start_newborn()?;
        self.settle()
    }

    /// Lets threads that were created run to their first key points.
    pub(crate) fn start_newborn(&mut self) -> Result<(), ExecutionError> {
        while !self.tracee.gone
            && self.tracee.probes.stopped().is_none()
            && !self.scheduling.newborn.is_empty()
        {
            let next = self.scheduling.newborn.remove(0);
            self.widen(true)?;
            self.segment(next)?;
        }
        Ok(())
    }

    fn segment(&mut self, index: Index) -> Result<(), ExecutionError> {
        self.scheduling.threads[index].pending = None;
        self.plant_for(index)?;
        self.tracee.watch.begin(self.tracee.leader, self.tracee.tasks[index].tid);
        let mut signal = 0;
        let deferred = std::mem::take(&mut self.tracee.tasks[index].deferred_signal);
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
        let tid = self.tracee.tasks[index].tid;
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
        let task = &mut self.tracee.tasks[index];
        task.regs = ptrace::registers(task.tid).map_err(system("read registers"))?;
        Ok(())
    }

    /// Writes the registers that the thread now has.
    pub(crate) fn write_registers(&self, index: Index) -> Result<(), ExecutionError> {
        let task = &self.tracee.tasks[index];
        ptrace::set_registers(task.tid, &task.regs).map_err(system("write registers"))
    }

    /// Reads memory of the target.
    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        if memory::read(self.tracee.leader, addr, &mut bytes) { bytes } else { Vec::new() }
    }

    /// Reads a little-endian number of the target, 0 where nothing is mapped.
    pub(crate) fn number(&self, addr: u64, len: usize) -> u64 {
        memory::number(self.tracee.leader, addr, len).unwrap_or(0)
    }

    /// A thread or the whole process is gone.
    pub(crate) fn ended(&mut self, index: Index, status: Wait) -> Result<Flow, ExecutionError> {
        self.scheduling.threads[index].stage = Stage::Ended;
        self.tracee.tasks[index].reaped = true;
        match status {
            Wait::Killed(signal) => {
                self.tracee.gone = true;
                let signal = crate::os::signal_names::name(signal);
                let detail = FailureDetail::Signal { signal, origin: SignalOrigin::Outside };
                self.scheduling.threads[index].stage =
                    Stage::Failed(self.failure(index, FailureKind::Crash, detail, Vec::new()));
            }
            // The only thread, by the bare system call: the kernel reports no end of a main thread that leaves others.
            Wait::Exited(code) if index == 0 => {
                self.tracee.gone = true;
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
        let parent = self.tracee.tasks[index].tid;
        let tid = ptrace::event_message(parent).map_err(system("read an event"))? as Tid;
        self.hear_soon(tid)?;
        self.watch_leader(index, tid)?;
        let regs = ptrace::registers(tid).map_err(system("read registers"))?;
        self.read_registers(index)?;
        let (stack, tid_word) = self.clone_arguments(index, &regs);
        let creator = &mut self.scheduling.threads[index];
        creator.children += 1;
        let name = creator.name.child(creator.children).ok_or_else(|| {
            ExecutionError::Unsupported(
                "the program nests thread creation more than 7 deep, which is not supported".to_owned(),
            )
        })?;
        let world = World::new(name, creator.world.now);
        let mut task = Task::new(tid, regs, tid_word);
        task.part = self.part_of_child(index);
        task.stops_at_exit = self.tracee.tasks[index].stops_at_exit;
        self.scheduling.newborn.push(self.scheduling.threads.len());
        self.tracee.tasks.push(task);
        self.scheduling.threads.push(Thread::new(name, world));
        self.memory.stacks.push((stack, name));
        self.memory.sharing.created(self.scheduling.threads.len() - 1, index);
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
        let regs = &self.tracee.tasks[creator].regs;
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
