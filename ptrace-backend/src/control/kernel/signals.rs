//! Signals and traps at which the running thread stops.

use checker::failure::{Failure, FailureDetail, FailureKind, SignalOrigin};
use checker::names::Site;
use checker::program::ExecutionError;

use crate::answers::PID;
use crate::control::kernel::signal_waits::Signals;
use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::instructions::SpecialKind;
use crate::layout::What;
use crate::os::signal_names::name;
use crate::os::wait::Wait;
use crate::os::{Tid, memory, ptrace};
use crate::target::startup::answer_time_stamp;

/// Signals whose default action is to do nothing, or to stop or continue (which means nothing to a traced thread here).
const HARMLESS: &[i32] = &[
    libc::SIGCHLD,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGCONT,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

impl Process {
    /// The running thread has stopped with a signal.
    pub(crate) fn signalled(&mut self, index: Index, signal: i32) -> Result<Flow, ExecutionError> {
        if signal == libc::SIGTRAP {
            let at = self.tracee.tasks[index].regs.rip.wrapping_sub(1);
            if self.stops_at_probe(index, at) {
                return Ok(Flow::Rest);
            }
            if self.tracee.layout.traps.contains_key(&at) {
                self.tracee.tasks[index].regs.rip = at;
                return self.trapped(index, at);
            }
            if let Some(flow) = self.hidden_access(index, at)? {
                return Ok(flow);
            }
        }
        if signal == libc::SIGSEGV {
            let (task, thread) = (&mut self.tracee.tasks[index], &mut self.scheduling.threads[index]);
            if answer_time_stamp(task.tid, &mut task.regs, &mut thread.world) {
                self.write_registers(index)?;
                return Ok(Flow::Resume(0));
            }
        }
        if HARMLESS.contains(&signal) || !self.is_fatal(index, signal) {
            let tid = self.tracee.tasks[index].tid;
            if Signals::of(tid).is_some_and(|signals| signals.is_caught(signal)) {
                // The handler compares the sender's number with the one that the program has for itself.
                ptrace::rename_sender(tid, self.tracee.leader, PID as Tid)
                    .map_err(system("write a signal"))?;
                self.finish_stub(index)?;
            }
            return Ok(Flow::Resume(signal));
        }
        let failure = self.fatal_signal(index, signal);
        self.scheduling.threads[index].stage = Stage::Failed(failure);
        Ok(Flow::Rest)
    }

    /// A thread that is about to run a handler, and is in a stub, first runs that to its end: the event of its instruction
    /// has been counted, and the handler is to see the registers that the program would have.
    fn finish_stub(&mut self, index: Index) -> Result<(), ExecutionError> {
        let layout = std::sync::Arc::clone(&self.tracee.layout);
        let rip = self.tracee.tasks[index].regs.rip;
        let stub = layout.traps.values().filter_map(|trap| trap.stub.as_ref());
        let Some((_, code)) = stub.into_iter().find(|(_, code)| code.contains(rip)) else { return Ok(()) };
        let tid = self.tracee.tasks[index].tid;
        while code.contains(self.tracee.tasks[index].regs.rip) {
            let status = self.step(tid)?;
            self.tracee.tasks[index].regs = ptrace::registers(tid).map_err(system("read registers"))?;
            if let Wait::Signal(signal) = status
                && signal != libc::SIGTRAP
            {
                self.tracee.tasks[index].deferred_signal = signal;
                return self.leave_stub(index);
            }
        }
        Ok(())
    }

    /// A thread in a stub is put where it would be without the stub, before the program's own code sees its registers.
    fn leave_stub(&mut self, index: Index) -> Result<(), ExecutionError> {
        let mut regs = self.tracee.tasks[index].regs;
        let stubs = self.tracee.layout.traps.values().filter_map(|trap| trap.stub.as_ref());
        if stubs.into_iter().any(|(_, code)| code.restore(&mut regs)) {
            self.tracee.tasks[index].regs = regs;
            self.write_registers(index)?;
        }
        Ok(())
    }

    /// Whether the program leaves the signal to its default action, which ends it.
    fn is_fatal(&self, index: Index, signal: i32) -> bool {
        Signals::of(self.tracee.tasks[index].tid).is_none_or(|signals| signals.is_unhandled(signal))
    }

    fn fatal_signal(&mut self, index: Index, signal: i32) -> Failure {
        let _ = self.leave_stub(index);
        let stack = self.stack(index);
        if signal == libc::SIGABRT {
            let detail = self.last_words().map_or(FailureDetail::Aborted, FailureDetail::Said);
            return self.failure(index, FailureKind::Assertion, detail, stack);
        }
        let origin = self.fault(index, signal).map_or(SignalOrigin::Sent, SignalOrigin::Fault);
        let detail = FailureDetail::Signal { signal: name(signal), origin };
        self.failure(index, FailureKind::Crash, detail, stack)
    }

    /// The address that a faulting instruction touched.
    fn fault(&self, index: Index, signal: i32) -> Option<u64> {
        if ![libc::SIGSEGV, libc::SIGBUS].contains(&signal) {
            return None;
        }
        let info = ptrace::signal_info(self.tracee.tasks[index].tid).ok()?;
        // A positive code is the kernel's: the signal is the instruction's own doing.
        (info.si_code > 0).then(|| ptrace::fault_address(&info))
    }

    /// What the program said last on its standard error.
    pub(crate) fn last_words(&self) -> Option<String> {
        let (_, stderr, _) = self.tracee.shared.output();
        let words = last_words(&String::from_utf8_lossy(&stderr))?;
        Some(words.chars().take(300).collect())
    }

    /// A failure of one thread.
    pub(crate) fn failure(
        &self,
        index: Index,
        kind: FailureKind,
        detail: FailureDetail,
        stack: Vec<Site>,
    ) -> Failure {
        Failure::of_thread(kind, detail, self.scheduling.threads[index].name, stack)
    }

    /// The running thread has come to one of our traps.
    pub(crate) fn trapped(&mut self, index: Index, at: u64) -> Result<Flow, ExecutionError> {
        let layout = std::sync::Arc::clone(&self.tracee.layout);
        match &layout.traps[&at].what {
            What::Function { function, timed_out } => self.enter(index, *function, *timed_out),
            What::Allocator(what) => self.enter_allocator(index, *what),
            What::Returned => match self.tracee.tasks[index].calling.take() {
                Some(call) => self.end_call(index, *call),
                None => self.leave_allocator(index).map(|()| Flow::Resume(0)),
            },
            What::Access(candidate) => self.access(index, *candidate),
            What::Foreign(foreign) => self.foreign_call(index, *foreign),
            What::Special(special) => {
                let thread = &mut self.scheduling.threads[index];
                thread.drained |= special.kind == SpecialKind::Fence;
                special.complete(&mut self.tracee.tasks[index].regs, thread.world.random_number());
                self.write_registers(index).map(|()| Flow::Resume(0))
            }
        }
    }

    /// Makes the thread's next resumption execute the trapped instruction at which it stands, and go on behind it.
    pub(crate) fn pass_trap(&mut self, index: Index) -> Result<(), ExecutionError> {
        let layout = std::sync::Arc::clone(&self.tracee.layout);
        let at = self.tracee.tasks[index].regs.rip;
        let trap = &layout.traps[&at];
        match &trap.stub {
            Some((stub, _)) if self.tracee.stepping == crate::spec::Stepping::OutOfLine => {
                let task = &mut self.tracee.tasks[index];
                task.regs.rip = *stub;
                // At a trap, nothing else differs from what the kernel has.
                ptrace::set_instruction_pointer(task.tid, *stub).map_err(system("write registers"))
            }
            _ => self.step_in_place(index, at, trap.byte),
        }
    }

    pub(crate) fn step_in_place(&mut self, index: Index, at: u64, byte: u8) -> Result<(), ExecutionError> {
        self.write_registers(index)?;
        let tid = self.tracee.tasks[index].tid;
        memory::poke_byte(tid, at, byte).map_err(system("lift a trap"))?;
        // A string instruction stops after every element.
        loop {
            let status = self.step(tid)?;
            self.tracee.tasks[index].regs = ptrace::registers(tid).map_err(system("read registers"))?;
            if status != Wait::Signal(libc::SIGTRAP) || self.tracee.tasks[index].regs.rip != at {
                if let Wait::Signal(signal) = status
                    && signal != libc::SIGTRAP
                {
                    self.tracee.tasks[index].deferred_signal = signal;
                }
                break;
            }
        }
        memory::poke_byte(tid, at, 0xcc).map_err(system("plant a trap"))
    }
}

/// The last line; of what libstdc++ says about an exception that nobody has caught, both lines as one.
fn last_words(text: &str) -> Option<String> {
    const THROWN: &str = "terminate called after throwing an instance of '";
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next()?;
    let thrown = |line: &str| Some(line.strip_prefix(THROWN)?.strip_suffix('\'')?.to_owned());
    let words = match last.strip_prefix("what():") {
        Some(what) => lines.next().and_then(thrown).map(|class| (class, format!(": {}", what.trim()))),
        None => thrown(last).map(|class| (class, String::new())),
    };
    Some(words.map_or_else(|| last.to_owned(), |(class, what)| format!("uncaught exception {class}{what}")))
}
