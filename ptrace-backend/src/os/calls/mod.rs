//! System calls by what other threads of a process can find out of them, beside memory, time, and the content and the names of
//! files.
//!
//! Much of what the kernel keeps of a process belongs to all of its threads: the working directory, the mask of new files, what
//! signals do, limits, priorities, options of sockets. All of it counts as one object. A call of which nothing is known here is
//! not taken for harmless.
//!
//! Beside that stand the memory that calls name ([`buffers`]), their descriptors ([`descriptors`]), the calls by which executions could meet ([`external_effects`]), and the
//! calls that stop for the tracer ([`filter`]).

pub(crate) mod buffers;
pub(crate) mod descriptors;
pub(crate) mod external_effects;
pub(super) mod filter;
mod lists;
pub(crate) mod loading;
mod names;

use libc::c_long;

pub(crate) use self::lists::PRIVATE;
use self::lists::{CHANGES, ELSEWHERE, LOOKS};
pub(crate) use self::names::name;
use super::Regs;

/// The relation of a system call to the state that the kernel keeps of its process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessState {
    /// It neither looks at the state nor changes it.
    Apart,
    Looks,
    Changes,
    /// The relation is not known.
    Unknown,
}

/// The relation of the call at which a thread stands to that state.
pub(crate) fn process_state(regs: &Regs) -> ProcessState {
    let call = regs.orig_rax as c_long;
    let known = |is_look| if is_look { ProcessState::Looks } else { ProcessState::Changes };
    match call {
        // The C library's own signals, by which it cancels threads.
        libc::SYS_rt_sigaction if matches!(regs.rdi, 32 | 33) => ProcessState::Apart,
        libc::SYS_prlimit64 => known(regs.rdx == 0),
        libc::SYS_fcntl => match regs.rsi as i32 {
            libc::F_GETFD
            | libc::F_GETFL
            | libc::F_GETOWN
            | F_GETOWN_EX
            | libc::F_GETPIPE_SZ
            | libc::F_GET_SEALS => ProcessState::Looks,
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => ProcessState::Looks,
            libc::F_SETFD | libc::F_SETFL | libc::F_SETOWN | libc::F_SETPIPE_SZ | libc::F_ADD_SEALS => {
                ProcessState::Changes
            }
            libc::F_GETLK | libc::F_SETLK | libc::F_SETLKW => ProcessState::Changes,
            libc::F_OFD_GETLK | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => ProcessState::Changes,
            _ => ProcessState::Unknown,
        },
        libc::SYS_ioctl => match regs.rsi {
            libc::TCGETS | libc::TIOCGWINSZ | libc::TIOCGPGRP => ProcessState::Looks,
            libc::FIONREAD | libc::FIONBIO | libc::FIOCLEX | libc::FIONCLEX => ProcessState::Changes,
            _ => ProcessState::Unknown,
        },
        // A command of the barrier may need that the process is registered for it.
        libc::SYS_membarrier => match regs.rdi as i32 {
            libc::MEMBARRIER_CMD_QUERY | libc::MEMBARRIER_CMD_GLOBAL => ProcessState::Apart,
            libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED
            | libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
            | libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE
            | libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ => ProcessState::Changes,
            _ => ProcessState::Looks,
        },
        libc::SYS_prctl => match regs.rdi as i32 {
            // Of the calling thread: others come upon its name in files alone, which is a change.
            libc::PR_SET_NAME | libc::PR_GET_NAME => ProcessState::Looks,
            libc::PR_GET_DUMPABLE | libc::PR_GET_PDEATHSIG | libc::PR_GET_TIMERSLACK => ProcessState::Looks,
            libc::PR_SET_DUMPABLE | libc::PR_SET_PDEATHSIG | libc::PR_SET_TIMERSLACK => ProcessState::Changes,
            // A name for memory, in listings.
            PR_SET_VMA => ProcessState::Apart,
            _ => ProcessState::Unknown,
        },
        _ if PRIVATE.contains(&call) || ELSEWHERE.contains(&call) => ProcessState::Apart,
        _ if LOOKS.contains(&call) || external_effects::NAMES.contains(&call) => ProcessState::Looks,
        _ if CHANGES.contains(&call) => ProcessState::Changes,
        _ => ProcessState::Unknown,
    }
}

/// Whether a call changes what a socket is bound or connected to, or asks for it (`false`); `None`: neither.
pub(crate) fn socket_state(regs: &Regs) -> Option<bool> {
    match regs.orig_rax as c_long {
        libc::SYS_bind | libc::SYS_listen | libc::SYS_connect | libc::SYS_shutdown => Some(true),
        libc::SYS_getsockname
        | libc::SYS_getpeername
        | libc::SYS_getsockopt
        | libc::SYS_accept
        | libc::SYS_accept4 => Some(false),
        _ => None,
    }
}

