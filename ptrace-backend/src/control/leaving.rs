//! The end of the main thread while others go on: `pthread_exit` in `main`.
//!
//! Once it is gone, the kernel neither reports that nor gives access to memory and files through its number. So it is held
//! where it ends, until the process does, and what its end changes in memory is changed here.

use checker::seam::ExecutionError;

use super::process::{Flow, Process, system};
use super::sync::Index;
use super::thread::Stage;
use crate::os::{memory, ptrace};

/// Bits of the lock word of a robust mutex.
const WAITERS: u32 = 0x8000_0000;
const OWNER_DIED: u32 = 0x4000_0000;

impl Process {
    /// A thread calls `pthread_exit`: if it is the main thread, it is to stop where it ends.
    pub(super) fn exits(&mut self, index: Index) -> Result<(), ExecutionError> {
        if index == 0 && !self.leader_leaves {
            self.leader_leaves = true;
            ptrace::stop_at_exit(self.leader).map_err(system("trace the main thread's end"))?;
        }
        Ok(())
    }

    /// A thread stands where it ends. The main thread stays there; a thread that it created after it was made to stop
    /// there, and a process that a signal ends, go on to their end.
    pub(super) fn exited(&mut self, index: Index) -> Result<Flow, ExecutionError> {
        /// Of the status that a process ends with.
        const SIGNAL: u64 = 0x7f;
        let status = ptrace::event_message(self.threads[index].tid).map_err(system("read an event"))?;
        if index != 0 || status & SIGNAL != 0 {
            return Ok(Flow::Resume(0));
        }
        self.threads[0].stage = Stage::Ended;
        self.leave_robust_mutexes();
        if let Some(word) = self.threads[0].tid_word {
            memory::write(self.leader, word, &0_u32.to_le_bytes());
        }
        self.gone = self.is_deserted();
        self.wake_changed_futexes(0);
        Ok(Flow::Rest)
    }

    /// Whether the main thread has ended, and all others are gone.
    pub(super) fn is_deserted(&self) -> bool {
        let (main, others) = (&self.threads[0], &self.threads[1..]);
        self.leader_leaves && !main.is_live() && others.iter().all(|thread| thread.reaped)
    }

    /// Marks the robust mutexes that the main thread holds, as the kernel does at a thread's end.
    fn leave_robust_mutexes(&self) {
        let held = self.objects.mutexes.iter().filter(|(_, mutex)| mutex.robust && mutex.owner == Some(0));
        for (&at, _) in held {
            let word = self.number(at, 4) as u32 & WAITERS | OWNER_DIED;
            memory::write(self.leader, at, &word.to_le_bytes());
        }
    }
}
