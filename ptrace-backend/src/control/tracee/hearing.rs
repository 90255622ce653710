//! Hearing what traced processes report: each wait has an end in sight, and an ear for all that may report meanwhile.

use std::time::{Duration, Instant};

use checker::failure::{FailureDetail, FailureKind};
use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::flow::{Heard, system};
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Stage;
use crate::control::watchdog::Reason;
use crate::os::wait::{self, Wait};
use crate::os::{Tid, process, ptrace};

/// How long processes that have been killed may take at least until they are gone.
const ENDING: Duration = Duration::from_secs(2);

impl Process {
    /// Waits for the running thread, looking after all others. `None`: its time is over.
    pub(crate) fn wait(&mut self, index: Index) -> Result<Option<Wait>, ExecutionError> {
        loop {
            match self.hear(self.tracee.tasks[index].tid, |_| true)? {
                Heard::Report(status) => return Ok(Some(status)),
                Heard::Over(reason) => {
                    if self.interrupted(index, reason, true)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Whether the search ends, in the middle of what goes on here.
    pub(crate) fn is_to_end(&self) -> bool {
        self.tracee.watch.expired().is_some_and(|reason| reason != Reason::TimedOut)
    }

    /// Waits for a thread or process of which it is known that it reports in a moment.
    pub(crate) fn hear_soon(&mut self, tid: Tid) -> Result<Wait, ExecutionError> {
        match self.hear(tid, |reason| reason != Reason::TimedOut)? {
            Heard::Report(status) => Ok(status),
            Heard::Over(reason) => {
                self.tracee.gone = true;
                Err(reason.ends_everything().unwrap_or(ExecutionError::OutOfTime))
            }
        }
    }

    /// Lets a thread run one instruction.
    pub(crate) fn step(&mut self, tid: Tid) -> Result<Wait, ExecutionError> {
        ptrace::step(tid).map_err(system("step a thread"))?;
        self.hear_soon(tid)
    }

    /// Waits for a thread or process until it reports, or something that matters is the case.
    pub(crate) fn hear(
        &mut self,
        tid: Tid,
        matters: impl Fn(Reason) -> bool,
    ) -> Result<Heard, ExecutionError> {
        if let Some(status) = self.tracee.early.remove(&tid) {
            return Ok(Heard::Report(status));
        }
        loop {
            let is_alone = self.tracee.bystanders.is_empty() && !self.tracee.executes;
            match self
                .tracee
                .watch
                .wait(is_alone.then_some(tid), &matters)
                .map_err(system("wait for a thread"))?
            {
                Err(reason) => return Ok(Heard::Over(reason)),
                // Whichever thread executes a program has the main thread's number from then on.
                Ok((who, status)) if who == tid || (who == self.tracee.leader && status == Wait::Exec) => {
                    return Ok(Heard::Report(status));
                }
                Ok((who, status)) => self.overhear(who, status),
            }
        }
    }

    /// Another one than was waited for has something to report.
    fn overhear(&mut self, who: Tid, status: Wait) {
        let has_ended = matches!(status, Wait::Exited(_) | Wait::Killed(_));
        if let Some(task) = self.tracee.tasks.iter_mut().find(|task| task.tid == who) {
            // A thread that executes another program ends all others first, which waits until that has been heard of.
            task.reaped |= has_ended;
            if !has_ended {
                let _ = ptrace::resume(who, 0);
            }
        } else if self.tracee.bystanders.contains(&who) {
            self.bystander(who, status);
        } else {
            // A new one, of which its creator has not told so far.
            self.tracee.early.insert(who, status);
        }
    }

    /// What runs may not go on: stops the thread. `true`: it ran for too long, and is taken for failed. `runs`: the thread was
    /// let run; otherwise it is the program that has taken its place.
    pub(crate) fn interrupted(
        &mut self,
        index: Index,
        reason: Reason,
        runs: bool,
    ) -> Result<bool, ExecutionError> {
        if let Some(error) = reason.ends_everything() {
            self.tracee.gone = true;
            return Err(error);
        }
        let tid = self.tracee.tasks[index].tid;
        self.tracee.watch.begin_wait();
        // Where the kernel does not let it stop, as while a process that shares its memory runs, it is not waited for.
        let stop = match ptrace::interrupt(tid) {
            Ok(()) => Some(self.hear(tid, |_| true)?),
            Err(_) => None,
        };
        if let Some(Heard::Over(reason)) = stop
            && let Some(error) = reason.ends_everything()
        {
            self.tracee.gone = true;
            return Err(error);
        }
        if let Ok(regs) = ptrace::registers(tid) {
            self.tracee.tasks[index].regs = regs;
        }
        let is_between = runs && matches!(stop, Some(Heard::Report(Wait::Stopped)));
        if is_between && self.goes_round(index)? {
            let stack = self.stack(index);
            let failure = self.failure(index, FailureKind::Livelock, FailureDetail::GoesRound, stack);
            self.scheduling.threads[index].stage = Stage::Failed(failure);
            return Ok(true);
        }
        if is_between && self.learns_from_runaway(index)? {
            self.resume(index, 0)?;
            return Ok(false);
        }
        let stack = self.stack(index);
        self.tracee.gone = true;
        if self.scheduling.threads[index].cancellation.asynchronous {
            let name = self.scheduling.threads[index].name;
            return Err(ExecutionError::Unsupported(format!(
                "{name} runs on without coming to a key point and allows asynchronous cancellation \
                 (pthread_setcanceltype), which is not supported where nothing else could end it"
            )));
        }
        let failure = self.failure(index, FailureKind::Timeout, FailureDetail::NoKeyPoint, stack);
        self.scheduling.threads[index].stage = Stage::Failed(failure);
        Ok(true)
    }

    /// Ends the process and everything that it has started, and reaps it all.
    pub(crate) fn kill(&mut self) {
        // Its number may belong to another process by now.
        if std::mem::replace(&mut self.tracee.dead, true) {
            return;
        }
        let others: Vec<Tid> = self
            .tracee
            .bystanders
            .drain(..)
            .chain(self.tracee.early.drain().map(|(child, _)| child))
            .collect();
        others.iter().for_each(|&child| ptrace::kill(child));
        // A stop on its way out would cost time. It cannot be told if it runs or is gone, and then need not be.
        if !self.tracee.tasks[0].reaped {
            let _ = ptrace::stop_at_exit(self.tracee.leader, false);
            ptrace::kill(self.tracee.leader);
            if self.tracee.left_from.is_some() {
                // Where the kernel takes the process to be ending already, it does not wake the main thread for that.
                let _ = ptrace::resume(self.tracee.leader, 0);
            }
        }
        let own = self.tracee.tasks.iter().filter(|task| !task.reaped).map(|task| task.tid);
        self.tracee.watch.begin_wait();
        self.reap(own.chain(others).collect());
        self.tracee.watch.end();
    }

    /// Reaps what has been killed and what that leaves, in whatever order it ends: a main thread is the last of its process,
    /// and some threads may not have been heard of. What the kernel does not let go of in time ends with this process.
    fn reap(&self, mut left: Vec<Tid>) {
        let began = Instant::now();
        left.retain(|&tid| wait::is_left(tid));
        while !left.is_empty() {
            match self.tracee.watch.wait(None, |reason| reason == Reason::TimedOut) {
                Ok(Ok((who, Wait::Exited(_) | Wait::Killed(_)))) => left.retain(|&tid| tid != who),
                Ok(Ok((who, _))) => {
                    if !left.contains(&who) {
                        ptrace::kill(who);
                        left.push(who);
                    }
                    let _ = ptrace::resume(who, 0);
                }
                // How long a thread may run says nothing of how long a busy machine takes to end one.
                Ok(Err(_))
                    if began.elapsed() < ENDING || left.iter().any(|&tid| process::is_runnable(tid)) =>
                {
                    self.tracee.watch.begin_wait();
                }
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }
}
