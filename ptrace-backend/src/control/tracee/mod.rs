//! The traced process itself: its state in the kernel and the processor, and the ways in which it is read, changed and let go
//! on.

pub(crate) mod closed_code;
pub(crate) mod detours;
pub(crate) mod hand_off;
pub(crate) mod injected_calls;
pub(crate) mod late_files;
pub(crate) mod machine;
pub(crate) mod made_files;
pub(crate) mod probes;
pub(crate) mod reports;
pub(crate) mod stacks;
pub(crate) mod stepping;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use checker::names::Site;
use checker::program::ExecutionError;
use rustc_hash::FxHashMap;

use crate::control::knowledge::ProgramKnowledge;
use crate::control::state::client::Processes;
use crate::control::state::detouring::Detouring;
use crate::control::state::pending::InjectedCall;
use crate::control::state::probes::Probes;
use crate::control::state::sync_objects::MutexMemory;
use crate::control::state::thread::ThreadRole;
use crate::control::state::thread_index::{PerThread, ThreadIndex};
use crate::control::tracee::made_files::MadeFiles;
use crate::control::watchdog::Watch;
use crate::error::{SystemAction, system};
use crate::instructions::detour::{Detour, JUMP};
use crate::layout::Layout;
use crate::os::hand_off::SharedPage;
use crate::os::memory::{self, MemoryFile};
use crate::os::wait::WaitStatus;
use crate::os::{Regs, Tid, ptrace};
use crate::spec::Stepping;

/// The size of a page, in bytes.
pub(in crate::control) const PAGE: u64 = 4096;

/// The memory of which the page of hand-offs has a copy: the innermost part of the stack of the thread that handed itself over last, until that
/// goes on, or the tracer writes there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CopiedFrame {
    start: u64,
    end: u64,
}

/// A traced process.
pub(crate) struct Tracee {
    /// The process, and its main thread.
    pub(crate) leader: Tid,
    /// A process whose code holds no traps but those that hold from the beginning.
    pub(crate) pristine: Tid,
    pub(crate) layout: Arc<Layout>,
    pub(crate) knowledge: Arc<ProgramKnowledge>,
    /// Closed pages that its threads have come to, and that are open in it.
    pub(crate) opened: BTreeSet<u64>,
    /// Its threads, in creation order.
    pub(crate) tasks: PerThread<Task>,
    /// The number of times that something has entered the kernel that may have changed what files are ready.
    pub(crate) moment: u64,
    /// The kernel has been asked for something that it goes on with by itself ([`calls::is_lasting`](crate::os::calls::is_lasting)).
    pub(crate) has_lasting_calls: bool,
    /// A second thread exists, or existed.
    pub(crate) concurrent: bool,
    /// The process has ended itself, or was ended by the kernel: nothing can move.
    pub(crate) gone: bool,
    /// It has been killed and reaped.
    pub(crate) dead: bool,
    /// A thread may be executing another program, beside others.
    pub(crate) executes: bool,
    /// The program has a filter for its own system calls, which that of a hand-off might not pass.
    pub(crate) filters_calls: bool,
    /// The main thread stops where it ends.
    pub(crate) leader_stops_at_exit: bool,
    /// It stands there, and this is its stack.
    pub(crate) left_from: Option<Vec<Site>>,
    /// Processes that the target has forked: they run, but unscheduled.
    pub(crate) child_processes: Vec<Tid>,
    /// Files and folders that are removed when the whole process has ended.
    pub(crate) made_files: MadeFiles,
    /// One of them has executed a program that is not one of those that every machine has: one of the user's own.
    pub(crate) starts_own_program: bool,
    /// One of them has changed files, or sent signals: what it does comes at any time to threads of the program.
    pub(crate) children_have_external_effects: bool,
    /// The function by which it has started one last, if it has.
    pub(crate) started_by: Option<&'static str>,
    /// New threads and processes that have reported before whatever created them did.
    pub(crate) early: FxHashMap<Tid, WaitStatus>,
    pub(crate) stepping: Stepping,
    pub(crate) probes: Probes,
    pub(crate) detouring: Detouring,
    /// The page through which threads hand themselves over, if they do.
    pub(crate) page: Option<Arc<SharedPage>>,
    /// The running thread may hand itself over.
    pub(crate) hands_over: bool,
    pub(crate) frame: Cell<CopiedFrame>,
    /// The client's processes, if there is one.
    pub(crate) client: Option<Processes>,
    pub(crate) watch: Arc<Watch>,
}

/// A thread as the kernel has it, stopped except while it is let run.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: Tid,
    /// As of its last stop; valid while the thread is live.
    pub(crate) regs: Regs,
    /// It waits for the tracer, and is not stopped by the kernel ([`hand_off`]).
    pub(crate) parked: bool,
    /// The kernel no longer has it.
    pub(crate) reaped: bool,
    pub(crate) role: ThreadRole,
    /// The value that `pthread_self` gives it.
    pub(crate) handle: u64,
    /// A signal for which it has stopped, to be dealt with when it goes on: it got that while it was parked, or was stepped.
    pub(crate) deferred: Option<libc::siginfo_t>,
    /// It is inside a function that it was made to call.
    pub(crate) calling: Option<Box<InjectedCall>>,
    /// The write that it makes in parts.
    pub(crate) long_write: Option<LongWrite>,
    /// The word that the kernel clears when the thread ends; `None` if that is not known.
    pub(crate) tid_word: Option<u64>,
    /// It stops where it ends. The main thread is another matter.
    pub(crate) stops_at_exit: bool,
}

