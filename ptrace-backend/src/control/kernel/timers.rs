//! System calls that make, set and ask timers. The kernel has none of them: they are on the virtual clock, and their expiry is
//! carried out here ([`crate::control::expiry`]). A timer's file is a counter (`eventfd`) in its place.

use checker::names::{Obj, Site, ThreadName};
use checker::operation::{Access, Op, OpKind};
use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use crate::control::kernel::signals::state::Signals;
use crate::control::kernel::{accesses, files, signals};
use crate::control::memory::access;
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::state::timers::{Expiry, Timer, TimerId};
use crate::control::tracee::{Tracee, stacks};
use crate::os::fd;
use crate::os::timer::{self, Counter};
use crate::spec::stalls::LEAST_STALL;
use crate::virtual_syscalls::{is_valid_timespec, read_timespec, timespec};

const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// A number of an error, or what a call returns.
type Answer = Result<i64, i32>;

/// The time to a timer's next expiry, and the time from one to the next.
type Setting = (u64, u64);

/// The timer that a call is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimerArgument {
    /// It makes one.
    New,
    One(TimerId),
    /// None of the program's timers.
    Unknown,
}

/// A thread has come to a call about timers.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let call = regs.orig_rax as i64;
    if let Some(what) = of_processor_time(call, regs.rdi) {
        return Err(UnsupportedFeature::ProcessorTimer(what).into());
    }
    if call == libc::SYS_timerfd_create {
        return enter_file(tracee, scheduling, memory, account, index);
    }
    let sets = matches!(call, libc::SYS_setitimer | libc::SYS_timer_settime);
    if sets || call == libc::SYS_alarm && regs.rdi != 0 {
        access::begin_concurrency(tracee, memory)?;
    }
    if !tracee.is_scheduled(index) {
        let site = stacks::user_site(tracee, index);
        let answer = carry_out(tracee, scheduling, memory, index, site)?;
        tracee.answer(index, answer)?;
        return Ok(Flow::Resume(0));
    }
    let object = match subject(tracee, scheduling, index) {
        TimerArgument::One(id) => object(tracee, id),
        TimerArgument::New | TimerArgument::Unknown => tracee.knowledge.named("timers".to_owned()),
    };
    let asks = matches!(
        call,
        libc::SYS_getitimer
            | libc::SYS_timer_gettime
            | libc::SYS_timer_getoverrun
            | libc::SYS_timerfd_gettime
    );
    let mut touched = vec![if asks { Access::read(object) } else { Access::write(object) }];
    if call == libc::SYS_timerfd_settime {
        touched.extend(file_objects(tracee, regs.rdi as i32).map(Access::write));
    }
    touched.extend(accesses::kernel_accesses(tracee, scheduling, memory, account, index));
    let op = Op::new(OpKind::SetTimer, touched);
    Ok(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, Action::Timer, None))
}

/// The call of a timer that runs with the processor.
fn of_processor_time(call: i64, first: u64) -> Option<&'static str> {
    let is_real = [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME, libc::CLOCK_TAI]
        .into_iter()
        .chain([libc::CLOCK_REALTIME_ALARM, libc::CLOCK_BOOTTIME_ALARM])
        .any(|clock| clock == first as i32);
    match call {
        libc::SYS_setitimer if first as u32 != libc::ITIMER_REAL as u32 => Some("setitimer"),
        libc::SYS_timer_create if !is_real => Some("timer_create"),
        _ => None,
    }
}

/// A file that becomes readable by a timer is to be made.
fn enter_file(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    if tracee.tasks[index].regs.rsi & !(libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) as u64 != 0 {
        return tracee.refuse(index, libc::EINVAL);
    }
    let state = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
    if !tracee.is_scheduled(index) {
        make_file(tracee, scheduling, index)?;
        return Ok(Flow::Resume(0));
    }
    let timers = Access::write(tracee.knowledge.named("timers".to_owned()));
    let op = Op::new(OpKind::SetTimer, [timers].into_iter().chain(state));
    Ok(operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, Action::TimerFile, None))
}

