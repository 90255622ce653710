//! Threads that wait for the tracer without a stop of the kernel's ([`crate::instructions::detour::hand_off`]): *parked* threads.
//!
//! To everything above, a parked thread is as one that has stopped at a trap: its registers are those in its [`Task`], and it
//! goes on with what stands there then. Requests that the kernel carries out on stopped threads alone (steps, vector registers,
//! signals) take a stop of the kernel's ([`Tracee::stop_in_kernel`]).

use checker::program::ExecutionError;

use crate::control::state::flow::WaitResult;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{CopiedFrame, Task, Tracee};
use crate::control::watchdog::Reason;
use crate::error::{BrokenExecution, SystemAction, system};
use crate::instructions::detour::hand_off::{HandOff, give_registers, take_registers};
use crate::os::hand_off::{FRAME_SIZE, PageSlot, SharedPage};
use crate::os::wait::WaitStatus;
use crate::os::{Regs, memory, ptrace};

impl Tracee {
    pub(super) fn hand_off(&self) -> Option<HandOff> {
        self.layout.detours.as_ref().map(|detours| HandOff::below(detours.log.start))
    }

    /// Gives the page the state that it has at the beginning of an execution: whatever the one before has left there is gone.
    pub(crate) fn reset_page(&self) {
        self.take_no_hand_offs();
        if let (Some(page), Some(detours)) = (&self.page, &self.layout.detours) {
            page.put(PageSlot::LogCursor, detours.log.empty());
        }
    }

    /// Says where threads go that come to a key point in a copy, until the next time that this is called: the thread that is about to run,
    /// and all that may run meanwhile.
    fn prepare_hand_offs(&mut self, index: ThreadIndex) {
        let (Some(page), Some(hand_off)) = (&self.page, self.hand_off()) else { return };
        // Early reports are waited for as ever.
        let is_alone = self.is_alone() && self.early.is_empty() && !self.filters_calls;
        let place = SharedPage::place_of(index.place()).filter(|_| is_alone);
        self.hands_over = place.is_some();
        if let Some(place) = place {
            page.put(PageSlot::Entry, u64::from(hand_off.routine()));
            page.put(PageSlot::Go, u64::from(hand_off.page() + place));
            page.begin(self.tasks[index].tid);
        } else {
            self.take_no_hand_offs();
        }
    }

    /// Threads stop for the kernel alone from now on, until one of the program's goes on.
    pub(crate) fn take_no_hand_offs(&self) {
        if let (Some(page), Some(hand_off)) = (&self.page, self.hand_off()) {
            page.put(PageSlot::Entry, u64::from(hand_off.code()));
        }
    }

    /// Whether nothing but the threads of the program is traced.
    pub(super) fn is_alone(&self) -> bool {
        self.child_processes.is_empty() && !self.executes && self.client.is_none()
    }

    /// Lets a thread go on with the registers that it now has.
    pub(crate) fn resume(&mut self, index: ThreadIndex, signal: i32) -> Result<(), ExecutionError> {
        self.frame.take();
        self.prepare_hand_offs(index);
        self.prepare_free(index);
        let task = &mut self.tasks[index];
        if std::mem::take(&mut task.parked)
            && let (Some(page), Some(place)) = (&self.page, SharedPage::place_of(index.place()))
        {
            give_registers(&task.regs, |field, value| page.put(field, value));
            return page.let_go(place).map_err(system(SystemAction::LetThreadGoOn));
        }
        match ptrace::resume(task.tid, signal) {
            // The thread has been killed from outside meanwhile: waiting for it tells.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            result => result.map_err(system(SystemAction::ResumeThread)),
        }
    }

    /// The running thread is waited for once more: what it reports from now on is heard.
    pub(crate) fn expect_reports(&self, index: ThreadIndex) {
        if let Some(page) = self.page.as_ref().filter(|_| self.hands_over) {
            page.go_on(self.tasks[index].tid);
        }
    }

    /// Whether the running thread has handed itself over, and its tracer has not heard of that yet.
    pub(crate) fn has_handed_over(&self) -> bool {
        self.page.as_ref().is_some_and(|page| self.hands_over && page.is_handed_over())
    }

    /// Waits for the running thread until it reports, or hands itself over, or something that matters is the case.
    pub(crate) fn wait_for_running(
        &mut self,
        index: ThreadIndex,
        matters: impl Fn(Reason) -> bool,
    ) -> Result<WaitResult, ExecutionError> {
        let tid = self.tasks[index].tid;
        let Some(page) = self.page.as_ref().filter(|_| self.hands_over) else {
            return self.wait_for_report(tid, matters);
        };
        let heard = self.watch.wait_for_either(tid, page, matters);
        page.end();
        Ok(match heard.map_err(system(SystemAction::WaitForThread))? {
            Ok(status) => WaitResult::Report(status),
            Err(reason) => WaitResult::Over(reason),
        })
    }

