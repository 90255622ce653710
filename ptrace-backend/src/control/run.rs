//! Running: a thread goes on to its next key point, and each of its stops is dealt with.

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use crate::control::kernel::accesses;
use crate::control::kernel::signals::interrupted_waits;
use crate::control::kernel::signals::state::Signals;
use crate::control::kernel::{
    child_processes, clock, process_exit, quiescence, signals, syscalls, thread_creation,
};
use crate::control::loops::{overdue, pauses, time_slices};
use crate::control::memory::blocks::heap;
use crate::control::memory::foreign_calls::ended_threads;
use crate::control::memory::{access, foreign_calls, hidden, logged_accesses, scope, unwatched_uses};
use crate::control::operations;
use crate::control::process::Process;
use crate::control::state::flow::{Flow, ForkedMemory};
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::{entry, stream_locks};
use crate::control::tracee::closed_code;
use crate::control::tracee::detours::InDetour;
use crate::control::tracee::injected_calls;
use crate::control::tracee::probes::{self, TRAP};
use crate::error::{BrokenExecution, SystemAction, system};
use crate::instructions::TrappedInstructionKind;
use crate::layout::TrapKind;
use crate::os::wait::WaitStatus;
use crate::os::{Tid, memory, ptrace};
use crate::target::startup::time_stamp_at;
use crate::virtual_syscalls::PID;

impl Process {
    /// Lets a thread run, with the registers that it now has, to its next key point or its end; then lets every thread
    /// that it created run to its first key point.
    pub(crate) fn advance(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let is_wide =
            std::mem::replace(&mut self.memory.let_go, true) | std::mem::take(&mut self.memory.stops_next);
        scope::widen(&mut self.tracee, &mut self.memory, is_wide)?;
        self.run_segment(index)?;
        self.start_newborn()?;
        quiescence::settle(&mut self.tracee, &mut self.scheduling, &mut self.objects)
    }

    /// Lets threads that were created run to their first key points.
    pub(crate) fn start_newborn(&mut self) -> Result<(), ExecutionError> {
        while !self.tracee.gone
            && self.tracee.probes.stopped().is_none()
            && !self.scheduling.newborn.is_empty()
        {
            let next = self.scheduling.newborn.remove(0);
            scope::widen(&mut self.tracee, &mut self.memory, true)?;
            self.run_segment(next)?;
        }
        Ok(())
    }

    fn run_segment(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        self.scheduling.threads[index].pending = None;
        access::plant_for(&self.tracee, &mut self.memory, index)?;
        self.tracee.watch.begin(self.tracee.leader, self.tracee.tasks[index].tid);
        self.run_on(index, 0)?;
        operations::depend_if_asynchronous(&self.tracee, &mut self.scheduling, index);
        stream_locks::depend_on_open_call(&self.tracee, &mut self.scheduling, index);
        Ok(())
    }

    /// Lets a thread run to its next key point, its end, or a probe; it gets this signal first, unless it is 0.
    pub(crate) fn run_on(&mut self, index: ThreadIndex, mut signal: i32) -> Result<(), ExecutionError> {
        loop {
            if let Some(deferred) = self.tracee.tasks[index].deferred.take() {
                let flow = self.signalled_before(index, &deferred)?;
                match self.goes_on(index, flow) {
                    Some(next) => signal = next,
                    None => return Ok(()),
                }
            }
            logged_accesses::forget_renamed(&mut self.tracee, &mut self.memory)?;
            self.tracee.resume(index, signal)?;
            let Some(status) = overdue::wait(
                &mut self.tracee,
                &mut self.scheduling,
                &mut self.memory,
                &mut self.account,
                index,
            )?
            else {
                return Ok(());
            };
            let flow = self.stopped(index, status)?;
            match self.goes_on(index, flow) {
                Some(next) => signal = next,
                None => return Ok(()),
            }
        }
    }

    /// The signal with which a thread goes on; `None`: it rests.
    fn goes_on(&mut self, index: ThreadIndex, flow: Flow) -> Option<i32> {
        match flow {
            Flow::Resume(signal) => return Some(signal),
            Flow::Look => time_slices::end_slice(
                &self.tracee,
                &mut self.scheduling,
                &self.objects,
                &mut self.account,
                index,
            ),
            Flow::Rest => {}
        }
        None
    }

