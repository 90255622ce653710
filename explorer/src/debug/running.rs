//! Running on, and running back: to the next breakpoint or filter, else to the failure or the start.

use super::back::{Behind, last_stop, log_back};
use super::debuggee::Debuggee;
use super::error::DebugError;
use super::hit_count::Tally;
use super::moves::Direction;
use super::position::Position;
use super::recording::Recording;
use super::replica::Arrival;
use super::scan::{Limit, Mark, Scan};
use super::stop::{Cause, Stop};
use crate::report::Why;

/// Which changes of thread are stopped at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Filters {
    /// A thread runs in place of one that could have gone on.
    pub preemption: bool,
    /// Any.
    pub switch: bool,
}

impl Filters {
    fn wants(self, why: Why) -> bool {
        match why {
            Why::Preempted => self.preemption || self.switch,
            Why::Blocked | Why::Yielded | Why::Ended | Why::Failed => self.switch,
            Why::Timeout => false,
        }
    }

    /// Whether it is stopped at once so many events have run.
    pub(super) fn stop_at(self, recording: &Recording, events: usize) -> bool {
        let switch = recording.events.get(events).and_then(|event| event.switch.as_ref());
        switch.is_some_and(|switch| self.wants(switch.why))
    }
}

impl Debuggee<'_> {
    /// Runs on.
    pub(super) fn run_on(&mut self) -> Result<Stop, DebugError> {
        if self.breakpoints.addresses().is_empty() {
            let filters = self.filters;
            return Ok(match self.switch(Direction::Forward, |why| filters.wants(why)) {
                Some(step) => self.at_switch(step),
                None => self.go_to_end(),
            });
        }
        Ok(match self.look_ahead_for_breakpoints()? {
            Some(Behind::Breakpoints(at, thread, hits)) => self.at_breakpoint(at, thread, hits),
            Some(Behind::Switch(step)) => self.at_switch(step),
            Some(Behind::Line(_)) | None => self.go_to_end(),
        })
    }

    fn look_ahead_for_breakpoints(&mut self) -> Result<Option<Behind>, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(None) };
        let mut scan = Scan {
            recording: &self.recording,
            places: &self.places,
            code: &self.code,
            thread: None,
            breakpoints: &self.breakpoints,
            tally: Tally::default(),
            limit: Limit::new(&self.interrupt),
        };
        let (log, filters) = (&mut self.log, &self.filters);
        let mut look = || {
            let copy = scan.reach(replica, &self.at)?;
            if copy.next_stretch().is_none() {
                copy.set_probes(&scan.probes(self.at.events), scan.recording)?;
            }
            while let Some(mark) = scan.advance(copy, &[])? {
                match mark {
                    Mark::Seen(seen) if seen.ends => {
                        copy.settle_at(&seen.at);
                        return Ok(None);
                    }
                    Mark::Seen(mut seen) => {
                        log.append(&mut seen.met.log);
                        if !seen.met.hits.is_empty() {
                            scan.stand(copy, &seen)?;
                            return Ok(Some(Behind::Breakpoints(seen.at, seen.thread, seen.met.hits)));
                        }
                    }
                    Mark::Rest(events) if filters.stop_at(scan.recording, events) => {
                        return Ok(Some(Behind::Switch(events)));
                    }
                    Mark::Rest(_) => {}
                }
            }
            Ok(None)
        };
        let found = look();
        if found.is_err() {
            replica.discard();
        }
        found
    }

    /// Runs back.
    pub(super) fn run_back(&mut self) -> Result<Stop, DebugError> {
        let filters = self.filters;
        let switch = self.switch(Direction::Back, |why| filters.wants(why));
        let found = match self.breakpoints.addresses().is_empty() {
            true => switch.map(Behind::Switch),
            false => self.look_behind_for_breakpoints(switch)?,
        };
        Ok(match found {
            Some(Behind::Breakpoints(at, thread, hits)) => self.at_breakpoint(at, thread, hits),
            Some(Behind::Switch(step)) => self.at_switch(step),
            Some(Behind::Line(_)) | None => self.go_to_start(),
        })
    }

    /// The last breakpoint or filter on the way from the start. Before `since` events, nothing is.
    fn look_behind_for_breakpoints(&mut self, since: Option<usize>) -> Result<Option<Behind>, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(None) };
        let mut scan = Scan {
            recording: &self.recording,
            places: &self.places,
            code: &self.code,
            thread: None,
            breakpoints: &self.breakpoints,
            tally: Tally::default(),
            limit: Limit::new(&self.interrupt),
        };
        // What is met where the thread changes lies on the way there.
        let copy = match since.and_then(|events| events.checked_sub(1)) {
            Some(events) if !self.breakpoints.count_hits() => {
                replica.go_to(&Position::at_rest(events), &self.recording)?
            }
            _ => replica.anew()?,
        };
        let marks = match scan.marks_to(copy, &self.at) {
            Ok(marks) => marks,
            Err(error) => {
                replica.discard();
                return Err(error);
            }
        };
        let found = last_stop(&marks, &self.at, &self.filters, &self.recording);
        let until = match &found {
            Some(Behind::Breakpoints(at, ..)) => Some(at.clone()),
            Some(Behind::Switch(events)) => Some(Position::at_rest(*events)),
            Some(Behind::Line(_)) | None => None,
        };
        self.log.extend(log_back(&marks, until.as_ref(), &self.at));
        Ok(found)
    }

    /// The first line of the program, or of the test; its first key point where the compiler has left none before it.
    pub(super) fn go_to_start(&mut self) -> Stop {
        let at = self.first_line().unwrap_or_default();
        let thread = at.legs.last().map_or_else(|| self.recording.main(), |leg| leg.thread);
        self.arrive(at, thread, Cause::Entry, "the start".to_owned(), None)
    }

    fn first_line(&mut self) -> Option<Position> {
        let replica = self.live.as_mut().ok()?;
        let all = || self.code.all().map(|statement| statement.address).collect();
        let lines = if self.body.is_empty() { all() } else { self.body.clone() };
        let copy = replica.anew().ok()?;
        copy.set_probes(&lines, &self.recording).ok()?;
        loop {
            match copy.advance(&self.recording) {
                // The harness of a test is no part of it, though it may have a line in the user's file.
                Ok(Arrival::Probe { thread, .. }) if Some(thread) == self.recording.harness => {}
                Ok(Arrival::Rest) if self.recording.is_harness(copy.position().events) => {}
                Ok(Arrival::Probe { thread, address, .. }) => {
                    let leg = copy.leg(thread, address);
                    copy.settle(leg);
                    return Some(copy.position());
                }
                Ok(Arrival::Rest) => return Some(copy.position()),
                Ok(Arrival::End) => return None,
                Err(_) => {
                    replica.discard();
                    return None;
                }
            }
        }
    }
}
