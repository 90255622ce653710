//! The reports of traced processes: each wait for one has an end in sight, and an ear for all that may report meanwhile.

use std::time::{Duration, Instant};

use checker::names::ThreadName;
use checker::program::ExecutionError;

use crate::control::state::client::Processes;
use crate::control::state::flow::WaitResult;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::watchdog::Reason;
use crate::error::{SystemAction, system};
use crate::layout::TrapKind;
use crate::layout::module::is_installed;
use crate::os::calls::{self, external_effects};
use crate::os::wait::{self, WaitStatus};
use crate::os::{Tid, process, ptrace};
use crate::target::startup::time_stamp_at;
use crate::virtual_syscalls::{PID, START_OF_TIME, VirtualSystem};

/// The least time that processes that have been killed may take until they are gone.
const ENDING: Duration = Duration::from_secs(2);

impl Tracee {
    /// A child that shares the target's memory has come to one of the target's traps, which is not for it.
    fn pass_trap_of(&self, child: Tid) -> bool {
        let Ok(mut regs) = ptrace::registers(child) else { return false };
        let at = regs.rip.wrapping_sub(1);
        let Some(trap) = self.layout.traps.get(&at) else { return false };
        match (&trap.kind, trap.stub) {
            (TrapKind::Instruction(trapped), _) if trapped.new_stack.is_none() => {
                trapped.complete(&mut regs, time_of_child_process());
            }
            (_, Some(stub)) => regs.rip = stub.get(),
            (_, None) => return false,
        }
        ptrace::set_registers(child, &regs).is_ok()
    }

    /// A process that is not scheduled has something to report: it goes on.
    pub(crate) fn child_process_reported(&mut self, who: Tid, status: WaitStatus) {
        let signal = match status {
            WaitStatus::Exited(_) | WaitStatus::Killed(_) => {
                self.child_processes.retain(|&child| child != who);
                return;
            }
            WaitStatus::Fork | WaitStatus::Vfork | WaitStatus::Clone => {
                if let Ok(child) = ptrace::event_message(who) {
                    self.take_in(child as Tid);
                }
                0
            }
            WaitStatus::Signal(libc::SIGSEGV) if time_stamp(who) => 0,
            WaitStatus::Signal(libc::SIGTRAP) if self.pass_trap_of(who) => 0,
            WaitStatus::Signal(signal) => signal,
            WaitStatus::Seccomp => {
                self.call_of_child_process(who);
                0
            }
            WaitStatus::Exec => {
                self.starts_own_program |= process::executable(who).is_none_or(|path| !is_installed(&path));
                0
            }
            WaitStatus::Exit | WaitStatus::Stopped | WaitStatus::HandedOver => 0,
        };
        let _ = ptrace::resume(who, signal);
    }

    /// A process that is not scheduled stands at a system call. A child knows the program by the number that the program has for
    /// itself, and sends signals to it by that.
    fn call_of_child_process(&mut self, child: Tid) {
        let Ok(mut regs) = ptrace::registers(child) else { return };
        self.children_have_external_effects |=
            external_effects::has_any(child, &regs, false) || calls::sends_signal(&regs);
        match regs.orig_rax as i64 {
            libc::SYS_getppid if process::parent(child) == Some(self.leader) => {
                (regs.orig_rax, regs.rax) = (u64::MAX, PID as u64);
            }
            libc::SYS_kill | libc::SYS_rt_sigqueueinfo if regs.rdi == PID as u64 => {
                regs.rdi = self.leader as u64;
            }
            _ => return,
        }
        let _ = ptrace::set_registers(child, &regs);
    }

    /// A process that is not scheduled has created another one, or a thread.
    fn take_in(&mut self, child: Tid) {
        match self.early.remove(&child) {
            Some(WaitStatus::Exited(_) | WaitStatus::Killed(_)) => return,
            // Its first stop.
            Some(_) => drop(ptrace::resume(child, 0)),
            None => {}
        }
        self.child_processes.push(child);
    }

    /// Whether the search ends, in the middle of what goes on here.
    pub(crate) fn is_to_end(&self) -> bool {
        self.watch.is_search_over() || self.watch.expired().is_some_and(|reason| reason != Reason::TimedOut)
    }

    /// Waits for a thread or process of which it is known that it reports in a moment.
    pub(crate) fn wait_for_report_soon(&mut self, tid: Tid) -> Result<WaitStatus, ExecutionError> {
        match self.wait_for_report(tid, |reason| reason != Reason::TimedOut)? {
            WaitResult::Report(status) => Ok(status),
            WaitResult::Over(reason) => {
                self.gone = true;
                Err(reason.ends_everything().unwrap_or(ExecutionError::OutOfTime))
            }
        }
    }

    /// Lets a thread run one instruction.
    pub(crate) fn step(&mut self, tid: Tid) -> Result<WaitStatus, ExecutionError> {
        ptrace::step(tid, 0).map_err(system(SystemAction::StepThread))?;
        self.wait_for_report_soon(tid)
    }

    /// Lets the kernel carry out the system call at which a thread stands. Its result, if the thread is still there.
    pub(crate) fn complete_call(&mut self, index: ThreadIndex) -> Result<Option<i64>, ExecutionError> {
        let tid = self.tasks[index].tid;
        match self.step(tid)? {
            WaitStatus::Signal(libc::SIGTRAP) => {}
            WaitStatus::Signal(_) => self.tasks[index].defer_signal(),
            _ => return Ok(None),
        }
        self.tasks[index].regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
        Ok(Some(self.tasks[index].regs.rax as i64))
    }

