//! The accesses of one object, through a window that slides over them.
//!
//! Section 3.1 of the paper and its Algorithm 1. Of consecutive accesses of one thread, one of the same type as the last and
//! a read after a write are dropped, and a write takes the place of a read: other threads cannot come between them.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::event::names::{Obj, Site};
use crate::event::position::Position;

/// The number of accesses that a window holds. In the paper's study five were enough for sixteen threads.
const WINDOW: usize = 5;

/// An access of one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WindowAccess {
    /// The thread's place in creation order.
    pub(super) thread: u32,
    pub(super) touch: PatternAccess,
    /// The bytes that it touches and shares with the object whose window this is.
    pub(super) obj: Obj,
    /// The position of its event in the trace.
    pub(super) position: Position,
}

/// An access of a pattern: its effect, and its place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PatternAccess {
    /// It writes; else it reads.
    pub writes: bool,
    /// The instruction.
    pub site: Site,
}

/// Two accesses in conflict of different threads; or three, the second one of another thread than the others, that no
/// order of whole threads gives.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Pattern(pub SmallVec<[PatternAccess; 3]>);

impl Pattern {
    /// Whether it is one thread's two accesses with another one's in between.
    #[must_use]
    pub fn is_atomicity_violation(&self) -> bool {
        self.0.len() == 3
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    slots: VecDeque<WindowAccess>,
}

impl Window {
    /// Takes in an access; `found` gets the patterns that slide out.
    pub(super) fn add(&mut self, slot: WindowAccess, found: &mut impl FnMut(&[WindowAccess])) {
        if let Some(last) = self.slots.back_mut().filter(|last| last.thread == slot.thread) {
            if slot.touch.writes && !last.touch.writes {
                *last = slot;
            }
            return;
        }
        if self.slots.len() == WINDOW {
            self.slide(found);
        }
        self.slots.push_back(slot);
    }

    /// Nothing comes any more.
    pub(super) fn end(&mut self, found: &mut impl FnMut(&[WindowAccess])) {
        while !self.slots.is_empty() {
            self.slide(found);
        }
    }

    /// Gives the patterns that begin with the oldest access, and drops it. Pairs that are part of a triple do not count.
    fn slide(&mut self, found: &mut impl FnMut(&[WindowAccess])) {
        let Some(first) = self.slots.pop_front() else { return };
        let later = self.slots.make_contiguous();
        let mut has_triples = false;
        for (nth, &local) in later.iter().enumerate().filter(|(_, slot)| slot.thread == first.thread) {
            for &remote in later[..nth].iter().filter(|slot| slot.thread != first.thread) {
                if is_unserialisable([first, remote, local].map(|slot| slot.touch.writes)) {
                    has_triples = true;
                    found(&[first, remote, local]);
                }
            }
        }
        if has_triples {
            return;
        }
        for &remote in later.iter().filter(|slot| slot.thread != first.thread) {
            if first.touch.writes || remote.touch.writes {
                found(&[first, remote]);
            }
        }
    }
}

/// Table 2 of the paper: which accesses write, the middle one that of another thread.
fn is_unserialisable(writes: [bool; 3]) -> bool {
    matches!(
        writes,
        [false, true, false]
            | [true, true, false]
            | [true, false, true]
            | [false, true, true]
            | [true, true, true]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patterns of a stream like `W1 R2`, sorted.
    fn patterns(stream: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut note = |slots: &[WindowAccess]| {
            let word =
                |slot: &WindowAccess| format!("{}{}", if slot.touch.writes { "W" } else { "R" }, slot.thread);
            found.push(slots.iter().map(word).collect::<Vec<_>>().join("-"));
        };
        let mut window = Window::default();
        for (position, word) in stream.split_whitespace().enumerate() {
            let (kind, thread) = word.split_at(1);
            let touch = PatternAccess { writes: kind == "W", site: Site::default() };
            let (thread, obj) = (thread.parse().unwrap(), Obj::whole(1));
            let position = Position::after(position);
            window.add(WindowAccess { thread, touch, obj, position }, &mut note);
        }
        window.end(&mut note);
        found.sort();
        found
    }

    #[test]
    fn a_lost_update_is_a_triple_and_its_pairs_do_not_count() {
        assert_eq!(patterns("R1 R2 W2 W1"), ["R1-W2-W1", "W2-W1"]);
    }

    #[test]
    fn an_undivided_update_is_a_pair() {
        assert_eq!(patterns("R1 W1 R2 W2"), ["W1-W2"]);
    }

    #[test]
    fn the_first_run_of_the_papers_example_has_its_patterns() {
        // x, as simplified there: W1,1 - W3,6 - R2,4 - R1,3.
        assert_eq!(patterns("R1 W1 R3 W3 R2 R1"), ["W1-W3-R1", "W3-R1", "W3-R2"]);
    }

    #[test]
    fn what_is_further_apart_than_the_window_is_no_pattern() {
        let triple = "R1-W2-R1".to_owned();
        assert!(!patterns("R1 R3 R2 R3 W2 R1").contains(&triple));
        assert!(patterns("R1 R2 R3 W2 R1").contains(&triple));
    }
}
