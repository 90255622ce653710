//! `SIGCHLD`, by which the kernel tells that a tracee has stopped, brought to the thread that waits for that tracee.
//!
//! The signal is one for the process: any thread may be the one that handles it, and it is sent once for all stops up to then. So
//! the handler looks for each thread that waits whether its own tracee has something to report, and sends the signal on to that
//! thread alone.

use std::cell::Cell;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

use crate::os::Tid;

/// The states of the running thread, at whose word its tracer waits: it runs; it has handed itself over; a tracee may have stopped.
pub(super) const RUNS: u32 = 0;
pub(super) const HANDED_OVER: u32 = 1;
pub(super) const REPORTED: u32 = 2;

/// A thread of this process that traces.
struct Tracer {
    /// Its number, or 0: there is none.
    thread: AtomicI32,
    /// The tracee that it waits for, or 0.
    tracee: AtomicI32,
}

/// So many threads can be told of stops that another one's signal stood for. Further ones look for these themselves after a while
/// ([`super::SharedPage::wait`]).
const MOST: usize = 256;

static TRACERS: [Tracer; MOST] =
    [const { Tracer { thread: AtomicI32::new(0), tracee: AtomicI32::new(0) } }; MOST];

/// The number of places among them up to the last one that has ever been taken.
static PLACES: AtomicUsize = AtomicUsize::new(0);

/// The place of a thread among [`TRACERS`], which it leaves when it ends.
struct TracerSlot(Option<usize>);

impl TracerSlot {
    fn take() -> Self {
        // SAFETY: asks for a number.
        let thread = unsafe { libc::gettid() };
        let is_taken = |tracer: &Tracer| {
            tracer.thread.compare_exchange(0, thread, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        let place = TRACERS.iter().position(is_taken);
        PLACES.fetch_max(place.map_or(0, |place| place + 1), Ordering::SeqCst);
        Self(place)
    }

    fn wait_for(&self, tracee: Tid) {
        if let Some(place) = self.0 {
            TRACERS[place].tracee.store(tracee, Ordering::SeqCst);
        }
    }
}

impl Drop for TracerSlot {
    fn drop(&mut self) {
        self.wait_for(0);
        if let Some(place) = self.0 {
            TRACERS[place].thread.store(0, Ordering::SeqCst);
        }
    }
}

thread_local! {
    /// The word at which this thread waits for the thread of its program that runs.
    static WAITS_AT: Cell<*const AtomicU32> = const { Cell::new(ptr::null()) };
    static PLACE: TracerSlot = TracerSlot::take();
}

/// The words are told of stops from now on, and the calling thread's signals let through.
pub(super) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: installs a handler that makes async-signal-safe calls only. An all-zero action is a valid one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction =
                reported as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        }
    });
    // SAFETY: the set is initialised before it is read. The process that started this one may have blocked the signal.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// The calling thread waits at this word until this tracee reports something, from before the tracee runs. The word must stay mapped
/// until [`forget`].
pub(super) fn expect(word: &AtomicU32, tracee: Tid) {
    WAITS_AT.set(word);
    PLACE.with(|place| place.wait_for(tracee));
}

/// The calling thread waits no longer.
pub(super) fn forget() {
    // A thread that ends may have left its place already.
    let _ = PLACE.try_with(|place| place.wait_for(0));
    WAITS_AT.set(ptr::null());
}

/// Whether the calling thread waits at this word.
pub(super) fn is_expected_at(word: &AtomicU32) -> bool {
    ptr::eq(WAITS_AT.get(), word)
}

/// The handler of the signal.
extern "C" fn reported(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let word = WAITS_AT.get();
    if !word.is_null() {
        // SAFETY: the word is set only while its page is mapped.
        let word = unsafe { &*word };
        let _ = word.compare_exchange(RUNS, REPORTED, Ordering::Relaxed, Ordering::Relaxed);
    }
    // SAFETY: the kernel hands over a valid one.
    let is_sent_on = unsafe { (*info).si_code } == libc::SI_TKILL;
    let is_only_one = !word.is_null() && PLACES.load(Ordering::SeqCst) == 1;
    if !is_sent_on && !is_only_one {
        send_on();
    }
}