    /// Acts on a stop, and says what it means for the thread.
    pub(crate) fn stopped(&mut self, index: ThreadIndex, status: WaitStatus) -> Result<Flow, ExecutionError> {
        let Self { tracee, scheduling, objects, memory, account } = self;
        if !matches!(status, WaitStatus::HandedOver | WaitStatus::Signal(libc::SIGTRAP)) {
            tracee.moment += 1;
        }
        accesses::shared_files::refresh(tracee, memory, account)?;
        logged_accesses::note(tracee, scheduling, memory, account, index)?;
        match status {
            WaitStatus::Exited(_) | WaitStatus::Killed(_) => {
                if tracee.is_scheduled(index) {
                    ended_threads::note(memory, account, index);
                }
                process_exit::ended(tracee, scheduling, objects, account, index, status)
            }
            WaitStatus::Clone => {
                thread_creation::created(tracee, scheduling, memory, account, index)?;
                Ok(Flow::Resume(0))
            }
            WaitStatus::Fork => {
                child_processes::forked(tracee, scheduling, memory, account, index, ForkedMemory::Copied)?;
                Ok(Flow::Resume(0))
            }
            WaitStatus::Vfork => {
                child_processes::forked(tracee, scheduling, memory, account, index, ForkedMemory::Shared)?;
                Ok(Flow::Resume(0))
            }
            WaitStatus::Exec => child_processes::replaced(self),
            WaitStatus::Exit => process_exit::exited(self, index),
            WaitStatus::Stopped => Ok(Flow::Resume(0)),
            WaitStatus::HandedOver => {
                let at = self.tracee.park(index)?;
                self.trapped(index, at)
            }
            WaitStatus::Seccomp => {
                tracee.read_registers(index)?;
                syscalls::enter(self, index)
            }
            WaitStatus::Signal(signal) => {
                if signal != libc::SIGTRAP
                    && let Some(at) = tracee.own_fault(index)?
                {
                    return self.trapped(index, at);
                }
                self.tracee.read_registers(index)?;
                self.signalled(index, signal)
            }
        }
    }

    /// A thread that is about to go on has got this signal before, and has not been let go since.
    fn signalled_before(
        &mut self,
        index: ThreadIndex,
        info: &libc::siginfo_t,
    ) -> Result<Flow, ExecutionError> {
        // The kernel takes a thread that has been stepped to have stopped for that.
        let tid = self.tracee.tasks[index].tid;
        ptrace::set_signal_info(tid, *info).map_err(system(SystemAction::WriteSignal))?;
        self.signalled(index, info.si_signo)
    }

