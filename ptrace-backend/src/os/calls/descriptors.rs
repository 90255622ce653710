//! Numbers of descriptors in the arguments of system calls.
//!
//! One table has all calls that are given any: a call uses what its descriptors stand for, so that it depends on what ends them, or gives
//! their numbers to other files. What a call does to numbers beside stands in [`numbers`].

use libc::c_long;
use smallvec::SmallVec;

use super::{Regs, argument};

/// The doing of a call to the numbers of descriptors, beside its use of those that it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    Keeps,
    Ends(i32),
    /// The second one stands for the file of the first one from then on.
    Replaces(i32, i32),
    /// It gives the least numbers that are free to so many files.
    Makes(usize),
}

/// The doing of the call at which a thread stands.
pub(crate) fn numbers(regs: &Regs) -> Numbers {
    let first = regs.rdi as i32;
    match regs.orig_rax as c_long {
        libc::SYS_close => Numbers::Ends(first),
        libc::SYS_dup2 | libc::SYS_dup3 => Numbers::Replaces(first, regs.rsi as i32),
        libc::SYS_fcntl if matches!(regs.rsi as i32, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) => {
            Numbers::Makes(1)
        }
        libc::SYS_signalfd | libc::SYS_signalfd4 if first < 0 => Numbers::Makes(1),
        libc::SYS_open
        | libc::SYS_openat
        | libc::SYS_openat2
        | libc::SYS_creat
        | libc::SYS_dup
        | libc::SYS_socket
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_eventfd
        | libc::SYS_eventfd2
        | libc::SYS_epoll_create
        | libc::SYS_epoll_create1
        | libc::SYS_memfd_create
        | libc::SYS_timerfd_create
        | libc::SYS_inotify_init
        | libc::SYS_inotify_init1
        | libc::SYS_pidfd_open
        | libc::SYS_pidfd_getfd
        | libc::SYS_open_by_handle_at
        | libc::SYS_mq_open => Numbers::Makes(1),
        libc::SYS_pipe | libc::SYS_pipe2 | libc::SYS_socketpair => Numbers::Makes(2),
        _ => Numbers::Keeps,
    }
}

/// A place where a call is given numbers of descriptors. Arguments count from 0.
#[derive(Clone, Copy)]
enum Place {
    Argument(usize),
    /// The folder at which a path begins, and the path: one that begins at the root needs none.
    Folder(usize, usize),
    /// As many structures `pollfd` as the second argument says, at the first one.
    Polled,
    /// Three sets of bits for as many numbers as the first argument says.
    Sets,
    /// A structure `msghdr`, whose control messages may send descriptors (`SCM_RIGHTS`).
    Message(usize),
    /// As many structures `mmsghdr` as the third argument says, at the second one.
    Messages,
}

use Place::{Argument, Folder, Message, Messages, Polled, Sets};

