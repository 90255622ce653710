//! Time slices: the values that a thread has looked at, and the length of its slice.

use rustc_hash::FxHashMap;

/// The number of looks in one place that may see the same before a thread gives way for the first time. The next slice is twice
/// as long.
const FIRST: u32 = 256;

/// The longest slice. An execution may have a hundred of them before it is said not to end, so that others come far even
/// where each lets them run one event only.
const LONGEST: u32 = 1_024;

/// The value that a thread read last from an address at one place.
#[derive(Debug, Default)]
pub(crate) struct ObservedValue {
    /// Not looked at the first time: most is looked at once.
    pub(crate) value: Option<u64>,
    /// The number of times that it was the same, in this slice.
    pub(crate) count: u32,
}

/// The values that a thread has seen, and the length of its slice.
#[derive(Debug)]
pub(crate) struct TimeSlices {
    /// By place and address.
    pub(crate) looks: FxHashMap<(u64, u64), ObservedValue>,
    pub(crate) length: u32,
}

impl Default for TimeSlices {
    fn default() -> Self {
        Self { looks: FxHashMap::default(), length: FIRST }
    }
}

impl TimeSlices {
    /// The thread has looked at an address; the value is what it saw there.
    pub(crate) fn look(&mut self, place: u64, addr: u64, value: impl FnOnce() -> u64) {
        let Some(look) = self.looks.get_mut(&(place, addr)) else {
            self.looks.insert((place, addr), ObservedValue::default());
            return;
        };
        let value = value();
        let is_same = look.value.replace(value).is_none_or(|before| before == value);
        look.count = if is_same { look.count + 1 } else { 0 };
    }

    /// Whether the thread has looked at the same for as long as it may; if so, another slice begins.
    pub(crate) fn is_over(&mut self, place: u64, addr: u64) -> bool {
        if self.looks.get(&(place, addr)).is_none_or(|look| look.count < self.length) {
            return false;
        }
        self.length = (2 * self.length).min(LONGEST);
        self.looks.values_mut().for_each(|look| look.count = 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks so often at one place, and says at which looks a slice ended.
    fn ends(time_slices: &mut TimeSlices, looks: u32, value: impl Fn(u32) -> u64) -> Vec<u32> {
        let look = |nth: &u32| {
            let is_over = time_slices.is_over(1, 0x5000);
            time_slices.look(1, 0x5000, || value(*nth));
            is_over
        };
        (0..looks).filter(look).collect()
    }

    #[test]
    fn slices_grow_while_nothing_changes() {
        assert_eq!(ends(&mut TimeSlices::default(), 4_000, |_| 7), [257, 769, 1_793, 2_817, 3_841]);
    }

    #[test]
    fn a_change_is_not_the_same() {
        let changed = |nth| u64::from(nth >= 200);
        assert_eq!(ends(&mut TimeSlices::default(), 500, changed), [457]);
        assert_eq!(ends(&mut TimeSlices::default(), 800, u64::from), [0; 0]);
    }

    #[test]
    fn who_looks_at_several_things_in_turn_waits_all_the_same() {
        let mut time_slices = TimeSlices::default();
        (0..600).for_each(|nth| time_slices.look(1, 0x5000 + 4 * (nth % 2), || 0));
        assert!(time_slices.is_over(1, 0x5004));
        assert!(!time_slices.is_over(1, 0x5000), "the slice is another one");
    }

    #[test]
    fn who_goes_through_memory_waits_for_nothing() {
        let mut time_slices = TimeSlices::default();
        (0..4_000).for_each(|nth| time_slices.look(1, 0x5000 + 4 * nth, || 0));
        assert!(!time_slices.is_over(1, 0x5000 + 4 * 3_999));
    }
}
