//! Pending operations as the checker sees them.

use checker::names::{Obj, ThreadName};
use checker::operation::{Access, Op, OpKind};
use checker::program::{Agent, AgentView, BlockedOn, OpOutcome, Status};
use smallvec::{SmallVec, smallvec};

use crate::control::client;
use crate::control::enabled::Waiter;
use crate::control::kernel::{files, quiescence, system_v};
use crate::control::memory::naming;
use crate::control::state::client::Client;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, AwaitedBytes, Pending, Requeue, WaitCondition, WakeOp};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread::{Interrupt, RunState};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::queues::waiters_for;
use crate::control::sync::{cancellation, futexes, stream_locks};
use crate::control::tracee::Tracee;
use crate::control::{enabled, expiry, operations, readiness};
use crate::layout::functions::TrappedFunction;
use crate::os::file_locks;
use crate::os::system_v::IpcCondition;

/// The knowledge that the checker may have of every thread and timer, in creation order, then of every open timed wait, after
/// an event of this agent.
pub(crate) fn views(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    mover: Waiter,
) -> Vec<AgentView> {
    enabled::note_runnable(tracee, scheduling, objects, mover);
    client::note_runnable(tracee, scheduling, mover);
    let all = scheduling.threads.indices();
    let mut views: Vec<AgentView> = Vec::with_capacity(all.len() + scheduling.timers.len());
    for (before, index) in all.clone().enumerate() {
        views.extend(timer_views(tracee, scheduling, objects, |threads| threads == before));
        views.push(view(tracee, scheduling, objects, memory, index));
        if index.is_main() {
            views.extend(client::view(tracee, scheduling, objects));
        }
    }
    views.extend(timer_views(tracee, scheduling, objects, |threads| threads >= all.len()));
    views.extend(all.filter_map(|i| timeout_view(tracee, scheduling, objects, memory, i)));
    views
}

/// The timers that were made when there were so many threads.
fn timer_views(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    is_meant: impl Fn(usize) -> bool,
) -> impl Iterator<Item = AgentView> {
    let timers = scheduling.timers.iter().enumerate().filter(move |(_, timer)| is_meant(timer.threads));
    timers.map(|(nth, _)| expiry::view(tracee, scheduling, objects, nth))
}

fn view(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
) -> AgentView {
    let thread = &scheduling.threads[index];
    let agent = Agent::Thread(thread.name);
    let Some(pending) = thread.pending.as_ref().filter(|_| thread.is_live() && !tracee.gone) else {
        let status = match &thread.run_state {
            RunState::Failed(failure) => Status::Failed(failure.clone()),
            RunState::Live | RunState::Ended => Status::Finished,
        };
        return AgentView {
            agent,
            status,
            pending: None,
            site: Default::default(),
            outcomes: SmallVec::new(),
        };
    };
    naming::note_told(tracee, scheduling, memory, index, pending);
    AgentView {
        agent,
        status: status(tracee, scheduling, objects, memory, index, pending),
        pending: Some(described(tracee, scheduling, objects, memory, index, pending)),
        site: pending.site,
        outcomes: outcomes(scheduling, objects, memory, &pending.action),
    }
}

/// A thread's pending operation as the checker sees it.
fn described(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    pending: &Pending,
) -> Op {
    let mut op = interruption(tracee, scheduling, objects, memory, index, pending)
        .map_or_else(|| pending.op.clone(), |(_, op)| op);
    cancellation::tell_of_cancelled_wait(tracee, scheduling, memory, &pending.action, &mut op.may);
    operations::tell_of_signals(tracee, scheduling, index, &mut op.may);
    op
}

/// The operation that a thread does next in place of its pending one, if something ends that wait.
pub(crate) fn interruption(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    pending: &Pending,
) -> Option<(Interrupt, Op)> {
    let interrupt = enabled::ends_wait(tracee, scheduling, objects, index, pending)?;
    // The objects that the operation would have touched decide whether it comes to this; and a thread that no longer waits for
    // a signal of a condition variable or a wake of a futex leaves that to others.
    let left = match (&pending.condition, interrupt) {
        (&WaitCondition::Signal(at), Interrupt::Cancel) => Some(memory.object(at, 1)),
        (WaitCondition::Wake(futex), _) => Some(memory.object(futex.word, 1)),
        _ => None,
    };
    let signals = operations::signals_of(tracee, scheduling, Some(index));
    let would = pending.op.may.accesses.iter().filter(|access| access.obj != signals).copied();
    let does = left.into_iter().chain([signals]).map(Access::write);
    Some((interrupt, Op::new(OpKind::Kill, would.chain(does))))
}

