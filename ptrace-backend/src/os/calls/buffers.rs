//! Memory of the program that system calls read and write: buffers, structures and texts, as their arguments name them. Calls on
//! the content of files, on messages and on mappings are elsewhere, as is what a call writes only where it is interrupted.

use libc::c_long;
use smallvec::SmallVec;

use super::{Regs, argument};

/// Bytes of the program's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Buffer {
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) writes: bool,
}

/// An argument that is an address.
#[derive(Clone, Copy)]
struct PointerArgument {
    /// The first one is 0.
    nth: usize,
    len: BufferSize,
    writes: bool,
}

/// The size of a buffer, as arguments say.
#[derive(Clone, Copy)]
enum BufferSize {
    Bytes(u64),
    /// So many elements as an argument says, each of so many bytes.
    Each(usize, u64),
    /// A set with one bit for each number below an argument, in words of 64.
    Bits(usize),
    /// The number of four bytes to which an argument points.
    At(usize),
    /// Up to the first byte that is 0.
    Text,
    /// The type of a message of System V, and as many bytes as an argument says.
    Message(usize),
}

const fn reads(nth: usize, len: BufferSize) -> PointerArgument {
    PointerArgument { nth, len, writes: false }
}

const fn writes(nth: usize, len: BufferSize) -> PointerArgument {
    PointerArgument { nth, len, writes: true }
}

const TIMESPEC: BufferSize = BufferSize::Bytes(16);
const ITIMER: BufferSize = BufferSize::Bytes(32);
const SIGNALS: BufferSize = BufferSize::Bytes(8);
const INFO: BufferSize = BufferSize::Bytes(128);
const NUMBER: BufferSize = BufferSize::Bytes(4);
const USAGE: BufferSize = BufferSize::Bytes(144);
const LOCK: BufferSize = BufferSize::Bytes(32);
/// The values of all semaphores of a set, of two bytes each: few sets have more of them.
const SEMAPHORES: BufferSize = BufferSize::Bytes(64);

const TYPE_OF_MESSAGE: u64 = 8;

/// The buffers that the call at which a thread stands reads and writes. `number` reads so many bytes at an address, and
/// `text` returns the length of the text at one, without its end.
pub(crate) fn of(
    regs: &Regs,
    number: impl Fn(u64, usize) -> u64,
    text: impl Fn(u64) -> u64,
) -> SmallVec<[Buffer; 4]> {
    let pointers = pointers(regs).iter().map(|pointer| (argument(regs, pointer.nth), pointer));
    let pointers = pointers.filter(|(at, _)| *at != 0);
    let buffers = pointers.map(|(at, pointer)| {
        let len = match pointer.len {
            BufferSize::Bytes(len) => len,
            BufferSize::Each(count, size) => u64::from(argument(regs, count) as u32).saturating_mul(size),
            BufferSize::Bits(count) => u64::from(argument(regs, count) as u32).div_ceil(64) * 8,
            BufferSize::At(length) => number(argument(regs, length), 4),
            BufferSize::Text => text(at) + 1,
            BufferSize::Message(size) => u64::from(argument(regs, size) as u32) + TYPE_OF_MESSAGE,
        };
        Buffer { at, len, writes: pointer.writes }
    });
    buffers.filter(|buffer| buffer.len > 0).collect()
}

