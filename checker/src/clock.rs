//! Vector clocks.
//!
//! Friedemann Mattern: Virtual Time and Global States of Distributed Systems, 1989.

use smallvec::SmallVec;

/// How many events of each thread happened before, the event's own thread up to and including itself. Threads are
/// counted in creation order of one execution; a missing component is 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock(SmallVec<[u32; 8]>);

impl Clock {
    /// The component of the `thread`-th thread.
    #[must_use]
    pub fn get(&self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }

    /// Sets one component.
    pub fn set(&mut self, thread: usize, count: u32) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = count;
    }

    /// Becomes the least clock that is at least both.
    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether every component is at most the other's.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.0.iter().enumerate().all(|(thread, &count)| count <= other.get(thread))
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
        joined.join(&clock(&[2, 3, 4]));
        assert_eq!(joined, clock(&[2, 5, 4]));
        assert!(clock(&[1, 5]).is_before(&joined) && clock(&[2, 3, 4]).is_before(&joined));
        assert!(!joined.is_before(&clock(&[2, 5])));
    }

    #[test]
    fn missing_components_are_zero() {
        let mut late = Clock::default();
        late.set(3, 7);
        assert_eq!((late.get(0), late.get(3), late.get(9)), (0, 7, 0));
        assert!(clock(&[]).is_before(&late) && clock(&[0, 0]).is_before(&clock(&[])));
    }
}
