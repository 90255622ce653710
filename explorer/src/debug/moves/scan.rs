//! Runs through a part of the recording and takes note of what threads come to on the way.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use checker::names::ThreadName;
use checker::position::Position;

use crate::debug::breakpoints::hit_count::Tally;
use crate::debug::breakpoints::{BreakpointHits, Breakpoints};
use crate::debug::error::DebugError;
use crate::debug::live::code::{Code, UserCodePosition};
use crate::debug::live::replica::{Arrival, LiveCopy, Replica};
use crate::debug::recording::Recording;
use crate::debug::replay_position::ReplayPosition;
use crate::narrate::locations::Places;

/// A move that takes longer is broken off: a thread may come to its lines millions of times.
const PATIENCE: Duration = Duration::from_secs(10);

/// A thread has come to a probe.
#[derive(Clone, Debug)]
pub(in crate::debug) struct Seen {
    pub(in crate::debug) at: ReplayPosition,
    pub(in crate::debug) thread: ThreadName,
    pub(in crate::debug) address: u64,
    /// It rests there, for what it comes to is a key point as well.
    pub(in crate::debug) rests: bool,
    /// Its place, if it is a line of the thread whose lines are looked at.
    pub(in crate::debug) here: Option<UserCodePosition>,
    /// The breakpoints that it hits.
    pub(in crate::debug) met: BreakpointHits,
    /// Here the recording ends.
    pub(in crate::debug) ends: bool,
}

/// A mark on the way; they come in order.
#[derive(Clone, Debug)]
pub(in crate::debug) enum Mark {
    Seen(Seen),
    /// The execution is at this point, and every thread stands.
    Rest(Position),
}

impl Mark {
    pub(in crate::debug) fn position(&self) -> ReplayPosition {
        match self {
            Self::Seen(seen) => seen.at.clone(),
            Self::Rest(point) => ReplayPosition::at_rest(*point),
        }
    }
}

/// The limits of a move, at which it is broken off.
pub(in crate::debug) struct Limit<'a> {
    pub(in crate::debug) until: Instant,
    pub(in crate::debug) interrupt: &'a AtomicBool,
}

impl<'a> Limit<'a> {
    pub(in crate::debug) fn new(interrupt: &'a AtomicBool) -> Self {
        Self { until: Instant::now() + PATIENCE, interrupt }
    }

    /// Fails when it is time to break off.
    pub(in crate::debug) fn check(&self) -> Result<(), DebugError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(DebugError::Interrupted("it was interrupted"));
        }
        if Instant::now() > self.until {
            return Err(DebugError::Interrupted("the program runs through too many lines on the way"));
        }
        Ok(())
    }
}

/// The marks that are looked for.
pub(in crate::debug) struct Scan<'a> {
    pub(in crate::debug) recording: &'a Recording,
    pub(in crate::debug) places: &'a Places<'a>,
    pub(in crate::debug) code: &'a Code,
    /// The thread whose lines are looked at, and where its lines begin.
    pub(in crate::debug) thread: Option<(ThreadName, BTreeSet<u64>)>,
    /// The breakpoints, at which every thread stops.
    pub(in crate::debug) breakpoints: &'a Breakpoints,
    /// The numbers of times that these were hit before.
    pub(in crate::debug) tally: Tally,
    pub(in crate::debug) limit: Limit<'a>,
}

