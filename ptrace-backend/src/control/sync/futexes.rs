//! Raw futexes: waits and wakes that no named operation accounts for.

use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::program::{ExecutionError, OpOutcome};

use crate::control::kernel::signals::interrupted_waits;
use crate::control::memory::sharing::TouchKind;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Continuation, Pending, Requeue, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects, is_left_behind};
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::{take_waiter_for, waiters_for};
use crate::control::tracee::{Tracee, late_files};
use crate::control::{enabled, operations};
use crate::target::modules;
use crate::virtual_syscalls::read_timespec;

/// The futex that a call means by an address.
pub(crate) fn futex_at(memory: &MemoryState, address: u64, is_private: bool) -> Futex {
    Futex { word: memory.shared_files.original(address), private: is_private.then_some(address) }
}

/// Whether a call of this operation is private to the process.
pub(crate) fn is_private(operation: u64) -> bool {
    operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0
}

/// The number of waiters that a call wakes: the kernel wakes one where it is asked for none.
pub(crate) fn least_one(asked: u64) -> u32 {
    (asked as i32).max(1).cast_unsigned()
}

pub(crate) fn enter_wait(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    futex: Futex,
    (value, kinds): (u32, u32),
    deadline: Option<u64>,
) -> Result<Flow, ExecutionError> {
    if let Some(end) = scheduling.threads[index].ends_wait.take() {
        let error = interrupted_waits::leave(tracee, end);
        return tracee.refuse(index, error);
    }
    if kinds == 0 {
        return tracee.refuse(index, libc::EINVAL);
    }
    note_kernel_read(tracee, memory, index, futex.word);
    let op = Op::new(OpKind::FutexWait, [Access::read(memory.object(futex.word, 4))]);
    let action = Action::FutexWait { futex, value, kinds };
    Ok(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, action, deadline))
}

/// A wake, which may be the end of a once-initialisation.
pub(crate) fn enter_wake(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    futex: Futex,
    (count, kinds): (u32, u32),
) -> Result<Flow, ExecutionError> {
    if kinds == 0 {
        return tracee.refuse(index, libc::EINVAL);
    }
    let addr = futex.word;
    let queue = objects.futexes.get(&futex);
    let waiting = queue.is_some_and(|queue| waiters_for(queue, kinds, &scheduling.threads).next().is_some());
    let once = objects.onces.get(&addr).is_some_and(|o| o.runner == Some(index));
    if once && tracee.is_scheduled(index) && !late_files::in_system_library(tracee, memory, addr) {
        let op = Op::new(OpKind::OnceDone, [Access::write(memory.object(addr, 1))]);
        return Ok(operations::pend(
            tracee,
            scheduling,
            index,
            op,
            WaitCondition::Nothing,
            Action::OnceDone(addr),
            None,
        ));
    }
    objects.onces.remove(&addr);
    let is_known =
        !waiting && (memory.narrow.is_some() || is_wake_known(tracee, scheduling, memory, index, addr));
    if !tracee.is_scheduled(index) || is_known {
        // The kernel looks for waiters behind a full barrier: without it, a thread that has just found the old value would not be woken.
        scheduling.threads[index].drained = true;
        let woken = wake(scheduling, objects, futex, kinds, count, OpOutcome::Only, None);
        if !is_for_others(tracee, woken) {
            tracee.answer(index, woken)?;
        }
        return Ok(Flow::Resume(0));
    }
    let op = Op::new(OpKind::FutexWake, [Access::write(memory.object(addr, 4))]);
    let action = Action::FutexWake { futex, count, kinds };
    Ok(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, action, None))
}

/// Whether a wake for which no thread waits belongs to an operation that has been accounted for: the C library's own wakes do,
/// and so does one that comes after a write to the word and before anything else. A thread that waits then has come before the
/// write.
fn is_wake_known(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    addr: u64,
) -> bool {
    let thread = &scheduling.threads[index];
    let word = memory.object(addr, 4);
    tracee.layout.is_call_of_libc(tracee.tasks[index].regs.rip)
        || thread.wrote.iter().any(|obj| obj.overlaps(&word))
}

/// The kernel is about to compare a futex's word, as no instruction of the program does. An instruction that writes the word
/// decides whether the thread waits, and is a key point; the C library's own words are written by functions that are.
fn note_kernel_read(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex, addr: u64) {
    note_kernel_access(tracee, memory, index, addr, TouchKind::Reads);
}

