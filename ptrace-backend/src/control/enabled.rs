//! Enabledness: a pending operation can run where its need is met, and its time has come.
//!
//! A sleep or a timed wait is over once the virtual clock has come to its deadline, and the clock goes on where no thread can
//! run, or where all that could run poll ([`Thread::lets_time_pass`](crate::control::state::thread::Thread::lets_time_pass)). While a thread could run and does not, it is *stalled*: an execution in which a
//! sleep of a second ends before another thread's next instruction is one in which that thread stood still for a second.
//!
//! A deadline can come where no thread is stalled for longer than [`Scheduling::max_stall`] by it, and deadlines keep their
//! order but for as much. The thread of the earliest deadline can always go where no other one can, so that no execution ends
//! here.
//!
//! The deadlines that can come follow from what threads are about to do and from their clocks, which are Lamport clocks: they
//! are the same in two executions with the same happens-before relation.

use checker::names::{EventId, ThreadName};
use checker::timing::{Stall, Timing};

use crate::control::kernel::signals;
use crate::control::readiness;
use crate::control::state::pending::{Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::{Interrupt, RunState, ThreadRole};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::state::timers::Timer;
use crate::control::sync::{rwlocks, stream_locks};
use crate::control::tracee::Tracee;
use crate::os::{file_locks, memory};
use crate::spec::stalls::LEAST_STALL;

/// An agent that waits for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    Thread(ThreadIndex),
    /// By its place among all timers.
    Timer(usize),
    Client,
}

/// Another agent that a deadline could come before.
struct CompetingAgent {
    name: ThreadName,
    /// The time since which it could run, or its own deadline.
    since: u64,
}

/// Whether time can pass to a deadline of this agent.
pub(crate) fn is_due(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    waiter: Waiter,
    deadline: u64,
) -> bool {
    let Some(earliest) = competing_agents(tracee, scheduling, objects, waiter)
        .map(|competing_agent| competing_agent.since)
        .min()
    else {
        return true;
    };
    let needed = deadline.saturating_sub(earliest);
    let is_due = needed <= scheduling.max_stall;
    if !is_due {
        scheduling.stalls.note_needed(needed);
    }
    is_due
}

/// The relation of an agent's deadline to the others if it comes now.
pub(crate) fn timing(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    waiter: Waiter,
    deadline: u64,
) -> Box<Timing> {
    let longest = competing_agents(tracee, scheduling, objects, waiter)
        .min_by_key(|competing_agent| competing_agent.since);
    let stall = longest.and_then(|competing_agent| {
        let nanos = deadline.saturating_sub(competing_agent.since);
        (nanos > LEAST_STALL).then_some(Stall { thread: competing_agent.name, nanos })
    });
    let others = || scheduling.threads.enumerate().filter(|(other, _)| Waiter::Thread(*other) != waiter);
    let is_early = |since: &u64| since.saturating_add(scheduling.max_stall) < deadline;
    let timers = scheduling.timers.iter().enumerate().filter(|(other, _)| Waiter::Timer(*other) != waiter);
    let begun = others().map(|(_, thread)| (thread.name, &thread.begun));
    let client = scheduling.client.iter().filter(|_| waiter != Waiter::Client);
    let begun = begun.chain(client.map(|client| (ThreadName::CLIENT, &client.begun)));
    let after =
        begun.chain(timers.map(|(_, timer)| (timer.name, &timer.begun))).filter_map(|(thread, begun)| {
            let last = begun.partition_point(is_early).checked_sub(1)?;
            Some(EventId { thread, index: last as u32 })
        });
    let overtakes = others().any(|(_, thread)| {
        let gives_way = thread.pending.as_ref().is_some_and(|pending| pending.op.kind.gives_way());
        gives_way && thread.runnable_since.as_ref().is_some_and(is_early)
    });
    Box::new(Timing { after: after.collect(), stall, overtakes })
}

/// The agents that a deadline of this one would stall for too long.
pub(crate) fn stalled_by(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    waiter: Waiter,
    deadline: u64,
) -> Vec<ThreadName> {
    let is_early = |competing_agent: &CompetingAgent| {
        competing_agent.since.saturating_add(scheduling.max_stall) < deadline
    };
    competing_agents(tracee, scheduling, objects, waiter)
        .filter(is_early)
        .map(|competing_agent| competing_agent.name)
        .collect()
}

