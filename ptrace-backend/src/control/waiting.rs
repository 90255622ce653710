//! Waiting for others: condition variables, barriers, and what ends a wait before its time.

use checker::names::EventId;
use checker::op::{Access, Mode, Op, OpKind};
use checker::seam::{Event, ExecutionError, Pick};

use super::perform::Next;
use super::process::{Process, system};
use super::sync::{Index, Queue};
use super::thread::{Act, Interrupt, Need, Pending, Thread};
use crate::os::memory;

impl Process {
    /// The first half of a condition wait: releases the mutex and enqueues.
    pub(super) fn enqueue(
        &mut self,
        index: Index,
        cond: u64,
        timed_out: u64,
        pending: &Pending,
    ) -> Result<Next, ExecutionError> {
        let mutex = self.threads[index].argument(1);
        let memory_of = self.mutex_memory(mutex);
        if !memory_of.is_simple() {
            return Err(ExecutionError::Unsupported(format!(
                "a condition wait with the robust, priority-inheriting or priority-protected mutex {} is not \
                 supported",
                self.words(mutex)
            )));
        }
        memory::write(self.leader, mutex, &memory_of.released().bytes());
        self.objects.mutexes.entry(mutex).or_default().unlock();
        self.objects.conds.entry(cond).or_default().waiters.push(index);
        self.threads[index].timeout_result = timed_out;
        let op = Op::new(OpKind::Reacquire, [Access::write(self.object(mutex, 1))]);
        let act = Act::Reacquire { mutex, cond, result: 0 };
        Ok(Next::Stay(Box::new(Pending {
            op,
            site: pending.site,
            need: Need::Signal(cond),
            act,
            deadline: pending.deadline,
        })))
    }

    /// The second half: the mutex is free, and is taken as its own lock function would take it.
    pub(super) fn take_mutex(&mut self, index: Index, mutex: u64) -> Result<(), ExecutionError> {
        let owner = self.threads[index].tid as u32;
        let taken = self.mutex_memory(mutex).taken(owner);
        if !memory::write(self.leader, mutex, &taken.bytes()) {
            return Err(system("write a mutex")(std::io::Error::last_os_error()));
        }
        self.objects.mutexes.entry(mutex).or_default().lock(index);
        Ok(())
    }

    /// Wakes one waiter of a condition variable; `false` if there is none.
    pub(super) fn signal(&mut self, cond: u64, pick: Pick, id: EventId) -> bool {
        let waiter = take_waiter(self.objects.conds.get_mut(&cond), pick, &self.threads);
        let Some(waiter) = waiter else { return false };
        let thread = &mut self.threads[waiter];
        thread.woken_by = Some(id);
        if let Some(pending) = &mut thread.pending
            && let Act::Reacquire { mutex, .. } = pending.act
        {
            pending.need = Need::Mutex(mutex);
            pending.deadline = None;
        }
        true
    }

    /// The first half of a barrier wait.
    pub(super) fn arrive(&mut self, index: Index, at: u64, pending: &Pending) -> Next {
        let barrier = self.objects.barriers.entry(at).or_default();
        let generation = barrier.generation;
        barrier.arrived.push(index);
        if barrier.arrived.len() as u32 >= barrier.count {
            barrier.generation += 1;
            let arrived = std::mem::take(&mut barrier.arrived);
            self.release_barrier(&arrived, index);
        }
        let accesses = pending.op.may.accesses.iter();
        let leaves = accesses.map(|a| Access { obj: a.obj, mode: Mode::Leave(generation) });
        let op = Op::new(OpKind::BarrierLeave, leaves);
        let serial = self.objects.barriers[&at].generation > generation && self.threads[index].serial;
        let result = if serial { u64::from(u32::MAX) } else { 0 };
        let act = Act::LeaveBarrier { result };
        let need = Need::Generation(at, generation);
        Next::Stay(Box::new(Pending { op, site: pending.site, need, act, deadline: None }))
    }

    /// All have arrived: the first by creation path is told that it is the serial thread.
    pub(super) fn release_barrier(&mut self, arrived: &[Index], last: Index) {
        let serial = arrived.iter().copied().min_by_key(|&i| self.threads[i].name);
        for &i in arrived {
            self.threads[i].serial = serial == Some(i);
            if i == last {
                continue;
            }
            if let Some(Pending { act: Act::LeaveBarrier { result, .. }, .. }) = &mut self.threads[i].pending
                && serial == Some(i)
            {
                *result = u64::from(u32::MAX);
            }
        }
    }

    /// `pthread_cancel` of the thread with this handle: a wait of it that is a cancellation point ends.
    pub(super) fn cancel(&mut self, handle: u64) {
        if let Some(thread) = self.threads.iter_mut().rev().find(|t| t.handle == handle) {
            thread.interrupt = Some(Interrupt::Cancel);
        }
        self.note("the program cancels threads: only their waits are cancellation points here");
    }

    /// Takes a thread out of its wait: to run a signal handler, or to find out that it is cancelled.
    pub(super) fn interrupt(
        &mut self,
        index: Index,
        interrupt: Interrupt,
        mut pending: Pending,
        id: EventId,
    ) -> Result<Event, ExecutionError> {
        let op = Op::new(OpKind::Kill, []);
        let site = pending.site;
        let next = match (&pending.act, interrupt) {
            (Act::Reacquire { mutex, cond, .. }, Interrupt::Cancel) => {
                let mutex = *mutex;
                dequeue(self.objects.conds.get_mut(cond), index);
                pending.need = Need::Mutex(mutex);
                pending.act = Act::TestCancel { mutex };
                pending.deadline = None;
                Next::Stay(Box::new(pending))
            }
            (Act::FutexResume { addr, .. }, _) => {
                dequeue(self.objects.futexes.get_mut(addr), index);
                Next::Answer(-i64::from(libc::EINTR))
            }
            (Act::Kernel, _) => Next::Kernel,
            (_, Interrupt::Cancel) => Next::Pass,
            (_, Interrupt::Signal) => {
                self.threads[index].interrupted = Some(pending);
                Next::Handle
            }
        };
        self.go_on(index, next)?;
        Ok(Event { id, did: op.may.clone(), op, pick: Pick::Only, site, woken_by: None })
    }
}

/// Removes a thread from a queue.
pub(super) fn dequeue(queue: Option<&mut Queue>, index: Index) {
    if let Some(queue) = queue {
        queue.waiters.retain(|&waiter| waiter != index);
    }
}

/// Takes the waiter that was picked, else the one that has waited longest.
pub(super) fn take_waiter(queue: Option<&mut Queue>, pick: Pick, threads: &[Thread]) -> Option<Index> {
    let waiters = &mut queue?.waiters;
    let picked = match pick {
        Pick::Wake(name) => waiters.iter().position(|&i| threads[i].name == name),
        Pick::Only | Pick::Value(_) => None,
    };
    (!waiters.is_empty()).then(|| waiters.remove(picked.unwrap_or(0)))
}
