//! The operating system's calls, each in a small typed function. All `unsafe` of process control is here.

pub(crate) mod calls;
pub(crate) mod capability_probe;
pub(crate) mod fd;
pub(crate) mod file_locks;
pub(crate) mod hand_off;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod own;
pub(crate) mod process;
pub(crate) mod ptrace;
pub(crate) mod signal_names;
pub(crate) mod spawn;
pub(crate) mod system_v;
pub(crate) mod timer;
pub(crate) mod vectors;
pub(crate) mod wait;

/// A thread's or process's number, as the kernel of this machine sees it.
pub(crate) type Tid = libc::pid_t;

/// The registers of a stopped thread.
pub(crate) type Regs = libc::user_regs_struct;

/// The result of a C call that reports failure as -1 in `errno`.
fn check(result: libc::c_long) -> std::io::Result<libc::c_long> {
    if result == -1 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}
