//! Threads that wait for what other processes do. Those run unscheduled, in real time; so before anybody asks who can go on,
//! they get the time that they need, and what a thread finds does not depend on how fast they are.

use std::time::Duration;

use checker::failure::{FailureDetail, FailureKind};
use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::pending::{FileEvents, Need};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::control::watchdog::Reason;
use crate::os::process::{self, Standing};
use crate::os::{fd, wait};

/// So often the other processes are let run before this one lies down.
const ROUNDS: u32 = 32;

impl Process {
    /// Lets the processes that the target has started run until no thread waits for input, or until none of them can go
    /// on by itself any more.
    pub(crate) fn settle(&mut self) -> Result<(), ExecutionError> {
        let (mut rounds, mut before) = (0, None);
        if self.waits_for_others().is_none() {
            return Ok(());
        }
        let used = self.used_by_others();
        self.tracee.watch.begin_wait();
        while let Some((index, files)) = self.waits_for_others() {
            match self.tracee.watch.expired() {
                // They wait for their turn on a busy machine.
                Some(Reason::TimedOut) if !self.others_had_their_time(used) => self.tracee.watch.begin_wait(),
                Some(Reason::TimedOut) => {
                    self.waited_too_long(index);
                    return Ok(());
                }
                reason => reason.and_then(Reason::ends_everything).map_or(Ok(()), Err)?,
            }
            if self.hear_bystanders() {
                (rounds, before) = (0, None);
                continue;
            }
            // One look at each is not enough: the last one may have woken the first one meanwhile.
            let now = self
                .tracee
                .bystanders
                .iter()
                .map(|&tid| process::stands(tid))
                .collect::<Option<Vec<Standing>>>();
            if now.is_some() && now == before {
                return Ok(());
            }
            (rounds, before) = (rounds + 1, now);
            if rounds < ROUNDS {
                std::thread::yield_now();
            } else {
                fd::wait_for(self.tracee.leader, &files);
            }
        }
        Ok(())
    }

    /// Whether the other processes have had a processor for as long as a thread may, or all wait for something else than that.
    fn others_had_their_time(&self, before: Duration) -> bool {
        let is_behind = self.tracee.bystanders.iter().any(|&tid| process::is_runnable(tid));
        !is_behind || self.used_by_others().saturating_sub(before) >= self.tracee.watch.time()
    }

    fn used_by_others(&self) -> Duration {
        self.tracee.bystanders.iter().filter_map(|&tid| process::processor_time(tid)).sum()
    }

    /// A thread that waits for files, while other processes are there, and what for.
    fn waits_for_others(&self) -> Option<(Index, Vec<FileEvents>)> {
        if self.tracee.bystanders.is_empty() || self.tracee.gone {
            return None;
        }
        let mut threads = self.scheduling.threads.iter().enumerate().filter(|(_, thread)| thread.is_live());
        threads.find_map(|(index, thread)| match &thread.pending.as_ref()?.need {
            need @ Need::Ready(files) if !self.holds(index, need) => Some((index, files.clone())),
            _ => None,
        })
    }

    /// Takes note of what other processes have to report by now; `false` if there is nothing.
    fn hear_bystanders(&mut self) -> bool {
        let mut heard = false;
        for child in self.tracee.bystanders.clone() {
            match wait::now(child) {
                Ok(Some(status)) => {
                    self.bystander(child, status);
                    heard = true;
                }
                Ok(None) => {}
                // It is no longer a child of this process.
                Err(_) => self.tracee.bystanders.retain(|&other| other != child),
            }
        }
        heard
    }

    fn waited_too_long(&mut self, index: Index) {
        let detail = FailureDetail::WaitedForProcess;
        let failure = self.failure(index, FailureKind::Timeout, detail, self.stack(index));
        self.scheduling.threads[index].stage = Stage::Failed(failure);
    }
}
