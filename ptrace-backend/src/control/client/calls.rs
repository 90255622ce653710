//! System calls of the client: those that are its operations, the needs of the others, and the conditions on which they can go
//! on.

use crate::control::kernel::files;
use crate::control::state::client::{ClientPosition, ClientSyscall, ClientTask, Processes};
use crate::control::state::pending::FileEvents;
use crate::os::calls::external_effects;
use crate::os::fd::Readiness;
use crate::os::{Regs, Tid, fd, network, process};
use crate::virtual_syscalls::read_timespec;

/// The meaning of a system call of the client, at its entry.
pub(super) enum ClientCall {
    Call(ClientSyscall),
    /// The tracer answers it in place of the kernel.
    Answer(i64),
    /// It concerns no other thread or process, and does not wait.
    Free,
}

/// Whether the client's clock and its random numbers answer a call.
pub(super) fn is_virtual(call: i64) -> bool {
    matches!(call, libc::SYS_clock_gettime | libc::SYS_gettimeofday | libc::SYS_time | libc::SYS_getrandom)
}

/// The meaning of the system call at which a thread of this process of the client stands; `now` is the client's virtual time.
pub(super) fn classify(pid: Tid, regs: &Regs, now: u64) -> ClientCall {
    let call = match regs.orig_rax as i64 {
        libc::SYS_connect if is_socket(pid, regs.rdi as i32) => ClientSyscall::Connect,
        libc::SYS_nanosleep => {
            ClientSyscall::Sleep(now.saturating_add(read_timespec(pid, regs.rdi).unwrap_or(0)))
        }
        libc::SYS_clock_nanosleep => {
            const ABSOLUTE: u64 = 1;
            let time = read_timespec(pid, regs.rdx).unwrap_or(0);
            ClientSyscall::Sleep(if regs.rsi & ABSOLUTE != 0 { time } else { now.saturating_add(time) })
        }
        libc::SYS_exit_group if has_sockets(pid) => ClientSyscall::End,
        libc::SYS_bind if is_socket(pid, regs.rdi as i32) => ClientSyscall::Operation(Vec::new(), Some(0)),
        libc::SYS_wait4 if regs.rdx as i32 & libc::WNOHANG == 0 => {
            ClientSyscall::Child((regs.rdi as i32 > 0).then_some(regs.rdi as Tid))
        }
        libc::SYS_waitid if regs.r10 as i32 & libc::WNOHANG == 0 => {
            ClientSyscall::Child((regs.rdi as u32 == libc::P_PID).then_some(regs.rsi as Tid))
        }
        libc::SYS_futex if waits_for_thread(regs) => ClientSyscall::Thread(futex_limit(pid, regs, now)),
        // Real time is none of the execution's.
        libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_timer_settime => return ClientCall::Answer(0),
        libc::SYS_io_uring_setup => return ClientCall::Answer(-i64::from(libc::ENOSYS)),
        _ => match files::waits_for(pid, regs, now) {
            Some(wait) => return on_files(pid, wait),
            None if may_wait(regs.orig_rax as i64) => ClientSyscall::Other,
            None => return ClientCall::Free,
        },
    };
    ClientCall::Call(call)
}

fn waits_for_thread(regs: &Regs) -> bool {
    const COMMAND: u64 = 0x7f;
    matches!((regs.rsi & COMMAND) as i32, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET)
}

/// The end of a wait for a futex, if it has a limit.
fn futex_limit(pid: Tid, regs: &Regs, now: u64) -> Option<u64> {
    let limit = (regs.r10 != 0).then(|| read_timespec(pid, regs.r10)).flatten()?;
    let is_absolute = regs.rsi as i32 & libc::FUTEX_WAIT_BITSET == libc::FUTEX_WAIT_BITSET;
    Some(if is_absolute { limit } else { now.saturating_add(limit) })
}

fn on_files(pid: Tid, mut wait: files::FileWait) -> ClientCall {
    wait.files.retain(|(descriptor, _)| fd::may_block(pid, *descriptor));
    let limit = wait.time_limit(pid);
    let files = wait.files;
    if files.iter().any(|(descriptor, _)| is_shared(pid, *descriptor)) {
        return ClientCall::Call(ClientSyscall::Operation(files, limit));
    }
    match limit {
        // A wait for time, maybe among others.
        Some(limit) if limit > 0 => ClientCall::Call(ClientSyscall::Operation(files, Some(limit))),
        None if !files.is_empty() => ClientCall::Call(ClientSyscall::Files(files)),
        Some(_) | None => ClientCall::Free,
    }
}

/// Whether a descriptor is a way to the program: a socket, or a set with one.
fn is_shared(pid: Tid, descriptor: i32) -> bool {
    is_socket(pid, descriptor) || fd::link(pid, descriptor).starts_with("anon_inode:[eventpoll]")
}

fn is_socket(pid: Tid, descriptor: i32) -> bool {
    fd::link(pid, descriptor).starts_with("socket:")
}