    /// The running thread has handed itself over: it is parked from now on, at the trap at this address.
    pub(crate) fn park(&mut self, index: ThreadIndex) -> Result<u64, ExecutionError> {
        let page = self.page.as_ref().ok_or(BrokenExecution::Overwritten)?;
        let at = self.key_point(page.get(PageSlot::Rip)).ok_or(BrokenExecution::Overwritten)?;
        let task = &mut self.tasks[index];
        take_registers(&mut task.regs, |field| page.get(field));
        (task.regs.rip, task.regs.orig_rax) = (at, u64::MAX);
        task.parked = true;
        let len = page.get(PageSlot::FrameLen).min(u64::from(FRAME_SIZE));
        self.frame.set(CopiedFrame { start: task.regs.rsp, end: task.regs.rsp.saturating_add(len) });
        Ok(at)
    }

    /// Reads memory that is in the page as well. `false`: it is not.
    pub(super) fn read_frame(&self, addr: u64, into: &mut [u8]) -> bool {
        let CopiedFrame { start, end } = self.frame.get();
        let is_inside = (start..end).contains(&addr) && end - addr >= into.len() as u64;
        let Some(page) = self.page.as_ref().filter(|_| is_inside) else { return false };
        page.read_frame((addr - start) as u32, into);
        true
    }

    /// Writes memory of the target; `false` where that is not mapped writable. What the page has of it does not hold any more.
    pub(crate) fn write(&self, addr: u64, bytes: &[u8]) -> bool {
        let CopiedFrame { start, end } = self.frame.get();
        if start < addr.saturating_add(bytes.len() as u64) && addr < end {
            self.frame.take();
        }
        memory::write(self.leader, addr, bytes)
    }

    /// The instruction to which the breakpoint of a copy right before an address belongs.
    fn key_point(&self, behind: u64) -> Option<u64> {
        self.layout.detours.as_ref()?.asks(behind)
    }

    /// Makes a parked thread one that the kernel has stopped, with the registers that it now has.
    pub(crate) fn stop_in_kernel(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        if !std::mem::take(&mut self.tasks[index].parked) {
            return Ok(());
        }
        self.frame.take();
        let tid = self.tasks[index].tid;
        ptrace::interrupt(tid).map_err(system(SystemAction::StopThread))?;
        match self.wait_for_report_soon(tid)? {
            WaitStatus::Exited(_) | WaitStatus::Killed(_) => {
                self.tasks[index].reaped = true;
                return Ok(());
            }
            // It got a signal while it was parked.
            WaitStatus::Signal(_) => self.tasks[index].defer_signal(),
            _ => {}
        }
        self.write_registers(index)
    }

    /// Puts a thread that the kernel has stopped in the code of hand-offs outside of it.
    pub(super) fn leave_hand_off(&mut self, index: ThreadIndex) -> Result<(), ExecutionError> {
        let mut regs = self.tasks[index].regs;
        if self.restore_from_hand_off(&mut regs) {
            self.tasks[index].regs = regs;
            self.write_registers(index)?;
        }
        Ok(())
    }

    /// Makes all parked threads ones that the kernel has stopped: what they wait in is about to go, or there is a signal for the process,
    /// which the kernel gives to no thread that it has stopped.
    pub(crate) fn stop_parked(&mut self) -> Result<(), ExecutionError> {
        let parked: Vec<ThreadIndex> =
            self.tasks.enumerate().filter(|(_, task)| task.parked).map(|(index, _)| index).collect();
        parked.into_iter().try_for_each(|index| self.stop_in_kernel(index))
    }

    /// If a thread, which the kernel has stopped, stands in the code of hand-offs, makes these registers of it those of a thread outside of it.
    pub(super) fn restore_from_hand_off(&self, regs: &mut Regs) -> bool {
        let (Some(page), Some(hand_off)) = (&self.page, self.hand_off()) else { return false };
        let saved = || (self.log_state(PageSlot::LogRax), self.log_state(PageSlot::LogRcx));
        hand_off.restore(regs, saved, |field| page.get(field), |behind| self.key_point(behind))
    }
}

impl Task {
    /// It is parked, and has got a signal, for which the kernel has stopped it.
    pub(super) fn unpark(&mut self) {
        self.parked = false;
        self.defer_signal();
        // A failure means that the process is gone.
        let _ = ptrace::set_registers(self.tid, &self.regs);
    }
}
