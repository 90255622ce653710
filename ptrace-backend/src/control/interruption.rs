//! Waits that end before their time: by a signal, a cancellation, or their limit.

use checker::names::EventId;
use checker::operation::Op;
use checker::program::Event;
use checker::program::ExecutionError;
use checker::program::OpOutcome;
use checker::refusal::ImpossibleChoice;

use crate::control::enabled::Waiter;
use crate::control::kernel::{files, syscalls};
use crate::control::memory::unwatched_uses;
use crate::control::process::Process;
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition};
use crate::control::state::thread::{Interrupt, InterruptedWait, WaitEnd};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::dequeue;
use crate::control::sync::rwlocks;
use crate::control::{enabled, operations, step, views};

impl Process {
    /// A thread has run an event, and goes on from where it stands.
    pub(crate) fn happened(&mut self, index: ThreadIndex, event: &Event) {
        self.memory.sharing.happened(event);
        unwatched_uses::renew(&self.tracee, &mut self.memory, &mut self.account, index);
    }

    /// Lets an open timed wait run out of time.
    pub(crate) fn time_out(&mut self, index: ThreadIndex) -> Result<Event, ExecutionError> {
        let nothing = ImpossibleChoice::NoTimedWait(self.scheduling.threads[index].name);
        let mut pending = self.scheduling.threads[index].pending.take().ok_or(nothing)?;
        let deadline = pending.deadline.take().ok_or(nothing)?;
        self.memory.let_go = true;
        let timing = Some(enabled::timing(
            &self.tracee,
            &self.scheduling,
            &self.objects,
            Waiter::Thread(index),
            deadline,
        ));
        let mut op = views::timeout_op(&self.memory, &pending);
        let id = step::begin_event(&mut self.scheduling, &self.memory, &mut self.account, index);
        self.scheduling.threads[index].virtual_system.now =
            self.scheduling.threads[index].virtual_system.now.max(deadline);
        let site = pending.site;
        let next = match (&pending.action, &pending.condition) {
            (Action::Reacquire { cond, .. }, WaitCondition::Signal(_)) => {
                dequeue(self.objects.conds.get_mut(cond), index);
                pending.wants_mutex(Some(self.scheduling.threads[index].timeout_result));
                Continuation::Stay(Box::new(pending))
            }
            (Action::FutexResume { futex, .. }, _) => {
                dequeue(self.objects.futexes.get_mut(futex), index);
                Continuation::Answer(-i64::from(libc::ETIMEDOUT))
            }
            (Action::Kernel, WaitCondition::PiFutex(_)) => Continuation::Answer(-i64::from(libc::ETIMEDOUT)),
            (Action::Kernel, _) => {
                let regs = &mut self.tracee.tasks[index].regs;
                files::expire_call(self.tracee.leader, regs)
                    .map_or(Continuation::Kernel, Continuation::Answer)
            }
            // The function's own body finds out at once that there is nothing to be had, and what that is called.
            _ => match rwlocks::give_up(&self.tracee, &mut self.objects, index, &pending.action) {
                Some(result) => Continuation::Return(result),
                None => {
                    self.scheduling.threads[index].ends_wait = Some(WaitEnd::TimeOut);
                    Continuation::Pass
                }
            },
        };
        operations::tell_of_signals(&self.tracee, &self.scheduling, index, &mut op.may);
        let did = op.may.clone();
        self.scheduling.keep_time(index, &did);
        let event = Event { id, op, did, outcome: OpOutcome::Only, site, woken_by: None, timing };
        self.happened(index, &event);
        self.go_on(index, next)?;
        Ok(event)
    }

    /// Takes a thread out of its wait: to run a signal handler, or to find out that it is cancelled.
    pub(crate) fn interrupt(
        &mut self,
        index: ThreadIndex,
        interrupt: Interrupt,
        op: Op,
        mut pending: Pending,
        id: EventId,
    ) -> Result<Event, ExecutionError> {
        let site = pending.site;
        self.scheduling.keep_time(index, &op.may);
        if interrupt == Interrupt::Cancel {
            self.scheduling.threads[index].cancellation.acts = true;
        }
        let next = match (&pending.action, interrupt) {
            (_, Interrupt::Cancel) if pending.begins_condition_wait() => {
                Continuation::Jump(self.tracee.layout.test_cancel)
            }
            (Action::Reacquire { mutex, cond, .. }, Interrupt::Cancel) => {
                let mutex = *mutex;
                dequeue(self.objects.conds.get_mut(cond), index);
                pending.become_cancelled(mutex);
                Continuation::Stay(Box::new(pending))
            }
            (Action::FutexResume { futex, .. }, _) => {
                dequeue(self.objects.futexes.get_mut(futex), index);
                Continuation::Answer(-i64::from(libc::EINTR))
            }
            (Action::Kernel, _) => Continuation::Kernel,
            (Action::Sleep(until), _) => {
                syscalls::tell_rest_of_sleep(&self.tracee, &self.scheduling, index, *until);
                Continuation::Answer(-i64::from(libc::EINTR))
            }
            (_, Interrupt::Cancel) => Continuation::Pass,
            // Back at its instruction, it waits again.
            (Action::Access | Action::RustMutex { .. }, Interrupt::Signal) => Continuation::Handle,
            (_, Interrupt::Signal) => {
                let (rip, rsp) = (self.tracee.tasks[index].regs.rip, self.tracee.tasks[index].regs.rsp);
                self.scheduling.threads[index].interrupted.push(InterruptedWait {
                    pending,
                    rip,
                    rsp,
                    outcome: None,
                });
                Continuation::Handle
            }
        };
        let event = Event {
            id,
            did: op.may.clone(),
            op,
            outcome: OpOutcome::Only,
            site,
            woken_by: None,
            timing: None,
        };
        self.happened(index, &event);
        self.go_on(index, next)?;
        Ok(event)
    }
}