/// Whether a call changes what may be done to files (seals), or depends on it or on whether it can be changed (`false`); `None`: neither.
/// Calls on the file itself depend on it by [`process_state`].
pub(crate) fn seals(regs: &Regs) -> Option<bool> {
    match regs.orig_rax as c_long {
        libc::SYS_fcntl if regs.rsi as i32 == libc::F_ADD_SEALS => Some(true),
        // A file that can be written through a mapping cannot be sealed against that.
        libc::SYS_mmap => {
            let flags = regs.r10 as i32;
            let is_shared = flags & (libc::MAP_SHARED | libc::MAP_ANONYMOUS) == libc::MAP_SHARED;
            is_shared.then_some(false)
        }
        libc::SYS_munmap => Some(false),
        _ => None,
    }
}

/// The address of the set of signals that a call blocks in the place of those that its thread does, for as long as it waits for files.
/// `number` reads so many bytes at an address.
pub(crate) fn signal_mask(regs: &Regs, number: impl Fn(u64, usize) -> u64) -> Option<u64> {
    let at = match regs.orig_rax as c_long {
        libc::SYS_ppoll => regs.r10,
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => regs.r8,
        // A structure that has the address.
        libc::SYS_pselect6 if regs.r9 != 0 => number(regs.r9, 8),
        _ => 0,
    };
    (at != 0).then_some(at)
}

/// Whether a call sets the identity of the thread that makes it, which the C library has every other thread do as well, by a signal: a
/// thread that stands before a system call gets that behind the call only.
pub(crate) fn sets_identity(call: c_long) -> bool {
    matches!(
        call,
        libc::SYS_setuid
            | libc::SYS_setgid
            | libc::SYS_setreuid
            | libc::SYS_setregid
            | libc::SYS_setresuid
            | libc::SYS_setresgid
            | libc::SYS_setgroups
    )
}

/// Whether a call sets a limit on memory or on threads, which calls come upon that do not say so: they get no memory, or no thread.
pub(crate) fn limits_memory(regs: &Regs) -> bool {
    let resource = match regs.orig_rax as c_long {
        libc::SYS_setrlimit => regs.rdi,
        libc::SYS_prlimit64 if regs.rdx != 0 => regs.rsi,
        _ => return false,
    };
    matches!(
        resource as u32,
        libc::RLIMIT_AS | libc::RLIMIT_DATA | libc::RLIMIT_STACK | libc::RLIMIT_NPROC | libc::RLIMIT_MEMLOCK
    )
}

/// Whether a call sends a signal.
pub(crate) fn sends_signal(regs: &Regs) -> bool {
    matches!(
        regs.orig_rax as c_long,
        libc::SYS_kill
            | libc::SYS_tkill
            | libc::SYS_tgkill
            | libc::SYS_rt_sigqueueinfo
            | libc::SYS_rt_tgsigqueueinfo
            | libc::SYS_pidfd_send_signal
    )
}

/// Whether a call asks for a child that has ended, and does not wait for one.
pub(crate) fn asks_for_child(regs: &Regs) -> bool {
    let options = match regs.orig_rax as c_long {
        libc::SYS_wait4 => regs.rdx,
        libc::SYS_waitid => regs.r10,
        _ => return false,
    };
    options as i32 & libc::WNOHANG != 0
}

const F_GETOWN_EX: i32 = 16;
const PR_SET_VMA: i32 = 0x5356_4d41;

/// Whether a call begins something of which other calls tell later: it matters also where there is one thread yet.
pub(crate) fn is_lasting(call: c_long) -> bool {
    matches!(
        call,
        libc::SYS_inotify_init
            | libc::SYS_inotify_init1
            | libc::SYS_fanotify_init
            | libc::SYS_userfaultfd
            | libc::SYS_perf_event_open
            | libc::SYS_io_setup
            // A pipe refers to the memory, whatever is written there until it is read.
            | libc::SYS_vmsplice
    )
}

/// Whether a call makes or sets a timer, which a copy of the process would not have.
pub(crate) fn makes_timer(regs: &Regs) -> bool {
    match regs.orig_rax as c_long {
        libc::SYS_alarm => regs.rdi != 0,
        libc::SYS_setitimer | libc::SYS_timer_create | libc::SYS_timerfd_create => true,
        _ => false,
    }
}

/// The register that holds the number of a process or of a thread: the first argument is 0.
pub(crate) fn task_argument(regs: &Regs) -> Option<usize> {
    match regs.orig_rax as c_long {
        libc::SYS_getpgid
        | libc::SYS_setpgid
        | libc::SYS_getsid
        | libc::SYS_prlimit64
        | libc::SYS_pidfd_open
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_getscheduler
        | libc::SYS_sched_setparam
        | libc::SYS_sched_getparam
        | libc::SYS_sched_setattr
        | libc::SYS_sched_getattr
        | libc::SYS_sched_rr_get_interval
        | libc::SYS_process_vm_readv
        | libc::SYS_process_vm_writev
        | libc::SYS_get_robust_list => Some(0),
        libc::SYS_getpriority | libc::SYS_setpriority if regs.rdi == 0 => Some(1),
        libc::SYS_ioprio_get | libc::SYS_ioprio_set if regs.rdi == 1 => Some(1),
        libc::SYS_fcntl if regs.rsi as i32 == libc::F_SETOWN => Some(2),
        _ => None,
    }
}

