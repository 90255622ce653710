//! PCT, computed. The change points are drawn when their events come, and an initial priority when its thread is the highest of
//! those that none lowered: until then, all are as likely.

use smallvec::{SmallVec, smallvec};

use super::exact::{Search, Shares, Take, shares};
use super::programs::{EVENTS, Places, THREADS, Threads, able};

/// Events of an execution: every thread has a first one of its own.
const LONGEST: usize = THREADS * (EVENTS + 1);

/// A priority below the initial ones, which change points give.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Low {
    /// The thread that has it.
    Of(usize),
    /// Its change point is not yet reached.
    Ahead,
}

/// The memory of an execution.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Memory {
    /// The threads whose first event has run, a bit each.
    begun: u8,
    /// Has the highest initial priority of the threads that none lowered, if it is drawn.
    highest: Option<usize>,
    /// The lowest first; those of ended threads left out.
    low: SmallVec<[Low; 16]>,
}

impl Memory {
    fn has_begun(&self, thread: usize) -> bool {
        self.begun >> thread & 1 == 1
    }

    /// Draws the initial priority that is needed to tell which thread goes first.
    fn draw(&self, places: &Places, next: &mut dyn FnMut(Memory, usize, f64)) {
        if let Some(highest) = self.highest {
            return next(self.clone(), highest, 1.0);
        }
        let untouched = able(places).filter(|&thread| !self.low.contains(&Low::Of(thread)));
        let count = untouched.clone().count();
        for thread in untouched {
            next(Memory { highest: Some(thread), ..self.clone() }, thread, 1.0 / count as f64);
        }
        let held = |low: &Low| if let Low::Of(thread) = low { Some(*thread) } else { None };
        if count == 0
            && let Some(thread) = self.low.iter().rev().find_map(held)
        {
            next(self.clone(), thread, 1.0);
        }
    }

    /// Gives a thread the low priority at a place.
    fn lower(mut self, thread: usize, place: usize) -> Memory {
        let before = self.low.iter().position(|&low| low == Low::Of(thread));
        self.low[place] = Low::Of(thread);
        if let Some(before) = before {
            self.low.remove(before);
        }
        self.highest = self.highest.filter(|&highest| highest != thread);
        self
    }

    /// The memory after the next event of a thread, and whether this was not its first one.
    fn run(mut self, places: &Places, thread: usize) -> (Memory, bool) {
        let has_begun = self.has_begun(thread);
        self.begun |= 1 << thread;
        if has_begun && places[thread] + 1 == EVENTS {
            self.low.retain(|low| *low != Low::Of(thread));
            self.highest = self.highest.filter(|&highest| highest != thread);
        }
        (self, has_begun)
    }
}

/// The number of change points.
struct ByPriority(usize);

impl ByPriority {
    /// Draws which of the change points from a place on are reached now, each with the same probability.
    fn reach(places: &Places, memory: Memory, from: usize, now: f64, next: Take<'_, Memory>) {
        let Some(place) = (from..memory.low.len()).find(|&place| memory.low[place] == Low::Ahead) else {
            return memory.draw(places, &mut |memory, thread, factor| {
                let (memory, is_access) = memory.run(places, thread);
                next(&[thread][..usize::from(is_access)], memory, factor);
            });
        };
        let mut weighed = |memory, from, weight: f64| {
            Self::reach(places, memory, from, now, &mut |run, memory, factor| {
                next(run, memory, weight * factor)
            });
        };
        if now < 1.0 {
            weighed(memory.clone(), place + 1, 1.0 - now);
        }
        memory.draw(places, &mut |memory, thread, factor| {
            let shifted = memory.low[..place].contains(&Low::Of(thread));
            weighed(memory.lower(thread, place), place + usize::from(!shifted), factor * now);
        });
    }
}

impl Search for ByPriority {
    type Memory = Memory;

    fn begin(&self) -> Vec<(Memory, f64)> {
        vec![(Memory { begun: 0, highest: None, low: smallvec![Low::Ahead; self.0] }, 1.0)]
    }

    fn step(&self, places: &Places, memory: &Memory, next: Take<'_, Memory>) {
        let begun = memory.begun.count_ones() as usize;
        let left = LONGEST - begun - places.iter().sum::<usize>();
        Self::reach(places, memory.clone(), 0, 1.0 / left as f64, next);
    }
}

/// PCT with so many change points.
pub(crate) fn pct(threads: &Threads, changes: u32) -> Shares {
    shares(threads, &ByPriority(changes as usize))
}
