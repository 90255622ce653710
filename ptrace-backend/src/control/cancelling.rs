//! Cancellation: a thread is cancelled where it looks whether it is, or waits. Each such place depends on `pthread_cancel` of
//! its thread, whether that has been called or not.

use checker::op::{Access, Op, OpKind};

use super::functions::Function;
use super::process::Process;
use super::sync::Index;
use super::thread::{Act, Need, Pending};
use crate::layout::{Trap, What};

impl Process {
    /// `pthread_cancel` of the thread with this handle: a wait of it that is a cancellation point ends.
    pub(super) fn cancel(&mut self, handle: u64) {
        if let Some(thread) = self.threads.iter_mut().rev().find(|t| t.handle == handle) {
            thread.cancellation.requested = true;
        }
        let is_look = |trap: &Trap| matches!(trap.what, What::Function { function: Function::Look, .. });
        self.note(if self.layout.traps.values().any(is_look) {
            "the program cancels threads: a thread is cancelled at its cancellation points; one that allows asynchronous \
             cancellation, at its key points only"
        } else {
            "the program cancels threads: a thread is cancelled where it comes to a cancellation point, and that this may be \
             between two of its key points is not explored"
        });
    }

    /// `pthread_testcancel`: what others see of it is that the thread gives way, for its loop ends by their doing.
    pub(super) fn test_cancel(&mut self, index: Index, caller: u64) -> bool {
        if !self.is_scheduled(index) {
            return false;
        }
        let op = Op::new(OpKind::Yield, [Access::read(self.signals_of(Some(index)))]);
        let act = Act::Function { function: Function::TestCancel, object: 0, timed_out: 0 };
        let site = self.call_site(index, caller);
        self.threads[index].pending = Some(Pending { op, site, need: Need::Nothing, act, deadline: None });
        true
    }

    /// `pthread_setcancelstate` and `pthread_setcanceltype`, whoever calls them.
    pub(super) fn set_cancellation(&mut self, index: Index, function: Function) {
        let thread = &mut self.threads[index];
        // Another argument is an error.
        let value = match thread.argument(0) as i32 {
            0 => false,
            1 => true,
            _ => return,
        };
        match function {
            Function::CancelState => thread.cancellation.disabled = value,
            _ => thread.cancellation.asynchronous = value,
        }
    }

    /// The thread comes to where the C library looks whether it is cancelled. `false`: it will not be.
    pub(super) fn may_end_here(&mut self, index: Index) -> bool {
        // What it was made to call belongs to an operation that has been accounted for.
        if !self.is_scheduled(index) || self.threads[index].calling.is_some() || !self.is_cancellable(index) {
            return false;
        }
        let op = Op::new(OpKind::CancelPoint, [Access::read(self.signals_of(Some(index)))]);
        let act = Act::Function { function: Function::Look, object: 0, timed_out: 0 };
        self.pend(index, op, Need::Nothing, act, None);
        true
    }

    /// An operation is a cancellation point, or a wait in one.
    pub(super) fn depend_on_cancellation(&self, index: Index, op: &mut Op) {
        let signals = self.signals_of(Some(index));
        if self.is_cancellable(index) && op.may.accesses.iter().all(|access| access.obj != signals) {
            op.may.accesses.push(Access::read(signals));
        }
    }

    /// Of an operation that may be any: only where cancellation takes effect anywhere, it is a cancellation point.
    pub(super) fn depend_if_asynchronous(&mut self, index: Index) {
        if self.threads[index].cancellation.asynchronous
            && let Some(mut pending) = self.threads[index].pending.take()
        {
            self.depend_on_cancellation(index, &mut pending.op);
            self.threads[index].pending = Some(pending);
        }
    }

    fn is_cancellable(&self, index: Index) -> bool {
        self.layout.cancels && self.threads[index].cancellation.is_possible()
    }
}