/// The system calls of x86-64 that are given descriptors, and where.
fn places(regs: &Regs) -> &'static [Place] {
    match regs.orig_rax as c_long {
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_pread64
        | libc::SYS_preadv
        | libc::SYS_preadv2
        | libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_pwrite64
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_lseek
        | libc::SYS_ftruncate
        | libc::SYS_fallocate
        | libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_syncfs
        | libc::SYS_sync_file_range
        | libc::SYS_fadvise64
        | libc::SYS_readahead
        | SYS_CACHESTAT
        | libc::SYS_fstat
        | libc::SYS_fstatfs
        | libc::SYS_fchmod
        | libc::SYS_fchown
        | libc::SYS_fchdir
        | libc::SYS_fgetxattr
        | libc::SYS_fsetxattr
        | libc::SYS_flistxattr
        | libc::SYS_fremovexattr
        | libc::SYS_getdents
        | libc::SYS_getdents64
        | libc::SYS_fcntl
        | libc::SYS_ioctl
        | libc::SYS_flock
        | libc::SYS_quotactl_fd
        | libc::SYS_vmsplice
        | libc::SYS_dup
        | libc::SYS_dup2
        | libc::SYS_dup3 => &[Argument(0)],
        libc::SYS_bind
        | libc::SYS_listen
        | libc::SYS_connect
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_shutdown
        | libc::SYS_getsockname
        | libc::SYS_getpeername
        | libc::SYS_getsockopt
        | libc::SYS_setsockopt
        | libc::SYS_sendto
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg => &[Argument(0)],
        libc::SYS_sendmsg => &[Argument(0), Message(1)],
        libc::SYS_sendmmsg => &[Argument(0), Messages],
        libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait
        | libc::SYS_epoll_pwait2
        | libc::SYS_signalfd
        | libc::SYS_signalfd4
        | libc::SYS_timerfd_settime
        | libc::SYS_timerfd_gettime
        | libc::SYS_inotify_add_watch
        | libc::SYS_inotify_rm_watch
        | libc::SYS_mq_timedsend
        | libc::SYS_mq_timedreceive
        | libc::SYS_mq_notify
        | libc::SYS_mq_getsetattr => &[Argument(0)],
        libc::SYS_epoll_ctl | libc::SYS_splice | libc::SYS_copy_file_range => &[Argument(0), Argument(2)],
        libc::SYS_sendfile | libc::SYS_tee | libc::SYS_kexec_file_load => &[Argument(0), Argument(1)],
        libc::SYS_poll | libc::SYS_ppoll => &[Polled],
        libc::SYS_select | libc::SYS_pselect6 => &[Sets],
        libc::SYS_mmap if regs.r10 as i32 & libc::MAP_ANONYMOUS == 0 => &[Argument(4)],
        libc::SYS_openat
        | libc::SYS_openat2
        | libc::SYS_newfstatat
        | libc::SYS_statx
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat
        | libc::SYS_unlinkat
        | libc::SYS_mkdirat
        | libc::SYS_mknodat
        | libc::SYS_fchmodat
        | SYS_FCHMODAT2
        | libc::SYS_fchownat
        | libc::SYS_utimensat
        | libc::SYS_futimesat
        | libc::SYS_name_to_handle_at
        | libc::SYS_execveat
        | libc::SYS_open_tree
        | libc::SYS_fspick
        | libc::SYS_mount_setattr => &[Folder(0, 1)],
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat | libc::SYS_move_mount => {
            &[Folder(0, 1), Folder(2, 3)]
        }
        libc::SYS_symlinkat => &[Folder(1, 2)],
        libc::SYS_fanotify_mark => &[Argument(0), Folder(3, 4)],
        libc::SYS_open_by_handle_at
        | libc::SYS_setns
        | libc::SYS_finit_module
        | libc::SYS_fsmount
        | libc::SYS_pidfd_send_signal
        | libc::SYS_pidfd_getfd
        | libc::SYS_process_madvise
        | libc::SYS_process_mrelease
        | libc::SYS_io_uring_enter
        | libc::SYS_io_uring_register
        | libc::SYS_landlock_add_rule
        | libc::SYS_landlock_restrict_self => &[Argument(0)],
        libc::SYS_fsconfig => &[Argument(0), Argument(4)],
        libc::SYS_perf_event_open => &[Argument(3)],
        libc::SYS_waitid if regs.rdi == u64::from(libc::P_PIDFD) => &[Argument(1)],
        _ => &[],
    }
}

const SYS_CACHESTAT: c_long = 451;
const SYS_FCHMODAT2: c_long = 452;

/// More descriptors than this are not looked at in one call.
const MOST: u64 = 1024;

/// The descriptors that the call at which a thread stands uses. `number` reads so many bytes at an address.
pub(crate) fn used(regs: &Regs, number: impl Fn(u64, usize) -> u64) -> SmallVec<[i32; 2]> {
    let mut all = SmallVec::new();
    for &place in places(regs) {
        match place {
            Argument(nth) => all.push(argument(regs, nth) as i32),
            Folder(folder, path) => {
                let path = argument(regs, path);
                // Without a path, it is the file itself.
                if path == 0 || number(path, 1) != u64::from(b'/') {
                    all.push(argument(regs, folder) as i32);
                }
            }
            Polled => {
                const SIZE: u64 = 8;
                all.extend((0..regs.rsi.min(MOST)).map(|nth| number(regs.rdi + nth * SIZE, 4) as i32));
            }
            Sets => {
                let end = u64::from(regs.rdi as u32).min(MOST);
                let sets = [regs.rsi, regs.rdx, regs.r10].into_iter().filter(|&set| set != 0);
                for (set, word) in sets.flat_map(|set| (0..end.div_ceil(64)).map(move |word| (set, word))) {
                    let members = number(set + word * 8, 8);
                    let descriptors = word * 64..end.min((word + 1) * 64);
                    all.extend(descriptors.filter(|of| members >> (of % 64) & 1 == 1).map(|of| of as i32));
                }
            }
            Message(nth) => all.extend(sent(argument(regs, nth), &number)),
            Messages => {
                const SIZE: u64 = 64;
                let messages = 0..u64::from(regs.rdx as u32).min(MOST);
                messages.for_each(|nth| all.extend(sent(regs.rsi + nth * SIZE, &number)));
            }
        }
    }
    all.retain(|descriptor| *descriptor >= 0);
    all.sort_unstable();
    all.dedup();
    all
}

