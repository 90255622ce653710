//! Readings of the clock by a thread in one place.

/// The number of readings in one place that are nothing unusual.
const PATIENCE: u32 = 8;

/// The first step of the time, in nanoseconds; each is twice the one before it.
const FIRST: u64 = 2000;

/// The largest step: a minute.
const LONGEST: u64 = 60_000_000_000;

/// The readings of the clock by a thread in one place since it changed anything that others see.
#[derive(Debug, Default)]
pub(crate) struct ClockReadings {
    /// The instruction pointer and the stack pointer.
    pub(crate) place: (u64, u64),
    pub(crate) count: u32,
}

impl ClockReadings {
    /// Counts a reading, and says how far time goes on if the thread is taken to wait for it.
    pub(crate) fn step(&mut self, place: (u64, u64)) -> Option<u64> {
        if self.place != place {
            *self = Self { place, count: 0 };
        }
        self.count = self.count.saturating_add(1);
        let doublings = self.count.checked_sub(PATIENCE + 1)?;
        Some(1_u64.checked_shl(doublings).map_or(LONGEST, |times| FIRST.saturating_mul(times).min(LONGEST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_faster_where_it_is_waited_for() {
        let mut readings = ClockReadings::default();
        let steps: Vec<_> = (0..12).map(|_| readings.step((1, 2))).collect();
        assert_eq!(steps[..8], [None; 8]);
        assert_eq!(steps[8..], [Some(2000), Some(4000), Some(8000), Some(16_000)]);
        assert_eq!(readings.step((1, 3)), None, "it is another place");
    }

    #[test]
    fn time_goes_on_by_a_minute_at_most() {
        let mut readings = ClockReadings::default();
        assert_eq!((0..100).map(|_| readings.step((1, 2))).last(), Some(Some(LONGEST)));
    }
}
