//! The doing of a timer: a signal as the kernel's timers send it, and a counter that stands for the timer's file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;

use super::{Tid, check, fd};

/// Sends a signal with this value to a thread of a process, or to the process.
pub(crate) fn send_signal(
    pid: Tid,
    thread: Option<Tid>,
    signal: i32,
    value: u64,
    overrun: i32,
) -> io::Result<()> {
    /// The words of `siginfo_t`, and those that it has for timers: its code, the number of overruns, the value.
    const WORDS: usize = 16;
    let mut info = [0_u64; WORDS];
    info[0] = signal as u64;
    info[1] = u64::from(libc::SI_TIMER as u32);
    info[2] = u64::from(overrun as u32) << 32;
    info[3] = value;
    // SAFETY: the kernel reads one `siginfo_t` from an array of its size; the rest are plain numbers.
    let result = unsafe {
        match thread {
            Some(thread) => libc::syscall(libc::SYS_rt_tgsigqueueinfo, pid, thread, signal, info.as_ptr()),
            None => libc::syscall(libc::SYS_rt_sigqueueinfo, pid, signal, info.as_ptr()),
        }
    };
    check(result).map(drop)
}

/// Asks a process to end, by SIGTERM to this thread of it, or to any.
pub(crate) fn terminate(pid: Tid, thread: Option<Tid>) {
    // SAFETY: plain numbers. A process that has gone already is the only way to fail.
    unsafe {
        match thread {
            Some(thread) => libc::syscall(libc::SYS_tgkill, pid, thread, libc::SIGTERM),
            None => libc::syscall(libc::SYS_kill, pid, libc::SIGTERM),
        };
    }
}

/// A counter (`eventfd`) of another process, which has it in the place of a timer's file.
#[derive(Debug)]
pub(crate) struct Counter(File);

impl Counter {
    /// The one that a descriptor of a process stands for.
    pub(crate) fn of(pid: Tid, descriptor: i32) -> Option<Self> {
        fd::borrow(pid, descriptor).map(|file| Self(File::from(file)))
    }

    /// Counts so many expirations, which makes it readable.
    pub(crate) fn add(&self, count: u64) {
        if !fd::is_ready_here(&self.0, libc::POLLOUT) {
            return;
        }
        let _ = (&self.0).write(&count.to_ne_bytes());
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        let mut count = [0; 8];
        if fd::is_ready_here(&self.0, libc::POLLIN) {
            let _ = (&self.0).read(&mut count);
        }
    }

    /// The kernel's number of it, which all descriptors of it have in common.
    pub(crate) fn number(&self) -> Option<u64> {
        number("self".to_owned(), self.0.as_raw_fd())
    }
}

/// The number of the counter that a descriptor of a process stands for.
pub(crate) fn counter_number(pid: Tid, descriptor: i32) -> Option<u64> {
    number(pid.to_string(), descriptor)
}

fn number(pid: String, descriptor: i32) -> Option<u64> {
    let about = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    about.lines().find_map(|line| line.strip_prefix("eventfd-id:")?.trim().parse().ok())
}

/// Whether a descriptor of a process stands for the counter of this number.
pub(crate) fn has_counter(pid: Tid, counter: u64) -> bool {
    fd::open(pid).into_iter().any(|descriptor| counter_number(pid, descriptor) == Some(counter))
}
