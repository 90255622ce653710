//! Timers of the virtual clock as agents: the conditions on which one can expire, and the effects of that.
//!
//! A timer is to the search a thread that sleeps until it expires, and then sends a signal or counts in a file; so its time comes
//! where that of a sleeping thread would ([`enabled`]). Two kinds of expiry are held back:
//!
//! * One whose signal ends the process comes only where nothing else could happen before it, yields among that, and only if
//!   something could happen after it: where all threads wait for each other, that is the failure, not the alarm that would end
//!   the wait.
//! * One that comes again, where no thread has moved since the last time, and none can: the next one would change no more.

use checker::names::{EventId, ThreadName};
use checker::operation::{Access, Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::{Agent, AgentView, BlockedOn, Event, ExecutionError, OpOutcome, Status};
use checker::refusal::ImpossibleChoice;
use smallvec::{SmallVec, smallvec};

use crate::control::enabled::{self, Waiter};
use crate::control::kernel::signals::state::Signals;
use crate::control::kernel::{signals, timers};
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::state::timers::{Expiry, Timer};
use crate::control::tracee::Tracee;
use crate::os::timer;

/// A timer by its place among all.
pub(crate) fn position(scheduling: &Scheduling, name: ThreadName) -> Option<usize> {
    scheduling.timers.iter().position(|timer| timer.name == name)
}

/// A timer as the checker sees it.
pub(crate) fn view(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects, nth: usize) -> AgentView {
    let timer = &scheduling.timers[nth];
    let agent = Agent::Thread(timer.name);
    let due = timer.awaited().filter(|_| !tracee.gone && !scheduling.exiting);
    let Some(due) = due else {
        let (status, site) = (Status::Finished, Default::default());
        return AgentView { agent, status, pending: None, site, outcomes: SmallVec::new() };
    };
    let is_due = enabled::is_due(tracee, scheduling, objects, Waiter::Timer(nth), due);
    let target = if is_due { target(tracee, scheduling, timer) } else { None };
    let status = if is_due && is_worth_it(tracee, scheduling, objects, nth, target, due) {
        Status::Enabled
    } else {
        Status::Blocked(BlockedOn::Time(enabled::stalled_by(
            tracee,
            scheduling,
            objects,
            Waiter::Timer(nth),
            due,
        )))
    };
    let pending = Some(operation(tracee, scheduling, timer, target));
    AgentView { agent, status, pending, site: timer.site, outcomes: smallvec![OpOutcome::Only] }
}

/// The thread that would get a timer's signal: the first one that does not block it, if the signal is for any.
fn target(tracee: &Tracee, scheduling: &Scheduling, timer: &Timer) -> Option<ThreadIndex> {
    let Expiry::Signal { to, signal, .. } = timer.does else { return None };
    let is_live = |index: &ThreadIndex| scheduling.threads[*index].is_live();
    match to {
        Some(to) => Some(to).filter(is_live),
        None => taker(tracee, scheduling, signal),
    }
}

/// The thread that gets a signal for the process: the first one that does not block it.
pub(crate) fn taker(tracee: &Tracee, scheduling: &Scheduling, signal: i32) -> Option<ThreadIndex> {
    let is_live = |index: &ThreadIndex| scheduling.threads[*index].is_live();
    let takes = |index: &ThreadIndex| {
        let signals = Some(*index).filter(is_live).and_then(|index| signals_of(tracee, index));
        signals.is_some_and(|signals| !signals.blocks(signal))
    };
    // A harness waits for its test.
    let (harness, program): (Vec<ThreadIndex>, Vec<ThreadIndex>) =
        scheduling.threads.indices().partition(|&index| tracee.in_harness(index));
    program.into_iter().chain(harness).find(takes)
}

fn operation(tracee: &Tracee, scheduling: &Scheduling, timer: &Timer, target: Option<ThreadIndex>) -> Op {
    let mut touched: SmallVec<[Access; 4]> = SmallVec::new();
    let sends = |to| Access::write(operations::signals_of(tracee, scheduling, to));
    match &timer.does {
        Expiry::Nothing => {}
        Expiry::Signal { to, .. } => {
            touched.extend(target.map(|target| sends(Some(target))));
            touched.extend(to.is_none().then(|| sends(None)));
        }
        Expiry::Count { descriptor, .. } => {
            touched.extend(timers::file_objects(tracee, *descriptor).map(Access::write));
        }
    }
    touched.push(Access::write(timers::object(tracee, timer.id)));
    Op::new(OpKind::Expire, touched)
}

/// Whether an expiry that is due is not held back.
fn is_worth_it(
    tracee: &Tracee,
    scheduling: &Scheduling,
    objects: &Objects,
    nth: usize,
    target: Option<ThreadIndex>,
    due: u64,
) -> bool {
    let timer = &scheduling.timers[nth];
    if enabled::somebody_moves(tracee, scheduling, objects) {
        return !is_fatal(tracee, timer, target) || !enabled::somebody_is_behind(scheduling, due);
    }
    if timer.expired_at == Some(scheduling.moves()) {
        return false;
    }
    let is_hope = |other: &Timer| {
        let is_other = other.name != timer.name && other.awaited().is_some();
        is_other
            && other.expired_at != Some(scheduling.moves())
            && !is_fatal(tracee, other, self::target(tracee, scheduling, other))
    };
    !is_fatal(tracee, timer, target) || scheduling.timers.iter().any(is_hope)
}

/// Whether its signal would end the process.
fn is_fatal(tracee: &Tracee, timer: &Timer, target: Option<ThreadIndex>) -> bool {
    match (&timer.does, target) {
        (Expiry::Signal { signal, .. }, Some(target)) => {
            let is_blocked = || signals_of(tracee, target).is_some_and(|signals| signals.blocks(*signal));
            signals::fatal::is_fatal(tracee, target, *signal) && !is_blocked()
        }
        _ => false,
    }
}

fn signals_of(tracee: &Tracee, index: ThreadIndex) -> Option<Signals> {
    Signals::of(tracee.tasks[index].tid)
}

/// Whether a timer is set whose signal the program catches: a thread that goes round in a loop may leave it by that.
pub(crate) fn may_interrupt(tracee: &Tracee, scheduling: &Scheduling) -> bool {
    let signals = Signals::of(tracee.leader);
    scheduling.timers.iter().filter(|timer| timer.due.is_some()).any(|timer| match timer.does {
        Expiry::Signal { signal, .. } => signals.is_some_and(|signals| signals.is_caught(signal)),
        _ => false,
    })
}

/// Lets a timer expire.
pub(crate) fn expire(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    account: &mut Account,
    nth: usize,
) -> Result<Event, ExecutionError> {
    let timer = &scheduling.timers[nth];
    let Some(due) = timer.awaited() else {
        return Err(ImpossibleChoice::TimerNotSet(timer.name).into());
    };
    let timing = Some(enabled::timing(tracee, scheduling, objects, Waiter::Timer(nth), due));
    let target = target(tracee, scheduling, timer);
    let op = operation(tracee, scheduling, timer, target);
    let did = op.may.clone();
    let id = EventId { thread: timer.name, index: timer.events };
    let now = scheduling.times.after(timer.now.max(due), &did);
    let timer = &mut scheduling.timers[nth];
    timer.begun.push(timer.begun.last().copied().unwrap_or(0).max(due));
    timer.events += 1;
    timer.now = now;
    timer.due = (timer.interval > 0).then(|| due.saturating_add(timer.interval));
    scheduling.events += 1;
    scheduling.expirations += 1;
    let moves = scheduling.moves();
    let timer = &mut scheduling.timers[nth];
    timer.expired_at = Some(moves);
    let site = timer.site;
    match &timer.does {
        Expiry::Nothing => {}
        Expiry::Count { counter, .. } => {
            counter.add(1);
            let number = counter.number();
            // No thread can come upon it once its last descriptor is closed.
            if number.is_some_and(|number| !timer::has_counter(tracee.leader, number)) {
                timer.due = None;
            }
        }
        Expiry::Signal { to, signal, value } => {
            let (to, signal, value) = (*to, *signal, *value);
            let thread = target.map(|target| tracee.tasks[target].tid);
            let at = thread.unwrap_or(tracee.leader);
            if to.is_some() && target.is_none() {
                // Its thread has ended.
            } else if Signals::of(at).is_some_and(|signals| signals.is_pending(signal)) {
                timer.overrun = timer.overrun.saturating_add(1);
            } else {
                timer.overrun = 0;
                let _ = timer::send_signal(tracee.leader, thread, signal, value, 0);
            }
            if let Some(target) = target {
                let virtual_system = &mut scheduling.threads[target].virtual_system;
                virtual_system.now = virtual_system.now.max(due);
                let takes = signals_of(tracee, target).is_some_and(|signals| signals.takes(signal));
                if takes && signals::waits::interrupt(tracee, scheduling, target, Some(target)) {
                    signals::waits::note_handler_of(
                        tracee,
                        account,
                        signal as u64,
                        Peculiarity::TimerSignals,
                    );
                }
            }
        }
    }
    Ok(Event { id, did, op, outcome: OpOutcome::Only, site, woken_by: None, timing })
}
