//! The client's processes: let run one at a time, to where each of them waits for the program, or for another one of them.

use std::time::Instant;

use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use super::calls::{self, ClientCall};
use crate::control::kernel::files;
use crate::control::state::client::{ClientPosition, ClientSyscall, ClientTask, Processes};
use crate::control::state::flow::WaitResult;
use crate::control::tracee::Tracee;
use crate::control::watchdog::{GRACE, Reason};
use crate::error::{BrokenExecution, SystemAction, system};
use crate::os::spawn::{NO_DIRECTORY, NO_NETWORK};
use crate::os::wait::{self, WaitStatus};
use crate::os::{Tid, fd, network, process, ptrace};
use crate::target::auxv;

/// The number of times that the tracer gives up its processor before it sleeps.
const ROUNDS: u32 = 32;

/// Starts the client, and lets it run to its first operation; `now` is its virtual time.
pub(in crate::control) fn start(tracee: &mut Tracee, now: u64) -> Result<(), ExecutionError> {
    let Some(client) = &mut tracee.client else { return Ok(()) };
    let tid = client.launch_plan.start(tracee.leader)?;
    client.root = Some(tid);
    client.tasks.push(ClientTask::new(tid, tid));
    tracee.watch.begin(tid, tid);
    loop {
        match wait_for_report_of(tracee, tid)? {
            WaitStatus::Exec => break hide_clock(tid),
            WaitStatus::Exited(code) => return Err(not_started(code)),
            WaitStatus::Killed(_) => return Err(not_started(0)),
            WaitStatus::Signal(signal) => {
                ptrace::resume(tid, signal).map_err(system(SystemAction::ResumeClient))?
            }
            _ => ptrace::resume(tid, 0).map_err(system(SystemAction::ResumeClient))?,
        }
    }
    settle(tracee, now)
}

/// Lets the client's thread at this place go on with its operation, and then all of them as far as they can.
pub(in crate::control) fn step(
    tracee: &mut Tracee,
    nth: usize,
    expires: bool,
    now: u64,
) -> Result<(), ExecutionError> {
    let Some(client) = &mut tracee.client else { return Ok(()) };
    client.vain = if client.asks_in_vain(nth) { client.vain + 1 } else { 0 };
    let task = &mut client.tasks[nth];
    if task.position == ClientPosition::Kernel && expires {
        return end_wait(tracee, nth, now);
    }
    match &task.position {
        ClientPosition::Call(ClientSyscall::Sleep(_)) => {
            answer(task, 0)?;
            task.position = ClientPosition::Free(0);
        }
        ClientPosition::Call(ClientSyscall::Connect) => {
            network::send_at_once(task.process, task.regs.rdi as i32)
        }
        ClientPosition::Call(ClientSyscall::Operation(..)) if expires => {
            match files::expire_call(task.process, &mut task.regs) {
                Some(result) => {
                    answer(task, result)?;
                    task.position = ClientPosition::Free(0);
                }
                None => ptrace::set_registers(task.tid, &task.regs)
                    .map_err(system(SystemAction::WriteRegisters))?,
            }
        }
        _ => {}
    }
    let_go(tracee, nth, now)?;
    settle(tracee, now)
}

/// The wait of a thread of the client for another one runs out of time.
fn end_wait(tracee: &mut Tracee, nth: usize, now: u64) -> Result<(), ExecutionError> {
    let Some(client) = &tracee.client else { return Ok(()) };
    let tid = client.tasks[nth].tid;
    ptrace::interrupt(tid).map_err(system(SystemAction::InterruptClient))?;
    let status = wait_for_report_of(tracee, tid)?;
    if let (WaitStatus::Stopped, Some(client)) = (status, &mut tracee.client) {
        let task = &mut client.tasks[nth];
        task.regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
        answer(task, -i64::from(libc::ETIMEDOUT))?;
    }
    stopped(tracee, nth, status, now)?;
    settle(tracee, now)
}

/// Lets the client's threads and processes run until none of them can go on without an operation.
pub(in crate::control) fn settle(tracee: &mut Tracee, now: u64) -> Result<(), ExecutionError> {
    let began = Instant::now();
    loop {
        // The client may go round in calls that concern no other process.
        if began.elapsed() >= GRACE {
            tracee.watch.end_of_search().map_or(Ok(()), Err)?;
        }
        handle_waiting(tracee, now)?;
        let next = tracee.client.as_ref().filter(|client| client.ended.is_none());
        let Some(next) = next.and_then(|client| client.next_free(tracee.leader)) else { break };
        let_go(tracee, next, now)?;
    }
    await_quiet(tracee)
}