    /// The running thread has stopped with a signal.
    pub(crate) fn signalled(&mut self, index: ThreadIndex, signal: i32) -> Result<Flow, ExecutionError> {
        if signal == libc::SIGTRAP {
            let at = self.tracee.tasks[index].regs.rip.wrapping_sub(1);
            if probes::stops_at(&mut self.tracee, index, at) {
                return Ok(Flow::Rest);
            }
            if self.tracee.layout.traps.contains_key(&at) {
                self.tracee.tasks[index].regs.rip = at;
                return self.trapped(index, at);
            }
            match self.tracee.stop_in_detour(index, at)? {
                InDetour::GoesOn => return Ok(Flow::Resume(0)),
                InDetour::Asks(at) => return self.trapped(index, at),
                InDetour::No => {}
            }
            if let Some(flow) = hidden::pass(&mut self.tracee, &self.scheduling, &mut self.memory, index, at)?
            {
                return Ok(flow);
            }
            if self.tracee.is_within_jump(at) {
                return Err(BrokenExecution::IntoInstruction.into());
            }
        }
        if let Some(page) = closed_code::page(&self.tracee, index, signal) {
            self.memory.promoted |= self.tracee.knowledge.note_reached(page);
            return closed_code::open(&mut self.tracee, index, page).map(|()| Flow::Resume(0));
        }
        if signal == libc::SIGSEGV
            && let Some(trapped) = time_stamp_at(self.tracee.tasks[index].tid, &self.tracee.tasks[index].regs)
        {
            return clock::read_time_stamp(&mut self.tracee, &mut self.scheduling, index, &trapped);
        }
        let is_fatal = signals::fatal::is_fatal(&self.tracee, index, signal);
        // Programs that handle breakpoints have some of their own in code that they make.
        if (is_fatal || signal != libc::SIGTRAP) && self.tracee.has_left_by_copy(index, signal) {
            return Err(BrokenExecution::CopiedCode.into());
        }
        if !is_fatal {
            let tid = self.tracee.tasks[index].tid;
            if Signals::of(tid).is_some_and(|signals| signals.is_caught(signal)) {
                // The handler compares the sender's number with the one that the program has for itself.
                ptrace::rename_sender(tid, self.tracee.leader, PID as Tid)
                    .map_err(system(SystemAction::WriteSignal))?;
                let of_timer = ptrace::signal_info(tid).is_ok_and(|info| info.si_code == libc::SI_TIMER);
                let of_other = std::mem::take(&mut self.scheduling.threads[index].is_interrupted) || of_timer;
                let stack = self.tracee.tasks[index].regs.rsp;
                self.memory.sharing.begin_handler(index, stack, of_other);
                self.tracee.finish_stub(index)?;
                let Self { tracee, scheduling, memory, account, .. } = self;
                // The end of a child comes at any time.
                if signal == libc::SIGCHLD
                    && let Some(function) = tracee.started_by
                {
                    account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, function));
                }
                let mut begun = interrupted_waits::begin_handler(tracee, scheduling, index, signal)?;
                if begun.is_none() && (tracee.concurrent || signal == libc::SIGTRAP) {
                    begun = Some(tracee.step_into_handler(tid, signal)?);
                    if begun == Some(WaitStatus::Signal(libc::SIGTRAP)) {
                        tracee.read_registers(index)?;
                    }
                }
                match begun {
                    Some(WaitStatus::Signal(libc::SIGTRAP)) => {
                        unwatched_uses::begin_handler(tracee, memory, account, index);
                        return Ok(Flow::Resume(0));
                    }
                    Some(status) => return self.stopped(index, status),
                    None => {}
                }
            }
            return Ok(Flow::Resume(signal));
        }
        let failure = signals::fatal::fatal_signal(&mut self.tracee, &self.scheduling, index, signal);
        self.scheduling.threads[index].run_state = RunState::Failed(failure);
        Ok(Flow::Rest)
    }

    /// The running thread has come to one of our traps.
    pub(crate) fn trapped(&mut self, index: ThreadIndex, at: u64) -> Result<Flow, ExecutionError> {
        let Self { tracee, scheduling, memory, account, .. } = self;
        let layout = std::sync::Arc::clone(&tracee.layout);
        match &layout.traps[&at].kind {
            TrapKind::Function { function, timed_out } => entry::enter(self, index, *function, *timed_out),
            TrapKind::Allocator(what) => {
                heap::enter_allocator(tracee, scheduling, memory, account, index, *what)
            }
            TrapKind::Returned => match tracee.tasks[index].calling.take() {
                Some(call) => injected_calls::end_call(tracee, scheduling, index, *call),
                None => {
                    heap::leave_allocator(tracee, scheduling, memory, account, index)?;
                    Ok(Flow::Resume(0))
                }
            },
            TrapKind::Access(candidate) => {
                access::enter(tracee, scheduling, memory, account, index, *candidate)
            }
            TrapKind::Foreign(foreign) => {
                hidden::enter_function(tracee, scheduling, memory, index)?;
                foreign_calls::enter(tracee, scheduling, memory, account, index, *foreign)
            }
            TrapKind::Instruction(trapped) => {
                if let Some(new) = trapped.new_stack {
                    unwatched_uses::switch_stack(tracee, memory, account, index, new);
                    tracee.pass_trap(index)?;
                    return Ok(Flow::Resume(0));
                }
                if trapped.kind == TrappedInstructionKind::Pause {
                    return pauses::enter(tracee, scheduling, memory, index, trapped);
                }
                if trapped.kind.is_time() {
                    return clock::read_time_stamp(tracee, scheduling, index, trapped);
                }
                let thread = &mut scheduling.threads[index];
                thread.drained |= trapped.kind == TrappedInstructionKind::Fence;
                trapped.complete(&mut tracee.tasks[index].regs, thread.virtual_system.random_number());
                tracee.write_registers(index).map(|()| Flow::Resume(0))
            }
        }
    }

    /// Lets the thread that stands at a probe go on to its next stop.
    pub(crate) fn leave_probe(&mut self) -> Result<(), ExecutionError> {
        let Some(index) = self.tracee.probes.stopped.take() else { return Ok(()) };
        self.tracee.watch.begin(self.tracee.leader, self.tracee.tasks[index].tid);
        let flow = self.pass_probe(index)?;
        if let Some(signal) = self.goes_on(index, flow) {
            self.run_on(index, signal)?;
        }
        self.start_newborn()
    }

    fn pass_probe(&mut self, index: ThreadIndex) -> Result<Flow, ExecutionError> {
        let at = self.tracee.tasks[index].regs.rip;
        let planted = self.tracee.probes.planted.get(&at).copied();
        if planted.is_none()
            && self.tracee.layout.traps.contains_key(&at)
            && self.tracee.number(at, 1) as u8 == TRAP
        {
            return self.trapped(index, at);
        }
        self.tracee.stop_in_kernel(index)?;
        self.tracee.write_registers(index)?;
        // It comes back to the probe after the handler of a signal that it has got.
        let has_signal = self.tracee.tasks[index].deferred.is_some();
        let Some(byte) = planted.filter(|_| !has_signal) else { return Ok(Flow::Resume(0)) };
        let tid = self.tracee.tasks[index].tid;
        memory::poke_byte(tid, at, byte).map_err(system(SystemAction::LiftTraps))?;
        let status = loop {
            let status = self.tracee.step(tid)?;
            let Ok(regs) = ptrace::registers(tid) else { break status };
            self.tracee.tasks[index].regs = regs;
            // A string instruction stops after every element.
            if status != WaitStatus::Signal(libc::SIGTRAP) || regs.rip != at {
                break status;
            }
        };
        // Not if the step has written over the code, or has ended the process.
        if self.tracee.probes.planted.contains_key(&at) && self.tracee.number(at, 1) as u8 == byte {
            memory::poke_byte(tid, at, TRAP).map_err(system(SystemAction::PlantTraps))?;
        }
        if status == WaitStatus::Signal(libc::SIGTRAP) {
            Ok(Flow::Resume(0))
        } else {
            self.stopped(index, status)
        }
    }
}
