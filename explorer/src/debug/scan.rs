//! Runs through a part of the recording and takes note of what threads come to on the way.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use checker::names::ThreadName;

use super::breakpoints::{Breakpoints, Met};
use super::code::{Code, Here};
use super::error::DebugError;
use super::hit_count::Tally;
use super::passed::Walked;
use super::position::Position;
use super::recording::Recording;
use super::replica::{Arrival, Copy, Replica};
use crate::narrate::locations::Places;

/// A move that takes longer is broken off: a thread may come to its lines millions of times.
const PATIENCE: Duration = Duration::from_secs(10);

/// A thread has come to a probe.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) at: Position,
    pub(super) thread: ThreadName,
    pub(super) address: u64,
    /// It rests there, for what it comes to is a key point as well.
    pub(super) rests: bool,
    /// Where that is, if it is a line of the thread whose lines are looked at.
    pub(super) here: Option<Here>,
    /// The breakpoints that it hits.
    pub(super) met: Met,
    /// Here the recording ends.
    pub(super) ends: bool,
}

/// What happens on the way, in order.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    Seen(Seen),
    /// So many events have run, and everybody stands.
    Rest(usize),
}

impl Mark {
    pub(super) fn position(&self) -> Position {
        match self {
            Self::Seen(seen) => seen.at.clone(),
            Self::Rest(events) => Position::at_rest(*events),
        }
    }
}

/// How far a move may go before it is broken off.
pub(super) struct Limit<'a> {
    pub(super) until: Instant,
    pub(super) interrupt: &'a AtomicBool,
}

impl<'a> Limit<'a> {
    pub(super) fn new(interrupt: &'a AtomicBool) -> Self {
        Self { until: Instant::now() + PATIENCE, interrupt }
    }

    /// Whether it is time to break off.
    pub(super) fn check(&self) -> Result<(), DebugError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(DebugError::Interrupted("it was interrupted"));
        }
        if Instant::now() > self.until {
            return Err(DebugError::Interrupted("the program runs through too many lines on the way"));
        }
        Ok(())
    }
}

/// What is looked for.
pub(super) struct Scan<'a> {
    pub(super) recording: &'a Recording,
    pub(super) places: &'a Places<'a>,
    pub(super) code: &'a Code,
    /// The thread whose lines are looked at, and where its lines begin.
    pub(super) thread: Option<(ThreadName, BTreeSet<u64>)>,
    /// Where everybody stops.
    pub(super) breakpoints: &'a Breakpoints,
    /// How often these were hit before.
    pub(super) tally: Tally,
    pub(super) limit: Limit<'a>,
}

impl Scan<'_> {
    /// The probes for the stretch that ends with so many events.
    pub(super) fn probes(&self, events: usize) -> BTreeSet<u64> {
        let mut probes = self.breakpoints.addresses();
        if let Some((thread, lines)) = &self.thread
            && self.may_run(*thread, events)
        {
            probes.extend(lines);
        }
        probes
    }

    /// Whether a thread runs in the stretch that ends with so many events: by its own event, or because it is created.
    pub(super) fn may_run(&self, thread: ThreadName, events: usize) -> bool {
        let born = self.recording.life(thread).and_then(|life| life.states.first()).map(|(from, _)| *from);
        self.recording.runs_before(events) == thread || born == Some(events)
    }

    /// Goes on to the next arrival, with the right probes.
    pub(super) fn advance(&mut self, copy: &mut Copy, also: &[u64]) -> Result<Option<Mark>, DebugError> {
        self.limit.check()?;
        if let Some(next) = copy.next_stretch() {
            let mut probes = self.probes(next);
            probes.extend(also);
            copy.set_probes(&probes, self.recording)?;
        }
        Ok(match copy.advance(self.recording)? {
            Arrival::End => None,
            Arrival::Rest => Some(Mark::Rest(copy.position().events)),
            Arrival::Probe { thread, address, rests, ends } => {
                Some(Mark::Seen(self.seen(copy, (thread, address), rests, ends)))
            }
        })
    }

    fn seen(&mut self, copy: &Copy, (thread, address): (ThreadName, u64), rests: bool, ends: bool) -> Seen {
        let Position { events, mut legs } = copy.position();
        let at = if ends {
            self.recording.end.clone()
        } else if rests {
            Position::at_rest(events)
        } else {
            legs.push(copy.leg(thread, address));
            Position { events, legs }
        };
        let is_line =
            self.thread.as_ref().is_some_and(|(of, lines)| *of == thread && lines.contains(&address));
        let here = if is_line { self.code.at_statement(&copy.inspection, thread, self.places) } else { None };
        // The harness of a test is no part of it.
        let met = match Some(thread) == self.recording.harness {
            true => Met::default(),
            false => self.breakpoints.meet(&copy.inspection, thread, address, &mut self.tally),
        };
        Seen { at, thread, address, rests, here, met, ends }
    }

    /// Makes the copy stand where it has just seen a thread.
    pub(super) fn stand(&self, copy: &mut Copy, seen: &Seen) -> Result<(), DebugError> {
        if seen.rests {
            copy.set_probes(&BTreeSet::new(), self.recording)?;
            copy.advance(self.recording)?;
        } else {
            copy.settle_at(&seen.at);
        }
        Ok(())
    }

    /// The copy at a position, with all hits before it counted where that matters.
    pub(super) fn reach<'c>(
        &mut self,
        replica: &'c mut Replica<'_>,
        at: &Position,
    ) -> Result<&'c mut Copy, DebugError> {
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
    pub(super) fn marks_to(&mut self, copy: &mut Copy, to: &Position) -> Result<Vec<Mark>, DebugError> {
        let mut marks = Vec::new();
        let mut way = Walked::new(to);
        while !(to.is_at_rest() && copy.rests_at(to.events)) {
            let also: Vec<u64> = to.legs.iter().map(|leg| leg.address).collect();
            let is_last = copy.next_stretch().map_or(copy.position().events, |next| next) == to.events;
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