/// A write of which a part has been carried out.
#[derive(Debug)]
pub(crate) struct LongWrite {
    /// The address at which it began, and the number of bytes that the program has asked for.
    pub(crate) from: u64,
    pub(crate) count: u64,
    /// The number of bytes that are written.
    pub(crate) done: u64,
}

impl Task {
    /// A new thread with these registers, stopped before its first instruction.
    pub(crate) fn new(tid: Tid, regs: Regs, tid_word: Option<u64>) -> Self {
        Self {
            tid,
            regs,
            parked: false,
            reaped: false,
            role: ThreadRole::Program,
            handle: regs.fs_base,
            deferred: None,
            calling: None,
            long_write: None,
            tid_word,
            stops_at_exit: false,
        }
    }

    /// It has stopped for a signal, which is dealt with when it goes on: it takes no other one until then.
    pub(crate) fn defer_signal(&mut self) {
        // A failure means that the process is gone.
        self.deferred = self.deferred.or_else(|| ptrace::signal_info(self.tid).ok());
    }

    /// An argument of the function at whose entry it stands, from 0.
    pub(crate) fn argument(&self, i: usize) -> u64 {
        let r = &self.regs;
        [r.rdi, r.rsi, r.rdx, r.rcx, r.r8, r.r9][i]
    }
}

impl Tracee {
    pub(crate) fn read_registers(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let task = &mut self.tasks[index];
        task.regs = ptrace::registers(task.tid).map_err(system(SystemAction::ReadRegisters))?;
        self.leave_hand_off(index)
    }

    /// Writes the registers that the thread now has.
    pub(crate) fn write_registers(&self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let task = &self.tasks[index];
        if task.parked {
            // It gets them when it goes on.
            return Ok(());
        }
        ptrace::set_registers(task.tid, &task.regs).map_err(system(SystemAction::WriteRegisters))
    }

    /// Writes the instruction pointer that the thread now has; nothing else differs from what the kernel has.
    fn write_instruction_pointer(&self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let task = &self.tasks[index];
        if task.parked {
            return Ok(());
        }
        ptrace::set_instruction_pointer(task.tid, task.regs.rip).map_err(system(SystemAction::WriteRegisters))
    }

    /// Reads memory of the target.
    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        if self.read_frame(addr, &mut bytes) {
            return bytes;
        }
        if memory::read(self.leader, addr, &mut bytes) { bytes } else { Vec::new() }
    }

    /// Reads code of the target, as it is without detours, and without traps but those that hold from the beginning.
    pub(crate) fn code(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        if !memory::read(self.pristine, addr, &mut bytes) {
            return Vec::new();
        }
        let meets = |detour: &&Detour| {
            detour.from < addr.saturating_add(len as u64) && addr < detour.from + JUMP.len() as u64
        };
        let functions = self.layout.detours.iter().flat_map(|detours| detours.functions()).filter(meets);
        for (at, byte) in functions.flat_map(|detour| (detour.from..).zip(detour.original)) {
            if let Some(place) = at.checked_sub(addr).and_then(|offset| bytes.get_mut(offset as usize)) {
                *place = byte;
            }
        }
        bytes
    }

    /// Writes bytes into code of the target, page by page.
    pub(crate) fn write_code(&self, mut bytes: Vec<(u64, u8)>) -> Result<(), ExecutionError> {
        if bytes.is_empty() {
            return Ok(());
        }
        bytes.sort_unstable();
        let file = MemoryFile::open(self.leader).map_err(system(SystemAction::OpenMemory))?;
        for page in bytes.chunk_by(|a, b| a.0 / PAGE == b.0 / PAGE) {
            let start = page[0].0 & !(PAGE - 1);
            let mut code = self.read(start, PAGE as usize);
            for (address, byte) in page {
                if let Some(place) = code.get_mut((address - start) as usize) {
                    *place = *byte;
                }
            }
            file.write(start, &code).map_err(system(SystemAction::PlantTraps))?;
        }
        Ok(())
    }

    /// Reads a little-endian number of the target, 0 where nothing is mapped.
    pub(crate) fn number(&self, addr: u64, len: usize) -> u64 {
        let mut bytes = [0; 8];
        if self.read_frame(addr, &mut bytes[..len]) {
            return u64::from_le_bytes(bytes);
        }
        memory::number(self.leader, addr, len).unwrap_or(0)
    }

    /// Whether a thread is in the harness, as of its last stop.
    pub(crate) fn in_harness(&self, index: ThreadIndex) -> bool {
        let task = &self.tasks[index];
        match task.role {
            ThreadRole::Program => false,
            ThreadRole::Harness => true,
            ThreadRole::Test { frame } => task.regs.rsp > frame,
        }
    }

    /// Whether a thread is a harness's own, and runs nothing of the program.
    pub(crate) fn is_of_harness(&self, index: ThreadIndex) -> bool {
        self.tasks[index].role == ThreadRole::Harness
    }

    /// Whether the checker decides when a thread goes on.
    pub(crate) fn is_scheduled(&self, index: ThreadIndex) -> bool {
        self.concurrent && !self.in_harness(index)
    }

    /// The code that is run by a thread that this one creates.
    pub(crate) fn role_of_child(&self, creator: ThreadIndex) -> ThreadRole {
        if self.in_harness(creator) { ThreadRole::Harness } else { ThreadRole::Program }
    }

    /// The part of a mutex's memory that locking changes.
    pub(crate) fn mutex_memory(&self, mutex: u64) -> MutexMemory {
        let bytes = self.read(mutex, MutexMemory::LEN);
        MutexMemory::parse(bytes.try_into().unwrap_or([0; MutexMemory::LEN]))
    }
}
