//! One execution, followed at the pace of its user: it is stopped at every event, and between events where it is asked
//! to.

use std::collections::BTreeSet;
use std::sync::Arc;

use checker::divergence::{Difference, Observation};
use checker::names::{Site, ThreadName};
use checker::operation::OpKind;
use checker::position::Position;
use checker::program::{Agent, Choice, ExecutionError, OpKey};

use crate::control::memory::access;
use crate::control::process::Process;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::probes;
use crate::control::tracee::stacks;
use crate::control::watchdog::Watch;
use crate::control::{enabled, expiry};
use crate::debuginfo::inspect::{Inspector, ThreadState};
use crate::debuginfo::{self, Memory, Modules};
use crate::layout::functions::TrappedFunction;
use crate::layout::{Layout, TrapKind};
use crate::os::{Tid, memory, ptrace};
use crate::program::PtraceProgram;
use crate::target::streams::Streams;

/// The point at which an execution stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// Every thread is at a key point, blocked, failed, or at its end.
    Rest,
    /// A thread stands at a probe, and all others as at rest.
    Probe {
        /// The thread's name.
        thread: ThreadName,
        /// It stands at a key point as well: going on is resting there.
        rests: bool,
    },
}

/// A copy of the program that runs a recorded schedule one event at a time. Its threads stand still except inside of its
/// functions, and each of these takes at most the time limit of an execution.
pub struct Inspection {
    process: Process,
    streams: Arc<Streams>,
    watch: Arc<Watch>,
}

impl PtraceProgram {
    /// A new copy, before the first instruction of `main`. There can be one at a time, for all share what they write.
    ///
    /// # Errors
    /// When the program cannot be copied.
    pub fn inspect(&self) -> Result<Inspection, ExecutionError> {
        let (mut process, streams, watch) = self.copy()?;
        // A person looks at what the kernel has of stopped threads.
        process.tracee.page = None;
        watch.end();
        Ok(Inspection { process, streams, watch })
    }

    /// The executable and its libraries, where they are loaded.
    #[must_use]
    pub fn modules(&self) -> Arc<Modules> {
        Arc::clone(&self.layout().unwinding)
    }

    /// The run-time address of a site.
    #[must_use]
    pub fn address(&self, site: Site) -> Option<u64> {
        let layout = self.layout();
        layout.locate(site).map(|(module, at)| at + module.mapped.bias)
    }

    /// The run-time addresses at which every Rust panic passes, once it has said what it has to say.
    #[must_use]
    pub fn panics(&self) -> BTreeSet<u64> {
        let is_panic =
            |kind: &TrapKind| matches!(kind, TrapKind::Function { function: TrappedFunction::Panic, .. });
        let layout = self.layout();
        let traps = layout.traps.iter();
        traps.filter(|(_, trap)| is_panic(&trap.kind)).map(|(address, _)| *address).collect()
    }

    /// The site of a run-time address.
    #[must_use]
    pub fn site(&self, address: u64) -> Site {
        self.layout().site(address)
    }
}

/// The memory of a process that stands still.
struct ProcessMemory(Tid);

impl Memory for ProcessMemory {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        memory::read(self.0, address, buffer)
    }
}

