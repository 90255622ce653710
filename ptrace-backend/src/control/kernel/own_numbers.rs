//! The numbers of process and threads that the program knows are made up, so that they are the same in every execution. Where the
//! program gives one to the kernel, the real one takes its place, and the other way round where the kernel tells one.

use std::mem::offset_of;

use checker::program::ExecutionError;

use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::{Regs, Tid, calls, fd, memory};
use crate::virtual_syscalls::{PARENT, PID};

/// Makes the numbers that the call at which a thread stands is given real, in its arguments and in a path below `/proc`.
pub(super) fn use_real_numbers(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    let regs = &tracee.tasks[index].regs;
    if let Some(argument) = calls::task_argument(regs)
        && let Some(real) = real_number(tracee, scheduling, calls::argument(regs, argument))
    {
        *calls::argument_mut(&mut tracee.tasks[index].regs, argument) = real as u64;
        return tracee.write_registers(index);
    }
    if let Some((number, kind)) = calls::clock_of(regs)
        && let Some(real) = real_number(tracee, scheduling, number)
    {
        tracee.tasks[index].regs.rdi = calls::clock(real, kind);
        return tracee.write_registers(index);
    }
    let Some((argument, _)) = calls::path_argument(regs.orig_rax as i64) else { return Ok(()) };
    let path = memory::string(tracee.leader, calls::argument(regs, argument));
    if !path.starts_with("/proc/") {
        return Ok(());
    }
    let real = |part: &str| {
        let number = part.parse().ok();
        match number.and_then(|number| real_number(tracee, scheduling, number)) {
            Some(real) => real.to_string(),
            None => part.to_owned(),
        }
    };
    let real = path.split('/').map(real).collect::<Vec<_>>().join("/");
    if real == path { Ok(()) } else { replace_path(tracee, index, argument, &real) }
}

fn real_number(tracee: &Tracee, scheduling: &Scheduling, number: u64) -> Option<Tid> {
    if number == PID as u64 {
        return Some(tracee.leader);
    }
    let thread = scheduling.threads.position(|thread| thread.virtual_system.tid as u64 == number)?;
    Some(tracee.tasks[thread].tid)
}

/// Answers the call at which a thread stands, if its answer is made up ([`crate::virtual_syscalls`]). Processors may be those of another
/// thread, by the number that the program knows, or by the real one, which the C library keeps.
pub(crate) fn made_up(tracee: &Tracee, scheduling: &mut Scheduling, index: ThreadIndex) -> Option<i64> {
    let task = &tracee.tasks[index];
    let number = task.regs.rdi as i64;
    let is_about_other = calls::is_about_processors(&task.regs) && number != 0;
    let about = if is_about_other {
        let is_it = |&i: &ThreadIndex| {
            scheduling.threads[i].virtual_system.tid == number || i64::from(tracee.tasks[i].tid) == number
        };
        scheduling.threads.indices().find(is_it)
    } else {
        Some(index)
    };
    let Some(about) = about else { return Some(-i64::from(libc::ESRCH)) };
    scheduling.threads[about].virtual_system.answer(task.tid, &task.regs)
}

/// Answers the reading of a link by which a process or a thread finds itself; `None`: the call reads another one.
pub(super) fn read_link(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
) -> Result<Option<()>, ExecutionError> {
    let regs = &tracee.tasks[index].regs;
    let is_at_folder = regs.orig_rax as i64 == libc::SYS_readlinkat;
    let [path, to, len] = [0, 1, 2].map(|nth| calls::argument(regs, nth + usize::from(is_at_folder)));
    let number = match memory::string(tracee.leader, path).as_str() {
        "/proc/self" => PID.to_string(),
        "/proc/thread-self" => format!("{PID}/task/{}", scheduling.threads[index].virtual_system.tid),
        _ => return Ok(None),
    };
    let number = &number.as_bytes()[..number.len().min(usize::try_from(len).unwrap_or(usize::MAX))];
    let is_written = tracee.write(to, number);
    tracee.answer(index, if is_written { number.len() as i64 } else { -i64::from(libc::EFAULT) })?;
    Ok(Some(()))
}

/// `F_GETOWN_EX`, by which the C library asks, and which libc does not name.
const GET_OWNER: i32 = 16;

