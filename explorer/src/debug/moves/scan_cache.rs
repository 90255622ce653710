//! Cache of a scan: the marks of the last part of the recording that was looked through. They are the same every time, so
//! that a second step back need not run the program to find where it leads, but only to stand there.

use std::collections::BTreeSet;

use checker::names::ThreadName;
use checker::position::Position;

use super::scan::{Mark, Scan, Walked};
use crate::debug::replay_position::ReplayPosition;

/// A part of the recording that was looked through for the lines of one thread, under breakpoints that are still the same.
pub(in crate::debug) struct ScanCache {
    thread: ThreadName,
    lines: BTreeSet<u64>,
    /// The stretch with which it begins: the one that ends at this point.
    first: Position,
    /// The position at which it ends.
    to: ReplayPosition,
    marks: Vec<Mark>,
}

impl ScanCache {
    /// Takes down what a scan for the lines of a thread has seen from the beginning of a stretch to a position.
    pub(in crate::debug) fn new(
        scan: &Scan<'_>,
        first: Position,
        to: &ReplayPosition,
        marks: &[Mark],
    ) -> Option<Self> {
        let (thread, lines) = scan.thread.clone()?;
        Some(Self { thread, lines, first, to: to.clone(), marks: marks.to_vec() })
    }

    /// The stretch with which it begins, by the point at which that ends.
    pub(in crate::debug) fn first(&self) -> Position {
        self.first
    }

    /// The marks of a scan on its way through this part to a position; none if it would see more than is known.
    pub(in crate::debug) fn marks_to(&self, scan: &Scan<'_>, to: &ReplayPosition) -> Option<Vec<Mark>> {
        let (thread, lines) = scan.thread.as_ref()?;
        if *thread != self.thread || !lines.is_subset(&self.lines) {
            return None;
        }
        let mut marks = self.marks[..=self.place_of(scan, to)?].to_vec();
        for mark in &mut marks {
            if let Mark::Seen(seen) = mark
                && !lines.contains(&seen.address)
            {
                seen.here = None;
            }
        }
        if let Some(Mark::Seen(last)) = marks.last_mut() {
            last.at = to.clone();
        }
        Some(marks)
    }

    /// The mark that is a position.
    fn place_of(&self, scan: &Scan<'_>, to: &ReplayPosition) -> Option<usize> {
        let at_rest = |mark: &Mark| matches!(mark, Mark::Rest(point) if *point == to.point);
        if to.is_at_rest() {
            return self.marks.iter().position(at_rest);
        }
        let probes = scan.probes(to.point);
        let also = self.to.legs.iter().filter(|_| self.to.point == to.point);
        let also: BTreeSet<u64> = also.map(|leg| leg.address).collect();
        // Arrivals at other instructions were not counted.
        if !to.legs.iter().all(|leg| probes.contains(&leg.address) || also.contains(&leg.address)) {
            return None;
        }
        let mut way = Walked::new(to);
        self.marks.iter().position(|mark| way.is_done_with(mark))
    }
}