impl Scan<'_> {
    /// The probes for the stretch that ends at a point.
    pub(in crate::debug) fn probes(&self, end: Position) -> BTreeSet<u64> {
        let mut probes = self.breakpoints.addresses();
        if let Some((thread, lines)) = &self.thread
            && self.may_run(*thread, end)
        {
            probes.extend(lines);
        }
        probes
    }

    /// Whether a thread runs in the stretch that ends at a point: by its own event, or because it is created.
    pub(in crate::debug) fn may_run(&self, thread: ThreadName, end: Position) -> bool {
        let born = self.recording.life(thread).and_then(|life| life.states.first()).map(|(from, _)| *from);
        self.recording.runs_before(end) == thread || born == Some(end)
    }

    /// Goes on to the next arrival, with the right probes.
    pub(in crate::debug) fn advance(
        &mut self,
        copy: &mut LiveCopy,
        also: &[u64],
    ) -> Result<Option<Mark>, DebugError> {
        self.limit.check()?;
        if let Some(next) = copy.next_stretch() {
            let mut probes = self.probes(next);
            probes.extend(also);
            copy.set_probes(&probes, self.recording)?;
        }
        Ok(match copy.advance(self.recording)? {
            Arrival::End => None,
            Arrival::Rest => Some(Mark::Rest(copy.position().point)),
            Arrival::Probe { thread, address, rests, ends } => {
                Some(Mark::Seen(self.seen(copy, (thread, address), rests, ends)))
            }
        })
    }

    fn seen(
        &mut self,
        copy: &LiveCopy,
        (thread, address): (ThreadName, u64),
        rests: bool,
        ends: bool,
    ) -> Seen {
        let ReplayPosition { point, mut legs } = copy.position();
        let at = if ends {
            self.recording.end.clone()
        } else if rests {
            ReplayPosition::at_rest(point)
        } else {
            legs.push(copy.leg(thread, address));
            ReplayPosition { point, legs }
        };
        let is_line =
            self.thread.as_ref().is_some_and(|(of, lines)| *of == thread && lines.contains(&address));
        let here = if is_line { self.code.at_statement(&copy.inspection, thread, self.places) } else { None };
        // The harness of a test is no part of it.
        let met = match Some(thread) == self.recording.harness {
            true => BreakpointHits::default(),
            false => self.breakpoints.meet(&copy.inspection, thread, address, &mut self.tally),
        };
        Seen { at, thread, address, rests, here, met, ends }
    }

    /// Makes the copy stand where it has just seen a thread.
    pub(in crate::debug) fn stand(&self, copy: &mut LiveCopy, seen: &Seen) -> Result<(), DebugError> {
        if seen.rests {
            copy.set_probes(&BTreeSet::new(), self.recording)?;
            copy.advance(self.recording)?;
        } else {
            copy.settle_at(&seen.at);
        }
        Ok(())
    }

    /// The copy at a position, with all hits before it counted where that matters.
    pub(in crate::debug) fn reach<'c>(
        &mut self,
        replica: &'c mut Replica<'_>,
        at: &ReplayPosition,
    ) -> Result<&'c mut LiveCopy, DebugError> {
        if !self.breakpoints.count_hits() {
            return replica.go_to(at, self.recording);
        }
        let thread = self.thread.take();
        let copy = replica.anew()?;
        self.marks_to(copy, at)?;
        self.thread = thread;
        Ok(copy)
    }

    /// Goes from where the copy rests to a position, and gives all marks on the way; the position itself is the last one if
    /// it is at rest, and not among them otherwise.
    pub(in crate::debug) fn marks_to(
        &mut self,
        copy: &mut LiveCopy,
        to: &ReplayPosition,
    ) -> Result<Vec<Mark>, DebugError> {
        let mut marks = Vec::new();
        let mut way = Walked::new(to);
        while !(to.is_at_rest() && copy.rests_at(to.point)) {
            let also: Vec<u64> = to.legs.iter().map(|leg| leg.address).collect();
            let is_last = copy.next_stretch().unwrap_or_else(|| copy.position().point) == to.point;
            let Some(mut mark) = self.advance(copy, if is_last { &also } else { &[] })? else { break };
            let is_there = way.is_done_with(&mark);
            if let Mark::Seen(seen) = &mut mark
                && is_there
            {
                // One place may be named by more than one way there.
                seen.at = to.clone();
                copy.settle_at(to);
            }
            marks.push(mark);
            if is_there {
                break;
            }
        }
        Ok(marks)
    }
}

/// The legs of a position as marks pass by.
pub(in crate::debug) struct Walked<'a> {
    to: &'a ReplayPosition,
    legs: usize,
    /// The number of times that the thread of the next leg has come to its end.
    count: u32,
}

impl<'a> Walked<'a> {
    pub(in crate::debug) fn new(to: &'a ReplayPosition) -> Self {
        Self { to, legs: 0, count: 0 }
    }

    /// Whether the position is where this mark is. The marks of its stretch have to come one after another.
    pub(in crate::debug) fn is_done_with(&mut self, mark: &Mark) -> bool {
        let (Mark::Seen(seen), Some(leg)) = (mark, self.to.legs.get(self.legs)) else { return false };
        if seen.at.point != self.to.point || (leg.thread, leg.address) != (seen.thread, seen.address) {
            return false;
        }
        self.count += 1;
        if self.count < leg.count {
            return false;
        }
        (self.legs, self.count) = (self.legs + 1, 0);
        self.legs == self.to.legs.len()
    }
}
