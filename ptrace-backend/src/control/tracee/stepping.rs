//! Going on: past the trap at which a thread stands, out of a call, or into another function.

use checker::program::ExecutionError;

use crate::control::state::flow::Flow;
use crate::control::state::pending::InjectedCall;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::error::{SystemAction, system};
use crate::layout::TrapKind;
use crate::os::wait::WaitStatus;
use crate::os::{Regs, memory, ptrace};

/// Room below a return address at a function's entry that keeps the stack aligned for another call.
const FRAME: u64 = 16;

impl Tracee {
    /// Makes a thread go on at another function's entry, past the trap that may be there.
    pub(crate) fn jump(&mut self, index: ThreadIndex, function: u64) -> Result<(), ExecutionError> {
        self.tasks[index].regs.rip = function;
        self.write_registers(index)?;
        if self.layout.traps.contains_key(&function) { self.pass_trap(index) } else { Ok(()) }
    }

    /// Makes the function at whose entry a thread stands return.
    pub(crate) fn return_from_call(&mut self, index: ThreadIndex, value: u64) -> Result<(), ExecutionError> {
        let back = self.number(self.tasks[index].regs.rsp, 8);
        let regs = &mut self.tasks[index].regs;
        regs.rax = value;
        regs.rip = back;
        regs.rsp += 8;
        self.write_registers(index)
    }

    /// Makes the system call at which a thread stands return without being carried out.
    pub(crate) fn answer(&mut self, index: ThreadIndex, value: i64) -> Result<(), ExecutionError> {
        let regs = &mut self.tasks[index].regs;
        regs.orig_rax = u64::MAX;
        regs.rax = value as u64;
        self.write_registers(index)
    }

    /// Makes a thread come to the system call at which it stands once more.
    pub(crate) fn repeat_call(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        /// `syscall`
        const LEN: u64 = 2;
        let regs = &mut self.tasks[index].regs;
        regs.rip = regs.rip.wrapping_sub(LEN);
        regs.rax = regs.orig_rax;
        regs.orig_rax = u64::MAX;
        self.write_registers(index)
    }

    /// A thread that is about to run a handler, and is in a stub, first runs that to its end: the event of its instruction has
    /// been counted, and the handler is to see the registers that the program would have. The sender of the signal, and what
    /// came with it, are told to the thread afterwards: the C library obeys a cancellation only if it comes from its own
    /// process.
    pub(crate) fn finish_stub(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let tid = self.tasks[index].tid;
        let info = ptrace::signal_info(tid).map_err(system(SystemAction::ReadSignal))?;
        if ptrace::is_fault(&info) {
            // The instruction has done nothing, and would do so once more.
            return self.leave_stub(index);
        }
        self.step_out_of_stub(index)?;
        ptrace::set_signal_info(tid, info).map_err(system(SystemAction::WriteSignal))
    }

    fn step_out_of_stub(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        self.step_out_of_copy(index)?;
        self.leave_detour(index)?;
        let layout = std::sync::Arc::clone(&self.layout);
        let rip = self.tasks[index].regs.rip;
        let Some(code) = layout.stub_around(rip) else { return Ok(()) };
        if self.step_while(index, |rip| code.contains(rip))? { Ok(()) } else { self.leave_stub(index) }
    }

    /// Steps a thread, which the kernel has stopped, while it stands in some code. `false`: an instruction there has faulted, and does
    /// so again when the thread goes on.
    pub(super) fn step_while(
        &mut self,
        index: ThreadIndex,
        is_inside: impl Fn(u64) -> bool,
    ) -> Result<bool, ExecutionError> {
        if !is_inside(self.tasks[index].regs.rip) {
            return Ok(true);
        }
        let tid = self.tasks[index].tid;
        let blocked = ptrace::block_signals(tid).map_err(system(SystemAction::BlockSignals))?;
        let mut has_faulted = false;
        while !has_faulted && is_inside(self.tasks[index].regs.rip) {
            let status = self.step(tid)?;
            self.tasks[index].regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
            has_faulted = matches!(status, WaitStatus::Signal(signal) if signal != libc::SIGTRAP);
        }
        ptrace::set_blocked_signals(tid, blocked).map_err(system(SystemAction::UnblockSignals))?;
        Ok(!has_faulted)
    }

    /// A thread in a stub is put where it would be without the stub, before the program's own code sees its registers.
    pub(crate) fn leave_stub(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let mut regs = self.tasks[index].regs;
        let stub = self.layout.stub_around(regs.rip);
        if self.restore_from_detour(&mut regs) || stub.is_some_and(|code| code.restore(&mut regs)) {
            self.tasks[index].regs = regs;
            self.write_registers(index)?;
        }
        Ok(())
    }

