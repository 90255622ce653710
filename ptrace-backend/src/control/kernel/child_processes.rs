//! Processes that the target forks: they stay attached and run, but nobody schedules them.

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{FailureDetail, FailureKind};
use checker::names::ThreadName;
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::answers::{START_OF_TIME, World};
use crate::control::process::Process;
use crate::control::state::flow::{Flow, ForkedMemory, Heard, system};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::layout::What;
use crate::os::wait::Wait;
use crate::os::{Tid, memory, ptrace};
use crate::target::startup::answer_time_stamp;

impl Process {
    /// The running thread has forked: the child runs, without the traps if its memory is its own.
    pub(crate) fn forked(&mut self, index: Index, memory: ForkedMemory) -> Result<(), ExecutionError> {
        let child =
            ptrace::event_message(self.tracee.tasks[index].tid).map_err(system("read an event"))? as Tid;
        self.hear_soon(child)?;
        if memory == ForkedMemory::Copied {
            // It may meet this process in memory that both have mapped, in files, in pipes.
            self.account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "fork"));
            self.lift_traps_of(child);
            self.lift_hidden(child);
            self.lift_probes_of(child);
            if self.scheduling.threads.iter().filter(|thread| thread.is_live()).count() > 1 {
                self.account.left_out = true;
                self.account.note(Peculiarity::ForksBesideThreads);
            }
        }
        self.tracee.bystanders.push(child);
        self.account.note(Peculiarity::StartsProcesses);
        self.tracee.shared.note_outside();
        ptrace::resume(child, 0).map_err(system("resume a new process"))
    }

    fn lift_traps_of(&self, child: Tid) {
        for (&at, trap) in &self.tracee.layout.traps {
            if memory::number(child, at, 1) == Some(0xcc) {
                let _ = memory::poke_byte(child, at, trap.byte);
            }
        }
    }

    /// A child that shares the target's memory has come to one of the target's traps, which is not for it.
    fn pass_trap_of(&self, child: Tid) -> bool {
        let Ok(mut regs) = ptrace::registers(child) else { return false };
        let at = regs.rip.wrapping_sub(1);
        let Some(trap) = self.tracee.layout.traps.get(&at) else { return false };
        match (&trap.what, &trap.stub) {
            (What::Special(special), _) => special.complete(&mut regs, 0),
            (_, Some((stub, _))) => regs.rip = *stub,
            (_, None) => return false,
        }
        ptrace::set_registers(child, &regs).is_ok()
    }

    /// The target has replaced itself by another program, which runs unscheduled to its end.
    pub(crate) fn replaced(&mut self) -> Result<Flow, ExecutionError> {
        self.account.note(Peculiarity::ReplacesItself);
        for thread in self.scheduling.threads.iter_mut().skip(1) {
            thread.stage = Stage::Ended;
        }
        self.tracee.tasks.iter_mut().skip(1).for_each(|task| task.reaped = true);
        self.scheduling.threads[0].stage = Stage::Ended;
        self.tracee.gone = true;
        let mut status = Wait::Exec;
        loop {
            match status {
                Wait::Exited(code) => {
                    if code != 0 && self.account.exit_code_fails {
                        let detail = FailureDetail::ExitCodeOfReplacement(code);
                        let failure = self.failure(0, FailureKind::ExitCode, detail, Vec::new());
                        self.scheduling.threads[0].stage = Stage::Failed(failure);
                    }
                    return Ok(Flow::Rest);
                }
                Wait::Killed(_) => return self.ended(0, status),
                _ => self.bystander(self.tracee.leader, status),
            }
            let Some(next) = self.wait_for_leader()? else { return Ok(Flow::Rest) };
            status = next;
        }
    }

    /// `None`: its time is over.
    fn wait_for_leader(&mut self) -> Result<Option<Wait>, ExecutionError> {
        loop {
            match self.hear(self.tracee.leader, |_| true)? {
                Heard::Report(status) => return Ok(Some(status)),
                Heard::Over(reason) => {
                    if self.interrupted(0, reason, false)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// A process that is not scheduled has something to report: it goes on.
    pub(crate) fn bystander(&mut self, who: Tid, status: Wait) {
        let signal = match status {
            Wait::Exited(_) | Wait::Killed(_) => {
                self.tracee.bystanders.retain(|&child| child != who);
                return;
            }
            Wait::Fork | Wait::Vfork | Wait::Clone => {
                if let Ok(child) = ptrace::event_message(who) {
                    self.take_in(child as Tid);
                }
                0
            }
            Wait::Signal(libc::SIGSEGV) if time_stamp(who) => 0,
            Wait::Signal(libc::SIGTRAP) if self.pass_trap_of(who) => 0,
            Wait::Signal(signal) => signal,
            Wait::Seccomp | Wait::Exec | Wait::Exit | Wait::Stopped => 0,
        };
        let _ = ptrace::resume(who, signal);
    }

    /// A process that is not scheduled has created another one, or a thread.
    fn take_in(&mut self, child: Tid) {
        match self.tracee.early.remove(&child) {
            Some(Wait::Exited(_) | Wait::Killed(_)) => return,
            // Its first stop.
            Some(_) => drop(ptrace::resume(child, 0)),
            None => {}
        }
        self.tracee.bystanders.push(child);
    }

    /// Waiting for a child is done by the kernel: the children run on meanwhile.
    pub(crate) fn wait_for_child(&mut self, _index: Index) -> Result<Flow, ExecutionError> {
        Ok(Flow::Resume(0))
    }
}

/// Answers `rdtsc` in a process that is not scheduled.
fn time_stamp(who: Tid) -> bool {
    let mut world = World::new(ThreadName::MAIN, START_OF_TIME);
    let Ok(mut regs) = ptrace::registers(who) else { return false };
    answer_time_stamp(who, &mut regs, &mut world) && ptrace::set_registers(who, &regs).is_ok()
}
