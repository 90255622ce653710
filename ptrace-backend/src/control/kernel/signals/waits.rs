//! Signals that threads send each other, and waits for them. The kernel keeps and delivers them; the time of that is decided
//! here.

use checker::failure::{FailureDetail, FailureKind, SignalOrigin};
use checker::operation::{Access, Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use super::state::{self, Signals};
use crate::control::kernel::accesses;
use crate::control::operations;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, AwaitedSignal, Continuation, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread::RunState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::os::calls;
use crate::virtual_syscalls::{PID, read_timespec};

/// Signals that the C library uses to make threads do something.
const INTERNAL: [u64; 2] = [32, 33];

/// A call that waits for a signal, and has these accesses beside. `None`: it is another call.
pub(crate) fn wait_for_signal(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    accesses: &[Access],
) -> Option<Flow> {
    let regs = tracee.tasks[index].regs;
    let touched = own_signals(tracee, scheduling, index);
    let op = accesses::operation(OpKind::SignalWait, touched.into_iter().chain(accesses.iter().copied()));
    let begins = |awaited| (WaitCondition::Nothing, Action::AwaitSignal(awaited), None);
    let (condition, action, deadline) = match regs.orig_rax as i64 {
        libc::SYS_pause => begins(AwaitedSignal::Effective),
        libc::SYS_rt_sigsuspend => begins(AwaitedSignal::Unblocked(tracee.number(regs.rdi, 8))),
        libc::SYS_rt_sigtimedwait => {
            let limit = (regs.rdx != 0).then(|| read_timespec(tracee.leader, regs.rdx)).flatten();
            if limit == Some(0) {
                return Some(look_for_signals(tracee, scheduling, index, &op.may.accesses));
            }
            let deadline =
                limit.map(|limit| scheduling.threads[index].virtual_system.now.saturating_add(limit));
            (WaitCondition::Arrival(AwaitedSignal::Any(tracee.number(regs.rdi, 8))), Action::Kernel, deadline)
        }
        libc::SYS_rt_sigpending => {
            return Some(look_for_signals(tracee, scheduling, index, &op.may.accesses));
        }
        _ => return None,
    };
    Some(operations::pend(tracee, scheduling, index, op, condition, action, deadline))
}

/// A call that finds out which signals have come, and does not wait for any.
fn look_for_signals(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    signals: &[Access],
) -> Flow {
    if !tracee.is_scheduled(index) {
        return Flow::Resume(0);
    }
    let op = Op::new(OpKind::Io, signals.iter().copied());
    operations::pend(tracee, scheduling, index, op, WaitCondition::Nothing, Action::Kernel, None)
}

/// The signals of a thread, and those of its process, which a call may take.
pub(crate) fn own_signals(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> [Access; 2] {
    [Some(index), None].map(|to| Access::write(operations::signals_of(tracee, scheduling, to)))
}

/// The signals that the call at which a thread stands blocks in the place of those that the thread does, while it waits for files.
pub(crate) fn mask_in_wait(tracee: &Tracee, index: ThreadIndex) -> Option<u64> {
    let number = |at: u64, len| tracee.number(at, len);
    calls::signal_mask(&tracee.tasks[index].regs, number).map(|at| tracee.number(at, 8))
}

/// A thread is about to wait for a signal. One that came before is not waited for: its handler runs first.
pub(crate) fn enter_signal_wait(
    tracee: &Tracee,
    index: ThreadIndex,
    pending: &Pending,
    awaited: AwaitedSignal,
) -> Continuation {
    if state::has_arrived(tracee, index, AwaitedSignal::Effective) {
        return Continuation::Again;
    }
    let condition = WaitCondition::Arrival(awaited);
    let Pending { op, site, .. } = pending;
    let wait = Pending { op: op.clone(), site: *site, condition, action: Action::Kernel, deadline: None };
    Continuation::Stay(Box::new(wait))
}

/// A signal to the process or one of its threads: the made-up numbers are translated back.
pub(crate) fn kill_call(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let leader = tracee.leader as u64;
    let regs = tracee.tasks[index].regs;
    let own = |pid: u64| [PID, 0, -PID].contains(&(pid as i64));
    let is_child = tracee.child_processes.iter().any(|&child| regs.rdi == child as u64);
    let (to, signal) = match regs.orig_rax as i64 {
        // A process that the program has started.
        libc::SYS_kill | libc::SYS_rt_sigqueueinfo if is_child => return Ok(Flow::Resume(0)),
        libc::SYS_kill | libc::SYS_rt_sigqueueinfo if !own(regs.rdi) => {
            return tracee.refuse(index, libc::EPERM);
        }
        libc::SYS_kill | libc::SYS_rt_sigqueueinfo => {
            tracee.tasks[index].regs.rdi = leader;
            (None, regs.rsi)
        }
        libc::SYS_tkill => {
            tracee.tasks[index].regs.rdi = real_tid(tracee, scheduling, regs.rdi);
            (Some(tracee.tasks[index].regs.rdi), regs.rsi)
        }
        _ => {
            tracee.tasks[index].regs.rdi = leader;
            tracee.tasks[index].regs.rsi = real_tid(tracee, scheduling, regs.rsi);
            (Some(tracee.tasks[index].regs.rsi), regs.rdx)
        }
    };
    if signal == libc::SIGKILL as u64 {
        // Held here: once it is gone, nothing can be read of it.
        let stack = stacks::stack(tracee, index);
        let signal = crate::os::signal_names::name(libc::SIGKILL);
        let detail = FailureDetail::Signal { signal, origin: SignalOrigin::Itself };
        scheduling.threads[index].run_state =
            RunState::Failed(scheduling.failure(index, FailureKind::Crash, detail, stack));
        return Ok(Flow::Rest);
    }
    let to = to.and_then(|tid| live_task(tracee, scheduling, tid));
    let is_known = scheduling.threads[index].kills.take().is_some_and(|target| to == Some(target));
    // A signal of a thread to itself concerns no other thread.
    if is_known
        || !tracee.is_scheduled(index)
        || to == Some(index)
        || signal == 0
        || INTERNAL.contains(&signal)
    {
        if to.is_none() {
            tracee.stop_parked()?;
        }
        if to != Some(index) {
            interrupt_waiting(tracee, scheduling, account, to, signal);
        }
        tracee.write_registers(index)?;
        // But for what it means, which is the same for all threads.
        let is_ordinary = to == Some(index) && !INTERNAL.contains(&signal);
        return Ok(if is_ordinary {
            accesses::pass_to_kernel(tracee, scheduling, memory, account, index)
        } else {
            Flow::Resume(0)
        });
    }
    let state = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
    let signals = Access::write(operations::signals_of(tracee, scheduling, to));
    let op = Op::new(OpKind::Kill, [signals].into_iter().chain(state));
    Ok(operations::pend(
        tracee,
        scheduling,
        index,
        op,
        WaitCondition::Nothing,
        Action::Send { to, signal },
        None,
    ))
}

/// A thread that waits and gets a signal is to run the handler, or to end the process. A signal for the process goes
/// to the first thread that does not block it.
pub(crate) fn interrupt_waiting(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    account: &mut Account,
    to: Option<ThreadIndex>,
    signal: u64,
) {
    let takes = |&index: &ThreadIndex| {
        let is_live = scheduling.threads[index].is_live();
        let signals = is_live.then(|| Signals::of(tracee.tasks[index].tid)).flatten();
        let waits = scheduling.threads[index]
            .pending
            .as_ref()
            .is_some_and(|pending| matches!(pending.action, Action::Kernel));
        let mask = waits.then(|| mask_in_wait(tracee, index)).flatten();
        let signals = signals.map(|signals| Signals { blocked: mask.unwrap_or(signals.blocked), ..signals });
        signals.is_some_and(|signals| signals.takes(signal as i32))
    };
    let is_meant = |index: &ThreadIndex| to.is_none_or(|to| to == *index);
    let Some(target) = scheduling.threads.indices().filter(is_meant).find(takes) else {
        return;
    };
    if interrupt(tracee, scheduling, target, to) {
        note_handler(tracee, account, signal);
    }
}

/// A signal that was sent to this thread, or to the process, is there for a thread that does not block it. `false`: it runs.
pub(crate) fn interrupt(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    target: ThreadIndex,
    to: Option<ThreadIndex>,
) -> bool {
    let obj = operations::signals_of(tracee, scheduling, to);
    let thread = &mut scheduling.threads[target];
    let Some(pending) = &mut thread.pending else { return false };
    // Its next operation comes after the signal.
    if pending.op.may.accesses.iter().all(|access| access.obj != obj) {
        pending.op.may.accesses.push(Access::write(obj));
    }
    thread.signalled = true;
    thread.is_interrupted = true;
    true
}

/// A signal of another thread has come to a thread, or came too late: its handler, if it has one, could have run before the
/// thread's first step as well, and between accesses that are no key points.
pub(crate) fn note_handler(tracee: &Tracee, account: &mut Account, signal: u64) {
    note_handler_of(tracee, account, signal, Peculiarity::SignalsThreads);
}

/// The same, of a signal that comes by what this peculiarity is.
pub(crate) fn note_handler_of(tracee: &Tracee, account: &mut Account, signal: u64, kind: Peculiarity) {
    // Threads have their handlers in common.
    let is_caught = Signals::of(tracee.leader).is_some_and(|signals| signals.is_caught(signal as i32));
    if !is_caught || INTERNAL.contains(&signal) {
        return;
    }
    account.left_out = true;
    account.note(kind);
}

/// The kernel's number of the thread that the program knows by this one. The C library keeps the kernel's, which may be another
/// thread's made-up one by chance; and it is the C library that sends signals for most.
fn real_tid(tracee: &Tracee, scheduling: &Scheduling, seen: u64) -> u64 {
    if live_task(tracee, scheduling, seen).is_some() {
        return seen;
    }
    let thread = scheduling.threads.position(|t| t.virtual_system.tid as u64 == seen);
    thread.map_or(seen, |index| tracee.tasks[index].tid as u64)
}

/// The live thread that the program knows by this number.
pub(crate) fn live_thread(tracee: &Tracee, scheduling: &Scheduling, seen: u64) -> Option<ThreadIndex> {
    live_task(tracee, scheduling, real_tid(tracee, scheduling, seen))
}

/// The live thread with this number of the kernel's.
fn live_task(tracee: &Tracee, scheduling: &Scheduling, tid: u64) -> Option<ThreadIndex> {
    let is_it = |&index: &ThreadIndex| tracee.tasks[index].tid as u64 == tid;
    scheduling.threads.indices().find(|index| is_it(index) && scheduling.threads[*index].is_live())
}