    /// Lets the kernel put the handler of a signal, with which a thread has stopped, on the thread's stack.
    pub(crate) fn step_into_handler(&mut self, tid: Tid, signal: i32) -> Result<WaitStatus, ExecutionError> {
        ptrace::step(tid, signal).map_err(system(SystemAction::StepThread))?;
        let begun = self.wait_for_report_soon(tid)?;
        // A trap within a handler that blocks its own signal would end the process.
        if signal == libc::SIGTRAP && begun == WaitStatus::Signal(signal) {
            ptrace::unblock_traps(tid).map_err(system(SystemAction::WriteSignal))?;
        }
        Ok(begun)
    }

    /// Waits for a thread or process until it reports, or something that matters is the case.
    pub(crate) fn wait_for_report(
        &mut self,
        tid: Tid,
        matters: impl Fn(Reason) -> bool,
    ) -> Result<WaitResult, ExecutionError> {
        if let Some(status) = self.early.remove(&tid) {
            return Ok(WaitResult::Report(status));
        }
        loop {
            match self
                .watch
                .wait(self.is_alone().then_some(tid), &matters)
                .map_err(system(SystemAction::WaitForThread))?
            {
                Err(reason) => return Ok(WaitResult::Over(reason)),
                // Whichever thread executes a program has the main thread's number from then on.
                Ok((who, status)) if who == tid || (who == self.leader && status == WaitStatus::Exec) => {
                    return Ok(WaitResult::Report(status));
                }
                Ok((who, status)) => self.overhear(who, status),
            }
        }
    }

    /// Another one than was waited for has something to report.
    fn overhear(&mut self, who: Tid, status: WaitStatus) {
        let has_ended = matches!(status, WaitStatus::Exited(_) | WaitStatus::Killed(_));
        if let Some(task) = self.tasks.iter_mut().find(|task| task.tid == who) {
            // A thread that executes another program ends all others first, which waits until that has been heard of.
            task.reaped |= has_ended;
            if matches!(status, WaitStatus::Signal(_)) && task.parked {
                task.unpark();
            } else if !has_ended {
                task.parked = false;
                let _ = ptrace::resume(who, 0);
            }
        } else if self.child_processes.contains(&who) {
            self.child_process_reported(who, status);
        } else {
            // A new one, of which its creator has not told so far.
            self.early.insert(who, status);
        }
    }

    /// Ends the process and everything that it has started, and reaps it all.
    pub(crate) fn kill(&mut self) {
        // Its number may belong to another process by now.
        if std::mem::replace(&mut self.dead, true) {
            return;
        }
        self.watch.hurry(false);
        let clients = self.client.as_mut().map(Processes::kill).unwrap_or_default();
        let others: Vec<Tid> = self
            .child_processes
            .drain(..)
            .chain(self.early.drain().map(|(child, _)| child))
            .chain(clients)
            .collect();
        others.iter().for_each(|&child| ptrace::kill(child));
        // A stop on its way out would cost time. It cannot be told if it runs or is gone, and then need not be.
        if !self.tasks[ThreadIndex::MAIN].reaped {
            let _ = ptrace::stop_at_exit(self.leader, false);
            ptrace::kill(self.leader);
            if self.left_from.is_some() {
                // A kernel that takes the process to be ending already does not wake the main thread for that.
                let _ = ptrace::resume(self.leader, 0);
            }
        }
        let own = self.tasks.iter().filter(|task| !task.reaped).map(|task| task.tid);
        self.watch.begin_wait();
        self.reap(own.chain(others).collect());
        self.watch.end();
    }

    /// Ends the program, and leaves its client.
    pub(crate) fn end_program(&mut self) -> Result<(), ExecutionError> {
        self.gone = true;
        let _ = ptrace::stop_at_exit(self.leader, false);
        ptrace::kill(self.leader);
        let _ = ptrace::resume(self.leader, 0);
        self.watch.begin_wait();
        for at in self.tasks.indices().rev() {
            let tid = self.tasks[at].tid;
            while !self.tasks[at].reaped {
                match self.wait_for_report_soon(tid)? {
                    WaitStatus::Exited(_) | WaitStatus::Killed(_) => self.tasks[at].reaped = true,
                    _ => drop(ptrace::resume(tid, 0)),
                }
            }
        }
        Ok(())
    }

    /// Reaps the processes that have been killed and what they leave, in whatever order it ends: a main thread is the last of
    /// its process, and some threads may not have been heard of. A process that the kernel does not let go of in time ends with
    /// this process.
    fn reap(&self, mut left: Vec<Tid>) {
        let began = Instant::now();
        left.retain(|&tid| wait::is_left(tid));
        while !left.is_empty() {
            match self.watch.wait(None, |reason| reason == Reason::TimedOut) {
                Ok(Ok((who, WaitStatus::Exited(_) | WaitStatus::Killed(_)))) => {
                    left.retain(|&tid| tid != who)
                }
                Ok(Ok((who, _))) => {
                    if !left.contains(&who) {
                        ptrace::kill(who);
                        left.push(who);
                    }
                    let _ = ptrace::resume(who, 0);
                }
                // The time for which a thread may run says nothing of the time that a busy machine takes to end one.
                Ok(Err(_))
                    if began.elapsed() < ENDING || left.iter().any(|&tid| process::is_runnable(tid)) =>
                {
                    self.watch.begin_wait();
                }
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }
}

/// Answers `rdtsc` in a process that is not scheduled.
fn time_stamp(who: Tid) -> bool {
    let Ok(mut regs) = ptrace::registers(who) else { return false };
    let Some(trapped) = time_stamp_at(who, &regs) else { return false };
    trapped.complete(&mut regs, time_of_child_process());
    ptrace::set_registers(who, &regs).is_ok()
}

/// The time that every reading of the processor's time stamps by a process that is not scheduled shows.
fn time_of_child_process() -> u64 {
    VirtualSystem::new(ThreadName::MAIN, START_OF_TIME).read_clock()
}
