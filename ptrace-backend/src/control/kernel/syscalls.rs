//! System calls at which the running thread stops: answered, turned into operations, or let through.

use checker::account::{Unwatched, UnwatchedKind};
use checker::operation::{Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;
use checker::refusal::UnsupportedFeature;

use crate::control::kernel::{
    accesses, clock, files, made_files, own_numbers, process_exit, signals, system_v, time_arguments, timers,
    written_code,
};
use crate::control::memory::access;
use crate::control::memory::foreign_calls::ended_threads;
use crate::control::operations;
use crate::control::process::Process;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::{futexes, held_objects, robust_mutexes, wake_op};
use crate::control::tracee::Tracee;
use crate::os::calls::descriptors::{self, Numbers};
use crate::os::calls::{self, AskedFor, external_effects};
use crate::os::{fd, memory, network};
use crate::virtual_syscalls::{self, PID, read_timespec, timespec};

const REALTIME: u64 = 256;

/// `FUTEX_LOCK_PI2`, which libc does not name.
const LOCK_PI2: i32 = 13;

/// Whether a thread leads the standard output to a file or a pipe, from which the program may read it back.
fn redirects_output(tracee: &Tracee, index: ThreadIndex) -> bool {
    /// Terminals and the like, and what has been the standard output before.
    const ELSEWHERE: [&str; 3] = ["/dev/", "/memfd:stdout", "/memfd:stderr"];
    let Numbers::Replaces(file, libc::STDOUT_FILENO | libc::STDERR_FILENO) =
        descriptors::numbers(&tracee.tasks[index].regs)
    else {
        return false;
    };
    let link = fd::link(tracee.leader, file);
    let is_elsewhere = ELSEWHERE.iter().any(|start| link.starts_with(start));
    link.starts_with("pipe:") || link.starts_with('/') && !is_elsewhere
}

/// The running thread has stopped at a trapped system call.
pub(crate) fn enter(process: &mut Process, index: ThreadIndex) -> Result<Flow, ExecutionError> {
    let Process { tracee, scheduling, objects, memory, account } = process;
    if let Some(flow) = clock::wait_for_time(tracee, scheduling, index) {
        return Ok(flow);
    }
    // The end of another thread, which such a call may find out, is no event.
    let regs = &tracee.tasks[index].regs;
    let own = scheduling.threads[index].virtual_system.tid;
    let asked_for = calls::asks_for(regs, own, PID);
    if tracee.concurrent && asked_for != AskedFor::Nobody && !memory.sharing.is_after_all(index) {
        let entry = Unwatched::call(UnwatchedKind::SystemCall, &calls::name(regs.orig_rax as i64));
        if !ended_threads::are_running(tracee, scheduling, memory, index, asked_for, &entry) {
            account.enter_unwatched(entry);
        }
    }
    if virtual_syscalls::is_stored(tracee.tasks[index].regs.orig_rax as i64) {
        let accesses = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
        if !accesses.is_empty() {
            let op = accesses::operation(OpKind::Io, accesses);
            return Ok(operations::pend(
                tracee,
                scheduling,
                index,
                op,
                WaitCondition::Nothing,
                Action::MakeUp,
                None,
            ));
        }
    }
    if let Some(result) = own_numbers::made_up(tracee, scheduling, index) {
        tracee.answer(index, result)?;
        return Ok(Flow::Resume(0));
    }
    own_numbers::use_real_numbers(tracee, scheduling, index)?;
    let task = &tracee.tasks[index];
    if task.regs.orig_rax as i64 == libc::SYS_bind
        && tracee.client.as_ref().is_some_and(|c| !c.launch_plan.has_network)
    {
        network::take_port_again(task.tid, task.regs.rdi as i32);
    }
    let has_network = tracee.client.as_ref().is_some_and(|client| client.launch_plan.has_network);
    if external_effects::has_any(task.tid, &task.regs, has_network) {
        tracee.knowledge.note_external_effects();
    }
    if time_arguments::are_refused(tracee.leader, &task.regs) {
        return Ok(Flow::Resume(0));
    }
    if calls::installs_filter(&task.regs) {
        tracee.stop_parked()?;
        tracee.filters_calls = true;
    }
    let call = tracee.tasks[index].regs.orig_rax as i64;
    if redirects_output(tracee, index) {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::File, &calls::name(call)));
    }
    if matches!(call, libc::SYS_splice | libc::SYS_sendfile) {
        accesses::mappings::note_splice(tracee, scheduling, memory, account, index);
    }
    if calls::is_lasting(call) {
        tracee.has_lasting_calls = true;
        account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &calls::name(call)));
    }
    match call {
        libc::SYS_futex => futex(tracee, scheduling, objects, memory, account, index),
        libc::SYS_exit_group => Ok(process_exit::exit_group(tracee, scheduling, account, index)),
        libc::SYS_sched_yield => give_way(tracee, scheduling, index, OpKind::Yield, 0),
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => sleep(tracee, scheduling, index),
        libc::SYS_kill
        | libc::SYS_tgkill
        | libc::SYS_tkill
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_rt_tgsigqueueinfo => {
            signals::waits::kill_call(tracee, scheduling, memory, account, index)
        }
        libc::SYS_open | libc::SYS_openat | libc::SYS_openat2 | libc::SYS_creat => {
            let flow = open(tracee, scheduling, memory, account, index)?;
            if matches!(flow, Flow::Resume(0)) {
                made_files::pass(tracee, index)?;
            }
            Ok(flow)
        }
        libc::SYS_readlink | libc::SYS_readlinkat => {
            match own_numbers::read_link(tracee, scheduling, index)? {
                Some(()) => Ok(Flow::Resume(0)),
                None => Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index)),
            }
        }
        libc::SYS_signalfd | libc::SYS_signalfd4 => {
            signals::files::make(tracee, scheduling, memory, account, index)
        }
        libc::SYS_alarm
        | libc::SYS_setitimer
        | libc::SYS_getitimer
        | libc::SYS_timer_create
        | libc::SYS_timer_settime
        | libc::SYS_timer_gettime
        | libc::SYS_timer_getoverrun
        | libc::SYS_timer_delete
        | libc::SYS_timerfd_create
        | libc::SYS_timerfd_settime
        | libc::SYS_timerfd_gettime => timers::enter(tracee, scheduling, memory, account, index),
        libc::SYS_rt_sigreturn => {
            memory.sharing.end_handler(index);
            Ok(Flow::Resume(0))
        }
        libc::SYS_rt_sigaction => {
            timers::note_handler(tracee, scheduling, memory, index);
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        libc::SYS_listen if tracee.client.is_some() => {
            access::begin_concurrency(tracee, memory)?;
            let accesses = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
            files::input_output(tracee, scheduling, objects, accesses, index)
        }
        libc::SYS_futex_waitv => unsupported("futex_waitv"),
        // The kernel writes there when the thread ends.
        libc::SYS_set_tid_address => {
            account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &calls::name(call)));
            Ok(Flow::Resume(0))
        }
        libc::SYS_set_robust_list => {
            robust_mutexes::note_list(tracee, index)?;
            Ok(Flow::Resume(0))
        }
        libc::SYS_ptrace => {
            account.note(Peculiarity::TracesProcesses);
            tracee.refuse(index, libc::EPERM)
        }
        libc::SYS_io_uring_setup => {
            account.note(Peculiarity::AsksForUring);
            tracee.refuse(index, libc::ENOSYS)
        }
        libc::SYS_execve | libc::SYS_execveat => {
            tracee.executes = true;
            Ok(Flow::Resume(0))
        }
        // Waiting for a child is done by the kernel: the children run on meanwhile.
        libc::SYS_wait4 | libc::SYS_waitid => {
            // The end of a child, which such a call may find out, is no event.
            if calls::asks_for_child(&tracee.tasks[index].regs)
                && let Some(function) = tracee.started_by
            {
                account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, function));
            }
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        libc::SYS_mmap => {
            accesses::shared_files::note_call(tracee, memory, index);
            accesses::mappings::note_closed_code(tracee, memory, index);
            accesses::mappings::note_mapping(tracee, scheduling, memory, account, index);
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        libc::SYS_semget
        | libc::SYS_semop
        | libc::SYS_semtimedop
        | libc::SYS_semctl
        | libc::SYS_msgget
        | libc::SYS_msgsnd
        | libc::SYS_msgrcv
        | libc::SYS_msgctl
        | libc::SYS_shmget
        | libc::SYS_shmat
        | libc::SYS_shmctl => system_v::enter(process, index),
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev => {
            account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        libc::SYS_mremap | libc::SYS_munmap => {
            if tracee.tasks[index].regs.rsi == 0 {
                // Memory that is there has the original addresses.
                memory.shared_files.are_stale = true;
                accesses::shared_files::refresh(tracee, memory, account)?;
            }
            accesses::shared_files::note_call(tracee, memory, index);
            accesses::mappings::note_closed_code(tracee, memory, index);
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        libc::SYS_mprotect | libc::SYS_pkey_mprotect => {
            if tracee.tasks[index].regs.rdx as i32 & libc::PROT_EXEC != 0 {
                accesses::mappings::note_code(tracee, memory, account, None);
            }
            accesses::mappings::note_closed_code(tracee, memory, index);
            written_code::note(tracee, memory, index)?;
            Ok(accesses::pass_to_kernel(tracee, scheduling, memory, account, index))
        }
        _ => {
            accesses::note_discarded_code(tracee, account, index);
            let accesses = accesses::kernel_accesses(tracee, scheduling, memory, account, index);
            let flow = files::input_output(tracee, scheduling, objects, accesses, index)?;
            if matches!(flow, Flow::Resume(0)) {
                made_files::pass(tracee, index)?;
                let regs = &tracee.tasks[index].regs;
                if own_numbers::reads_about_itself(tracee, regs) {
                    accesses::mappings::note_look_at_closed_code(tracee, memory);
                }
                if own_numbers::asks_for_peer(regs)
                    || own_numbers::asks_for_group(regs)
                    || own_numbers::reads_about_itself(tracee, regs)
                {
                    own_numbers::pass_with_numbers(tracee, scheduling, index)?;
                }
            }
            Ok(flow)
        }
    }
}

fn unsupported(call: &str) -> Result<Flow, ExecutionError> {
    Err(UnsupportedFeature::Call(call.to_owned()).into())
}

fn give_way(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    kind: OpKind,
    until: u64,
) -> Result<Flow, ExecutionError> {
    if !tracee.is_scheduled(index) {
        let virtual_system = &mut scheduling.threads[index].virtual_system;
        virtual_system.now = virtual_system.now.max(until);
        tracee.answer(index, 0)?;
        return Ok(Flow::Resume(0));
    }
    let (condition, action) = match kind {
        OpKind::Sleep => (WaitCondition::Deadline(until), Action::Sleep(until)),
        _ => (WaitCondition::Nothing, Action::Answer(0)),
    };
    Ok(operations::pend(tracee, scheduling, index, Op::new(kind, []), condition, action, None))
}

fn sleep(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    const ABSOLUTE: u64 = 1;
    let thread = &scheduling.threads[index];
    let regs = &tracee.tasks[index].regs;
    let clock = regs.orig_rax as i64 == libc::SYS_clock_nanosleep;
    let (at, absolute) = if clock { (regs.rdx, regs.rsi & ABSOLUTE != 0) } else { (regs.rdi, false) };
    let time = read_timespec(tracee.leader, at).unwrap_or(0);
    let until = if absolute { time } else { thread.virtual_system.now.saturating_add(time) };
    give_way(tracee, scheduling, index, OpKind::Sleep, until)
}

/// Stores how long a sleep that is interrupted would have lasted yet, where the program asks for it.
pub(crate) fn tell_rest_of_sleep(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex, until: u64) {
    const ABSOLUTE: u64 = 1;
    let thread = &scheduling.threads[index];
    let regs = &tracee.tasks[index].regs;
    let at = match regs.orig_rax as i64 {
        libc::SYS_clock_nanosleep if regs.rsi & ABSOLUTE != 0 => 0,
        libc::SYS_clock_nanosleep => regs.r10,
        _ => regs.rsi,
    };
    if at != 0 {
        tracee.write(at, &timespec(until.saturating_sub(thread.virtual_system.now)));
    }
}

fn futex(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let (futex, value) =
        (futexes::futex_at(memory, regs.rdi, futexes::is_private(regs.rsi)), regs.rdx as u32);
    let (addr, kinds) = (futex.word, regs.r9 as u32);
    match (regs.rsi & !(REALTIME | libc::FUTEX_PRIVATE_FLAG as u64)) as i32 {
        libc::FUTEX_WAIT => {
            let relative = (regs.r10 != 0).then(|| read_timespec(tracee.leader, regs.r10)).flatten();
            let deadline =
                relative.map(|time| scheduling.threads[index].virtual_system.now.saturating_add(time));
            futexes::enter_wait(tracee, scheduling, memory, index, futex, (value, Futex::ANY), deadline)
        }
        libc::FUTEX_WAIT_BITSET => {
            let deadline = (regs.r10 != 0).then(|| read_timespec(tracee.leader, regs.r10)).flatten();
            futexes::enter_wait(tracee, scheduling, memory, index, futex, (value, kinds), deadline)
        }
        operation @ (libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET) => {
            let kinds = if operation == libc::FUTEX_WAKE { Futex::ANY } else { kinds };
            let count = futexes::least_one(regs.rdx);
            futexes::enter_wake(tracee, scheduling, objects, memory, index, futex, (count, kinds))
        }
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            Ok(futexes::enter_requeue(tracee, scheduling, memory, index))
        }
        libc::FUTEX_LOCK_PI | LOCK_PI2 => {
            held_objects::note_futex(objects, account, futex);
            futexes::enter_lock_pi(tracee, scheduling, objects, memory, index, addr)
        }
        libc::FUTEX_UNLOCK_PI => {
            held_objects::note_futex(objects, account, futex);
            Ok(futexes::enter_unlock_pi(tracee, scheduling, memory, index, (addr, OpKind::Unlock)))
        }
        libc::FUTEX_TRYLOCK_PI => {
            held_objects::note_futex(objects, account, futex);
            Ok(futexes::enter_unlock_pi(tracee, scheduling, memory, index, (addr, OpKind::Update)))
        }
        libc::FUTEX_WAKE_OP => wake_op::enter(tracee, scheduling, objects, memory, index),
        libc::FUTEX_WAIT_REQUEUE_PI | libc::FUTEX_CMP_REQUEUE_PI => {
            unsupported("futex requeue with priority inheritance")
        }
        other => unsupported(&format!("futex with the operation {other}")),
    }
}

/// Opening the kernel's random numbers opens ours instead.
fn open(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    state: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let regs = &tracee.tasks[index].regs;
    if let Some((argument, _)) = calls::path_argument(regs.orig_rax as i64) {
        let path = memory::string(tracee.leader, calls::argument(regs, argument));
        if path == "/dev/urandom" || path == "/dev/random" {
            let ours = tracee.knowledge.random_file();
            own_numbers::replace_path(tracee, index, argument, &ours)?;
            return Ok(Flow::Resume(0));
        }
        if path.starts_with("/proc/") && path.ends_with("/mem") {
            account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
        }
    }
    Ok(accesses::pass_to_kernel(tracee, scheduling, state, account, index))
}
