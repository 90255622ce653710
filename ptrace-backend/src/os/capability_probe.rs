//! Trials of operations that the kernel may refuse, each in a child of its own, so that nothing stays behind.

use std::io;

use super::calls::filter;
use super::network::{self, Network};
use super::wait::{self, WaitStatus};
use super::{Tid, check, fd, memory, ptrace};

/// Tries to stop a child and to look into it.
pub(crate) fn trace() -> io::Result<()> {
    let child = paused_child()?;
    let tried = look_into(child);
    ptrace::kill(child);
    wait::reap(child);
    tried
}

/// A number of this process that a copy of it has at the same address.
static LOOKED_FOR: u64 = 0x1257_1ea7_ed5c_4ed5;

fn look_into(child: Tid) -> io::Result<()> {
    let unexpected = |what: String| io::Error::other(what);
    ptrace::seize(child)?;
    ptrace::interrupt(child)?;
    match wait::uninterrupted(child)? {
        WaitStatus::Stopped => {}
        other => return Err(unexpected(format!("a child that was to stop reported {other:?}"))),
    }
    ptrace::registers(child)?;
    let address = (&raw const LOOKED_FOR) as u64;
    match memory::word(child, address) {
        Some(word) if word == LOOKED_FOR => Ok(()),
        Some(_) => Err(unexpected("the memory of a child reads differently".to_owned())),
        None => Err(io::Error::from_raw_os_error(libc::EPERM)),
    }
}

/// Tries to have system calls stop.
pub(crate) fn filter() -> io::Result<()> {
    let program = filter::program(&[]);
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: plain calls; the filter outlives the child that reads it.
    in_child(|| unsafe {
        match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
            0 => libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            failed => failed,
        }
    })
}

/// Tries to keep addresses from changing at each start.
pub(crate) fn personality() -> io::Result<()> {
    // SAFETY: a plain number.
    in_child(|| unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) })
}

/// Tries to give a process a network of its own.
pub(crate) fn network() -> io::Result<()> {
    let new = Network::new();
    // SAFETY: the child has one thread.
    in_child(|| if unsafe { network::enter(&new) } { 0 } else { -1 })
}

/// Tries to bind a process to one CPU.
pub(crate) fn affinity() -> io::Result<()> {
    let cpus = fd::cpus();
    in_child(|| match cpus.first().map_or(Ok(()), |&cpu| fd::pin_to(cpu)) {
        Ok(()) => 0,
        // The number of the error is where a C call leaves it.
        Err(_) => -1,
    })
}

/// Runs a call that reports failure as -1 in `errno`, and nothing that allocates, in a child.
fn in_child(call: impl FnOnce() -> libc::c_int) -> io::Result<()> {
    // SAFETY: the child calls one function that is async-signal-safe and ends without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = if call() < 0 { errno() } else { 0 };
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(code) }
    }
    check(child.into())?;
    match wait::uninterrupted(child)? {
        WaitStatus::Exited(0) => Ok(()),
        WaitStatus::Exited(code) => Err(io::Error::from_raw_os_error(code)),
        other => Err(io::Error::other(format!("a child that tried it ended with {other:?}"))),
    }
}

fn errno() -> i32 {
    // Without an allocation: the child may not make one.
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EPERM)
}

/// A child that does nothing until it is killed, by whatever process.
fn paused_child() -> io::Result<Tid> {
    // SAFETY: the child calls async-signal-safe functions only, and never returns.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: plain calls; the child ends with its parent.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            loop {
                libc::pause();
            }
        }
    }
    check(child.into()).map(|child| child as Tid)
}
