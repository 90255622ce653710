//! System calls whose answer the tracer makes up, so that it is the same in every execution: time, randomness,
//! identity, processors.

use checker::names::ThreadName;

use crate::os::fd::online_cpus;
use crate::os::{Regs, Tid, memory};

/// The process id that the target sees. The kernel's own numbers stay below 2²² (`PID_MAX_LIMIT`), so that no number is both one of the
/// kernel's, which the C library keeps for each thread, and a made-up one of another thread.
pub(crate) const PID: i64 = 5_000_000;

/// The process id of its parent.
pub(crate) const PARENT: i64 = PID - 1;

/// The count of numbers of threads. They lie below 2³⁰: words of locks that hold one have 30 bits for it. A prime, so that numbers stay
/// apart where they are reduced.
const TIDS: i64 = 500_000_003;

/// The ordinals that have a number of their own among the threads that one thread creates.
const CHILDREN: i64 = 4096;

/// The largest number of processors that the target sees.
const CPUS: u32 = 4;

/// The virtual clock's first value: 2020-01-01 00:00:00 UTC, in nanoseconds.
pub(crate) const START_OF_TIME: u64 = 1_577_836_800_000_000_000;

/// The time by which one reading of the clock advances it, in nanoseconds.
const READING: u64 = 1000;

/// The made-up world as one thread sees it.
#[derive(Debug, Clone)]
pub(crate) struct VirtualSystem {
    /// The thread's virtual time in nanoseconds.
    pub(crate) now: u64,
    /// The time for which a processor has worked for the process so far, as the thread can know it, in nanoseconds.
    pub(crate) processor_time: u64,
    /// The number that the thread has for itself.
    pub(crate) tid: i64,
    /// State of the thread's random numbers.
    random: u64,
    /// The processors that it may run on, one bit each.
    cpus: u64,
}

impl VirtualSystem {
    /// The virtual system of a process's first thread at its start.
    pub(crate) fn new(name: ThreadName, now: u64) -> Self {
        Self::of(name, now, all_cpus())
    }

    /// The virtual system of a thread that the thread of this one creates: it may run on the same processors.
    pub(crate) fn of_child(&self, name: ThreadName) -> Self {
        Self { processor_time: self.processor_time, ..Self::of(name, self.now, self.cpus) }
    }

    fn of(name: ThreadName, now: u64, cpus: u64) -> Self {
        let number = name.path().iter().fold(0, |n, &ordinal| (n * CHILDREN + i64::from(ordinal)) % TIDS);
        let random = 0x9e37_79b9_7f4a_7c15 ^ (number as u64) << 32;
        Self { now, processor_time: 0, tid: PID + number, random, cpus }
    }

    /// Answers the system call that a thread is stopped at, in its memory where need be; `None` if it is not one of
    /// these. A negative result is an error number. This is the virtual system of that thread, or of the one that the call is about.
    pub(crate) fn answer(&mut self, tid: Tid, regs: &Regs) -> Option<i64> {
        let result = match regs.orig_rax as i64 {
            libc::SYS_getpid => PID,
            libc::SYS_getppid => PARENT,
            libc::SYS_gettid => self.tid,
            libc::SYS_clock_gettime => self.clock_gettime(tid, regs),
            libc::SYS_gettimeofday => self.gettimeofday(tid, regs.rdi),
            libc::SYS_time => self.time(tid, regs.rdi),
            libc::SYS_getrandom => self.getrandom(tid, regs.rdi, regs.rsi),
            libc::SYS_sched_getaffinity => self.affinity(tid, regs),
            libc::SYS_sched_setaffinity => self.set_affinity(tid, regs),
            libc::SYS_getcpu => {
                let first = self.cpus.trailing_zeros();
                put(tid, regs.rsi, &0_u32.to_le_bytes(), put(tid, regs.rdi, &first.to_le_bytes(), 0))
            }
            _ => return None,
        };
        Some(result)
    }

    /// The next reading of the clock, in nanoseconds.
    pub(crate) fn read_clock(&mut self) -> u64 {
        self.pass(READING);
        self.now
    }

    /// The thread works for so many nanoseconds.
    pub(crate) fn pass(&mut self, time: u64) {
        self.now = self.now.saturating_add(time);
        self.processor_time = self.processor_time.saturating_add(time);
    }

    fn clock_gettime(&mut self, tid: Tid, regs: &Regs) -> i64 {
        let now = self.read_clock();
        let time = if counts_work(regs.rdi as i32) { self.processor_time } else { now };
        put(tid, regs.rsi, &timespec(time), 0)
    }