/// The same for whatever the kernel is about to do to a futex's word.
pub(crate) fn note_kernel_access(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    addr: u64,
    kind: TouchKind,
) {
    if !tracee.is_scheduled(index) || tracee.layout.is_call_of_libc(tracee.tasks[index].regs.rip) {
        return;
    }
    let conflict = memory.sharing.touch_in(index, None, addr..addr.saturating_add(4), kind);
    memory.learn_conflict(&conflict, None);
}

pub(crate) fn enter_requeue(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> Flow {
    let regs = tracee.tasks[index].regs;
    let compares = regs.rsi as i32 & !libc::FUTEX_PRIVATE_FLAG == libc::FUTEX_CMP_REQUEUE;
    let is_private = is_private(regs.rsi);
    let requeue = Requeue {
        from: futex_at(memory, regs.rdi, is_private),
        wake: regs.rdx as u32,
        to: futex_at(memory, regs.r8, is_private),
        most: regs.r10 as u32,
        expected: compares.then_some(regs.r9 as u32),
    };
    note_kernel_read(tracee, memory, index, requeue.from.word);
    let touched = [requeue.from, requeue.to].map(|futex| Access::write(memory.object(futex.word, 4)));
    operations::pend(
        tracee,
        scheduling,
        index,
        Op::new(OpKind::FutexWake, touched),
        WaitCondition::Nothing,
        Action::FutexRequeue(requeue),
        None,
    )
}

/// The kernel takes the lock for the thread, once that cannot block. A call by the C library is a part of an operation on a mutex.
pub(crate) fn enter_lock_pi(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    memory: &mut MemoryState,
    index: ThreadIndex,
    addr: u64,
) -> Result<Flow, ExecutionError> {
    if let Some(end) = scheduling.threads[index].ends_wait.take() {
        let error = interrupted_waits::leave(tracee, end);
        return tracee.refuse(index, error);
    }
    let condition = WaitCondition::PiFutex(addr);
    let is_part = tracee.layout.is_call_of_libc(tracee.tasks[index].regs.rip);
    note_kernel_access(tracee, memory, index, addr, TouchKind::Writes);
    if is_part && enabled::holds(tracee, scheduling, objects, index, &condition) {
        return Ok(Flow::Resume(0));
    }
    let op = Op::new(OpKind::Lock, [Access::write(memory.object(addr, 4))]);
    let limit = tracee.tasks[index].regs.r10;
    let deadline = (limit != 0).then(|| read_timespec(tracee.leader, limit)).flatten();
    Ok(operations::pend(tracee, scheduling, index, op, condition, Action::Kernel, deadline))
}

/// The kernel gives such a lock back, or tries to take it, which never blocks.
pub(crate) fn enter_unlock_pi(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    (addr, kind): (u64, OpKind),
) -> Flow {
    if tracee.layout.is_call_of_libc(tracee.tasks[index].regs.rip) {
        return Flow::Resume(0);
    }
    note_kernel_access(tracee, memory, index, addr, TouchKind::Writes);
    let op = Op::new(kind, [Access::write(memory.object(addr, 4))]);
    operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, Action::Kernel, None)
}

/// A wait: it returns at once if the word has changed, else the thread parks. Of a word that other processes may write, it
/// parks in any case, since the word may change while the thread is on its way here: [`wake_written`] lets it go.
pub(crate) fn wait(
    tracee: &Tracee,
    objects: &mut Objects,
    index: ThreadIndex,
    pending: &Pending,
    futex: Futex,
    (value, kinds): (u32, u32),
) -> (Effect, Continuation) {
    let all = pending.op.may.clone();
    let has_changed = tracee.number(futex.word, 4) as u32 != value;
    if has_changed && !is_written_by_others(tracee, futex) {
        return (all, Continuation::Answer(-i64::from(libc::EAGAIN)));
    }
    objects.futexes.entry(futex).or_default().waiters.push(index);
    let op = Op::new(OpKind::FutexResume, []);
    let action = Action::FutexResume { futex, value: Some(value), kinds, result: 0 };
    let condition = WaitCondition::Wake(futex);
    let resume = Pending { op, site: pending.site, condition, action, deadline: pending.deadline };
    (all, Continuation::Stay(Box::new(resume)))
}

/// Wakes up to `count` waiters of a futex that wait for wakes of one of these kinds, and says how many.
pub(crate) fn wake(
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    futex: Futex,
    kinds: u32,
    count: u32,
    outcome: OpOutcome,
    id: Option<EventId>,
) -> i64 {
    let mut woken = 0;
    while woken < i64::from(count) {
        let queue = objects.futexes.get_mut(&futex);
        let waiter = take_waiter_for(queue, kinds, outcome, &scheduling.threads);
        let Some(waiter) = waiter else { break };
        resume(scheduling, waiter, 0);
        scheduling.threads[waiter].woken_by = id;
        woken += 1;
    }
    woken
}

