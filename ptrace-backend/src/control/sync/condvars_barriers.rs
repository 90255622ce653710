//! Waits for other threads: condition variables, barriers, and the ends of waits before their time.

use checker::names::EventId;
use checker::operation::{Access, Mode, Op, OpKind};
use checker::program::{ExecutionError, OpOutcome};

use crate::control::kernel::signals;
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, AfterCall, Continuation, InjectedCall, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::take_waiter;
use crate::control::sync::rust_condvars::SIGNALLED;
use crate::control::sync::{calls, cancellation, rust_condvars};
use crate::control::tracee::Tracee;
use crate::error::{SystemAction, system};
use crate::layout::functions::TrappedFunction;

/// The first half of a condition wait: releases the mutex and enqueues.
pub(crate) fn enqueue(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    (index, function): (ThreadIndex, TrappedFunction),
    (cond, timed_out): (u64, u64),
    pending: &Pending,
) -> Continuation {
    let of_rust = function.is_wait_of_rust();
    let mutex = tracee.tasks[index].argument(1);
    if !of_rust {
        let is_held = calls::known_mutex(tracee, objects, mutex).owner == Some(index);
        if !is_held && tracee.mutex_memory(mutex).checks_owner() {
            return Continuation::Return(libc::EPERM as u64);
        }
    }
    objects.conds.entry(cond).or_default().waiters.push(index);
    scheduling.threads[index].timeout_result = timed_out;
    let mut op =
        Op::new(OpKind::Reacquire, [Access::write(rust_condvars::mutex_object(memory, mutex, of_rust))]);
    let action = Action::Reacquire { mutex, cond, result: if of_rust { SIGNALLED } else { 0 }, of_rust };
    let (site, condition, deadline) = (pending.site, WaitCondition::Signal(cond), pending.deadline);
    if of_rust {
        rust_condvars::give_back(tracee, scheduling, objects, index, mutex);
        return Continuation::Stay(Box::new(Pending { op, site, condition, action, deadline }));
    }
    operations::depend_on_cancellation(tracee, scheduling, index, &mut op);
    calls::known_mutex(tracee, objects, mutex).unlock();
    let reacquire = Box::new(Pending { op, site, condition, action, deadline });
    let memory_of = tracee.mutex_memory(mutex);
    if memory_of.is_simple() {
        tracee.write(mutex, &memory_of.released().bytes());
        return Continuation::Stay(reacquire);
    }
    let call = InjectedCall::new(tracee.layout.mutex_unlock, mutex, AfterCall::Stay(reacquire));
    Continuation::Call(Box::new(call))
}

/// The second half: the mutex is free, and is taken as its own lock function would take it, or by that.
pub(crate) fn take_mutex(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    mutex: u64,
    after: AfterCall,
) -> Result<Continuation, ExecutionError> {
    let memory_of = tracee.mutex_memory(mutex);
    calls::lock_mutex(tracee, objects, index, mutex);
    if !memory_of.is_simple() {
        return Ok(Continuation::Call(Box::new(InjectedCall::new(tracee.layout.mutex_lock, mutex, after))));
    }
    let taken = memory_of.taken(tracee.tasks[index].tid as u32);
    if !tracee.write(mutex, &taken.bytes()) {
        return Err(system(SystemAction::WriteMutex)(std::io::Error::last_os_error()));
    }
    Ok(match after {
        AfterCall::Stay(pending) => Continuation::Stay(pending),
        AfterCall::Return(result) => Continuation::Return(result),
        AfterCall::Jump(function) => Continuation::Jump(function),
    })
}

/// Wakes one waiter of a condition variable; `false` if there is none.
pub(crate) fn signal(
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    cond: u64,
    outcome: OpOutcome,
    id: EventId,
) -> bool {
    let waiter = take_waiter(objects.conds.get_mut(&cond), outcome, &scheduling.threads);
    let Some(waiter) = waiter else { return false };
    let thread = &mut scheduling.threads[waiter];
    thread.woken_by = Some(id);
    for pending in thread.waits().filter(|pending| pending.condition == WaitCondition::Signal(cond)) {
        pending.wants_mutex(None);
    }
    true
}

/// The first half of a barrier wait.
pub(crate) fn arrive(
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    index: ThreadIndex,
    at: u64,
    pending: &Pending,
) -> Continuation {
    let barrier = objects.barriers.entry(at).or_default();
    let generation = barrier.generation;
    barrier.arrived.push(index);
    barrier.tells |= pending.op.may.accesses.iter().any(|access| access.mode == Mode::Write);
    if barrier.arrived.len() as u32 >= barrier.count {
        barrier.generation += 1;
        let arrived = std::mem::take(&mut barrier.arrived);
        let tells = std::mem::take(&mut barrier.tells);
        release_barrier(scheduling, &arrived, index, tells);
    }
    let accesses = pending.op.may.accesses.iter();
    let leaves = accesses.map(|a| Access { obj: a.obj, mode: Mode::Leave(generation) });
    let op = Op::new(OpKind::BarrierLeave, leaves);
    let serial = objects.barriers[&at].generation > generation && scheduling.threads[index].serial;
    let result = if serial { u64::from(u32::MAX) } else { 0 };
    let action = Action::LeaveBarrier { result };
    let condition = WaitCondition::Generation(at, generation);
    Continuation::Stay(Box::new(Pending { op, site: pending.site, condition, action, deadline: None }))
}

/// All have arrived: the last one is told that it is the serial thread. If no thread looks at that, arrivals commute, and the
/// first one by creation path is the serial thread.
fn release_barrier(scheduling: &mut Scheduling, arrived: &[ThreadIndex], last: ThreadIndex, tells: bool) {
    let first = || arrived.iter().copied().min_by_key(|&i| scheduling.threads[i].name);
    let serial = if tells { Some(last) } else { first() };
    for &i in arrived {
        scheduling.threads[i].serial = serial == Some(i);
        let arrived = scheduling.threads[i].waits().filter(|_| i != last && serial == Some(i));
        for pending in arrived {
            if let Action::LeaveBarrier { result } = &mut pending.action {
                *result = u64::from(u32::MAX);
            }
        }
    }
}

/// A thread cancels the one with this handle, or is about to send it a signal.
pub(crate) fn reach_out(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    account: &mut Account,
    index: ThreadIndex,
    (function, handle): (TrappedFunction, u64),
    id: EventId,
) {
    match function {
        TrappedFunction::Cancel => cancellation::cancel(tracee, scheduling, objects, account, handle, id),
        TrappedFunction::Kill => {
            let to = tracee.tasks.rposition(|task| task.handle == handle);
            scheduling.threads[index].kills = to;
            // Until the thread ended, its handler could have run.
            if to.is_some_and(|to| !scheduling.threads[to].is_live()) {
                signals::waits::note_handler(tracee, account, tracee.tasks[index].argument(1));
            }
        }
        _ => {}
    }
}