    fn gettimeofday(&mut self, tid: Tid, to: u64) -> i64 {
        let micros = self.read_clock() / 1000;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&(micros / 1_000_000).to_le_bytes());
        bytes[8..].copy_from_slice(&(micros % 1_000_000).to_le_bytes());
        put(tid, to, &bytes, 0)
    }

    fn time(&mut self, tid: Tid, to: u64) -> i64 {
        let seconds = self.read_clock() / 1_000_000_000;
        put(tid, to, &seconds.to_le_bytes(), seconds as i64)
    }

    fn getrandom(&mut self, tid: Tid, to: u64, len: u64) -> i64 {
        let len = len.min(1 << 20) as usize;
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.random_number().to_le_bytes());
        }
        put(tid, to, &bytes[..len], len as i64)
    }

    fn affinity(&self, tid: Tid, regs: &Regs) -> i64 {
        if regs.rsi < 8 {
            return -i64::from(libc::EINVAL);
        }
        put(tid, regs.rdx, &self.cpus.to_le_bytes(), 8)
    }

    fn set_affinity(&mut self, tid: Tid, regs: &Regs) -> i64 {
        let cpus = memory::word(tid, regs.rdx).unwrap_or(0) & all_cpus();
        if cpus == 0 {
            return -i64::from(libc::EINVAL);
        }
        self.cpus = cpus;
        0
    }

    /// The next number of this thread's splitmix64 sequence.
    pub(crate) fn random_number(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The clocks that count the time for which a processor works for a process or a thread. Those of others than the caller are negative
/// numbers, and so are those of devices.
fn counts_work(clock: i32) -> bool {
    const KIND: i32 = 7;
    const OF_DEVICE: i32 = 3;
    match clock {
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => true,
        _ => clock < 0 && clock & KIND != OF_DEVICE,
    }
}

/// Whether the answer to a system call is one of [`VirtualSystem::answer`] that is stored in memory.
pub(crate) fn is_stored(call: i64) -> bool {
    matches!(
        call,
        libc::SYS_clock_gettime
            | libc::SYS_gettimeofday
            | libc::SYS_time
            | libc::SYS_getrandom
            | libc::SYS_sched_getaffinity
            | libc::SYS_getcpu
    )
}

/// The kernel's `struct timespec`.
pub(crate) fn timespec(nanos: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(nanos / 1_000_000_000).to_le_bytes());
    bytes[8..].copy_from_slice(&(nanos % 1_000_000_000).to_le_bytes());
    bytes
}

/// Reads a `struct timespec` of the target, in nanoseconds.
pub(crate) fn read_timespec(tid: Tid, at: u64) -> Option<u64> {
    let (seconds, nanos) = (memory::word(tid, at)?, memory::word(tid, at + 8)?);
    Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

/// Whether a `timespec` holds a number of nanoseconds that a second has.
pub(crate) fn is_valid_timespec(tid: Tid, at: u64) -> bool {
    memory::word(tid, at + 8).is_none_or(|nanos| nanos < 1_000_000_000)
}

/// Stores bytes unless the target gave no address, and returns the result given.
fn put(tid: Tid, at: u64, bytes: &[u8], result: i64) -> i64 {
    if at == 0 || memory::write(tid, at, bytes) { result } else { -i64::from(libc::EFAULT) }
}

/// The processors of the made-up machine, one bit each: no more than the real one has, since that stands in files, which the
/// program can read as well.
fn all_cpus() -> u64 {
    (1 << CPUS.min(online_cpus())) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest number that the kernel gives to a process or a thread is one less.
    const PID_MAX_LIMIT: i64 = 1 << 22;
    /// Words of futexes and of locks that hold the number of a thread have so many bits for it.
    const FUTEX_TID_BITS: u32 = 30;

    #[test]
    fn numbers_of_threads_are_apart_from_each_other_and_from_the_kernels() {
        let mut numbers = vec![VirtualSystem::new(ThreadName::MAIN, 0).tid];
        let mut parents = vec![ThreadName::MAIN];
        for children in [100, 10, 3, 1, 1, 1] {
            let threads =
                parents.iter().flat_map(|parent| (1..=children).filter_map(|nth| parent.child(nth)));
            parents = threads.collect();
            numbers.extend(parents.iter().map(|&name| VirtualSystem::new(name, 0).tid));
        }
        assert!(numbers.iter().all(|&number| number > PID_MAX_LIMIT && number < 1 << FUTEX_TID_BITS));
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((numbers.len(), numbers[0]), (count, PID));
    }
}
