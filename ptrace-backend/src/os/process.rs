//! Facts about another process, as the kernel tells them.

use std::path::PathBuf;
use std::time::Duration;

use super::Tid;

/// Whether address randomisation was on when a process executed its program. `false` where that cannot be read.
pub(crate) fn addresses_vary(tid: Tid) -> bool {
    let flags = std::fs::read_to_string(format!("/proc/{tid}/personality"));
    let flags = flags.ok().and_then(|text| u32::from_str_radix(text.trim(), 16).ok());
    flags.is_some_and(|flags| flags & libc::ADDR_NO_RANDOMIZE as u32 == 0)
}

/// The processor time that all threads of a process have used.
pub(crate) fn processor_time(pid: Tid) -> Option<Duration> {
    // As clock_getcpuclockid(3) has it, without a system call of its own.
    const SCHEDULER: libc::clockid_t = 2;
    let clock = (!pid << 3) | SCHEDULER;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one structure to a valid reference.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The processor time that the calling thread has used.
pub(crate) fn own_processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one structure to a valid reference.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Whether a thread of another process runs, or would if it got a processor, or is held by its tracer: it does not wait for
/// something else.
pub(crate) fn wants_to_run(tid: Tid) -> bool {
    matches!(state(tid), Some('R' | 't' | 'T'))
}

/// Whether a thread has a processor, or waits for nothing but one.
pub(crate) fn is_runnable(tid: Tid) -> bool {
    state(tid) == Some('R')
}

/// The process that has created another one.
pub(crate) fn parent(pid: Tid) -> Option<Tid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// The file that a process executes.
pub(crate) fn executable(pid: Tid) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Whether a process has ended, and the one that has created it has not heard of that.
pub(crate) fn is_zombie(pid: Tid) -> bool {
    state(pid) == Some('Z')
}

/// The process that a thread belongs to.
pub(crate) fn group(tid: Tid) -> Option<Tid> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

fn state(tid: Tid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The address at which a thread has told the kernel that its list of held robust futexes is, if it has.
pub(crate) fn robust_list(tid: Tid) -> Option<u64> {
    let (mut head, mut len) = (0_u64, 0_usize);
    // SAFETY: the kernel writes one word to each of two valid references.
    let result = unsafe { libc::syscall(libc::SYS_get_robust_list, tid, &raw mut head, &raw mut len) };
    (result == 0 && head != 0).then_some(head)
}

/// The state of a thread that stands still and cannot go on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockedSyscall {
    /// The system call, with its arguments.
    call: String,
    /// Number of times that it has given up the processor.
    switches: String,
}

/// The state of a thread of another process, if it waits, in a system call without a time limit, for an action of
/// others.
pub(crate) fn blocked_syscall(tid: Tid) -> Option<BlockedSyscall> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{tid}/{file}")).ok();
    let status = read("status")?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if !field("State:")?.starts_with('S') {
        return None;
    }
    let call = read("syscall")?;
    let switches = field("voluntary_ctxt_switches:")?.to_owned();
    waits_without_limit(&call).then_some(BlockedSyscall { call, switches })
}

/// Whether a line of `/proc/PID/syscall` shows a call that ends only by what others do.
fn waits_without_limit(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let Some(number) = words.next().and_then(|word| word.parse::<libc::c_long>().ok()) else { return false };
    let hexadecimal = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let arguments: Vec<u64> = words.filter_map(hexadecimal).collect();
    let argument = |i: usize| arguments.get(i).copied().unwrap_or(0);
    match number {
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect
        | libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_wait4
        | libc::SYS_waitid
        | libc::SYS_pause
        | libc::SYS_rt_sigsuspend
        | libc::SYS_flock => true,
        libc::SYS_ppoll => argument(2) == 0,
        libc::SYS_futex => argument(3) == 0,
        libc::SYS_select | libc::SYS_pselect6 => argument(4) == 0,
        libc::SYS_poll => (argument(2) as i32) < 0,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => (argument(3) as i32) < 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_without_a_time_limit_wait_for_others() {
        let read = "0 0x0 0x7ffc0 0x400 0x0 0x0 0x0 0x7ffc8 0x7f001";
        let sleep = "230 0x0 0x0 0x7ffc0 0x7ffc0 0x0 0x0 0x7ffc8 0x7f001";
        let poll = |limit: &str| format!("7 0x7ffc0 0x1 {limit} 0x0 0x0 0x0 0x7ffc8 0x7f001");
        assert!(waits_without_limit(read));
        assert!(!waits_without_limit(sleep));
        assert!(waits_without_limit(&poll("0xffffffff")));
        assert!(!waits_without_limit(&poll("0x64")));
        assert!(!waits_without_limit("running"));
    }
}