fn has_sockets(pid: Tid) -> bool {
    fd::open(pid).into_iter().any(|descriptor| is_socket(pid, descriptor))
}

/// Whether a call may do something to the program that is no operation: to files, or by a signal to a process that is none of
/// these.
pub(super) fn reaches_beyond(pid: Tid, regs: &Regs, own: &[(Tid, Tid)]) -> bool {
    match regs.orig_rax as i64 {
        libc::SYS_kill | libc::SYS_tgkill | libc::SYS_tkill => {
            let to = regs.rdi as Tid;
            to != 0 && to != pid && own.iter().all(|&(parent, child)| to.abs() != child && to.abs() != parent)
        }
        libc::SYS_bind | libc::SYS_connect | libc::SYS_sendto | libc::SYS_sendmsg => false,
        _ => external_effects::has_any(pid, regs, true),
    }
}

/// Whether a call may wait for another thread or process of the client.
fn may_wait(call: i64) -> bool {
    matches!(
        call,
        libc::SYS_pause
            | libc::SYS_rt_sigsuspend
            | libc::SYS_rt_sigtimedwait
            | libc::SYS_flock
            | libc::SYS_fcntl
            | libc::SYS_sendfile
            | libc::SYS_splice
    )
}

impl Processes {
    /// The threads that can run an operation. The first one is what the client does next.
    pub(crate) fn operations(&self, program: Tid) -> impl Iterator<Item = usize> {
        let can_go = move |task: &ClientTask| match &task.position {
            ClientPosition::Call(call) => call.is_operation() && self.holds(task, call, program),
            _ => false,
        };
        self.tasks.iter().enumerate().filter(move |(_, task)| can_go(task)).map(|(nth, _)| nth)
    }

    /// Whether the thread at this place only finds out that it would have to wait.
    pub(super) fn asks_in_vain(&self, nth: usize) -> bool {
        let ClientTask { process, position, .. } = &self.tasks[nth];
        match position {
            ClientPosition::Call(ClientSyscall::Operation(files, Some(0))) => {
                files.iter().any(|(_, events)| *events != 0) && !is_any_ready(*process, files)
            }
            _ => false,
        }
    }

    /// Whether its next operation gives way: it has asked in vain for so often that another agent has to go.
    pub(super) fn gives_way(&self) -> bool {
        const OFTEN: u32 = 3;
        self.vain >= OFTEN
    }

    /// The first thread that waits in an operation until some time, and that time: a sleep, or a wait with a limit, which began
    /// at `now`.
    pub(crate) fn next_time(&self, now: u64) -> Option<(usize, u64)> {
        let times = self.tasks.iter().enumerate().filter_map(|(nth, task)| match &task.position {
            ClientPosition::Call(ClientSyscall::Sleep(until)) => Some((nth, *until)),
            ClientPosition::Call(ClientSyscall::Operation(_, Some(limit))) if *limit > 0 => {
                Some((nth, now.saturating_add(*limit)))
            }
            ClientPosition::Kernel => Some((nth, task.deadline?)),
            _ => None,
        });
        times.min_by_key(|&(_, time)| time)
    }

    /// The first thread that can go on by itself, without an operation.
    pub(super) fn next_free(&self, program: Tid) -> Option<usize> {
        self.tasks.iter().position(|task| match &task.position {
            ClientPosition::Free(_) => true,
            ClientPosition::Call(call) => !call.is_operation() && self.holds(task, call, program),
            ClientPosition::Creation(_) | ClientPosition::Kernel => false,
        })
    }

    /// Whether what a call waits for is there.
    fn holds(&self, task: &ClientTask, call: &ClientSyscall, program: Tid) -> bool {
        match call {
            ClientSyscall::Operation(_, Some(0))
            | ClientSyscall::End
            | ClientSyscall::Thread(_)
            | ClientSyscall::Other => true,
            ClientSyscall::Operation(files, _) | ClientSyscall::Files(files) => {
                is_any_ready(task.process, files)
            }
            ClientSyscall::Connect => {
                !self.listens.iter().any(|&descriptor| network::is_full(program, descriptor))
            }
            ClientSyscall::Sleep(_) => false,
            ClientSyscall::Child(which) => {
                let children = self.children.iter().filter(|(parent, _)| *parent == task.process);
                let mut meant = children
                    .map(|(_, child)| *child)
                    .filter(|child| which.is_none_or(|which| which == *child));
                let first = meant.next();
                first.is_none_or(|first| std::iter::once(first).chain(meant).any(process::is_zombie))
            }
        }
    }
}

fn is_any_ready(pid: Tid, files: &[FileEvents]) -> bool {
    files.iter().any(|&(file, events)| match fd::readiness(pid, file, events) {
        Readiness::Known(is_ready) => is_ready,
        // The kernel finds out.
        Readiness::Signals(_) => true,
        Readiness::Members(members) => is_any_ready(pid, &members),
    })
}