/// Whether a thread can run, or waits for a time.
pub(crate) fn somebody_moves(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> bool {
    scheduling.threads.enumerate().any(|(index, thread)| {
        let pending = thread.pending.as_ref().filter(|_| thread.is_live());
        let waits = || {
            pending.is_some_and(|pending| pending.awaited_time().is_some())
                && !waits_for_test(tracee, scheduling, objects, index)
        };
        pending.is_some() && thread.runnable_since.is_some() || waits()
    })
}

/// Whether a thread that can run, if it does no more than give way, has not come to this time.
pub(crate) fn somebody_is_behind(scheduling: &Scheduling, time: u64) -> bool {
    let is_behind = |since: u64| since.saturating_add(scheduling.max_stall) < time;
    scheduling.threads.iter().any(|thread| thread.is_live() && thread.runnable_since.is_some_and(is_behind))
}

/// Notes since when threads can run, after an event of this agent.
pub(crate) fn note_runnable(tracee: &Tracee, scheduling: &mut Scheduling, objects: &Objects, mover: Waiter) {
    let has_seen = scheduling.threads.iter().any(|thread| thread.files_seen.is_some());
    look_at_each(tracee, scheduling, objects, mover);
    // An answer of before, where nobody can go, is asked for again: the kernel may be late.
    if has_seen && scheduling.threads.iter().all(|thread| thread.runnable_since.is_none()) {
        scheduling.threads.iter_mut().for_each(|thread| thread.files_seen = None);
        look_at_each(tracee, scheduling, objects, mover);
    }
}

fn look_at_each(tracee: &Tracee, scheduling: &mut Scheduling, objects: &Objects, mover: Waiter) {
    let now = clock(scheduling, mover);
    for index in scheduling.threads.indices() {
        let files_seen = readiness::look(tracee, &scheduling.threads[index], index);
        scheduling.threads[index].files_seen = files_seen;
        let runs = could_run(tracee, scheduling, objects, index);
        let thread = &mut scheduling.threads[index];
        thread.runnable_since = match thread.runnable_since {
            _ if !runs => None,
            Some(since) if Waiter::Thread(index) != mover => Some(since),
            _ => Some(now.max(thread.virtual_system.now)),
        };
    }
}

/// An agent's clock.
pub(crate) fn clock(scheduling: &Scheduling, agent: Waiter) -> u64 {
    match agent {
        Waiter::Thread(index) => scheduling.threads[index].virtual_system.now,
        Waiter::Timer(nth) => scheduling.timers[nth].now,
        Waiter::Client => scheduling.client.as_ref().map_or(0, |client| client.now),
    }
}

/// Whether a thread can run now, and does not wait for a time.
pub(crate) fn could_run(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
) -> bool {
    let thread = &scheduling.threads[index];
    let pending = thread.pending.as_ref().filter(|_| thread.is_live() && !tracee.gone);
    pending.is_some_and(|pending| {
        let is_there = || {
            readiness::seen(tracee, thread)
                .unwrap_or_else(|| holds(tracee, scheduling, objects, index, &pending.condition))
        };
        !waits_for_test(tracee, scheduling, objects, index)
            && (!pending.sleeps() && is_there()
                || ends_wait(tracee, scheduling, objects, index, pending).is_some())
    })
}

/// All others that can run and do not give way to this one, and all others that wait for a time.
fn competing_agents(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    waiter: Waiter,
) -> impl Iterator<Item = CompetingAgent> {
    // An agent that waits has the clock with which it began to.
    let waits_since = clock(scheduling, waiter);
    let others = scheduling.threads.indices().filter(move |&other| Waiter::Thread(other) != waiter);
    let threads = others.filter_map(move |other| {
        let thread = &scheduling.threads[other];
        let pending = thread.pending.as_ref().filter(|_| thread.is_live())?;
        let since = match thread.runnable_since {
            Some(_) if thread.lets_time_pass(waits_since) => return None,
            Some(since) => since,
            None => pending.awaited_time().filter(|_| !waits_for_test(tracee, scheduling, objects, other))?,
        };
        Some(CompetingAgent { name: thread.name, since })
    });
    // One that will not expire keeps no other one from doing so.
    let is_idle = move |timer: &Timer| {
        timer.expired_at == Some(scheduling.moves()) && !somebody_moves(tracee, scheduling, objects)
    };
    let timers = scheduling.timers.iter().enumerate().filter_map(move |(other, timer)| {
        let since = timer.awaited().filter(|_| Waiter::Timer(other) != waiter && !scheduling.exiting)?;
        (!is_idle(timer)).then_some(CompetingAgent { name: timer.name, since })
    });
    let client = scheduling.client.as_ref().filter(|_| waiter != Waiter::Client);
    let client = client.and_then(|client| {
        let since = client.runnable_since.or(client.awaits)?;
        Some(CompetingAgent { name: ThreadName::CLIENT, since })
    });
    threads.chain(timers).chain(client)
}

/// Whether what an operation of this thread needs is there.
pub(crate) fn holds(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
    condition: &WaitCondition,
) -> bool {
    match condition {
        WaitCondition::Nothing => true,
        WaitCondition::Deadline(time) => is_due(tracee, scheduling, objects, Waiter::Thread(index), *time),
        WaitCondition::Mutex(at) => objects.mutexes.get(at).is_none_or(|m| m.can_lock(index)),
        WaitCondition::RustMutex(at, len) => tracee.number(*at, *len) == 0,
        WaitCondition::RustRead(at) => rwlocks::can_read_rust(tracee, *at),
        WaitCondition::RustWrite(at) => rwlocks::is_writer_woken(tracee, *at),
        WaitCondition::ReadLock(at) => rwlocks::can_read(objects, *at),
        WaitCondition::WriteLock(at) => objects.rwlocks.get(at).is_none_or(|l| l.can_write()),
        // Of memory that is not mapped at this address any more, the function itself finds out.
        WaitCondition::Semaphore(at) => memory::number(tracee.leader, *at, 4).is_none_or(|value| value > 0),
        WaitCondition::End(thread) => matches!(scheduling.threads[*thread].run_state, RunState::Ended),
        WaitCondition::Once(at) => {
            let runner = objects.onces.get(at).and_then(|o| o.runner);
            runner.is_none_or(|runner| runner == index)
        }
        WaitCondition::Generation(at, generation) => {
            objects.barriers.get(at).is_none_or(|b| b.generation > *generation)
        }
        WaitCondition::Signal(_) | WaitCondition::Wake(_) => false,
        WaitCondition::Change(locations) => {
            locations.iter().any(|it| tracee.read(it.address, it.bytes.len()) != it.bytes)
        }
        WaitCondition::Arrival(awaited) => signals::state::has_arrived(tracee, index, *awaited),
        WaitCondition::PiFutex(at) => {
            pi_owner(tracee, scheduling, *at).is_none() || closes_pi_cycle(tracee, scheduling, index, *at)
        }
        WaitCondition::Stream(lock) => stream_locks::is_free(tracee, scheduling, index, *lock),
        WaitCondition::Ready(files) => signals::files::is_any_ready(tracee, index, files),
        WaitCondition::AllReady(files) => signals::files::are_all_ready(tracee, index, files),
        WaitCondition::SystemV(wait) => objects.system_v.is_there(wait),
        WaitCondition::FileLock(wanted) => file_locks::is_free(tracee.leader, wanted),
    }
}

/// The reason that ends a thread's wait before its time, if there is one.
pub(crate) fn ends_wait(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
    pending: &Pending,
) -> Option<Interrupt> {
    let thread = &scheduling.threads[index];
    let is_cancelled = thread.cancellation.is_due() && pending.is_cancellation_point();
    if !is_cancelled && !thread.signalled {
        return None;
    }
    // A condition wait begins with its first half, which never waits.
    let waits =
        || pending.begins_condition_wait() || !holds(tracee, scheduling, objects, index, &pending.condition);
    if is_cancelled && waits() {
        Some(Interrupt::Cancel)
    } else if thread.signalled
        // A sleep that is not over is interrupted, even if no other thread is left to wait for.
        && (pending.sleeps() || !holds(tracee, scheduling, objects, index, &pending.condition))
    {
        Some(Interrupt::Signal)
    } else {
        None
    }
}

/// Whether a thread of the harness has to let a test go on, or can do nothing but wait for it.
pub(crate) fn waits_for_test(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    index: ThreadIndex,
) -> bool {
    if !tracee.knowledge.is_test || !tracee.in_harness(index) {
        return false;
    }
    let mut test =
        scheduling.threads.indices().filter(|&i| scheduling.threads[i].is_live() && !tracee.in_harness(i));
    let is_under_way = test.clone().any(|i| matches!(tracee.tasks[i].role, ThreadRole::Test { .. }));
    let can_move = |i: ThreadIndex| {
        let thread = &scheduling.threads[i];
        let holds = |pending: &crate::control::state::pending::Pending| {
            holds(tracee, scheduling, objects, i, &pending.condition)
                || ends_wait(tracee, scheduling, objects, i, pending).is_some()
        };
        thread.pending.as_ref().is_some_and(holds)
    };
    is_under_way && (test.any(can_move) || !can_move(index))
}

/// The thread that owns a futex with priority inheritance: one that has failed owns it still.
pub(crate) fn pi_owner(tracee: &Tracee, scheduling: &Scheduling, addr: u64) -> Option<ThreadIndex> {
    const OWNER: u64 = 0x3fff_ffff;
    let owner = tracee.number(addr, 4) & OWNER;
    let has_ended = |index: ThreadIndex| matches!(scheduling.threads[index].run_state, RunState::Ended);
    let is_it = |&index: &ThreadIndex| !has_ended(index) && tracee.tasks[index].tid as u64 == owner;
    scheduling.threads.indices().find(is_it)
}

/// Whether the owner of a futex with priority inheritance waits, through others or not, for one that this thread owns. The kernel refuses
/// to let it wait then (`EDEADLK`).
pub(crate) fn closes_pi_cycle(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex, at: u64) -> bool {
    let mut owner = pi_owner(tracee, scheduling, at);
    for _ in scheduling.threads.indices() {
        match owner {
            Some(owner) if owner == index => return true,
            None => return false,
            Some(other) => {
                let pending = scheduling.threads[other].pending.as_ref();
                let Some(&WaitCondition::PiFutex(next)) = pending.map(|pending| &pending.condition) else {
                    return false;
                };
                owner = pi_owner(tracee, scheduling, next);
            }
        }
    }
    false
}

impl Pending {
    /// The time at which it can go on at the latest, if that is a matter of time.
    fn awaited_time(&self) -> Option<u64> {
        match self.condition {
            WaitCondition::Deadline(time) => Some(time),
            _ => self.deadline,
        }
    }
}