/// The descriptors that a message sends along.
fn sent(message: u64, number: impl Fn(u64, usize) -> u64) -> Vec<i32> {
    /// The places of the control messages and of their length in a structure `msghdr`.
    const CONTROL: u64 = 32;
    const LENGTH: u64 = 40;
    /// The places of the level and the type of a control message, and of its content.
    const LEVEL: u64 = 8;
    const KIND: u64 = 12;
    const CONTENT: u64 = 16;
    const DESCRIPTOR: u64 = 4;
    let (start, len) = (number(message + CONTROL, 8), number(message + LENGTH, 8).min(MOST * DESCRIPTOR));
    let (mut at, end) = (start, start.saturating_add(len));
    let mut all = Vec::new();
    while start != 0 && at + CONTENT <= end {
        let size = number(at, 8);
        if size < CONTENT || size > end - at {
            break;
        }
        let is_sent = number(at + LEVEL, 4) as i32 == libc::SOL_SOCKET
            && number(at + KIND, 4) as i32 == libc::SCM_RIGHTS;
        if is_sent {
            let count = (size - CONTENT) / DESCRIPTOR;
            all.extend((0..count).map(|nth| number(at + CONTENT + nth * DESCRIPTOR, 4) as i32));
        }
        at += size.next_multiple_of(8);
    }
    all
}

/// Whether a call is an operation on those of its descriptors whose files may block, which depends on whatever ends one of them.
pub(crate) fn is_operation(regs: &Regs) -> bool {
    match regs.orig_rax as c_long {
        // The length of the input that is there, and the state of a connection.
        libc::SYS_ioctl => regs.rsi == libc::FIONREAD,
        libc::SYS_getsockopt => (regs.rsi, regs.rdx) == (libc::SOL_SOCKET as u64, libc::SO_ERROR as u64),
        // No operation waits for what is exceptional about a file.
        libc::SYS_select | libc::SYS_pselect6 => regs.r10 == 0,
        call => OPERATIONS.contains(&call),
    }
}

/// The calls that are operations on such files whatever their arguments are.
const OPERATIONS: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_vmsplice,
    libc::SYS_close,
    libc::SYS_shutdown,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_poll,
    libc::SYS_ppoll,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn regs(call: c_long, arguments: [u64; 6]) -> Regs {
        // SAFETY: registers are plain numbers, for which all zeros are valid.
        let mut regs: Regs = unsafe { std::mem::zeroed() };
        regs.orig_rax = call as u64;
        [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9] = arguments;
        regs
    }

    /// The descriptors that a call uses where memory has these bytes from address 16 on, and zeros elsewhere.
    fn of(call: c_long, arguments: [u64; 6], bytes: &[u8]) -> Vec<i32> {
        let byte = |at: u64| at.checked_sub(16).and_then(|at| bytes.get(at as usize)).copied().unwrap_or(0);
        let number = |at: u64, len: usize| {
            (0..len as u64).rev().fold(0, |number, nth| number << 8 | u64::from(byte(at + nth)))
        };
        used(&regs(call, arguments), number).to_vec()
    }

    #[test]
    fn descriptors_stand_in_registers_and_in_memory() {
        const NONE: u64 = -1_i64 as u64;
        assert_eq!(of(libc::SYS_fsync, [7, 0, 0, 0, 0, 0], &[]), [7]);
        assert_eq!(of(libc::SYS_splice, [7, 0, 5, 0, 0, 0], &[]), [5, 7]);
        assert_eq!(of(libc::SYS_poll, [16, 2, 0, 0, 0, 0], &[9, 0, 0, 0, 0, 0, 0, 0, 4]), [4, 9]);
        assert_eq!(of(libc::SYS_select, [11, 16, 0, 24, 0, 0], &[8, 0, 0, 0, 0, 0, 0, 0, 8, 4]), [3, 10]);
        assert_eq!(of(libc::SYS_signalfd4, [NONE, 0, 0, 0, 0, 0], &[]), []);
        assert_eq!(of(libc::SYS_getpid, [7; 6], &[]), []);
    }

    #[test]
    fn folders_are_used_by_paths_that_begin_there() {
        const CURRENT: u64 = libc::AT_FDCWD as u64;
        assert_eq!(of(libc::SYS_unlinkat, [7, 16, 0, 0, 0, 0], b"name"), [7]);
        assert_eq!(of(libc::SYS_unlinkat, [7, 16, 0, 0, 0, 0], b"/name"), []);
        assert_eq!(of(libc::SYS_unlinkat, [CURRENT, 16, 0, 0, 0, 0], b"name"), []);
        assert_eq!(of(libc::SYS_utimensat, [7, 0, 0, 0, 0, 0], &[]), [7]);
        assert_eq!(of(libc::SYS_linkat, [CURRENT, 16, 8, 16, 0, 0], b"name"), [8]);
    }

    #[test]
    fn messages_send_descriptors() {
        let mut bytes = [0_u8; 80];
        // The address and the length of the control messages: one with two descriptors.
        (bytes[32], bytes[40]) = (16 + 56, 24);
        (bytes[56], bytes[64], bytes[68]) = (24, libc::SOL_SOCKET as u8, libc::SCM_RIGHTS as u8);
        (bytes[72], bytes[76]) = (5, 6);
        assert_eq!(of(libc::SYS_sendmsg, [3, 16, 0, 0, 0, 0], &bytes), [3, 5, 6]);
    }
}
