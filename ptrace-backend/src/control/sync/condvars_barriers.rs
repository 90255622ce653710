//! Waiting for others: condition variables, barriers, and what ends a wait before its time.

use checker::names::EventId;
use checker::operation::{Access, Mode, Op, OpKind};
use checker::program::{Event, ExecutionError, Pick};

use crate::control::process::Process;
use crate::control::state::flow::system;
use crate::control::state::pending::{Act, After, Call, Need, Next, Pending};
use crate::control::state::sync_objects::{Index, Queue};
use crate::control::state::thread::{Interrupt, InterruptedWait, Thread};
use crate::control::sync::rust_condvars::SIGNALLED;
use crate::layout::functions::Function;
use crate::os::memory;

impl Process {
    /// The first half of a condition wait: releases the mutex and enqueues.
    pub(crate) fn enqueue(
        &mut self,
        (index, function): (Index, Function),
        cond: u64,
        timed_out: u64,
        pending: &Pending,
    ) -> Next {
        let of_rust = function.is_wait_of_rust();
        let mutex = self.tracee.tasks[index].argument(1);
        self.objects.conds.entry(cond).or_default().waiters.push(index);
        self.scheduling.threads[index].timeout_result = timed_out;
        let mut op = Op::new(OpKind::Reacquire, [Access::write(self.waits_mutex(mutex, of_rust))]);
        let act = Act::Reacquire { mutex, cond, result: if of_rust { SIGNALLED } else { 0 }, of_rust };
        let (site, need, deadline) = (pending.site, Need::Signal(cond), pending.deadline);
        if of_rust {
            self.give_rust_mutex_back(index, mutex);
            return Next::Stay(Box::new(Pending { op, site, need, act, deadline }));
        }
        self.depend_on_cancellation(index, &mut op);
        self.objects.mutexes.entry(mutex).or_default().unlock();
        let reacquire = Box::new(Pending { op, site, need, act, deadline });
        let memory_of = self.mutex_memory(mutex);
        if memory_of.is_simple() {
            memory::write(self.tracee.leader, mutex, &memory_of.released().bytes());
            return Next::Stay(reacquire);
        }
        let call = Call::new(self.tracee.layout.mutex_unlock, mutex, After::Stay(reacquire));
        Next::Call(Box::new(call))
    }

    /// The second half: the mutex is free, and is taken as its own lock function would take it, or by that.
    pub(crate) fn take_mutex(
        &mut self,
        index: Index,
        mutex: u64,
        after: After,
    ) -> Result<Next, ExecutionError> {
        let memory_of = self.mutex_memory(mutex);
        self.lock_mutex(index, mutex);
        if !memory_of.is_simple() {
            return Ok(Next::Call(Box::new(Call::new(self.tracee.layout.mutex_lock, mutex, after))));
        }
        let taken = memory_of.taken(self.tracee.tasks[index].tid as u32);
        if !memory::write(self.tracee.leader, mutex, &taken.bytes()) {
            return Err(system("write a mutex")(std::io::Error::last_os_error()));
        }
        Ok(match after {
            After::Stay(pending) => Next::Stay(pending),
            After::Return(result) => Next::Return(result),
            After::Jump(function) => Next::Jump(function),
        })
    }

    /// Wakes one waiter of a condition variable; `false` if there is none.
    pub(crate) fn signal(&mut self, cond: u64, pick: Pick, id: EventId) -> bool {
        let waiter = take_waiter(self.objects.conds.get_mut(&cond), pick, &self.scheduling.threads);
        let Some(waiter) = waiter else { return false };
        let thread = &mut self.scheduling.threads[waiter];
        thread.woken_by = Some(id);
        for pending in thread.waits().filter(|pending| pending.need == Need::Signal(cond)) {
            pending.wants_mutex(None);
        }
        true
    }

    /// The first half of a barrier wait.
    pub(crate) fn arrive(&mut self, index: Index, at: u64, pending: &Pending) -> Next {
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
        let serial =
            self.objects.barriers[&at].generation > generation && self.scheduling.threads[index].serial;
        let result = if serial { u64::from(u32::MAX) } else { 0 };
        let act = Act::LeaveBarrier { result };
        let need = Need::Generation(at, generation);
        Next::Stay(Box::new(Pending { op, site: pending.site, need, act, deadline: None }))
    }

