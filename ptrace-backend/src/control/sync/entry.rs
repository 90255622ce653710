//! Threads at the entry of a thread function: the operation that this is, and its need.

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{FailureDetail, FailureKind};
use checker::names::{Obj, Site, ThreadName};
use checker::operation::{Access, Mode, Op, OpKind};
use checker::program::ExecutionError;

use crate::control::kernel::signals::interrupted_waits;
use crate::control::kernel::thread_creation;
use crate::control::loops::spin;
use crate::control::memory::blocks::quarantine;
use crate::control::memory::sharing::TouchKind;
use crate::control::memory::{exposure, hidden};
use crate::control::process::Process;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Pending, WaitCondition, limited};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::{InterruptedWait, RunState, WaitOutcome};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::{
    calls, cancellation, held_objects, robust_mutexes, rust_condvars, rwlocks, thread_end, time_limits,
};
use crate::control::tracee::{Tracee, late_files, stacks};
use crate::control::{enabled, harness, operations};
use crate::instructions::result::uses_result;
use crate::layout::functions::TrappedFunction;

/// Either makes the function the thread's pending operation, or lets the thread through at once.
pub(crate) fn enter(
    Process { tracee, scheduling, objects, memory, account }: &mut Process,
    index: ThreadIndex,
    function: TrappedFunction,
    timed_out: u64,
) -> Result<Flow, ExecutionError> {
    if let Some(flow) = resume_wait(tracee, scheduling, index)? {
        return Ok(flow);
    }
    let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
    let mutex = tracee.tasks[index].argument(1);
    if function.waits_for_signal() && memory.shared_files.original(mutex) != mutex {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
    }
    held_objects::note_way(tracee, objects, memory, account, index, function);
    if function == TrappedFunction::Panic {
        if account.first_panic.is_none() {
            account.first_panic = Some((scheduling.threads[index].name, stacks::stack(tracee, index)));
        }
    } else if function == TrappedFunction::Test {
        harness::begin_test(tracee, scheduling, index);
    } else if matches!(function, TrappedFunction::CancelState | TrappedFunction::CancelType) {
        cancellation::set_cancellation(tracee, scheduling, account, index, function);
        // It may take effect in there.
        if scheduling.threads[index].cancellation.asynchronous
            && cancellation::may_end_here(tracee, scheduling, index)
        {
            return Ok(Flow::Rest);
        }
    } else if function == TrappedFunction::Look {
        if cancellation::may_end_here(tracee, scheduling, index) {
            return Ok(Flow::Rest);
        }
    } else if function == TrappedFunction::TestCancel {
        if !stacks::is_libc_call_site(tracee, caller)
            && cancellation::test_cancel(tracee, scheduling, index, caller)
        {
            return Ok(Flow::Rest);
        }
    } else if !stacks::is_libc_call_site(tracee, caller)
        && tracee.tasks[index].calling.is_none()
        // A signal of a thread to itself concerns no other thread.
        && !(function == TrappedFunction::Kill && tracee.tasks[index].argument(0) == tracee.tasks[index].handle)
        && let Some(flow) = operation(tracee, scheduling, objects, memory, index, (function, timed_out), caller)?
    {
        if function == TrappedFunction::Create {
            thread_creation::note_thread_of_library(tracee, account, index);
        }
        let joined = scheduling.threads[index].pending.as_ref().and_then(|pending| pending.op.peer);
        if !tracee.layout.asks_for_ends || joined.is_some_and(|joined| joined == ThreadName::MAIN) {
            // The end of a thread is no event then, and that of the main thread never is.
            let name = match function {
                TrappedFunction::TryJoin => Some("pthread_tryjoin_np"),
                TrappedFunction::TimedJoin { .. } => Some("pthread_timedjoin_np"),
                _ => None,
            };
            if let Some(name) = name {
                account.enter_unwatched(Unwatched::call(UnwatchedKind::LibraryFunction, name));
            }
        }
        return Ok(flow);
    }
    if stacks::is_libc_call_site(tracee, caller) {
        hidden::enter_call(tracee, scheduling, memory, index, function);
        if function == TrappedFunction::Create {
            thread_creation::note_helper(tracee, memory, account, index)?;
        }
    }
    tracee.pass_trap(index)?;
    Ok(Flow::Resume(0))
}