/// A thread makes such a file: a counter takes its place.
pub(crate) fn make_file(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    // Both have the same flags.
    let regs = &mut tracee.tasks[index].regs;
    (regs.orig_rax, regs.rdi) = (libc::SYS_eventfd2 as u64, 0);
    tracee.write_registers(index)?;
    let descriptor = tracee.complete_call(index)?.and_then(|result| i32::try_from(result).ok());
    let counter = descriptor.and_then(|descriptor| Counter::of(tracee.leader, descriptor));
    if let (Some(descriptor), Some(counter)) = (descriptor, counter) {
        let files = scheduling.timers.iter().filter(|timer| matches!(timer.id, TimerId::File(_))).count();
        make(scheduling, index, TimerId::File(files), Expiry::Count { descriptor, counter })?;
    }
    Ok(())
}

/// A thread makes a timer.
fn make(
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    id: TimerId,
    does: Expiry,
) -> Result<&mut Timer, ExecutionError> {
    let threads = scheduling.threads.iter().len();
    let creator = &mut scheduling.threads[index];
    let (creator, nth) = match id {
        TimerId::RealTime => (ThreadName::MAIN, 0),
        TimerId::Made(_) | TimerId::File(_) => {
            creator.timers += 1;
            (creator.name, creator.timers)
        }
    };
    let name = creator.timer(nth).ok_or(UnsupportedFeature::TooManyTimers)?;
    let at = scheduling.timers.len();
    scheduling.timers.push(Timer::new(name, id, does, threads));
    Ok(&mut scheduling.timers[at])
}

/// The timer that the call at which a thread stands is about.
fn subject(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> TimerArgument {
    let regs = &tracee.tasks[index].regs;
    let known = |id: TimerId| match scheduling.timers.iter().any(|timer| timer.id == id) {
        true => TimerArgument::One(id),
        false => TimerArgument::Unknown,
    };
    match regs.orig_rax as i64 {
        libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_getitimer => TimerArgument::One(TimerId::RealTime),
        libc::SYS_timer_create => TimerArgument::New,
        libc::SYS_timerfd_settime | libc::SYS_timerfd_gettime => {
            let descriptor = regs.rdi as i32;
            let number = timer::counter_number(tracee.leader, descriptor);
            let is_it = |timer: &&Timer| match &timer.does {
                Expiry::Count { counter, .. } => number.is_some() && counter.number() == number,
                _ => false,
            };
            let found = scheduling.timers.iter().find(is_it);
            found.map_or(TimerArgument::Unknown, |timer| TimerArgument::One(timer.id))
        }
        _ => known(TimerId::Made(regs.rdi as i32)),
    }
}

/// The object of a timer.
pub(crate) fn object(tracee: &Tracee, id: TimerId) -> Obj {
    tracee.knowledge.named(match id {
        TimerId::RealTime => "alarm".to_owned(),
        TimerId::Made(number) => format!("timer {number}"),
        TimerId::File(number) => format!("timer of file {number}"),
    })
}

/// The objects of a timer's file.
pub(crate) fn file_objects(tracee: &Tracee, descriptor: i32) -> impl Iterator<Item = Obj> {
    [files::words_for(descriptor), "files that may block".to_owned()]
        .into_iter()
        .map(|name| tracee.knowledge.named(name))
}

/// The continuation of a thread after a call about timers. If the call has set one that sends a signal, going on is an event of
/// the thread: the signal may come before anything else that it does, and the memory that the handler touches is known only
/// once it has run.
pub(crate) fn go_on(tracee: &Tracee, index: ThreadIndex, pending: &Pending, answer: i64) -> Continuation {
    let call = tracee.tasks[index].regs.orig_rax as i64;
    if !matches!(call, libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_timer_settime) || answer < 0 {
        return Continuation::Answer(answer);
    }
    let set = pending.op.may.accesses.first().map(|access| Access::read(access.obj));
    let (op, site) = (Op::new(OpKind::SetTimer, set), pending.site);
    let pending = Pending {
        op,
        site,
        condition: WaitCondition::Nothing,
        action: Action::Answer(answer),
        deadline: None,
    };
    Continuation::Stay(Box::new(pending))
}

/// Carries the call out at which a thread stands, at this place of the program, and says what it returns.
pub(crate) fn carry_out(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
    site: Site,
) -> Result<i64, ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let mut set = |scheduling: &mut Scheduling, id, setting, is_absolute| {
        set(tracee, scheduling, memory, (index, site), id, setting, is_absolute)
    };
    let call = regs.orig_rax as i64;
    let answer = match (call, subject(tracee, scheduling, index)) {
        (libc::SYS_timer_create, _) => create(tracee, scheduling, index)?,
        (libc::SYS_alarm, TimerArgument::One(id)) => {
            let old = set(scheduling, id, (u64::from(regs.rdi as u32) * SECOND, 0), false)?;
            // To the nearest second, and not to none.
            let left = (old.0 + SECOND / 2) / SECOND;
            Ok(if old.0 == 0 { 0 } else { left.max(1) as i64 })
        }
        (libc::SYS_setitimer, TimerArgument::One(id)) => match read_timevals(tracee, regs.rsi) {
            Err(error) => Err(error),
            Ok(new) => {
                let old = set(scheduling, id, new, false)?;
                write_setting(tracee, regs.rdx, old, true)
            }
        },
        (libc::SYS_timer_settime | libc::SYS_timerfd_settime, TimerArgument::One(id)) => {
            const ABSOLUTE: u64 = 1;
            match read_timespecs(tracee, regs.rdx) {
                Err(error) => Err(error),
                Ok(new) => {
                    let old = set(scheduling, id, new, regs.rsi & ABSOLUTE != 0)?;
                    write_setting(tracee, regs.r10, old, false)
                }
            }
        }
        (libc::SYS_getitimer, _) if regs.rdi != libc::ITIMER_REAL as u64 => {
            write_setting(tracee, regs.rsi, (0, 0), true)
        }
        (libc::SYS_getitimer, _) => {
            write_setting(tracee, regs.rsi, rest(scheduling, index, TimerId::RealTime), true)
        }
        (libc::SYS_timer_gettime | libc::SYS_timerfd_gettime, TimerArgument::One(id)) => {
            write_setting(tracee, regs.rsi, rest(scheduling, index, id), false)
        }
        (libc::SYS_timer_getoverrun, TimerArgument::One(id)) => {
            Ok(timer_of(scheduling, id).map_or(0, |timer| i64::from(timer.overrun)))
        }
        (libc::SYS_timer_delete, TimerArgument::One(id)) => {
            if let Some(timer) = timer_of(scheduling, id) {
                (timer.due, timer.interval, timer.id) = (None, 0, TimerId::Made(-1));
            }
            Ok(0)
        }
        (libc::SYS_timerfd_settime | libc::SYS_timerfd_gettime, _)
            if !fd::is_open(tracee.leader, regs.rdi as i32) =>
        {
            Err(libc::EBADF)
        }
        _ => Err(libc::EINVAL),
    };
    Ok(answer.unwrap_or_else(|error| -i64::from(error)))
}

