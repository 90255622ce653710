//! A signal for a thread whenever it has used a second of a processor's time.

use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;

use crate::os;

/// Ends the process if it returns `false`. It runs in a signal handler.
pub(crate) type LivenessCheck = fn() -> bool;

static CHECK: OnceLock<LivenessCheck> = OnceLock::new();

const SECOND: libc::timespec = libc::timespec { tv_sec: 1, tv_nsec: 0 };

extern "C" fn heard(_: libc::c_int) {
    const WORDS: &[u8] =
        b"interleaver: a thread has used a second of processor time without looking whether it may go on\n";
    if CHECK.get().is_none_or(|check| check()) {
        return;
    }
    // SAFETY: async-signal-safe calls on a constant.
    unsafe {
        libc::write(2, WORDS.as_ptr().cast(), WORDS.len());
        libc::abort();
    }
}

/// An alarm of the thread that made it, which is why it stays there.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: libc::timer_t,
    thread: PhantomData<*const ()>,
}

impl Alarm {
    /// Lets the calling thread be checked once a second of its processor time. All alarms have the same check.
    pub(crate) fn each_second(check: LivenessCheck) -> io::Result<Self> {
        let _ = CHECK.set(check);
        // SAFETY: all-zero structures are valid; the handler makes async-signal-safe calls only, and the kernel reads and writes
        // valid references. The timer belongs to this thread, which outlives it.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = heard as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            os::check(libc::sigaction(libc::SIGVTALRM, &raw const action, ptr::null_mut()).into())?;
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGVTALRM;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = ptr::null_mut();
            let made = libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer);
            os::check(made.into())?;
            let alarm = Self { timer, thread: PhantomData };
            let each = libc::itimerspec { it_interval: SECOND, it_value: SECOND };
            os::check(libc::timer_settime(alarm.timer, 0, &raw const each, ptr::null_mut()).into())?;
            Ok(alarm)
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: the timer was made by this thread and is deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}
