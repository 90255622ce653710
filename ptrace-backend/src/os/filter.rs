//! The seccomp filter: which system calls of the target stop for the tracer.

use libc::{BPF_ABS, BPF_JEQ, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

use super::outside;

/// System calls that always stop, beside those that reach outside of the process: blocking, time, randomness, identity, signals, the end of the process.
const TRACED: &[libc::c_long] = &[
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_exit_group,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_getrandom,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_getcpu,
    libc::SYS_set_tid_address,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pause,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_shutdown,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_epoll_ctl,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_alarm,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timerfd_create,
    libc::SYS_io_uring_setup,
    libc::SYS_ptrace,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_pkey_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_lseek,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_statx,
];

/// System calls that stop unless their first argument is a standard stream, which never blocks here.
const TRACED_ON_OTHER_STREAMS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
];

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// `AUDIT_ARCH_X86_64`: little-endian, 64 bit, EM_X86_64.
const X86_64: u32 = 0xc000_003e;

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, jt: usize, jf: usize) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: jt as u8, jf: jf as u8, k }
}

/// The program, to be installed before the target's first instruction.
///
/// Ends in three returns: allow, trace, and refuse a call of another architecture.
pub(crate) fn program() -> Vec<sock_filter> {
    let streams = TRACED_ON_OTHER_STREAMS.len();
    let load = |offset| statement(BPF_LD | BPF_W | BPF_ABS, offset);
    let mut code = vec![load(ARCH), jump(BPF_JEQ, X86_64, 0, 0), load(NUMBER)];
    let traced = || TRACED.iter().chain(outside::CALLS).chain(outside::NAMES);
    let all = traced().count();
    let check = 3 + all + streams + 1; // where the first argument is looked at
    let (allow, trace, foreign) = (check + 2, check + 3, check + 4);
    code[1].jf = (foreign - 2) as u8;
    for (i, &call) in traced().enumerate() {
        code.push(jump(BPF_JEQ, call as u32, trace - (3 + i) - 1, 0));
    }
    for (i, &call) in TRACED_ON_OTHER_STREAMS.iter().enumerate() {
        code.push(jump(BPF_JEQ, call as u32, check - (3 + all + i) - 1, 0));
    }
    code.push(statement(libc::BPF_JMP | libc::BPF_JA, (allow - check) as u32));
    code.push(load(FIRST_ARGUMENT));
    code.push(jump(BPF_JGT, 2, 1, 0));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_TRACE));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_KILL_PROCESS));
    code
}