impl Inspection {
    /// From now on the running thread stops before these instructions (run-time addresses), and before no others.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn set_probes(&mut self, addresses: &BTreeSet<u64>) -> Result<(), ExecutionError> {
        probes::set(&mut self.process.tracee, addresses)
    }

    /// Lets the main thread run from its beginning to its first key point.
    ///
    /// # Errors
    /// When the program does something that cannot be controlled, or the user cancels.
    pub fn begin(&mut self) -> Result<Halt, ExecutionError> {
        self.timed(|process| process.advance(ThreadIndex::MAIN))
    }

    /// Runs one event, and its thread to the next key point.
    ///
    /// # Errors
    /// [`ExecutionError::Diverged`] if the operation is not the one expected, or cannot run.
    pub fn perform(&mut self, choice: Choice, expected: &OpKey) -> Result<Halt, ExecutionError> {
        self.expect(choice, expected)?;
        self.timed(|process| process.run(choice).map(drop))
    }

    /// Lets the thread that stands at a probe go on.
    ///
    /// # Errors
    /// As for [`Inspection::begin`].
    pub fn go_on(&mut self) -> Result<Halt, ExecutionError> {
        self.timed(Process::leave_probe)
    }

    /// Checks that the pending operation of the agent that is to move is the one expected.
    fn expect(&self, choice: Choice, expected: &OpKey) -> Result<(), ExecutionError> {
        let name = choice.agent.thread();
        let differs = |got: Observation| {
            let at = Position::after(self.process.scheduling.events as usize);
            let expected = Observation::operation(name, expected);
            ExecutionError::Diverged(Box::new(Difference { at, expected, got }))
        };
        if let Some(nth) = expiry::position(&self.process.scheduling, name) {
            let timer = &self.process.scheduling.timers[nth];
            let key = OpKey { kind: OpKind::Expire, site: timer.site };
            return match timer.awaited() {
                Some(_) if key == *expected => Ok(()),
                Some(_) => Err(differs(Observation::operation(name, &key))),
                None => Err(differs(Observation::NoAgent(choice.agent))),
            };
        }
        let index = self.index(name).ok_or_else(|| differs(Observation::NoAgent(choice.agent)))?;
        let thread = &self.process.scheduling.threads[index];
        let Some(pending) = thread.pending.as_ref().filter(|_| thread.is_live()) else {
            return Err(differs(Observation::NoAgent(choice.agent)));
        };
        let is_timeout = matches!(choice.agent, Agent::Timeout(_));
        let kind = if is_timeout { OpKind::Timeout } else { pending.op.kind };
        let key = OpKey { kind, site: pending.site };
        if key != *expected {
            return Err(differs(Observation::operation(name, &key)));
        }
        let can_move = is_timeout
            || pending.sleeps()
            || enabled::holds(
                &self.process.tracee,
                &self.process.scheduling,
                &self.process.objects,
                index,
                &pending.condition,
            )
            || enabled::ends_wait(
                &self.process.tracee,
                &self.process.scheduling,
                &self.process.objects,
                index,
                pending,
            )
            .is_some();
        if can_move { Ok(()) } else { Err(differs(Observation::Blocked(name))) }
    }

    fn timed(
        &mut self,
        run: impl FnOnce(&mut Process) -> Result<(), ExecutionError>,
    ) -> Result<Halt, ExecutionError> {
        let result = run(&mut self.process);
        self.watch.end();
        result?;
        let stopped =
            self.process.tracee.probes.stopped().map(|index| self.process.scheduling.threads[index].name);
        let rests = access::rests_at_probe(&self.process.tracee, &self.process.memory);
        Ok(stopped.map_or(Halt::Rest, |thread| Halt::Probe { thread, rests }))
    }

    fn index(&self, thread: ThreadName) -> Option<ThreadIndex> {
        self.process.scheduling.threads.position(|t| t.name == thread)
    }

    /// The contents of a thread's registers; none once it has ended.
    #[must_use]
    pub fn state(&self, thread: ThreadName) -> Option<ThreadState> {
        let index = self.present(thread)?;
        let task = &self.process.tracee.tasks[index];
        Some(ThreadState {
            registers: stacks::registers(&self.process.tracee, index),
            vectors: ptrace::vector_registers(task.tid).ok(),
            thread_pointer: Some(task.regs.fs_base),
        })
    }

    /// The instruction before which a thread stands; none once it has ended.
    #[must_use]
    pub fn instruction(&self, thread: ThreadName) -> Option<u64> {
        Some(self.process.tracee.tasks[self.present(thread)?].regs.rip)
    }

    /// The functions of a thread that have not returned, innermost first, at most `limit`; none once it has ended.
    #[must_use]
    pub fn frames(&self, thread: ThreadName, limit: usize) -> Vec<debuginfo::Frame> {
        self.present(thread)
            .map(|index| stacks::raw_frames(&self.process.tracee, index, limit))
            .unwrap_or_default()
    }

    /// Looks into a thread; none once it has ended.
    pub fn look<T>(&self, thread: ThreadName, look: impl FnOnce(&Inspector<'_>) -> T) -> Option<T> {
        let state = self.state(thread)?;
        Some(look(&Inspector::new(self.modules(), &ProcessMemory(self.process.tracee.leader), &state)))
    }

    /// The place of a thread that the kernel still has.
    fn present(&self, thread: ThreadName) -> Option<ThreadIndex> {
        self.index(thread).filter(|&index| !self.process.tracee.tasks[index].reaped)
    }

    /// The executable and its libraries, where they are loaded.
    #[must_use]
    pub fn modules(&self) -> &Modules {
        let layout: &Layout = &self.process.tracee.layout;
        &layout.unwinding
    }

    /// Output that the program has printed and the C library has not written to the standard output yet. Empty where
    /// that library is another one than glibc.
    #[must_use]
    pub fn unwritten(&self) -> Vec<u8> {
        /// Offset of the pointers to the beginning and the end of the pending output in `struct _IO_FILE`; part of
        /// glibc's ABI.
        const WAITING: u64 = 32;
        /// No program sets up a larger buffer.
        const LARGEST: u64 = 1 << 20;
        let read =
            |address: u64, buffer: &mut [u8]| memory::read(self.process.tracee.leader, address, buffer);
        let Some(file) = self.modules().symbol("_IO_2_1_stdout_") else { return Vec::new() };
        let mut ends = [0; 16];
        if !read(file + WAITING, &mut ends) {
            return Vec::new();
        }
        let [from, to] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| ends[at + byte])));
        let mut text = vec![0; to.saturating_sub(from).min(LARGEST) as usize];
        if read(from, &mut text) { text } else { Vec::new() }
    }

    /// Output of the program on its standard output and standard error so far, and whether some is left out.
    #[must_use]
    pub fn output(&self) -> (Vec<u8>, Vec<u8>, bool) {
        self.streams.output()
    }
}
