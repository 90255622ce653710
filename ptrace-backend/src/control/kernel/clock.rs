//! The virtual clock of each thread, and loops that wait for a time. Virtual time moves when the clock is read, so that such a loop would take as many readings as
//! it has microseconds to wait, and would starve the others all the while.
//!
//! A thread that reads the clock again and again in one place, and changes nothing that others see, is taken to wait for a
//! time: at each further reading it gives way, and its time makes a larger step.

use checker::operation::{Effect, Mode, Op, OpKind};

use crate::answers::START_OF_TIME;
use crate::control::process::{Flow, Process};
use crate::control::sync::objects::Index;
use crate::control::thread::{Act, Need};

/// So many readings in one place are nothing unusual.
const PATIENCE: u32 = 8;

/// The first step of the time, in nanoseconds; each is twice the one before it.
const FIRST: u64 = 2000;

/// The largest step: a minute.
const LONGEST: u64 = 60_000_000_000;

/// How often a thread has read the clock in one place since it changed anything that others see.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// The instruction pointer and the stack pointer.
    place: (u64, u64),
    count: u32,
}

impl Readings {
    /// Counts a reading, and says how far time goes on if the thread is taken to wait for it.
    fn step(&mut self, place: (u64, u64)) -> Option<u64> {
        if self.place != place {
            *self = Self { place, count: 0 };
        }
        self.count = self.count.saturating_add(1);
        let doublings = self.count.checked_sub(PATIENCE + 1)?;
        Some(1_u64.checked_shl(doublings).map_or(LONGEST, |times| FIRST.saturating_mul(times).min(LONGEST)))
    }
}

impl Process {
    /// Virtual time is a Lamport clock: an event comes after all events on the same objects that it depends on.
    pub(crate) fn keep_time(&mut self, index: Index, did: &Effect) {
        const TICK: u64 = 1000;
        let mut now = self.threads[index].world.now + TICK;
        for access in &did.accesses {
            let (read, written) =
                self.times.get(&access.obj).copied().unwrap_or((START_OF_TIME, START_OF_TIME));
            now = now.max(written + TICK);
            if !access.mode.leaves_as_it_is() {
                now = now.max(read + TICK);
            }
        }
        for access in &did.accesses {
            let times = self.times.entry(access.obj).or_insert((START_OF_TIME, START_OF_TIME));
            match access.mode {
                Mode::Read | Mode::Share => times.0 = times.0.max(now),
                _ => times.1 = now,
            }
        }
        self.threads[index].world.now = now;
    }

    /// The clock of a thread that has waited for the end of another one is not behind that thread's.
    pub(crate) fn join_clock(&mut self, index: Index, ended: Index) {
        let end = self.threads[ended].world.now;
        let now = &mut self.threads[index].world.now;
        *now = end.max(*now);
    }

    /// A thread that waits for a time gives way before it reads the clock. `None`: it does not wait, or nobody is there to
    /// give way to.
    pub(crate) fn wait_for_time(&mut self, index: Index) -> Option<Flow> {
        let thread = &mut self.threads[index];
        let regs = &thread.regs;
        if ![libc::SYS_clock_gettime, libc::SYS_gettimeofday, libc::SYS_time]
            .contains(&(regs.orig_rax as i64))
        {
            return None;
        }
        let step = thread.readings.step((regs.rip, regs.rsp))?;
        thread.world.now = thread.world.now.saturating_add(step);
        if !self.is_scheduled(index) {
            return None;
        }
        Some(self.pend(index, Op::new(OpKind::Yield, []), Need::Nothing, Act::ReadClock, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_faster_where_it_is_waited_for() {
        let mut readings = Readings::default();
        let steps: Vec<_> = (0..12).map(|_| readings.step((1, 2))).collect();
        assert_eq!(steps[..8], [None; 8]);
        assert_eq!(steps[8..], [Some(2000), Some(4000), Some(8000), Some(16_000)]);
        assert_eq!(readings.step((1, 3)), None, "it is another place");
    }

    #[test]
    fn time_goes_on_by_a_minute_at_most() {
        let mut readings = Readings::default();
        assert_eq!((0..100).map(|_| readings.step((1, 2))).last(), Some(Some(LONGEST)));
    }
}
