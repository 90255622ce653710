//! Running on, and running back: to the next breakpoint or filter, else to the failure or the start.

use checker::names::ThreadName;

use super::back::{Behind, last_stop};
use super::debuggee::Debuggee;
use super::error::DebugError;
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
        let copy = replica.go_to(&self.at, &self.recording)?;
        let scan = Scan {
            recording: &self.recording,
            places: &self.places,
            code: &self.code,
            thread: None,
            breakpoints: &self.breakpoints,
            limit: Limit::new(&self.interrupt),
        };
        let mut look = || {
            if copy.next_stretch().is_none() {
                copy.set_probes(&scan.probes(self.at.events))?;
            }
            while let Some(mark) = scan.advance(copy, &[])? {
                match mark {
                    Mark::Seen(seen) if !seen.hits.is_empty() => {
                        scan.stand(copy, &seen)?;
                        return Ok(Some(Behind::Breakpoints(seen.at, seen.thread, seen.hits)));
                    }
                    Mark::Rest(events) if self.filters.stop_at(&self.recording, events) => {
                        return Ok(Some(Behind::Switch(events)));
                    }
                    Mark::Seen(_) | Mark::Rest(_) => {}
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
            true => None,
            false => self.look_behind_for_breakpoints(switch)?,
        };
        Ok(match (found, switch) {
            (Some((at, thread, hits)), _) => self.at_breakpoint(at, thread, hits),
            (None, Some(step)) => self.at_switch(step),
            (None, None) => self.go_to_start(),
        })
    }

    /// The last breakpoint since so many events had run.
    fn look_behind_for_breakpoints(
        &mut self,
        since: Option<usize>,
    ) -> Result<Option<(Position, ThreadName, Vec<u64>)>, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(None) };
        let scan = Scan {
            recording: &self.recording,
            places: &self.places,
            code: &self.code,
            thread: None,
            breakpoints: &self.breakpoints,
            limit: Limit::new(&self.interrupt),
        };
        let copy = match since {
            Some(events) => replica.go_to(&Position::at_rest(events), &self.recording)?,
            None => replica.anew()?,
        };
        let marks = match scan.marks_to(copy, &self.at) {
            Ok(marks) => marks,
            Err(error) => {
                replica.discard();
                return Err(error);
            }
        };
        Ok(match last_stop(&marks, &self.at, &Filters::default(), &self.recording) {
            Some(Behind::Breakpoints(at, thread, hits)) => Some((at, thread, hits)),
            _ => None,
        })
    }

    /// The first line of the program.
    pub(super) fn go_to_start(&mut self) -> Stop {
        let at = self.first_line().unwrap_or_default();
        let thread = at.legs.last().map_or_else(|| self.recording.main(), |leg| leg.thread);
        self.arrive(at, thread, Cause::Entry, "the start".to_owned(), None)
    }

    fn first_line(&mut self) -> Option<Position> {
        let replica = self.live.as_mut().ok()?;
        let lines = self.code.all().map(|statement| statement.address).collect();
        let copy = replica.anew().ok()?;
        copy.set_probes(&lines).ok()?;
        loop {
            match copy.advance(&self.recording) {
                Ok(Arrival::Probe { thread, address, .. }) => {
                    let leg = copy.leg(thread, address);
                    copy.settle(leg);
                    return Some(copy.position());
                }
                Ok(Arrival::Rest) => {}
                Ok(Arrival::End) => return None,
                Err(_) => {
                    replica.discard();
                    return None;
                }
            }
        }
    }
}