/// The threads whose end a call may find out, beside the one that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedFor {
    /// None.
    Nobody,
    /// The one of this number, as the program knows it.
    Number(i64),
    /// Any.
    Anybody,
}

/// The threads for which a call asks, or to which it does something, or of whose processor time it asks for a clock. The numbers are those that
/// the program knows: of the thread that makes it, and of the process.
pub(crate) fn asks_for(regs: &Regs, own: i64, process: i64) -> AskedFor {
    /// `IOPRIO_WHO_PROCESS`, which libc does not name.
    const IO_OF_PROCESS: u64 = 1;
    let call = regs.orig_rax as c_long;
    let number = match call {
        // A signal that is sent is an event.
        libc::SYS_kill | libc::SYS_tkill => (regs.rsi == 0).then_some(regs.rdi),
        libc::SYS_tgkill => (regs.rdx == 0).then_some(regs.rsi),
        // The priority of a group or of a user is that of its threads.
        libc::SYS_getpriority | libc::SYS_setpriority if regs.rdi != u64::from(libc::PRIO_PROCESS) => {
            return AskedFor::Anybody;
        }
        libc::SYS_ioprio_get | libc::SYS_ioprio_set if regs.rdi != IO_OF_PROCESS => return AskedFor::Anybody,
        // Negative numbers are clocks of processes and threads.
        libc::SYS_clock_gettime | libc::SYS_clock_getres | libc::SYS_timer_create => {
            return if (regs.rdi as i32) < -8 { AskedFor::Anybody } else { AskedFor::Nobody };
        }
        libc::SYS_setpgid => None,
        _ => task_argument(regs).map(|nth| argument(regs, nth)),
    };
    match number.map(|number| i64::from(number as i32)) {
        None | Some(0) => AskedFor::Nobody,
        Some(number) if number == own || number == process => AskedFor::Nobody,
        Some(number) => AskedFor::Number(number),
    }
}

/// Whether a call installs a filter for system calls.
pub(crate) fn installs_filter(regs: &Regs) -> bool {
    match regs.orig_rax as c_long {
        libc::SYS_seccomp => true,
        libc::SYS_prctl => regs.rdi as i32 == libc::PR_SET_SECCOMP,
        _ => false,
    }
}

/// The process or thread whose processor time a call asks about, by its number, with the kind of its clock: such clocks are negative
/// numbers.
pub(crate) fn clock_of(regs: &Regs) -> Option<(u64, u64)> {
    const KIND: u64 = 7;
    /// A clock of a device, by its descriptor.
    const OF_DEVICE: u64 = 3;
    let clock = regs.rdi as i32;
    let kind = regs.rdi & KIND;
    let is_asked = regs.orig_rax as c_long == libc::SYS_clock_getres && clock < 0 && kind != OF_DEVICE;
    is_asked.then(|| (u64::from(!(clock >> KIND.count_ones()) as u32), kind))
}

/// The clock of a process or thread with this number.
pub(crate) fn clock(number: i32, kind: u64) -> u64 {
    u64::from((!number << 3) as u32) | kind
}

/// Whether a call asks or says on which processors a thread may run: its first argument names one.
pub(crate) fn is_about_processors(regs: &Regs) -> bool {
    matches!(regs.orig_rax as c_long, libc::SYS_sched_getaffinity | libc::SYS_sched_setaffinity)
}

/// The register that holds the path that a call is about, and the one that holds the folder where it begins, if there is one.
pub(crate) fn path_argument(call: c_long) -> Option<(usize, Option<usize>)> {
    match call {
        libc::SYS_open
        | libc::SYS_creat
        | libc::SYS_stat
        | libc::SYS_lstat
        | libc::SYS_access
        | libc::SYS_readlink
        | libc::SYS_truncate
        | libc::SYS_chmod
        | libc::SYS_chown
        | libc::SYS_lchown
        | libc::SYS_utime
        | libc::SYS_utimes
        | libc::SYS_getxattr
        | libc::SYS_lgetxattr
        | libc::SYS_setxattr
        | libc::SYS_lsetxattr
        | libc::SYS_removexattr
        | libc::SYS_lremovexattr
        | libc::SYS_chdir
        | libc::SYS_statfs => Some((0, None)),
        libc::SYS_openat
        | libc::SYS_openat2
        | libc::SYS_newfstatat
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_statx
        | libc::SYS_readlinkat
        | libc::SYS_fchmodat
        | libc::SYS_fchownat
        | libc::SYS_utimensat => Some((1, Some(0))),
        _ => None,
    }
}

/// An argument by its place: the first one is 0.
pub(crate) fn argument(regs: &Regs, nth: usize) -> u64 {
    [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9].get(nth).copied().unwrap_or_default()
}

/// The same, to be changed.
pub(crate) fn argument_mut(regs: &mut Regs, nth: usize) -> &mut u64 {
    match nth {
        0 => &mut regs.rdi,
        1 => &mut regs.rsi,
        2 => &mut regs.rdx,
        3 => &mut regs.r10,
        4 => &mut regs.r8,
        _ => &mut regs.r9,
    }
}