fn pointers(regs: &Regs) -> &'static [PointerArgument] {
    use BufferSize::{At, Bits, Bytes, Each};
    match regs.orig_rax as c_long {
        libc::SYS_poll => const { &[writes(0, Each(1, 8))] },
        libc::SYS_ppoll => const { &[writes(0, Each(1, 8)), reads(3, SIGNALS)] },
        libc::SYS_select | libc::SYS_pselect6 => {
            const { &[writes(1, Bits(0)), writes(2, Bits(0)), writes(3, Bits(0))] }
        }
        libc::SYS_epoll_wait => const { &[writes(1, Each(2, 12))] },
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
            const { &[writes(1, Each(2, 12)), reads(4, SIGNALS)] }
        }
        libc::SYS_epoll_ctl => const { &[reads(3, Bytes(12))] },
        libc::SYS_pipe | libc::SYS_pipe2 => const { &[writes(0, Bytes(8))] },
        libc::SYS_socketpair => const { &[writes(3, Bytes(8))] },
        libc::SYS_getsockname | libc::SYS_getpeername | libc::SYS_accept | libc::SYS_accept4 => {
            const { &[writes(1, At(2)), writes(2, NUMBER)] }
        }
        libc::SYS_bind | libc::SYS_connect => const { &[reads(1, Each(2, 1))] },
        libc::SYS_sendto => const { &[reads(4, Each(5, 1))] },
        libc::SYS_recvfrom => const { &[writes(4, At(5)), writes(5, NUMBER)] },
        libc::SYS_getsockopt => const { &[writes(3, At(4)), writes(4, NUMBER)] },
        libc::SYS_setsockopt => const { &[reads(3, Each(4, 1))] },
        libc::SYS_ioctl => ioctl(regs.rsi),
        libc::SYS_fcntl => match regs.rsi as i32 {
            libc::F_GETLK | libc::F_OFD_GETLK => const { &[writes(2, LOCK)] },
            libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
                const { &[reads(2, LOCK)] }
            }
            _ => &[],
        },
        libc::SYS_statfs | libc::SYS_fstatfs => const { &[writes(1, Bytes(120))] },
        libc::SYS_getxattr | libc::SYS_lgetxattr | libc::SYS_fgetxattr => {
            const { &[reads(1, BufferSize::Text), writes(2, Each(3, 1))] }
        }
        libc::SYS_setxattr | libc::SYS_lsetxattr | libc::SYS_fsetxattr => {
            const { &[reads(1, BufferSize::Text), reads(2, Each(3, 1))] }
        }
        libc::SYS_listxattr | libc::SYS_llistxattr | libc::SYS_flistxattr => {
            const { &[writes(1, Each(2, 1))] }
        }
        libc::SYS_utimensat => const { &[reads(2, Bytes(32))] },
        libc::SYS_uname => const { &[writes(0, Bytes(390))] },
        libc::SYS_sysinfo => const { &[writes(0, Bytes(112))] },
        libc::SYS_times => const { &[writes(0, Bytes(32))] },
        libc::SYS_getrusage => const { &[writes(1, USAGE)] },
        libc::SYS_getrlimit => const { &[writes(1, Bytes(16))] },
        libc::SYS_setrlimit => const { &[reads(1, Bytes(16))] },
        libc::SYS_prlimit64 => const { &[reads(2, Bytes(16)), writes(3, Bytes(16))] },
        libc::SYS_getrandom => const { &[writes(0, Each(1, 1))] },
        libc::SYS_signalfd | libc::SYS_signalfd4 => const { &[reads(1, SIGNALS)] },
        libc::SYS_memfd_create => const { &[reads(0, BufferSize::Text)] },
        libc::SYS_getcpu => const { &[writes(0, NUMBER), writes(1, NUMBER)] },
        libc::SYS_sched_getaffinity => const { &[writes(2, Bytes(8))] },
        libc::SYS_sched_getparam => const { &[writes(1, NUMBER)] },
        libc::SYS_sched_setparam => const { &[reads(1, NUMBER)] },
        libc::SYS_sched_setscheduler => const { &[reads(2, NUMBER)] },
        libc::SYS_sched_getattr => const { &[writes(1, Each(2, 1))] },
        libc::SYS_sched_rr_get_interval => const { &[writes(1, TIMESPEC)] },
        libc::SYS_clock_gettime | libc::SYS_clock_getres => const { &[writes(1, TIMESPEC)] },
        libc::SYS_gettimeofday => const { &[writes(0, TIMESPEC), writes(1, Bytes(8))] },
        libc::SYS_time => const { &[writes(0, Bytes(8))] },
        libc::SYS_getitimer => const { &[writes(1, ITIMER)] },
        libc::SYS_setitimer => const { &[reads(1, ITIMER), writes(2, ITIMER)] },
        libc::SYS_timer_create => const { &[reads(1, Bytes(64)), writes(2, NUMBER)] },
        libc::SYS_timer_settime | libc::SYS_timerfd_settime => {
            const { &[reads(2, ITIMER), writes(3, ITIMER)] }
        }
        libc::SYS_timer_gettime | libc::SYS_timerfd_gettime => const { &[writes(1, ITIMER)] },
        libc::SYS_rt_sigaction => const { &[reads(1, Bytes(32)), writes(2, Bytes(32))] },
        libc::SYS_rt_sigpending => const { &[writes(0, SIGNALS)] },
        libc::SYS_rt_sigtimedwait => const { &[writes(1, INFO)] },
        libc::SYS_rt_sigqueueinfo => const { &[reads(2, INFO)] },
        libc::SYS_rt_tgsigqueueinfo => const { &[reads(3, INFO)] },
        libc::SYS_wait4 => const { &[writes(1, NUMBER), writes(3, USAGE)] },
        libc::SYS_waitid => const { &[writes(2, INFO), writes(4, USAGE)] },
        libc::SYS_getgroups => const { &[writes(1, Each(0, 4))] },
        libc::SYS_setgroups => const { &[reads(1, Each(0, 4))] },
        libc::SYS_getresuid | libc::SYS_getresgid => {
            const { &[writes(0, NUMBER), writes(1, NUMBER), writes(2, NUMBER)] }
        }
        libc::SYS_capget => const { &[writes(1, Bytes(24))] },
        libc::SYS_capset => const { &[reads(1, Bytes(24))] },
        libc::SYS_prctl => match regs.rdi as i32 {
            libc::PR_GET_NAME => const { &[writes(1, Bytes(16))] },
            libc::PR_SET_NAME => const { &[reads(1, Bytes(16))] },
            libc::PR_GET_PDEATHSIG => const { &[writes(1, NUMBER)] },
            _ => &[],
        },
        libc::SYS_sendfile => const { &[writes(2, Bytes(8))] },
        libc::SYS_copy_file_range | libc::SYS_splice => const { &[writes(1, Bytes(8)), writes(3, Bytes(8))] },
        libc::SYS_semop | libc::SYS_semtimedop => const { &[reads(1, Each(2, 6))] },
        libc::SYS_semctl => match regs.rdx as i32 {
            libc::IPC_STAT => const { &[writes(3, Bytes(104))] },
            libc::IPC_SET => const { &[reads(3, Bytes(104))] },
            libc::GETALL => const { &[writes(3, SEMAPHORES)] },
            libc::SETALL => const { &[reads(3, SEMAPHORES)] },
            _ => &[],
        },
        libc::SYS_msgsnd => const { &[reads(1, BufferSize::Message(2))] },
        libc::SYS_msgrcv => const { &[writes(1, BufferSize::Message(2))] },
        libc::SYS_msgctl | libc::SYS_shmctl => match regs.rsi as i32 {
            libc::IPC_STAT => const { &[writes(2, Bytes(120))] },
            libc::IPC_SET => const { &[reads(2, Bytes(120))] },
            _ => &[],
        },
        libc::SYS_mq_open => const { &[reads(3, Bytes(64))] },
        libc::SYS_mq_getsetattr => const { &[reads(1, Bytes(64)), writes(2, Bytes(64))] },
        libc::SYS_mq_timedsend => const { &[reads(1, Each(2, 1))] },
        libc::SYS_mq_timedreceive => const { &[writes(1, Each(2, 1)), writes(3, NUMBER)] },
        _ => &[],
    }
}