fn timer_of(scheduling: &mut Scheduling, id: TimerId) -> Option<&mut Timer> {
    scheduling.timers.iter_mut().find(|timer| timer.id == id)
}

/// `timer_create`: what it does when it expires stands in a `struct sigevent`.
fn create(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Result<Answer, ExecutionError> {
    const SIGNAL: u64 = 8;
    const NOTIFY: u64 = 12;
    const THREAD: u64 = 16;
    let regs = tracee.tasks[index].regs;
    let number =
        scheduling.timers.iter().filter(|timer| !matches!(timer.id, TimerId::File(_))).count() as i32;
    let (event, to) = (regs.rsi, regs.rdx);
    let does = if event == 0 {
        Expiry::Signal { to: None, signal: libc::SIGALRM, value: number as u64 }
    } else {
        let signal = tracee.number(event + SIGNAL, 4) as i32;
        let value = tracee.number(event, 8);
        match tracee.number(event + NOTIFY, 4) as i32 {
            libc::SIGEV_NONE => Expiry::Nothing,
            _ if !(1..=64).contains(&signal) => return Ok(Err(libc::EINVAL)),
            libc::SIGEV_THREAD_ID => {
                let thread = tracee.number(event + THREAD, 4);
                let to = signals::waits::live_thread(tracee, scheduling, thread);
                let Some(to) = to else { return Ok(Err(libc::EINVAL)) };
                Expiry::Signal { to: Some(to), signal, value }
            }
            libc::SIGEV_SIGNAL => Expiry::Signal { to: None, signal, value },
            _ => return Ok(Err(libc::EINVAL)),
        }
    };
    if !tracee.write(to, &number.to_le_bytes()) {
        return Ok(Err(libc::EFAULT));
    }
    make(scheduling, index, TimerId::Made(number), does)?;
    Ok(Ok(0))
}

/// Sets a timer, and returns what it was set to.
fn set(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    (index, site): (ThreadIndex, Site),
    id: TimerId,
    (value, interval): Setting,
    is_absolute: bool,
) -> Result<Setting, ExecutionError> {
    let old = rest(scheduling, index, id);
    if id == TimerId::RealTime && timer_of(scheduling, id).is_none() {
        let does = Expiry::Signal { to: None, signal: libc::SIGALRM, value: 0 };
        make(scheduling, index, id, does)?;
    }
    let now = scheduling.threads[index].virtual_system.now;
    let due = if is_absolute { value } else { now.saturating_add(value) };
    let Some(timer) = timer_of(scheduling, id) else { return Ok(old) };
    timer.site = site;
    timer.due = (value != 0).then_some(due);
    // No timer of the kernel is more exact.
    timer.interval = if interval == 0 { 0 } else { interval.max(LEAST_STALL) };
    (timer.overrun, timer.expired_at) = (0, None);
    match &mut timer.does {
        Expiry::Nothing => {}
        Expiry::Count { counter, .. } => counter.clear(),
        Expiry::Signal { signal, .. } => {
            let signal = *signal;
            let signals = Signals::of(tracee.leader);
            memory.sharing.handles |= signals.is_some_and(|signals| signals.is_caught(signal));
        }
    }
    Ok(old)
}

/// A signal is caught from now on, perhaps that of a timer.
pub(crate) fn note_handler(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    index: ThreadIndex,
) {
    let sent = tracee.tasks[index].regs.rdi as i32;
    let sends = |timer: &Timer| matches!(timer.does, Expiry::Signal { signal, .. } if signal == sent);
    memory.sharing.handles |= scheduling.timers.iter().any(sends);
}

/// The time until a timer expires, as its thread sees it, and the time from then to the next expiry.
fn rest(scheduling: &Scheduling, index: ThreadIndex, id: TimerId) -> Setting {
    let now = scheduling.threads[index].virtual_system.now;
    let Some(timer) = scheduling.timers.iter().find(|timer| timer.id == id) else { return (0, 0) };
    let Some(due) = timer.due else { return (0, timer.interval) };
    let left = match due.checked_sub(now).filter(|left| *left > 0) {
        Some(left) => left,
        // It expires at any moment; one that does nothing has expired.
        None if !matches!(timer.does, Expiry::Nothing) => 1,
        None if timer.interval == 0 => 0,
        None => timer.interval - (now - due) % timer.interval,
    };
    (left, timer.interval)
}

/// A `struct itimerval`: the interval stands first.
fn read_timevals(tracee: &Tracee, at: u64) -> Result<Setting, i32> {
    let time = |at: u64| {
        let (seconds, micros) = (tracee.number(at, 8), tracee.number(at + 8, 8));
        let is_valid = micros < 1_000_000 && (seconds as i64) >= 0;
        is_valid.then(|| seconds.saturating_mul(SECOND).saturating_add(micros * MICROSECOND))
    };
    if at == 0 {
        return Ok((0, 0));
    }
    Ok((time(at + 16).ok_or(libc::EINVAL)?, time(at).ok_or(libc::EINVAL)?))
}

/// A `struct itimerspec`: the interval stands first.
fn read_timespecs(tracee: &Tracee, at: u64) -> Result<Setting, i32> {
    let time = |at: u64| match is_valid_timespec(tracee.leader, at) {
        true => read_timespec(tracee.leader, at).ok_or(libc::EFAULT),
        false => Err(libc::EINVAL),
    };
    Ok((time(at + 16)?, time(at)?))
}

/// Writes what a timer is set to, where the program asks for it. `micros`: as `struct itimerval`.
fn write_setting(tracee: &Tracee, at: u64, (left, interval): Setting, micros: bool) -> Answer {
    if at == 0 {
        return Ok(0);
    }
    let time = |nanos: u64| {
        let mut bytes = timespec(nanos);
        if micros {
            // Rounded up: nothing left would mean that the timer is not set.
            let micros = (nanos % SECOND).div_ceil(MICROSECOND).min(999_999);
            bytes[8..].copy_from_slice(&micros.to_le_bytes());
        }
        bytes
    };
    let bytes = [time(interval), time(left)].concat();
    if tracee.write(at, &bytes) { Ok(0) } else { Err(libc::EFAULT) }
}