fn status(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
    pending: &Pending,
) -> Status {
    if enabled::waits_for_test(tracee, scheduling, objects, index) {
        return Status::Blocked(BlockedOn::Test);
    }
    if is_enabled(tracee, scheduling, objects, index, pending) {
        return Status::Enabled;
    }
    // Of interest only where no thread can run.
    let is_still = || scheduling.threads.iter().all(|thread| thread.runnable_since.is_none());
    if tracee.started_by.is_some()
        && is_still()
        && quiescence::may_come_of_process(tracee, &pending.condition)
    {
        return Status::Blocked(BlockedOn::Process);
    }
    let obj = |addr: &u64| memory.object(*addr, 1);
    Status::Blocked(match &pending.condition {
        WaitCondition::Nothing => return Status::Enabled,
        WaitCondition::Deadline(time) => {
            BlockedOn::Time(enabled::stalled_by(tracee, scheduling, objects, Waiter::Thread(index), *time))
        }
        WaitCondition::Mutex(at) | WaitCondition::RustMutex(at, _) => {
            BlockedOn::Mutex { obj: obj(at), owner: owner(scheduling, objects, *at) }
        }
        WaitCondition::ReadLock(at) | WaitCondition::RustRead(at) => BlockedOn::Read(obj(at)),
        WaitCondition::WriteLock(at) | WaitCondition::RustWrite(at) => BlockedOn::Write(obj(at)),
        WaitCondition::Semaphore(at) => BlockedOn::Sem(obj(at)),
        WaitCondition::End(thread) => BlockedOn::Join(scheduling.threads[*thread].name),
        WaitCondition::Once(at) => BlockedOn::Once(obj(at)),
        WaitCondition::Generation(at, generation) => {
            BlockedOn::Barrier { obj: obj(at), generation: *generation }
        }
        WaitCondition::Signal(at) => BlockedOn::Cond(obj(at)),
        WaitCondition::Wake(futex) => BlockedOn::Futex(obj(&futex.word)),
        WaitCondition::Change(locations) => {
            // Bytes on its own stack are mostly a counter, or a pointer to the awaited ones.
            let is_told = |it: &&AwaitedBytes| {
                !it.is_own
                    || tracee.knowledge.is_shared(it.object)
                    || locations.iter().all(|other| other.is_own)
            };
            BlockedOn::Await(locations.iter().filter(is_told).map(|it| it.object).collect())
        }
        WaitCondition::Arrival(_) => BlockedOn::Arrival,
        WaitCondition::PiFutex(at) => BlockedOn::Mutex {
            obj: obj(at),
            owner: enabled::pi_owner(tracee, scheduling, *at).map(|i| scheduling.threads[i].name),
        },
        WaitCondition::Stream(lock) => BlockedOn::Mutex {
            obj: memory.object(*lock, 4),
            owner: stream_locks::owner(tracee, scheduling, *lock).map(|i| scheduling.threads[i].name),
        },
        WaitCondition::FileLock(wanted) => {
            let file = files::locked_file(tracee, wanted);
            match wanted.exclusive {
                _ if file_locks::is_held_outside(tracee.leader, wanted) => {
                    BlockedOn::Outside(vec![wanted.descriptor])
                }
                true => BlockedOn::Write(file),
                false => BlockedOn::Read(file),
            }
        }
        WaitCondition::SystemV(wait) => {
            let object = system_v::object(tracee, objects, wait.id);
            match wait.condition {
                IpcCondition::Operations(_) => BlockedOn::Sem(object),
                IpcCondition::Message { .. } => BlockedOn::Message(object),
                IpcCondition::Room { .. } => BlockedOn::Room(object),
            }
        }
        WaitCondition::Ready(files) | WaitCondition::AllReady(files) => {
            let descriptors: Vec<i32> = files.iter().map(|(file, _)| *file).collect();
            let has_client = scheduling.client.as_ref().is_some_and(Client::is_running);
            let is_outside = !has_client && readiness::is_outside(tracee, &scheduling.threads[index], files);
            let writes = files.iter().all(|(_, events)| *events == libc::POLLOUT);
            match (is_outside, writes) {
                (true, _) => BlockedOn::Outside(descriptors),
                (false, true) => BlockedOn::Output(descriptors),
                (false, false) => BlockedOn::Input(descriptors),
            }
        }
    })
}