    /// All have arrived: the first by creation path is told that it is the serial thread.
    pub(crate) fn release_barrier(&mut self, arrived: &[Index], last: Index) {
        let serial = arrived.iter().copied().min_by_key(|&i| self.scheduling.threads[i].name);
        for &i in arrived {
            self.scheduling.threads[i].serial = serial == Some(i);
            let arrived = self.scheduling.threads[i].waits().filter(|_| i != last && serial == Some(i));
            for pending in arrived {
                if let Act::LeaveBarrier { result } = &mut pending.act {
                    *result = u64::from(u32::MAX);
                }
            }
        }
    }

    /// A thread cancels the one with this handle, or is about to send it a signal.
    pub(crate) fn reach_out(&mut self, index: Index, function: Function, handle: u64, id: EventId) {
        match function {
            Function::Cancel => self.cancel(handle, id),
            Function::Kill => {
                let to = self.tracee.tasks.iter().rposition(|task| task.handle == handle);
                self.scheduling.threads[index].kills = to;
                // Until the thread ended, its handler could have run.
                if to.is_some_and(|to| !self.scheduling.threads[to].is_live()) {
                    self.note_handler(self.tracee.tasks[index].argument(1));
                }
            }
            _ => {}
        }
    }

    /// Takes a thread out of its wait: to run a signal handler, or to find out that it is cancelled.
    pub(crate) fn interrupt(
        &mut self,
        index: Index,
        interrupt: Interrupt,
        op: Op,
        mut pending: Pending,
        id: EventId,
    ) -> Result<Event, ExecutionError> {
        let site = pending.site;
        if interrupt == Interrupt::Cancel {
            self.scheduling.threads[index].cancellation.acts = true;
        }
        let next = match (&pending.act, interrupt) {
            (_, Interrupt::Cancel) if pending.begins_condition_wait() => {
                Next::Jump(self.tracee.layout.test_cancel)
            }
            (Act::Reacquire { mutex, cond, .. }, Interrupt::Cancel) => {
                let mutex = *mutex;
                dequeue(self.objects.conds.get_mut(cond), index);
                pending.become_cancelled(mutex);
                Next::Stay(Box::new(pending))
            }
            (Act::FutexResume { addr, .. }, _) => {
                dequeue(self.objects.futexes.get_mut(addr), index);
                Next::Answer(-i64::from(libc::EINTR))
            }
            (Act::Kernel, _) => Next::Kernel,
            (Act::Sleep(until), _) => {
                self.tell_rest_of_sleep(index, *until);
                Next::Answer(-i64::from(libc::EINTR))
            }
            (_, Interrupt::Cancel) => Next::Pass,
            // Back at its instruction, it waits again.
            (Act::Access | Act::RustMutex { .. }, Interrupt::Signal) => Next::Handle,
            (_, Interrupt::Signal) => {
                let (rip, rsp) = (self.tracee.tasks[index].regs.rip, self.tracee.tasks[index].regs.rsp);
                self.scheduling.threads[index].interrupted.push(InterruptedWait { pending, rip, rsp });
                Next::Handle
            }
        };
        self.go_on(index, next)?;
        Ok(Event { id, did: op.may.clone(), op, pick: Pick::Only, site, woken_by: None, timing: None })
    }
}

/// Removes a thread from a queue.
pub(crate) fn dequeue(queue: Option<&mut Queue>, index: Index) {
    if let Some(queue) = queue {
        queue.waiters.retain(|&waiter| waiter != index);
    }
}

/// Takes the waiter that was picked, else the one that has waited longest.
pub(crate) fn take_waiter(queue: Option<&mut Queue>, pick: Pick, threads: &[Thread]) -> Option<Index> {
    let waiters = &mut queue?.waiters;
    let picked = match pick {
        Pick::Wake(name) => waiters.iter().position(|&i| threads[i].name == name),
        Pick::Only | Pick::Value(_) => None,
    };
    (!waiters.is_empty()).then(|| waiters.remove(picked.unwrap_or(0)))
}