/// Whether a thread asks for the owner of a file, which gets the signals about it.
pub(super) fn asks_for_owner(regs: &Regs) -> bool {
    regs.orig_rax as i64 == libc::SYS_fcntl && [libc::F_GETOWN, GET_OWNER].contains(&(regs.rsi as i32))
}

/// The answer to that, which the kernel would give with a real number.
pub(crate) fn owner_of_file(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> i64 {
    /// Of `struct f_owner_ex`.
    const THREAD: u32 = 0;
    const PROCESS: u32 = 1;
    let regs = &tracee.tasks[index].regs;
    let Some(owner) = fd::owner(tracee.leader, regs.rdi as i32) else { return -i64::from(libc::EBADF) };
    let thread = tracee.tasks.position(|task| task.tid == owner).filter(|_| owner != tracee.leader);
    let (kind, number) = match thread {
        Some(thread) => (THREAD, scheduling.threads[thread].virtual_system.tid),
        None if owner == tracee.leader => (PROCESS, PID),
        None => (PROCESS, owner.into()),
    };
    if regs.rsi as i32 == libc::F_GETOWN {
        return number;
    }
    let returned_pids = [kind.to_le_bytes(), (number as u32).to_le_bytes()].concat();
    if tracee.write(regs.rdx, &returned_pids) { 0 } else { -i64::from(libc::EFAULT) }
}

/// The numbers of processes that the kernel tells by a call.
enum ReturnedPids {
    /// The senders of the signals that are read from a file.
    Senders,
    /// Numbers at these addresses.
    At([u64; 2]),
    /// Its result.
    Result,
    /// Its result, which is the group or session of a process.
    Group,
    /// A line about a process or a thread, which is read from a file.
    Line,
}

/// The numbers that the call at which a thread stands tells.
fn returned_pids(tracee: &Tracee, regs: &Regs) -> Option<ReturnedPids> {
    /// The place of the sender's number in a `siginfo_t`.
    const SENDER: u64 = 16;
    // The maker of a piece of shared memory and the last process to attach it, and the last sender and receiver of a queue.
    let of_memory = [offset_of!(libc::shmid_ds, shm_cpid), offset_of!(libc::shmid_ds, shm_lpid)];
    let of_queue = [offset_of!(libc::msqid_ds, msg_lspid), offset_of!(libc::msqid_ds, msg_lrpid)];
    let in_structure =
        |places: [usize; 2]| ReturnedPids::At(places.map(|place| regs.rdx.saturating_add(place as u64)));
    match regs.orig_rax as i64 {
        libc::SYS_read if fd::tells_of_signals(tracee.leader, regs.rdi as i32) => Some(ReturnedPids::Senders),
        libc::SYS_read if reads_about_itself(tracee, regs) => Some(ReturnedPids::Line),
        libc::SYS_rt_sigtimedwait if regs.rsi != 0 => Some(ReturnedPids::At([regs.rsi + SENDER; 2])),
        libc::SYS_getsockopt if asks_for_peer(regs) => Some(ReturnedPids::At([regs.r10; 2])),
        libc::SYS_semctl if regs.rdx as i32 == libc::GETPID => Some(ReturnedPids::Result),
        libc::SYS_getpgrp | libc::SYS_setsid => Some(ReturnedPids::Group),
        libc::SYS_getpgid | libc::SYS_getsid if is_own_process(tracee, regs.rdi) => Some(ReturnedPids::Group),
        libc::SYS_shmctl if regs.rsi as i32 == libc::IPC_STAT => Some(in_structure(of_memory)),
        libc::SYS_msgctl if regs.rsi as i32 == libc::IPC_STAT => Some(in_structure(of_queue)),
        _ => None,
    }
}

/// If the kernel tells numbers of processes by the call at which a thread is about to go on, lets it do so, and puts those that the program
/// knows in their place: the senders of signals, the process at the other end of a socket, those that have used an object of System V, groups and
/// sessions, and `/proc/self/stat`.
pub(crate) fn pass_with_numbers(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    /// The size of a `struct signalfd_siginfo`, and the place of the sender's number in it.
    const READ: u64 = 128;
    const SENDER_READ: u64 = 12;
    let regs = tracee.tasks[index].regs;
    let Some(returned_pids) = returned_pids(tracee, &regs) else { return Ok(()) };
    let result = tracee.complete_call(index)?.and_then(|result| u64::try_from(result).ok());
    let Some(result) = result else { return Ok(()) };
    // The tracer makes objects of System V in the place of the program.
    let is_own = |number: u64| [tracee.leader as u64, u64::from(std::process::id())].contains(&number);
    let replace = |at: u64| {
        if is_own(tracee.number(at, 4)) {
            tracee.write(at, &(PID as u32).to_le_bytes());
        }
    };
    match returned_pids {
        ReturnedPids::Senders => {
            (0..result / READ).for_each(|nth| replace(regs.rsi + SENDER_READ + nth * READ))
        }
        ReturnedPids::At(places) => places.into_iter().for_each(replace),
        ReturnedPids::Result if is_own(result) => {
            tracee.tasks[index].regs.rax = PID as u64;
            return tracee.write_registers(index);
        }
        ReturnedPids::Result => {}
        // A program begins in the group and the session of what has started it.
        ReturnedPids::Group => {
            let known = if is_own(result) { PID } else { PARENT };
            tracee.tasks[index].regs.rax = known as u64;
            return tracee.write_registers(index);
        }
        ReturnedPids::Line => {
            let line = String::from_utf8(tracee.read(regs.rsi, result as usize)).unwrap_or_default();
            if let Some(line) = with_own_number(tracee, scheduling, &line)
                && line.len() as u64 <= regs.rdx
                && tracee.write(regs.rsi, line.as_bytes())
            {
                tracee.tasks[index].regs.rax = line.len() as u64;
                return tracee.write_registers(index);
            }
        }
    }
    Ok(())
}

/// Whether a number that a call is given, made real where it was one of the program's, stands for the process.
fn is_own_process(tracee: &Tracee, number: u64) -> bool {
    number == 0 || number == tracee.leader as u64
}

/// True for a read from the file in which the kernel tells of the process, or of one of its threads, in one line.
pub(super) fn reads_about_itself(tracee: &Tracee, regs: &Regs) -> bool {
    let is_read = regs.orig_rax as i64 == libc::SYS_read;
    let path = if is_read { fd::link(tracee.leader, regs.rdi as i32) } else { String::new() };
    path.starts_with(&format!("/proc/{}/", tracee.leader)) && path.ends_with("/stat")
}

/// Such a line with the number that the program knows, which comes first.
fn with_own_number(tracee: &Tracee, scheduling: &Scheduling, line: &str) -> Option<String> {
    let (number, rest) = line.split_once(' ')?;
    let number: Tid = number.parse().ok()?;
    let thread = tracee.tasks.position(|task| task.tid == number)?;
    let is_process = number == tracee.leader;
    let known = if is_process { PID } else { scheduling.threads[thread].virtual_system.tid };
    Some(format!("{known} {rest}"))
}

/// Whether a thread asks which process is at the other end of a socket.
pub(super) fn asks_for_peer(regs: &Regs) -> bool {
    let is_of_socket = regs.rsi as i32 == libc::SOL_SOCKET && regs.rdx as i32 == libc::SO_PEERCRED;
    regs.orig_rax as i64 == libc::SYS_getsockopt && is_of_socket
}

/// Whether a thread asks for the group or the session of a process, or makes a session.
pub(super) fn asks_for_group(regs: &Regs) -> bool {
    const CALLS: [i64; 4] = [libc::SYS_getpgid, libc::SYS_getpgrp, libc::SYS_getsid, libc::SYS_setsid];
    CALLS.contains(&(regs.orig_rax as i64))
}

/// Has a call be about another path, which is put below the thread's stack.
pub(super) fn replace_path(
    tracee: &mut Tracee,
    index: ThreadIndex,
    argument: usize,
    path: &str,
) -> Result<(), ExecutionError> {
    const RED_ZONE: u64 = 128;
    let place = (tracee.tasks[index].regs.rsp - RED_ZONE - path.len() as u64 - 1) & !15;
    if !tracee.write(place, format!("{path}\0").as_bytes()) {
        return Ok(());
    }
    *calls::argument_mut(&mut tracee.tasks[index].regs, argument) = place;
    tracee.write_registers(index)
}
