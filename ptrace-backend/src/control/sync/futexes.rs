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
use crate::control::state::sync_objects::{Objects, is_left_behind};
use crate::control::state::thread::Thread;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::take_waiter;
use crate::control::tracee::{Tracee, late_files};
use crate::control::{enabled, operations};
use crate::target::modules;
use crate::virtual_syscalls::read_timespec;

pub(crate) fn enter_wait(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    addr: u64,
    value: u32,
    deadline: Option<u64>,
) -> Result<Flow, ExecutionError> {
    if let Some(end) = scheduling.threads[index].ends_wait.take() {
        let error = interrupted_waits::leave(tracee, end);
        return tracee.refuse(index, error);
    }
    note_kernel_read(tracee, memory, index, addr);
    let op = Op::new(OpKind::FutexWait, [Access::read(memory.object(addr, 4))]);
    let action = Action::FutexWait { addr, value };
    Ok(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, action, deadline))
}

/// A wake, which may be the end of a once-initialisation.
pub(crate) fn enter_wake(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    addr: u64,
    count: u32,
) -> Result<Flow, ExecutionError> {
    let waiting = objects.futexes.get(&addr).is_some_and(|q| !q.waiters.is_empty());
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
        let woken = wake(scheduling, objects, addr, count, OpOutcome::Only, None);
        if !is_for_others(tracee, woken) {
            tracee.answer(index, woken)?;
        }
        return Ok(Flow::Resume(0));
    }
    let op = Op::new(OpKind::FutexWake, [Access::write(memory.object(addr, 4))]);
    let action = Action::FutexWake { addr, count };
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
    note_kernel_read(tracee, memory, index, tracee.tasks[index].regs.rdi);
    let regs = tracee.tasks[index].regs;
    let compares = regs.rsi as i32 & !libc::FUTEX_PRIVATE_FLAG == libc::FUTEX_CMP_REQUEUE;
    let requeue = Requeue {
        from: regs.rdi,
        wake: regs.rdx as u32,
        to: regs.r8,
        most: regs.r10 as u32,
        expected: compares.then_some(regs.r9 as u32),
    };
    let touched = [requeue.from, requeue.to].map(|addr| Access::write(memory.object(addr, 4)));
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
    addr: u64,
    value: u32,
) -> (Effect, Continuation) {
    let all = pending.op.may.clone();
    let has_changed = tracee.number(addr, 4) as u32 != value;
    if has_changed && !is_written_by_others(tracee, addr) {
        return (all, Continuation::Answer(-i64::from(libc::EAGAIN)));
    }
    objects.futexes.entry(addr).or_default().waiters.push(index);
    let op = Op::new(OpKind::FutexResume, []);
    let action = Action::FutexResume { addr, value: Some(value), result: 0 };
    let condition = WaitCondition::Wake(addr);
    let resume = Pending { op, site: pending.site, condition, action, deadline: pending.deadline };
    (all, Continuation::Stay(Box::new(resume)))
}

/// Wakes up to `count` waiters of a futex and says how many.
pub(crate) fn wake(
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    addr: u64,
    count: u32,
    outcome: OpOutcome,
    id: Option<EventId>,
) -> i64 {
    let mut woken = 0;
    while woken < i64::from(count) {
        let waiter = take_waiter(objects.futexes.get_mut(&addr), outcome, &scheduling.threads);
        let Some(waiter) = waiter else { break };
        resume(scheduling, waiter, 0);
        scheduling.threads[waiter].woken_by = id;
        woken += 1;
    }
    woken
}

/// Wakes some waiters of a futex, and lets others wait for another one instead.
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
    if expected.is_some_and(|value| tracee.number(from, 4) as u32 != value) {
        let looks = pending.op.may.accesses.iter().map(|access| Access::read(access.obj));
        return (Effect::on(looks), Continuation::Answer(-i64::from(libc::EAGAIN)));
    }
    let woken = wake(scheduling, objects, from, count, outcome, Some(id));
    let mut moved = 0;
    while moved < i64::from(most) {
        let waiter = take_waiter(objects.futexes.get_mut(&from), OpOutcome::Only, &scheduling.threads);
        let Some(waiter) = waiter else { break };
        objects.futexes.entry(to).or_default().waiters.push(waiter);
        if let Some(pending) = &mut scheduling.threads[waiter].pending
            && let Action::FutexResume { addr, value, .. } = &mut pending.action
        {
            (*addr, *value) = (to, None);
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
/// robust mutexes that it held.
pub(crate) fn wake_changed(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    ended: ThreadIndex,
) {
    let tid_word = tracee.tasks[ended].tid_word;
    let waiters = scheduling.threads.iter().filter_map(|thread| match thread.pending.as_ref()?.action {
        Action::FutexResume { addr, value: Some(value), .. } => Some((addr, value)),
        _ => None,
    });
    let words: Vec<u64> = waiters
        .filter(|&(addr, waited_for)| {
            let now = tracee.number(addr, 4) as u32;
            let cleared = now == 0 && tid_word.is_none_or(|word| word == addr);
            now != waited_for && (cleared || is_left_behind(now))
        })
        .map(|(addr, _)| addr)
        .collect();
    for addr in words {
        wake(scheduling, objects, addr, u32::MAX, OpOutcome::Only, None);
    }
}

/// Another process may have written a word of memory that it has in common with the program, and wakes the waiters that the
/// kernel has there: threads that wait here go on if the word has changed, as they would if they had come later.
pub(crate) fn wake_written(tracee: &Tracee, scheduling: &mut Scheduling, objects: &mut Objects) {
    let waiters = scheduling.threads.iter();
    let words: Vec<u64> = waiters.filter_map(|thread| written(tracee, thread)).collect();
    for addr in words.into_iter().filter(|&addr| is_written_by_others(tracee, addr)) {
        wake(scheduling, objects, addr, u32::MAX, OpOutcome::Only, None);
    }
}

/// Whether a process that the program has started may write, or may have written, a word.
fn is_written_by_others(tracee: &Tracee, addr: u64) -> bool {
    tracee.started_by.is_some() && modules::is_mapped_shared(tracee.leader, addr)
}

/// The word at which a thread waits, if it is another one than that with which the wait began.
pub(crate) fn written(tracee: &Tracee, thread: &Thread) -> Option<u64> {
    match thread.pending.as_ref()?.action {
        Action::FutexResume { addr, value: Some(value), .. } => {
            (tracee.number(addr, 4) as u32 != value).then_some(addr)
        }
        _ => None,
    }
}

/// A wake for which no thread of the program waits is for another process, if there is one.
pub(crate) fn is_for_others(tracee: &Tracee, woken: i64) -> bool {
    woken == 0 && !tracee.child_processes.is_empty()
}