/// Waits until everything that has been sent is there.
fn await_quiet(tracee: &mut Tracee) -> Result<(), ExecutionError> {
    if tracee.client.as_ref().is_none_or(|client| client.root.is_none()) {
        return Ok(());
    }
    tracee.watch.begin_wait();
    let mut rounds = 0;
    while !network::is_quiet() {
        match tracee.watch.expired() {
            // Others of the machine keep its network busy.
            Some(Reason::TimedOut) => return Ok(()),
            reason => reason.and_then(Reason::ends_everything).map_or(Ok(()), Err)?,
        }
        give_way(tracee, &mut rounds);
    }
    Ok(())
}

fn give_way(tracee: &Tracee, rounds: &mut u32) {
    *rounds += 1;
    if *rounds < ROUNDS {
        std::thread::yield_now();
    } else {
        fd::wait_for(tracee.leader, &[]);
    }
}

fn let_go(tracee: &mut Tracee, nth: usize, now: u64) -> Result<(), ExecutionError> {
    let Some(client) = &mut tracee.client else { return Ok(()) };
    let task = &mut client.tasks[nth];
    let (tid, at) = (task.tid, std::mem::replace(&mut task.position, ClientPosition::Kernel));
    let signal = if let ClientPosition::Free(signal) = at { signal } else { 0 };
    let may_wait = match &at {
        ClientPosition::Free(_) => false,
        ClientPosition::Call(call) => call.may_wait_longer(),
        ClientPosition::Creation(_) | ClientPosition::Kernel => true,
    };
    let (process, call) = (task.process, task.regs.orig_rax as i64);
    let is_operation = matches!(&at, ClientPosition::Call(call) if call.is_operation());
    task.deadline = None;
    if let ClientPosition::Call(ClientSyscall::Thread(deadline @ Some(_))) = at {
        task.deadline = deadline;
        task.regs.r10 = 0;
        ptrace::set_registers(tid, &task.regs).map_err(system(SystemAction::WriteRegisters))?;
    }
    if call == libc::SYS_exit_group {
        end_threads(client, process);
    }
    tracee.watch.begin(tid, tid);
    match ptrace::resume(tid, signal) {
        // It has been killed meanwhile: waiting for it tells.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
        result => result.map_err(system(SystemAction::ResumeClient))?,
    }
    let status = if may_wait {
        wait_for_report_or_block(tracee, tid)?
    } else {
        Some(wait_for_report_of(tracee, tid)?)
    };
    match (status, &mut tracee.client) {
        (Some(status), _) => stopped(tracee, nth, status, now)?,
        // It goes on while the program does.
        (None, Some(client)) => client.goes_unwatched |= is_operation,
        (None, None) => {}
    }
    Ok(())
}

/// Hears of threads of the client that waited in the kernel and no longer do.
fn handle_waiting(tracee: &mut Tracee, now: u64) -> Result<(), ExecutionError> {
    let waiting = |client: &Processes| -> Vec<Tid> {
        let waiting = client.tasks.iter().filter(|task| task.position == ClientPosition::Kernel);
        waiting.map(|task| task.tid).collect()
    };
    for tid in tracee.client.as_ref().map(waiting).unwrap_or_default() {
        tracee.watch.begin(tid, tid);
        let Some(status) = wait_for_report_or_block(tracee, tid)? else { continue };
        let nth = tracee.client.as_ref().and_then(|c| c.tasks.iter().position(|task| task.tid == tid));
        if let Some(nth) = nth {
            stopped(tracee, nth, status, now)?;
        }
    }
    Ok(())
}

/// Waits until a thread of the client reports.
fn wait_for_report_of(tracee: &mut Tracee, tid: Tid) -> Result<WaitStatus, ExecutionError> {
    match tracee.wait_for_report(tid, |_| true)? {
        WaitResult::Report(status) => Ok(status),
        WaitResult::Over(reason) => Err(over(reason)),
    }
}

/// Waits until a thread of the client reports, or waits in the kernel for others.
fn wait_for_report_or_block(tracee: &mut Tracee, tid: Tid) -> Result<Option<WaitStatus>, ExecutionError> {
    let mut rounds = 0;
    loop {
        if let Some(status) = reported(tracee, tid)? {
            return Ok(Some(status));
        }
        if process::blocked_syscall(tid).is_some() {
            // It may have come to that only after it was asked.
            return reported(tracee, tid);
        }
        if let Some(reason) = tracee.watch.expired() {
            return Err(over(reason));
        }
        give_way(tracee, &mut rounds);
    }
}

fn reported(tracee: &mut Tracee, tid: Tid) -> Result<Option<WaitStatus>, ExecutionError> {
    match tracee.early.remove(&tid) {
        Some(status) => Ok(Some(status)),
        None => wait::now(tid).map_err(system(SystemAction::WaitForClient)),
    }
}