/// If the thread is back at a wait that a signal handler had interrupted, it goes on waiting, or its function fails.
fn resume_wait(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Result<Option<Flow>, ExecutionError> {
    let thread = &mut scheduling.threads[index];
    let regs = &tracee.tasks[index].regs;
    let at = |wait: &mut InterruptedWait| (wait.rip, wait.rsp) == (regs.rip, regs.rsp);
    let Some(wait) = thread.interrupted.pop_if(at) else { return Ok(None) };
    if wait.outcome == Some(WaitOutcome::Fails) {
        interrupted_waits::fail(tracee, scheduling, index)?;
        return Ok(Some(Flow::Resume(0)));
    }
    thread.pending = Some(wait.pending);
    Ok(Some(Flow::Rest))
}

/// The pending operation that a function is. `None`: it has been accounted for, and the thread may go through.
fn operation(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &mut MemoryState,
    index: ThreadIndex,
    (function, timed_out): (TrappedFunction, u64),
    caller: u64,
) -> Result<Option<Flow>, ExecutionError> {
    let only_tries = time_limits::has_invalid_limit(tracee, index, function);
    if only_tries && !matches!(function, TrappedFunction::MutexTimedLock { .. }) {
        return Ok(None);
    }
    let object = memory.shared_files.original(tracee.tasks[index].argument(0));
    learn(tracee, objects, index, function, object);
    robust_mutexes::watch_end(tracee, objects, index, object)?;
    exposure::name_synchronisation(tracee, scheduling, memory, index, object);
    quarantine::use_block(tracee, memory, index, object);
    let is_looked_at = function.is_on_object() || function == TrappedFunction::GuardRelease;
    if is_looked_at && tracee.is_scheduled(index) {
        held_objects::note_use(memory, index, function, object);
    }
    if function.is_wait_of_rust() {
        rust_condvars::use_mutex(tracee, memory, index, tracee.tasks[index].argument(1));
    }
    if let Some((kind, detail)) = misuse(tracee, scheduling, objects, memory, index, function, object) {
        let stack = stacks::stack(tracee, index);
        let failure = scheduling.failure(index, kind, detail, stack);
        scheduling.threads[index].run_state = RunState::Failed(failure);
        return Ok(Some(Flow::Rest));
    }
    let (mut op, condition) = describe_call(tracee, scheduling, objects, memory, index, function, object);
    // The result of a join that waits is stored by an event of its own behind it.
    if !matches!(function, TrappedFunction::Join | TrappedFunction::TimedJoin { .. }) {
        op.may.accesses.extend(result(tracee, memory, index, function));
    }
    if function.is_cancellation_point() {
        operations::depend_on_cancellation(tracee, scheduling, index, &mut op);
    }
    let deadline = if only_tries { None } else { time_limits::deadline(tracee, scheduling, index, function) };
    let action = Action::Function { function, object, timed_out };
    let op = limited(op, &condition, deadline);
    let pending = Pending { op, site: Site::default(), condition, action, deadline };
    let waits = function.waits_for_signal() || function == TrappedFunction::BarrierWait;
    // Waits on condition variables are always operations, so that what ends them has to be.
    let wakes = matches!(function, TrappedFunction::Signal | TrappedFunction::Broadcast);
    let is_own_affair = !wakes && late_files::is_own_affair(tracee, memory, caller, object);
    let is_scheduled = tracee.is_scheduled(index) && !is_own_affair;
    let is_first = function == TrappedFunction::Create && !tracee.in_harness(index);
    if !is_scheduled
        && !is_first
        && !waits
        && enabled::holds(tracee, scheduling, objects, index, &pending.condition)
    {
        calls::carry_out(tracee, scheduling, objects, index, function, object);
        return finish_call(tracee, index, function);
    }
    let site = stacks::call_site(tracee, index, caller);
    scheduling.threads[index].pending = Some(Pending { site, ..pending });
    let looks = function.only_tries() && !spin::watch_for_spinning(tracee, scheduling, memory, index, true)?;
    Ok(Some(if looks { Flow::Look } else { Flow::Rest }))
}

/// Lets a call that needs no scheduling take place: by its own body, or by its result where that is made up.
fn finish_call(
    tracee: &mut Tracee,
    index: ThreadIndex,
    function: TrappedFunction,
) -> Result<Option<Flow>, ExecutionError> {
    if matches!(function, TrappedFunction::Signal | TrappedFunction::Broadcast) {
        tracee.return_from_call(index, 0)?;
        return Ok(Some(Flow::Resume(0)));
    }
    Ok(None)
}

/// Takes note of what an object's own memory says about it, the first time that it is seen.
fn learn(tracee: &Tracee, objects: &mut Objects, index: ThreadIndex, function: TrappedFunction, object: u64) {
    use TrappedFunction as F;
    match function {
        F::MutexLock | F::MutexTryLock | F::MutexTimedLock { .. } | F::MutexUnlock => {
            calls::known_mutex(tracee, objects, object);
        }
        F::BarrierInit => {
            let count = tracee.tasks[index].argument(2) as u32;
            objects.barriers.entry(object).or_default().count = count;
        }
        F::BarrierWait if !objects.barriers.contains_key(&object) => {
            let count = tracee.number(object + 8, 4) as u32;
            objects.barriers.entry(object).or_default().count = count;
        }
        _ => {}
    }
}

/// A use of an object that is a failure in itself.
fn misuse(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> Option<(FailureKind, FailureDetail)> {
    use TrappedFunction as F;
    let held_by = |owner: Option<ThreadIndex>| owner.map(|i| scheduling.threads[i].name);
    match function {
        F::MutexUnlock => {
            let owner = objects.mutexes.get(&object).and_then(|m| m.owner);
            // Others than normal ones say so by their result.
            if owner == Some(index) || tracee.mutex_memory(object).checks_owner() {
                return None;
            }
            let detail =
                FailureDetail::UnlockedNotHeld { mutex: memory.object(object, 1), holder: held_by(owner) };
            Some((FailureKind::UnlockNotHeld, detail))
        }
        F::MutexDestroy => {
            let holder = held_by(objects.mutexes.get(&object).and_then(|m| m.owner))?;
            let detail = FailureDetail::DestroyedHeld { mutex: memory.object(object, 1), holder };
            Some((FailureKind::DestroyedWhileHeld, detail))
        }
        F::CondDestroy => {
            let waiter = objects.conds.get(&object)?.waiters.first().copied();
            let condition = memory.object(object, 1);
            let detail = FailureDetail::DestroyedWaitedFor { condition, waiter: held_by(waiter)? };
            Some((FailureKind::DestroyedWhileHeld, detail))
        }
        _ => None,
    }
}

/// The operation that a call is, and what it needs.
fn describe_call(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    function: TrappedFunction,
    object: u64,
) -> (Op, WaitCondition) {
    use TrappedFunction as F;
    if rwlocks::is_refused(objects, index, function, object) {
        return (
            Op::new(OpKind::TryWriteLock, [Access::write(memory.object(object, 1))]),
            WaitCondition::Nothing,
        );
    }
    if let Some(described) = rwlocks::describe_writer_preferring(tracee, memory, index, function, object) {
        return described;
    }
    let obj = memory.object(object, 1);
    let reads = |kind, condition| (Op::new(kind, [Access::read(obj)]), condition);
    let shares = |kind, condition| (Op::new(kind, [Access::share(obj)]), condition);
    let writes = |kind, condition| (Op::new(kind, [Access::write(obj)]), condition);
    let free = WaitCondition::Nothing;
    match function {
        F::MutexInit | F::SpinInit | F::CondInit | F::RwInit | F::SemInit | F::BarrierInit => {
            writes(OpKind::Init, free)
        }
        F::MutexDestroy | F::CondDestroy | F::RwDestroy | F::SemDestroy | F::BarrierDestroy => {
            writes(OpKind::Destroy, free)
        }
        F::MutexTimedLock { .. } if time_limits::has_invalid_limit(tracee, index, function) => {
            writes(OpKind::TryLock, free)
        }
        F::MutexLock | F::MutexTimedLock { .. } | F::SpinLock | F::RustLock => {
            writes(OpKind::Lock, WaitCondition::Mutex(object))
        }
        F::MutexTryLock | F::SpinTryLock => writes(OpKind::TryLock, free),
        F::MutexUnlock | F::SpinUnlock => writes(OpKind::Unlock, free),
        F::CondWait | F::CondTimedWait { .. } | F::RustCondWait | F::RustCondTimedWait => {
            let mutex = rust_condvars::mutex_object(
                memory,
                tracee.tasks[index].argument(1),
                function.is_wait_of_rust(),
            );
            (Op::new(OpKind::CondWait, [Access::write(mutex), Access::read(obj)]), free)
        }
        F::Signal => writes(OpKind::Signal, free),
        F::Broadcast => writes(OpKind::Broadcast, free),
        F::ReadLock | F::ReadTimedLock { .. } | F::RustReadLock => {
            shares(OpKind::ReadLock, WaitCondition::ReadLock(object))
        }
        F::ReadTryLock => shares(OpKind::TryReadLock, free),
        F::WriteLock | F::WriteTimedLock { .. } | F::RustWriteLock => {
            writes(OpKind::WriteLock, WaitCondition::WriteLock(object))
        }
        F::WriteTryLock => writes(OpKind::TryWriteLock, free),
        F::RwUnlock => describe_rw_unlock(objects, index, object, obj),
        F::SemWait | F::SemTimedWait { .. } => writes(OpKind::SemWait, WaitCondition::Semaphore(object)),
        F::SemTryWait => writes(OpKind::SemTryWait, free),
        F::SemPost => writes(OpKind::SemPost, free),
        F::SemGetValue => reads(OpKind::Read, free),
        F::BarrierWait => {
            let generation = objects.barriers.get(&object).map_or(0, |b| b.generation);
            // The result tells the thread that comes last.
            let back = tracee.number(tracee.tasks[index].regs.rsp, 8);
            let is_told = uses_result(back, |at, len| tracee.code(at, len));
            let mode = if is_told { Mode::Write } else { Mode::Arrive(generation) };
            let access = Access { obj, mode };
            (Op::new(OpKind::BarrierArrive, [access]), free)
        }
        F::Once | F::GuardAcquire => writes(OpKind::Once, WaitCondition::Once(object)),
        F::GuardRelease => writes(OpKind::OnceDone, free),
        F::Cancel | F::Kill => {
            let to = tracee.tasks.rposition(|task| task.handle == object);
            (Op::new(OpKind::Kill, [Access::write(operations::signals_of(tracee, scheduling, to))]), free)
        }
        F::TestCancel | F::Look | F::CancelState | F::CancelType | F::Panic | F::Test | F::Create => {
            (Op::new(OpKind::Create, []), free)
        }
        // Whether a thread that is cancelled gets past depends on whether the other one has ended by then.
        F::Join if tracee.layout.cancels => asking_join(tracee, scheduling, index, object),
        F::Join => describe_join(tracee, scheduling, index, object),
        F::TimedJoin { .. } => asking_join(tracee, scheduling, index, object),
        F::TryJoin => {
            let (join, _) = describe_join(tracee, scheduling, index, object);
            let asked = asked_for(tracee, scheduling, join.peer);
            (Op { peer: join.peer, ..Op::new(OpKind::AskForEnd, asked) }, free)
        }
    }
}

/// The access by which a call stores its result, where threads share that memory.
pub(crate) fn result(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    function: TrappedFunction,
) -> Option<Access> {
    let (argument, len) = function.result()?;
    let at = memory.shared_files.original(tracee.tasks[index].argument(argument));
    if at == 0 || !tracee.is_scheduled(index) {
        return None;
    }
    let conflict = memory.sharing.touch_in(index, None, at..at.saturating_add(len), TouchKind::Writes);
    if !conflict.bytes.is_empty() {
        memory.promoted |= memory.knowledge.promote(&conflict.candidates, None, &[memory.stretch(at, len)]);
    }
    let object = memory.object(at, len);
    memory.knowledge.is_shared(object).then(|| Access::write(object))
}

fn describe_rw_unlock(objects: &Objects, index: ThreadIndex, object: u64, obj: Obj) -> (Op, WaitCondition) {
    let writer = objects.rwlocks.get(&object).is_some_and(|l| l.writer == Some(index));
    if writer {
        (Op::new(OpKind::WriteUnlock, [Access::write(obj)]), WaitCondition::Nothing)
    } else {
        (Op::new(OpKind::ReadUnlock, [Access::share(obj)]), WaitCondition::Nothing)
    }
}

/// A join of the thread with this handle. The C library refuses to let a thread wait for itself (`EDEADLK`).
fn describe_join(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    handle: u64,
) -> (Op, WaitCondition) {
    let is_it = |&index: &ThreadIndex| {
        tracee.tasks[index].handle == handle && !scheduling.threads[index].name.path().is_empty()
    };
    // The latest thread with this handle: the C library uses the memory of ended threads again.
    let joined = scheduling.threads.indices().rfind(is_it);
    let joined = joined.or_else(|| tracee.tasks.position(|task| task.handle == handle));
    let joined = joined.filter(|&joined| joined != index);
    let peer = joined.map(|i| scheduling.threads[i].name);
    (Op { peer, ..Op::new(OpKind::Join, []) }, joined.map_or(WaitCondition::Nothing, WaitCondition::End))
}

/// A join that finds out whether the thread with this handle has ended, and may go on where it has not.
fn asking_join(
    tracee: &Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
    handle: u64,
) -> (Op, WaitCondition) {
    let (mut op, condition) = describe_join(tracee, scheduling, index, handle);
    op.may.accesses.extend(asked_for(tracee, scheduling, op.peer));
    (op, condition)
}

/// The access by which a call asks whether a thread has ended.
fn asked_for(tracee: &Tracee, scheduling: &Scheduling, thread: Option<ThreadName>) -> Option<Access> {
    let is_it = |&index: &ThreadIndex| Some(scheduling.threads[index].name) == thread;
    let thread = scheduling.threads.indices().find(is_it)?;
    Some(Access::read(thread_end::object(tracee, scheduling, thread)))
}