/// Whether a thread can go, as [`enabled::note_runnable`] found last.
fn is_enabled(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
    pending: &Pending,
) -> bool {
    match pending.condition {
        WaitCondition::Deadline(time) => {
            scheduling.threads[index].runnable_since.is_some()
                || enabled::is_due(tracee, scheduling, objects, Waiter::Thread(index), time)
        }
        _ => scheduling.threads[index].runnable_since.is_some(),
    }
}

fn owner(scheduling: &Scheduling, objects: &Objects, mutex: u64) -> Option<ThreadName> {
    let owner = objects.mutexes.get(&mutex)?.owner?;
    Some(scheduling.threads[owner].name)
}

/// The ways in which an operation can go: which waiter wakes, where there are several.
fn outcomes(
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    action: &Action,
) -> SmallVec<[OpOutcome; 1]> {
    let mut awaited = Futex::ANY;
    let queue = match action {
        Action::Function { function: TrappedFunction::Signal, object, .. } => objects.conds.get(object),
        Action::FutexWake { futex, count: 1, kinds } => {
            awaited = *kinds;
            objects.futexes.get(futex)
        }
        Action::FutexRequeue(Requeue { from, wake: 1, .. }) => objects.futexes.get(from),
        Action::FutexWakeOp(WakeOp { first, wake, second, wake_second, .. }) => {
            let queues = [(first, wake), (second, wake_second)].into_iter();
            let several = queues.filter(|(_, count)| **count == 1);
            several.filter_map(|(futex, _)| objects.futexes.get(futex)).find(|queue| queue.waiters.len() > 1)
        }
        Action::End(mutexes) => {
            let left = mutexes.last().map(|&at| futexes::futex_at(memory, at, false));
            left.and_then(|futex| objects.futexes.get(&futex))
        }
        _ => None,
    };
    let waiters = queue.into_iter().flat_map(|queue| waiters_for(queue, awaited, &scheduling.threads));
    let outcomes: SmallVec<_> = waiters.map(|i| OpOutcome::Wake(scheduling.threads[i].name)).collect();
    if outcomes.len() > 1 { outcomes } else { smallvec![OpOutcome::Only] }
}

/// The timeout of a thread's timed wait, while it waits.
fn timeout_view(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    memory: &MemoryState,
    index: ThreadIndex,
) -> Option<AgentView> {
    let thread = &scheduling.threads[index];
    let pending = thread.pending.as_ref().filter(|_| thread.is_live() && !tracee.gone)?;
    let deadline = pending.deadline?;
    if thread.runnable_since.is_some() || enabled::waits_for_test(tracee, scheduling, objects, index) {
        return None;
    }
    let waiter = Waiter::Thread(index);
    let mut op = timeout_op(memory, pending);
    operations::tell_of_signals(tracee, scheduling, index, &mut op.may);
    Some(AgentView {
        agent: Agent::Timeout(thread.name),
        status: match enabled::is_due(tracee, scheduling, objects, waiter, deadline) {
            true => Status::Enabled,
            false => Status::Blocked(BlockedOn::Time(enabled::stalled_by(
                tracee, scheduling, objects, waiter, deadline,
            ))),
        },
        pending: Some(op),
        site: pending.site,
        outcomes: smallvec![OpOutcome::Only],
    })
}

/// The operation of a timeout: it touches the condition variable or futex that is waited for.
pub(crate) fn timeout_op(memory: &MemoryState, pending: &Pending) -> Op {
    let touched: Option<Obj> = match pending.condition {
        WaitCondition::Signal(at) => Some(memory.object(at, 1)),
        WaitCondition::Wake(futex) => Some(memory.object(futex.word, 1)),
        _ => pending.op.may.accesses.first().map(|access| access.obj),
    };
    Op::new(OpKind::Timeout, touched.map(Access::write))
}