/// Takes in a stop of the client's thread at this place.
fn stopped(tracee: &mut Tracee, nth: usize, status: WaitStatus, now: u64) -> Result<(), ExecutionError> {
    let Some(client) = &mut tracee.client else { return Ok(()) };
    let (tid, process) = (client.tasks[nth].tid, client.tasks[nth].process);
    client.tasks[nth].position = match status {
        WaitStatus::Exited(_) | WaitStatus::Killed(_) => {
            client.tasks.remove(nth);
            if matches!(status, WaitStatus::Killed(_)) {
                end_threads(client, process);
            }
            free_creator(client, tid);
            if client.root == Some(tid) {
                client.ended = Some(status);
            }
            return Ok(());
        }
        WaitStatus::Seccomp => {
            let task = &mut client.tasks[nth];
            task.regs = ptrace::registers(tid).map_err(system(SystemAction::ReadRegisters))?;
            client.goes_unwatched |= calls::reaches_beyond(process, &task.regs, &client.children);
            if calls::is_virtual(task.regs.orig_rax as i64) {
                client.virtual_system.now = client.virtual_system.now.max(now);
                let result = client.virtual_system.answer(tid, &task.regs).unwrap_or(0);
                answer(task, result)?;
                task.position = ClientPosition::Free(0);
                return Ok(());
            }
            match calls::classify(process, &task.regs, now) {
                ClientCall::Call(call) => ClientPosition::Call(call),
                ClientCall::Free => ClientPosition::Free(0),
                ClientCall::Answer(result) => {
                    answer(task, result)?;
                    ClientPosition::Free(0)
                }
            }
        }
        WaitStatus::Clone | WaitStatus::Fork | WaitStatus::Vfork => {
            let child = ptrace::event_message(tid).map_err(system(SystemAction::ReadEvent))? as Tid;
            let own = process::group(child).unwrap_or(child);
            if own == child {
                client.children.push((process, child));
            }
            client.tasks.push(ClientTask::new(child, own));
            let first = wait_for_report_of(tracee, child)?;
            let Some(client) = &mut tracee.client else { return Ok(()) };
            if matches!(first, WaitStatus::Exited(_) | WaitStatus::Killed(_)) {
                client.tasks.retain(|task| task.tid != child);
            }
            client.tasks[nth].position = if status == WaitStatus::Vfork {
                ClientPosition::Creation(child)
            } else {
                ClientPosition::Free(0)
            };
            return Ok(());
        }
        WaitStatus::Exec => {
            hide_clock(tid);
            free_creator(client, tid);
            client.tasks.retain(|task| task.tid == tid || task.process != process);
            let task = client.tasks.iter_mut().find(|task| task.tid == tid);
            task.into_iter().for_each(|task| task.position = ClientPosition::Free(0));
            return Ok(());
        }
        WaitStatus::Signal(signal) => ClientPosition::Free(signal),
        WaitStatus::Exit | WaitStatus::Stopped | WaitStatus::HandedOver => ClientPosition::Free(0),
    };
    Ok(())
}

/// Has a process that has executed a program ask the kernel for the time, where it can be answered.
fn hide_clock(tid: Tid) {
    if let Ok(regs) = ptrace::registers(tid) {
        // A program without a dynamic linker is looked through as well, and that is all.
        let _ = auxv::prepare(tid, regs.rsp);
    }
}

/// All threads of a process end, whatever they wait for.
fn end_threads(client: &mut Processes, process: Tid) {
    for task in client.tasks.iter_mut().filter(|task| task.process == process) {
        task.position = ClientPosition::Kernel;
    }
}

/// A process that shared its creator's memory has memory of its own, or has ended.
fn free_creator(client: &mut Processes, created: Tid) {
    for task in &mut client.tasks {
        if task.position == ClientPosition::Creation(created) {
            task.position = ClientPosition::Free(0);
        }
    }
}

/// The system call at which a thread of the client stands returns this.
fn answer(task: &mut ClientTask, result: i64) -> Result<(), ExecutionError> {
    (task.regs.orig_rax, task.regs.rax) = (u64::MAX, result as u64);
    ptrace::set_registers(task.tid, &task.regs).map_err(system(SystemAction::WriteRegisters))
}

fn over(reason: Reason) -> ExecutionError {
    reason.ends_everything().unwrap_or(ExecutionError::Unsupported(UnsupportedFeature::ClientRunsOn))
}

fn not_started(code: i32) -> ExecutionError {
    let broken = match code {
        NO_NETWORK => BrokenExecution::ClientWithoutNetwork,
        NO_DIRECTORY => BrokenExecution::ClientWithoutDirectory,
        _ => BrokenExecution::ClientNotExecuted,
    };
    broken.into()
}