    /// Makes the thread's next resumption execute the trapped instruction at which it stands, and go on behind it.
    pub(crate) fn pass_trap(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let layout = std::sync::Arc::clone(&self.layout);
        let at = self.tasks[index].regs.rip;
        let trap = &layout.traps[&at];
        if let Some(copy) = self.copy_in_detour(at) {
            self.tasks[index].regs.rip = copy;
            return self.write_instruction_pointer(index);
        }
        match trap.stub {
            Some(stub) if self.stepping == crate::spec::Stepping::OutOfLine => {
                self.tasks[index].regs.rip = stub.get();
                self.write_instruction_pointer(index)
            }
            _ => self.step_in_place(index, at, trap.byte()),
        }
    }

    pub(crate) fn step_in_place(
        &mut self,
        index: ThreadIndex,
        at: u64,
        byte: u8,
    ) -> Result<(), ExecutionError> {
        self.stop_in_kernel(index)?;
        self.write_registers(index)?;
        let tid = self.tasks[index].tid;
        memory::poke_byte(tid, at, byte).map_err(system(SystemAction::LiftTraps))?;
        // A signal that comes first waits until the instruction has run, whenever the kernel tells of it.
        let mut blocked = None;
        // A string instruction stops after every element.
        loop {
            if blocked.is_none() && self.tasks[index].deferred.is_some() {
                blocked = Some(ptrace::block_signals(tid).map_err(system(SystemAction::BlockSignals))?);
            }
            let status = self.step(tid)?;
            let task = &mut self.tasks[index];
            task.regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
            let goes_on = match status {
                WaitStatus::Signal(libc::SIGTRAP) => true,
                WaitStatus::Signal(_) if task.deferred.is_none() => {
                    task.defer_signal();
                    task.deferred.is_some_and(|info| !ptrace::is_fault(&info))
                }
                _ => false,
            };
            if !goes_on || task.regs.rip != at {
                break;
            }
        }
        if let Some(blocked) = blocked {
            ptrace::set_blocked_signals(tid, blocked).map_err(system(SystemAction::UnblockSignals))?;
        }
        memory::poke_byte(tid, at, 0xcc).map_err(system(SystemAction::PlantTraps))
    }

    pub(crate) fn refuse(&mut self, index: ThreadIndex, error: i32) -> Result<Flow, ExecutionError> {
        self.answer(index, -i64::from(error))?;
        Ok(Flow::Resume(0))
    }

    /// A thread that stands at a function's entry calls another one, which returns to a trap.
    pub(crate) fn begin_call(
        &mut self,
        index: ThreadIndex,
        call: InjectedCall,
    ) -> Result<(), ExecutionError> {
        let saved = self.tasks[index].regs;
        let back = saved.rsp.wrapping_sub(FRAME);
        if !self.write(back, &self.returns_to().to_le_bytes()) {
            return Err(system(SystemAction::WriteStack)(std::io::Error::last_os_error()));
        }
        let task = &mut self.tasks[index];
        task.regs = Regs { rip: call.function, rdi: call.argument, rsp: back, ..saved };
        task.calling = Some(Box::new(InjectedCall { saved: Some(saved), ..call }));
        self.write_registers(index)
    }

    /// Removes the trap at which a thread stands from this process, and makes the thread go on there.
    pub(crate) fn lift(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let at = self.tasks[index].regs.rip;
        let trap = &self.layout.traps[&at];
        match trap.kind {
            TrapKind::Access(candidate) if self.stops_by_flag(candidate) => {
                self.set_trap(candidate, false)?;
                return self.pass_trap(index);
            }
            TrapKind::Foreign(_) => self.lift_entries(std::iter::once(at))?,
            _ => memory::poke_byte(self.leader, at, trap.byte()).map_err(system(SystemAction::LiftTraps))?,
        }
        self.write_registers(index)
    }

    /// Plants the trap of a candidate, or lifts it.
    pub(crate) fn set_trap(&self, candidate: usize, stops: bool) -> Result<(), ExecutionError> {
        if self.stops_by_flag(candidate) {
            return self.set_flags(candidate, &[u8::from(stops)]).map_err(system(SystemAction::WriteFlag));
        }
        let at = self.layout.candidates[candidate].addr;
        if matches!(self.layout.traps[&at].kind, TrapKind::Foreign(_)) {
            let entry = std::iter::once(at);
            return if stops { self.plant_entries(entry) } else { self.lift_entries(entry) };
        }
        let byte = if stops { 0xcc } else { self.layout.traps[&at].byte() };
        memory::poke_byte(self.leader, at, byte).map_err(system(SystemAction::PlantTraps))
    }
}
