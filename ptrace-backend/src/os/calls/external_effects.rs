//! Meeting points of executions that run at the same time, outside of their memory: files that they write, names,
//! sockets.

use crate::os::{Regs, Tid, memory};

/// System calls that make, remove or change names of files.
pub(crate) const NAMES: &[libc::c_long] = &[
    libc::SYS_openat2,
    libc::SYS_creat,
    libc::SYS_truncate,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
];

/// System calls by which they could meet, whatever their arguments are, beside [`NAMES`].
pub(crate) const CALLS: &[libc::c_long] = &[
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_sendmsg,
    libc::SYS_flock,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

/// Whether the system call at which a thread stands is such a one. `has_network`: each execution has one of its own.
pub(crate) fn has_any(tid: Tid, regs: &Regs, has_network: bool) -> bool {
    match regs.orig_rax as i64 {
        libc::SYS_open => writes(tid, regs.rdi, regs.rsi),
        libc::SYS_openat => writes(tid, regs.rsi, regs.rdx),
        // The address begins with its family.
        libc::SYS_bind | libc::SYS_connect if has_network && is_of_network(tid, regs.rsi) => false,
        libc::SYS_sendto => regs.r8 != 0 && !(has_network && is_of_network(tid, regs.r8)),
        call => CALLS.contains(&call) || NAMES.contains(&call),
    }
}

/// Whether a socket's address is one of a network.
fn is_of_network(tid: Tid, address: u64) -> bool {
    let family = memory::number(tid, address, 2);
    family.is_some_and(|family| [libc::AF_INET, libc::AF_INET6].contains(&(family as i32)))
}

/// Whether a file is opened for more than to be read. A device is common to all processes anyway.
fn writes(tid: Tid, path: u64, flags: u64) -> bool {
    let flags = flags as i32;
    let is_read = flags & libc::O_ACCMODE == libc::O_RDONLY && flags & (libc::O_CREAT | libc::O_TRUNC) == 0;
    !is_read && {
        let path = memory::string(tid, path);
        !path.starts_with("/dev/") || path.starts_with("/dev/shm/")
    }
}
