//! Cancellation: a thread is cancelled where it looks whether it is, or waits. Each such place depends on `pthread_cancel` of
//! its thread, whether that has been called or not.

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::peculiarity::Peculiarity;

use crate::control::process::Process;
use crate::control::state::pending::{Act, Need, Pending};
use crate::control::state::sync_objects::Index;
use crate::control::sync::condvars_barriers::dequeue;
use crate::layout::functions::Function;
use crate::layout::{Trap, What};

impl Process {
    /// `pthread_cancel` of the thread with this handle, as this event: a wait of it that is a cancellation point ends.
    pub(crate) fn cancel(&mut self, handle: u64, id: EventId) {
        self.end_condition_wait(handle, id);
        if let Some(index) = self.tracee.tasks.iter().rposition(|task| task.handle == handle) {
            self.scheduling.threads[index].cancellation.requested = true;
        }
        let is_look = |trap: &Trap| matches!(trap.what, What::Function { function: Function::Look, .. });
        self.account.note(if self.tracee.layout.traps.values().any(is_look) {
            Peculiarity::CancelsThreadsAtKeyPoints
        } else {
            Peculiarity::CancelsThreads
        });
    }

    /// A thread that is cancelled while it waits at a condition variable is none of its waiters any longer: what is signalled
    /// from then on is for others.
    fn end_condition_wait(&mut self, handle: u64, id: EventId) {
        let Some((index, cond)) = self.condition_wait(handle) else { return };
        let thread = &mut self.scheduling.threads[index];
        if let Some(pending @ Pending { need: Need::Signal(_), .. }) = &mut thread.pending
            && let Act::Reacquire { mutex, .. } = pending.act
        {
            pending.become_cancelled(mutex);
            thread.woken_by = Some(id);
            thread.cancellation.acts = true;
            dequeue(self.objects.conds.get_mut(&cond), index);
        }
    }

    /// The thread with this handle, and the condition variable that it has waited for or still does, if cancelling it could end
    /// that.
    fn condition_wait(&self, handle: u64) -> Option<(Index, u64)> {
        let index = self.tracee.tasks.iter().rposition(|task| task.handle == handle)?;
        let thread = &self.scheduling.threads[index];
        let may_end = thread.is_live() && thread.cancellation.is_possible();
        match thread.pending.as_ref().filter(|_| may_end)? {
            Pending { act: Act::Reacquire { cond, of_rust: false, .. }, .. } => Some((index, *cond)),
            _ => None,
        }
    }

    /// Adds to what cancelling a thread touches the condition variable at which that waits, or from which it is coming back:
    /// who came first, the cancellation or the signal, has decided which of the two it is.
    pub(crate) fn tell_of_cancelled_wait(&self, act: &Act, effect: &mut Effect) {
        if let Act::Function { function: Function::Cancel, object: handle, .. } = *act
            && let Some((_, cond)) = self.condition_wait(handle)
        {
            effect.accesses.push(Access::write(self.object(cond, 1)));
        }
    }

    /// `pthread_testcancel`: what others see of it is that the thread gives way, for its loop ends by their doing.
    pub(crate) fn test_cancel(&mut self, index: Index, caller: u64) -> bool {
        if !self.is_scheduled(index) {
            return false;
        }
        let op = Op::new(OpKind::Yield, [Access::read(self.signals_of(Some(index)))]);
        let act = Act::Function { function: Function::TestCancel, object: 0, timed_out: 0 };
        let site = self.call_site(index, caller);
        self.scheduling.threads[index].pending =
            Some(Pending { op, site, need: Need::Nothing, act, deadline: None });
        true
    }

    /// `pthread_setcancelstate` and `pthread_setcanceltype`, whoever calls them.
    pub(crate) fn set_cancellation(&mut self, index: Index, function: Function) {
        let thread = &mut self.scheduling.threads[index];
        // Another argument is an error.
        let value = match self.tracee.tasks[index].argument(0) as i32 {
            0 => false,
            1 => true,
            _ => return,
        };
        match function {
            Function::CancelState => thread.cancellation.disabled = value,
            _ => thread.cancellation.asynchronous = value,
        }
        if function == Function::CancelType && value {
            self.account.enter_unwatched(Unwatched::of(UnwatchedKind::AsynchronousCancellation));
        }
    }

    /// The thread comes to where the C library looks whether it is cancelled. `false`: it will not be.
    pub(crate) fn may_end_here(&mut self, index: Index) -> bool {
        // What it was made to call belongs to an operation that has been accounted for.
        if !self.is_scheduled(index)
            || self.tracee.tasks[index].calling.is_some()
            || !self.is_cancellable(index)
        {
            return false;
        }
        let op = Op::new(OpKind::CancelPoint, [Access::read(self.signals_of(Some(index)))]);
        let act = Act::Function { function: Function::Look, object: 0, timed_out: 0 };
        self.pend(index, op, Need::Nothing, act, None);
        true
    }

    /// An operation is a cancellation point, or a wait in one.
    pub(crate) fn depend_on_cancellation(&self, index: Index, op: &mut Op) {
        let signals = self.signals_of(Some(index));
        if self.is_cancellable(index) && op.may.accesses.iter().all(|access| access.obj != signals) {
            op.may.accesses.push(Access::read(signals));
        }
    }

    /// Of an operation that may be any: only where cancellation takes effect anywhere, it is a cancellation point.
    pub(crate) fn depend_if_asynchronous(&mut self, index: Index) {
        if self.scheduling.threads[index].cancellation.asynchronous
            && let Some(mut pending) = self.scheduling.threads[index].pending.take()
        {
            self.depend_on_cancellation(index, &mut pending.op);
            self.scheduling.threads[index].pending = Some(pending);
        }
    }

    fn is_cancellable(&self, index: Index) -> bool {
        self.tracee.layout.cancels && self.scheduling.threads[index].cancellation.is_possible()
    }
}
