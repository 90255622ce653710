//! waitpid(2), decoded here: a library's decoder refuses real-time signals, and glibc uses two of them.

use std::cell::Cell;
use std::io;

use super::Tid;

/// The reason for which a tracee has stopped or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitStatus {
    /// It ended with this code.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
    /// It is about to get this signal.
    Signal(i32),
    /// A trapped system call.
    Seccomp,
    /// It created a thread; the message is its number.
    Clone,
    /// It created a process; the message is its number.
    Fork,
    /// It created a process that shares its memory, and waits until that executes another program or ends.
    Vfork,
    /// It executed another program.
    Exec,
    /// It is about to end (only where asked for).
    Exit,
    /// A new tracee's first stop, an interrupt, or a group stop.
    Stopped,
    /// It has handed itself over ([`super::hand_off`]): the kernel has not stopped it.
    HandedOver,
}

fn decode(status: i32) -> WaitStatus {
    if libc::WIFEXITED(status) {
        return WaitStatus::Exited(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return WaitStatus::Killed(libc::WTERMSIG(status));
    }
    match status >> 16 {
        libc::PTRACE_EVENT_SECCOMP => WaitStatus::Seccomp,
        libc::PTRACE_EVENT_CLONE => WaitStatus::Clone,
        libc::PTRACE_EVENT_FORK => WaitStatus::Fork,
        libc::PTRACE_EVENT_VFORK => WaitStatus::Vfork,
        libc::PTRACE_EVENT_EXEC => WaitStatus::Exec,
        libc::PTRACE_EVENT_EXIT => WaitStatus::Exit,
        0 => WaitStatus::Signal(libc::WSTOPSIG(status)),
        _ => WaitStatus::Stopped,
    }
}

thread_local! {
    /// Number of stops, hand-overs and ends of tracees that this thread has seen.
    static STOPS: Cell<u64> = const { Cell::new(0) };
}

/// One more has been seen.
pub(super) fn count() {
    STOPS.set(STOPS.get() + 1);
}

/// Number of stops, hand-overs and ends of tracees that this thread has seen.
pub(crate) fn stops() -> u64 {
    STOPS.get()
}

fn waitpid(tid: Tid, flags: i32) -> io::Result<Option<(Tid, WaitStatus)>> {
    let mut status = 0;
    // SAFETY: the kernel writes one word to a valid reference.
    match unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | flags) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        who => {
            count();
            Ok(Some((who, decode(status))))
        }
    }
}

/// Waits for one tracee. [`io::ErrorKind::Interrupted`] when an interrupt signal has come to this thread meanwhile.
pub(crate) fn one(tid: Tid) -> io::Result<WaitStatus> {
    loop {
        if let Some((_, status)) = waitpid(tid, 0)? {
            return Ok(status);
        }
    }
}

/// Waits for one tracee through any number of interrupt signals.
pub(crate) fn uninterrupted(tid: Tid) -> io::Result<WaitStatus> {
    loop {
        match one(tid) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The report that one tracee has by now, if any.
pub(crate) fn now(tid: Tid) -> io::Result<Option<WaitStatus>> {
    Ok(waitpid(tid, libc::WNOHANG)?.map(|(_, status)| status))
}

/// Whether a thread or process that has been killed is still to be reaped; does it if it can be done now.
pub(crate) fn is_left(tid: Tid) -> bool {
    match now(tid) {
        Ok(Some(WaitStatus::Exited(_) | WaitStatus::Killed(_))) | Err(_) => false,
        Ok(Some(_)) => {
            // A stop that was queued before: let it go on to die.
            let _ = super::ptrace::resume(tid, 0);
            true
        }
        Ok(None) => true,
    }
}

/// Reaps a thread or process that has been killed, however many stops it still reports.
pub(crate) fn reap(tid: Tid) {
    let _ = end(tid);
}

/// Waits for the end of a tracee that is about to end, and says how it did.
pub(crate) fn end(tid: Tid) -> io::Result<WaitStatus> {
    loop {
        let status = uninterrupted(tid)?;
        if matches!(status, WaitStatus::Exited(_) | WaitStatus::Killed(_)) {
            return Ok(status);
        }
        // A stop that was queued before: let it go on to die.
        let _ = super::ptrace::resume(tid, 0);
    }
}

/// Waits for whichever tracee of this thread reports next. Only for use while all but the expected ones stand still.
pub(crate) fn any() -> io::Result<(Tid, WaitStatus)> {
    waitpid(-1, libc::__WNOTHREAD)?.ok_or_else(|| io::Error::from(io::ErrorKind::Interrupted))
}