/// Sends the signal to each other thread whose tracee has something to report.
fn send_on() {
    // SAFETY: asks for numbers; the location of the calling thread's error number is valid for as long as the thread is there.
    let (process, this, error) = unsafe { (libc::getpid(), libc::gettid(), libc::__errno_location()) };
    // SAFETY: as above. The code that was interrupted may be about to read it.
    let before = unsafe { *error };
    for tracer in TRACERS.iter().take(PLACES.load(Ordering::SeqCst)) {
        let thread = tracer.thread.load(Ordering::SeqCst);
        let tracee = tracer.tracee.load(Ordering::SeqCst);
        if thread != 0 && thread != this && tracee != 0 && reports(tracee) {
            // SAFETY: sends a signal with a handler to a thread of this process; if that has ended, to none.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGCHLD) };
        }
    }
    // SAFETY: as above.
    unsafe { *error = before };
}

/// Whether a tracee of any thread of this process has something to report, which it still has afterwards.
fn reports(tracee: Tid) -> bool {
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: an all-zero structure is a valid one, which the kernel writes.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_PID, tracee as libc::id_t, &raw mut info, flags) == 0 && info.si_pid() != 0
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::os::{ptrace, wait};

    /// A traced process that stops once it can read a byte from a pipe, and the pipe's other end.
    fn process_that_stops() -> (Tid, OwnedFd) {
        let mut ends = [0; 2];
        // SAFETY: the kernel writes two descriptors, which have no other owner; the child makes async-signal-safe calls
        // only.
        unsafe {
            assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
            let child = libc::fork();
            if child == 0 {
                let mut byte = 0_u8;
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                libc::read(ends[0], (&raw mut byte).cast(), 1);
                libc::raise(libc::SIGSTOP);
                libc::_exit(0);
            }
            libc::close(ends[0]);
            (child, OwnedFd::from_raw_fd(ends[1]))
        }
    }

    fn set_mask(how: libc::c_int) {
        // SAFETY: the set is initialised before it is read.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut set, libc::SIGCHLD);
            libc::pthread_sigmask(how, &raw const set, ptr::null_mut());
        }
    }

    /// Whether the signal waits for this thread: not for the process, in which any thread may take it.
    fn is_pending() -> bool {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("SigPnd:")).unwrap();
        u64::from_str_radix(pending.trim(), 16).unwrap() & 1 << (libc::SIGCHLD - 1) != 0
    }

    #[test]
    fn a_stop_whose_signal_another_thread_handles_is_told_to_the_thread_that_waits() {
        install();
        let word = AtomicU32::new(RUNS);
        let (told, end) = (&word, &AtomicU32::new(0));
        thread::scope(|scope| {
            // It handles the signal, since the thread that waits for the tracee has that blocked.
            scope.spawn(move || {
                set_mask(libc::SIG_UNBLOCK);
                while end.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
            });
            set_mask(libc::SIG_BLOCK);
            let (tracee, go) = process_that_stops();
            expect(told, tracee);
            File::from(go).write_all(b"!").unwrap();
            let began = Instant::now();
            while !is_pending() && began.elapsed() < Duration::from_secs(30) {
                thread::yield_now();
            }
            let before = told.load(Ordering::SeqCst);
            set_mask(libc::SIG_UNBLOCK);
            let after = told.load(Ordering::SeqCst);
            forget();
            end.store(1, Ordering::SeqCst);
            assert_eq!(wait::one(tracee).unwrap(), wait::WaitStatus::Signal(libc::SIGSTOP));
            ptrace::resume(tracee, libc::SIGKILL).unwrap();
            wait::reap(tracee);
            assert_eq!((before, after), (RUNS, REPORTED));
        });
    }
}
