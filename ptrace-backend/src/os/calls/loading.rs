//! System calls of a process that loads a library: none whose effect a copy made afterwards would lack.

use super::external_effects;
use crate::os::{Regs, Tid};

/// System calls that look, or that change what copies have as well: their memory, and descriptors that are closed again.
const CALLS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_fadvise64,
    libc::SYS_close,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_munmap,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
];

/// Whether the system call at which a thread stands is one of those that are made to load a library.
pub(crate) fn is_part(tid: Tid, regs: &Regs) -> bool {
    let (protection, flags) = (regs.rdx as i32, regs.r10 as i32);
    let is_executable = protection & libc::PROT_EXEC != 0;
    match regs.orig_rax as libc::c_long {
        libc::SYS_open | libc::SYS_openat => !external_effects::has_any(tid, regs, false),
        // Code is that of files, and nothing that is written there is seen elsewhere.
        libc::SYS_mmap => {
            let is_written_elsewhere = flags & libc::MAP_SHARED != 0 && protection & libc::PROT_WRITE != 0;
            let is_made = is_executable && flags & libc::MAP_ANONYMOUS != 0;
            !is_written_elsewhere && !is_made
        }
        libc::SYS_mprotect => !is_executable,
        // The only thread wakes no other one.
        libc::SYS_futex => regs.rsi as i32 & !libc::FUTEX_PRIVATE_FLAG == libc::FUTEX_WAKE,
        call => CALLS.contains(&call),
    }
}