/// Wakes some waiters of a futex, of whatever kind of wake, and lets others wait for another one instead, for the same kinds as before.
pub(crate) fn requeue(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    pending: &Pending,
    requeue: Requeue,
    outcome: OpOutcome,
    id: EventId,
) -> (Effect, Continuation) {
    let Requeue { from, wake: count, to, most, expected } = requeue;
    if expected.is_some_and(|value| tracee.number(from.word, 4) as u32 != value) {
        let looks = pending.op.may.accesses.iter().map(|access| Access::read(access.obj));
        return (Effect::on(looks), Continuation::Answer(-i64::from(libc::EAGAIN)));
    }
    let woken = wake(scheduling, objects, from, Futex::ANY, count, outcome, Some(id));
    let mut moved = 0;
    while moved < i64::from(most) {
        let queue = objects.futexes.get_mut(&from);
        let waiter = take_waiter_for(queue, Futex::ANY, OpOutcome::Only, &scheduling.threads);
        let Some(waiter) = waiter else { break };
        objects.futexes.entry(to).or_default().waiters.push(waiter);
        if let Some(pending) = &mut scheduling.threads[waiter].pending
            && let Action::FutexResume { futex, value, .. } = &mut pending.action
        {
            (*futex, *value) = (to, None);
            pending.condition = WaitCondition::Wake(to);
        }
        moved += 1;
    }
    // Without a comparison, the call says only how many it has woken.
    let result = if expected.is_some() { woken + moved } else { woken };
    (pending.op.may.clone(), Continuation::Answer(result))
}

/// A parked waiter may go on, its call returning this.
fn resume(scheduling: &mut Scheduling, waiter: ThreadIndex, value: i64) {
    if let Some(pending) = &mut scheduling.threads[waiter].pending
        && let Action::FutexResume { result, .. } = &mut pending.action
    {
        *result = value;
        pending.condition = WaitCondition::Nothing;
        pending.deadline = None;
    }
}

/// A thread has ended: the kernel has cleared its word, for which those wait that join it, and has marked the words of
/// robust mutexes that it held. It wakes no waiters of private calls.
pub(crate) fn wake_changed(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    ended: ThreadIndex,
) {
    let tid_word = tracee.tasks[ended].tid_word;
    let waiters = scheduling.threads.iter().filter_map(|thread| match thread.pending.as_ref()?.action {
        Action::FutexResume { futex, value: Some(value), .. } => Some((futex, value)),
        _ => None,
    });
    let changed: Vec<Futex> = waiters
        .filter(|&(futex, waited_for)| {
            let now = tracee.number(futex.word, 4) as u32;
            let cleared = now == 0 && tid_word.is_none_or(|word| word == futex.word);
            futex.private.is_none() && now != waited_for && (cleared || is_left_behind(now))
        })
        .map(|(futex, _)| futex)
        .collect();
    for futex in changed {
        wake(scheduling, objects, futex, Futex::ANY, u32::MAX, OpOutcome::Only, None);
    }
}

/// Another process may have written a word of memory that it has in common with the program, and wakes the waiters that the
/// kernel has there: threads that wait here go on if the word has changed, as they would if they had come later.
pub(crate) fn wake_written(tracee: &Tracee, scheduling: &mut Scheduling, objects: &mut Objects) {
    let waiters = scheduling.threads.iter();
    let changed: Vec<Futex> = waiters.filter_map(|thread| written(tracee, thread)).collect();
    for futex in changed.into_iter().filter(|&futex| is_written_by_others(tracee, futex)) {
        wake(scheduling, objects, futex, Futex::ANY, u32::MAX, OpOutcome::Only, None);
    }
}

/// Whether a process that the program has started may write, or may have written, a word.
fn is_written_by_others(tracee: &Tracee, futex: Futex) -> bool {
    tracee.started_by.is_some() && modules::is_mapped_shared(tracee.leader, futex.word)
}

/// The futex at which a thread waits, if its word is another one than that with which the wait began.
pub(crate) fn written(tracee: &Tracee, thread: &Thread) -> Option<Futex> {
    match thread.pending.as_ref()?.action {
        Action::FutexResume { futex, value: Some(value), .. } => {
            (tracee.number(futex.word, 4) as u32 != value).then_some(futex)
        }
        _ => None,
    }
}

/// A wake for which no thread of the program waits is for another process, if there is one.
pub(crate) fn is_for_others(tracee: &Tracee, woken: i64) -> bool {
    woken == 0 && !tracee.child_processes.is_empty()
}