fn ioctl(request: u64) -> &'static [PointerArgument] {
    match request {
        libc::FIONREAD => const { &[writes(2, NUMBER)] },
        libc::FIONBIO => const { &[reads(2, NUMBER)] },
        libc::TIOCGWINSZ => const { &[writes(2, BufferSize::Bytes(8))] },
        libc::TIOCGPGRP => const { &[writes(2, NUMBER)] },
        libc::TCGETS => const { &[writes(2, BufferSize::Bytes(36))] },
        _ => &[],
    }
}

/// The paths that a call is given.
pub(crate) fn paths(regs: &Regs) -> SmallVec<[u64; 2]> {
    let call = regs.orig_rax as c_long;
    let nth: &[usize] = match call {
        libc::SYS_unlink | libc::SYS_rmdir | libc::SYS_mkdir | libc::SYS_mknod => &[0],
        libc::SYS_unlinkat | libc::SYS_mkdirat | libc::SYS_mknodat => &[1],
        libc::SYS_rename | libc::SYS_link | libc::SYS_symlink => &[0, 1],
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => &[1, 3],
        libc::SYS_symlinkat => &[0, 2],
        _ => &[],
    };
    let named = super::path_argument(call).map(|(path, _)| path);
    nth.iter().copied().chain(named).map(|nth| argument(regs, nth)).filter(|at| *at != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regs(call: c_long, arguments: [u64; 4]) -> Regs {
        // SAFETY: registers are plain numbers, for which all zeros are valid.
        let mut regs: Regs = unsafe { std::mem::zeroed() };
        regs.orig_rax = call as u64;
        [regs.rdi, regs.rsi, regs.rdx, regs.r10] = arguments;
        regs
    }

    #[test]
    fn lengths_follow_from_other_arguments() {
        let told = |call, arguments| of(&regs(call, arguments), |at, _| at + 1, |_| 3).to_vec();
        let buffer = |at, len, writes| Buffer { at, len, writes };
        assert_eq!(told(libc::SYS_poll, [0x10, 3, 0, 0]), [buffer(0x10, 24, true)]);
        assert_eq!(told(libc::SYS_select, [65, 0x10, 0, 0]), [buffer(0x10, 16, true)]);
        let both = [buffer(0x10, 0x21, true), buffer(0x20, 4, true)];
        assert_eq!(told(libc::SYS_getsockname, [3, 0x10, 0x20, 0]), both);
        assert_eq!(told(libc::SYS_poll, [0, 3, 0, 0]), []);
        assert_eq!(paths(&regs(libc::SYS_rename, [0x10, 0x20, 0, 0])).as_slice(), [0x10, 0x20]);
    }
}
