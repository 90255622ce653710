//! Interrupting a tracer thread that waits: only it may issue ptrace requests, so a watchdog can do no more than make its
//! `waitpid` return.

use std::io;
use std::sync::Once;

extern "C" fn nothing(_: libc::c_int) {}

/// A thread whose waits a signal interrupts.
#[derive(Clone, Copy)]
pub(crate) struct InterruptibleThread(libc::pthread_t);

impl InterruptibleThread {
    /// The calling thread. It must outlive every use of the result.
    pub(crate) fn current() -> io::Result<Self> {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(|| {
            // SAFETY: installs a handler that does nothing, without SA_RESTART, so that a wait returns EINTR. An
            // all-zero action is a valid one.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
                libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
            }
        });
        // SAFETY: has no preconditions.
        Ok(Self(unsafe { libc::pthread_self() }))
    }

    /// Makes its system call return [`io::ErrorKind::Interrupted`].
    pub(crate) fn interrupt(self) {
        // SAFETY: the thread is alive, see `current`; the signal's handler does nothing.
        unsafe { libc::pthread_kill(self.0, libc::SIGUSR2) };
    }
}
