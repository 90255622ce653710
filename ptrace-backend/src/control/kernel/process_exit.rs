//! The end of the main thread while others go on: `pthread_exit` in `main`, its cancellation, or the bare system call.
//!
//! Once it is gone, the kernel neither reports that nor gives access to memory and files through its number. So it is held
//! where it ends, until the process does, and what its end changes in memory is changed here.

use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::os::wait::Wait;
use crate::os::{Tid, memory, ptrace};

impl Process {
    /// A thread has created another one, which stands at its beginning: from now on the main thread is to stop where it
    /// ends, however it does, and no other thread is.
    pub(crate) fn watch_leader(&mut self, creator: Index, created: Tid) -> Result<(), ExecutionError> {
        let failed = || system("trace the main thread's end");
        if !self.tracee.leader_stops_at_exit {
            self.tracee.leader_stops_at_exit = true;
            ptrace::stop_at_exit(self.tracee.leader, true).map_err(failed())
        } else if creator == 0 {
            ptrace::stop_at_exit(created, false).map_err(failed())
        } else {
            Ok(())
        }
    }

    /// A thread stands where it ends, which it does unless it has to let go of mutexes. The main thread stays there, but for a
    /// process that a signal ends.
    pub(crate) fn exited(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        /// Of the status that a process ends with.
        const SIGNAL: u64 = 0x7f;
        let status = ptrace::event_message(self.tracee.tasks[index].tid).map_err(system("read an event"))?;
        if status & SIGNAL != 0 {
            return Ok(Flow::Resume(0));
        }
        self.read_registers(index)?;
        if self.leaves_mutexes(index) {
            return Ok(Flow::Rest);
        }
        if index != 0 {
            return Ok(Flow::Resume(0));
        }
        self.leave_process()?;
        Ok(Flow::Rest)
    }

    /// The main thread has ended, whatever the others do.
    pub(crate) fn leave_process(&mut self) -> Result<(), ExecutionError> {
        self.tracee.left_from = Some(self.stack(0));
        self.scheduling.threads[0].stage = Stage::Ended;
        if let Some(word) = self.tracee.tasks[0].tid_word {
            memory::write(self.tracee.leader, word, &0_u32.to_le_bytes());
        }
        self.end_if_deserted()?;
        self.wake_changed_futexes(0);
        Ok(())
    }

    fn hear_end_of_leader(&mut self) -> Result<Wait, ExecutionError> {
        loop {
            let status = self.hear_soon(self.tracee.leader)?;
            if matches!(status, Wait::Exited(_) | Wait::Killed(_)) {
                return Ok(status);
            }
            ptrace::resume(self.tracee.leader, 0).map_err(system("let the main thread end"))?;
        }
    }

    /// Where the main thread has left and all others are gone, the process ends; with whose exit code, the kernel knows:
    /// since Linux 5.17 it is that of the thread that ended last, before that of the main thread.
    pub(crate) fn end_if_deserted(&mut self) -> Result<(), ExecutionError> {
        if self.tracee.tasks.iter().skip(1).all(|task| task.reaped)
            && let Some(stack) = self.tracee.left_from.take()
        {
            ptrace::resume(self.tracee.leader, 0).map_err(system("let the main thread end"))?;
            let status = self.hear_end_of_leader()?;
            self.tracee.tasks[0].reaped = true;
            self.tracee.gone = true;
            if let Wait::Exited(code) = status {
                self.exit_with(0, code, stack);
            }
        }
        Ok(())
    }
}
