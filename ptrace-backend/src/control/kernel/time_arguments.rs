//! Times that system calls are given: the kernel refuses those that are none, and clocks that no thread can sleep by, before
//! anything else.

use crate::os::{Regs, Tid, memory};

/// Whether the kernel refuses a system call at once for the time that it is given: a `timespec` that cannot be read (`EFAULT`), a
/// negative one, one with as many nanoseconds as a second has (`EINVAL`), or a clock that does not wake (`EINVAL`, `EOPNOTSUPP`).
pub(crate) fn are_refused(leader: Tid, regs: &Regs) -> bool {
    let call = regs.orig_rax as i64;
    if call == libc::SYS_clock_nanosleep && !wakes(regs.rdi as i32) {
        return true;
    }
    place(call, regs).is_some_and(|at| !is_time(leader, at))
}

/// Whether a thread can sleep by a clock. Negative numbers are the clocks of processes, and of devices.
fn wakes(clock: i32) -> bool {
    const WAKE: [i32; 7] = [
        libc::CLOCK_REALTIME,
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_PROCESS_CPUTIME_ID,
        libc::CLOCK_BOOTTIME,
        libc::CLOCK_REALTIME_ALARM,
        libc::CLOCK_BOOTTIME_ALARM,
        libc::CLOCK_TAI,
    ];
    clock < 0 || WAKE.contains(&clock)
}

/// The address of the time for which a system call may wait; `None`: it has none.
fn place(call: i64, regs: &Regs) -> Option<u64> {
    const WAIT: u64 = libc::FUTEX_WAIT as u64;
    const WAIT_BITSET: u64 = libc::FUTEX_WAIT_BITSET as u64;
    const LOCK_PI: u64 = libc::FUTEX_LOCK_PI as u64;
    const COMMAND: u64 = libc::FUTEX_CMD_MASK as u32 as u64;
    let optional = match call {
        // A sleep without a time is refused as well.
        libc::SYS_nanosleep => return Some(regs.rdi),
        libc::SYS_clock_nanosleep => return Some(regs.rdx),
        libc::SYS_futex if matches!(regs.rsi & COMMAND, WAIT | WAIT_BITSET | LOCK_PI) => regs.r10,
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => regs.rdx,
        libc::SYS_pselect6 => regs.r8,
        libc::SYS_epoll_pwait2 | libc::SYS_semtimedop => regs.r10,
        _ => 0,
    };
    (optional != 0).then_some(optional)
}

fn is_time(leader: Tid, at: u64) -> bool {
    const NANOSECONDS: u64 = 1_000_000_000;
    let word = |at| memory::word(leader, at);
    word(at).is_some_and(|seconds| seconds as i64 >= 0)
        && word(at + 8).is_some_and(|nanos| nanos < NANOSECONDS)
}
