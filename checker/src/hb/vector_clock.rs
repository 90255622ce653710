//! Vector clocks.
//!
//! Friedemann Mattern: Virtual Time and Global States of Distributed Systems, 1989.

use smallvec::SmallVec;

use crate::event::position::{PerEvent, Position};

/// The number of events of each thread that happened before, the event's own thread up to and including itself. Threads are
/// counted in creation order of one execution; a missing component is 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock(SmallVec<[u32; 8]>);

/// A clock that is kept elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockRef<'a>(&'a [u32]);

/// The clocks of many events, one after the other: executions have up to millions of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    components: Vec<u32>,
    /// The end of each one.
    ends: PerEvent<u32>,
}

impl Clock {
    /// The component of the `thread`-th thread.
    #[must_use]
    pub fn get(&self, thread: usize) -> u32 {
        self.by_ref().get(thread)
    }

    /// Sets one component.
    pub fn set(&mut self, thread: usize, count: u32) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = count;
    }

    /// Becomes the least clock that is at least both.
    pub fn join(&mut self, other: ClockRef<'_>) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The clock for readers that do not change it.
    #[must_use]
    pub fn by_ref(&self) -> ClockRef<'_> {
        ClockRef(&self.0)
    }
}

impl ClockRef<'_> {
    /// The component of the `thread`-th thread.
    #[must_use]
    pub fn get(self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }

    /// Whether every component is at most the other's.
    #[must_use]
    pub fn is_before(self, other: Self) -> bool {
        self.0.iter().enumerate().all(|(thread, &count)| count <= other.get(thread))
    }

    /// A clock of one's own.
    #[must_use]
    pub fn to_clock(self) -> Clock {
        Clock(SmallVec::from_slice(self.0))
    }
}

impl Clocks {
    pub(crate) fn clear(&mut self) {
        self.components.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, clock: ClockRef<'_>) {
        self.components.extend_from_slice(clock.0);
        self.ends.push(self.components.len() as u32);
    }

    /// Has the last one be another.
    pub(crate) fn replace_last(&mut self, clock: ClockRef<'_>) {
        let last = self.ends.end().previous().unwrap_or_default();
        self.ends.truncate(last);
        self.components.truncate(self.ends.last().map_or(0, |&end| end as usize));
        self.push(clock);
    }

    /// The clock of the event at a position.
    pub(crate) fn get(&self, position: Position) -> ClockRef<'_> {
        let start = position.previous().map_or(0, |before| self.ends[before]);
        ClockRef(&self.components[start as usize..self.ends[position] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(counts: &[u32]) -> Clock {
        Clock(counts.iter().copied().collect())
    }

    #[test]
    fn a_join_is_the_least_upper_bound() {
        let mut joined = clock(&[1, 5]);
        joined.join(clock(&[2, 3, 4]).by_ref());
        assert_eq!(joined, clock(&[2, 5, 4]));
        let is_before = |one: &Clock, other: &Clock| one.by_ref().is_before(other.by_ref());
        assert!(is_before(&clock(&[1, 5]), &joined) && is_before(&clock(&[2, 3, 4]), &joined));
        assert!(!is_before(&joined, &clock(&[2, 5])));
    }

    #[test]
    fn missing_components_are_zero() {
        let mut late = Clock::default();
        late.set(3, 7);
        assert_eq!((late.get(0), late.get(3), late.get(9)), (0, 7, 0));
        let none = clock(&[]);
        assert!(none.by_ref().is_before(late.by_ref()) && clock(&[0, 0]).by_ref().is_before(none.by_ref()));
    }

    #[test]
    fn clocks_that_are_kept_together_stay_apart() {
        let kept = [clock(&[1]), clock(&[]), clock(&[1, 2, 3])];
        let mut clocks = Clocks::default();
        kept.iter().for_each(|clock| clocks.push(clock.by_ref()));
        let got: Vec<Clock> = (0..3).map(|nth| clocks.get(Position::after(nth)).to_clock()).collect();
        assert_eq!(got, kept);
    }
}
