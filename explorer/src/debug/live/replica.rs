//! The copy of the program that stands where the session stands. Going back is running a new copy from the beginning.

use std::collections::{BTreeSet, HashMap};

use checker::names::ThreadName;
use checker::position::Position;
use ptrace_backend::{Halt, Inspection, PtraceProgram};

use crate::debug::error::DebugError;
use crate::debug::recording::Recording;
use crate::debug::replay_position::{Leg, ReplayPosition};
use crate::program::fresh_dir::FreshDir;
use crate::program::launch::restore;

/// The program, and the copy of it that is looked at.
pub(in crate::debug) struct Replica<'p> {
    pub(in crate::debug) program: &'p PtraceProgram,
    fresh: Option<&'p FreshDir>,
    copy: Option<LiveCopy>,
}

/// A copy that stands somewhere.
pub(in crate::debug) struct LiveCopy {
    pub(in crate::debug) inspection: Inspection,
    point: Position,
    /// None before the first instruction of `main`.
    halt: Option<Halt>,
    legs: Vec<Leg>,
    /// Number of times that a thread has come to a probe since the last leg.
    counts: HashMap<(ThreadName, u64), u32>,
    /// Number of times, in this stretch, that a thread has come to the place where the recording ends.
    ending: u32,
}

/// The place at which a copy stands next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::debug) enum Arrival {
    /// One more stretch is done: every thread stands.
    Rest,
    /// A thread stands before this instruction; `rests`: at a key point, so that going on is resting there; `ends`: here
    /// the recording ends.
    Probe { thread: ThreadName, address: u64, rests: bool, ends: bool },
    /// There are no more events.
    End,
}

impl<'p> Replica<'p> {
    pub(in crate::debug) fn new(program: &'p PtraceProgram, fresh: Option<&'p FreshDir>) -> Self {
        Self { program, fresh, copy: None }
    }

    /// The copy, brought to a position.
    ///
    /// # Errors
    /// When the program does not do again what was recorded.
    pub(in crate::debug) fn go_to(
        &mut self,
        to: &ReplayPosition,
        recording: &Recording,
    ) -> Result<&mut LiveCopy, DebugError> {
        // The copy that an error leaves behind is not used again.
        let mut copy = match self.copy.take() {
            Some(copy) if copy.leads_to(to) => copy,
            old => {
                // Copies share what they write: one at a time.
                drop(old);
                self.begin()?
            }
        };
        copy.walk(to, recording)?;
        Ok(self.copy.insert(copy))
    }

    /// A new copy, before the first instruction.
    pub(in crate::debug) fn anew(&mut self) -> Result<&mut LiveCopy, DebugError> {
        self.copy = None;
        let copy = self.begin()?;
        Ok(self.copy.insert(copy))
    }

    /// The copy is not where it was said to be.
    pub(in crate::debug) fn discard(&mut self) {
        self.copy = None;
    }

    /// Gives the program to other code that makes copies, and that is to call the second argument before each.
    pub(in crate::debug) fn alone<T>(
        &mut self,
        run: impl FnOnce(&'p PtraceProgram, &dyn Fn() -> Option<()>) -> T,
    ) -> T {
        self.discard();
        run(self.program, &|| restore(self.fresh))
    }

    fn begin(&mut self) -> Result<LiveCopy, DebugError> {
        self.fresh.map_or(Ok(()), FreshDir::restore)?;
        let inspection = self.program.inspect()?;
        Ok(LiveCopy {
            inspection,
            point: Position::START,
            halt: None,
            legs: Vec::new(),
            counts: HashMap::default(),
            ending: 0,
        })
    }
}

impl LiveCopy {
    /// Its position.
    pub(in crate::debug) fn position(&self) -> ReplayPosition {
        match self.halt {
            Some(Halt::Rest) => ReplayPosition::at_rest(self.point),
            _ => ReplayPosition { point: self.point, legs: self.legs.clone() },
        }
    }

    /// The point at which the stretch ends that comes next; none on the way through one.
    pub(in crate::debug) fn next_stretch(&self) -> Option<Position> {
        match self.halt {
            None => Some(Position::START),
            Some(Halt::Rest) => Some(self.point.next()),
            Some(Halt::Probe { .. }) => None,
        }
    }

    /// Whether it is at a point, and every thread stands.
    pub(in crate::debug) fn rests_at(&self, point: Position) -> bool {
        self.halt == Some(Halt::Rest) && self.point == point
    }

    /// Whether a position lies ahead.
    fn leads_to(&self, to: &ReplayPosition) -> bool {
        match self.point.cmp(&to.point) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal if to.is_at_rest() => true,
            std::cmp::Ordering::Equal => self.halt != Some(Halt::Rest) && to.legs.starts_with(&self.legs),
        }
    }

    fn walk(&mut self, to: &ReplayPosition, recording: &Recording) -> Result<(), DebugError> {
        if self.position() == *to && self.halt.is_some() {
            return Ok(());
        }
        self.set_probes(&BTreeSet::new(), recording)?;
        // A stretch begins with an event, but for the first one.
        let before = to.point.previous().unwrap_or(Position::START);
        while self.point < before
            || (self.point == before && to.point > Position::START && self.halt != Some(Halt::Rest))
        {
            if self.advance(recording)? == Arrival::End {
                return Err(DebugError::NotReached);
            }
        }
        // For the last stretch these may be others.
        self.set_probes(&BTreeSet::new(), recording)?;
        for leg in &to.legs[self.legs_done(to)..] {
            self.set_probes(&[leg.address].into_iter().collect(), recording)?;
            while self.counts.get(&(leg.thread, leg.address)) != Some(&leg.count) {
                let arrival = self.advance(recording)?;
                if matches!(arrival, Arrival::Rest | Arrival::End) {
                    return Err(DebugError::NotReached);
                }
            }
            self.settle(*leg);
        }
        while to.is_at_rest() && (self.point < to.point || self.halt != Some(Halt::Rest)) {
            if self.advance(recording)? == Arrival::End {
                return Err(DebugError::NotReached);
            }
        }
        Ok(())
    }

    /// Number of legs of a position that lie behind it.
    fn legs_done(&self, to: &ReplayPosition) -> usize {
        if self.point == to.point { self.legs.len().min(to.legs.len()) } else { 0 }
    }

    /// From now on the running thread stops at these instructions, and at the one at which the recording ends.
    pub(in crate::debug) fn set_probes(
        &mut self,
        addresses: &BTreeSet<u64>,
        recording: &Recording,
    ) -> Result<(), DebugError> {
        self.counts.clear();
        let end = &recording.end;
        let is_last = self.next_stretch().unwrap_or(self.point) == end.point;
        match end.legs.last().filter(|_| is_last) {
            Some(leg) if !addresses.contains(&leg.address) => {
                let mut addresses = addresses.clone();
                addresses.insert(leg.address);
                Ok(self.inspection.set_probes(&addresses)?)
            }
            _ => Ok(self.inspection.set_probes(addresses)?),
        }
    }

    /// Runs to the next probe, or to the end of the stretch.
    pub(in crate::debug) fn advance(&mut self, recording: &Recording) -> Result<Arrival, DebugError> {
        let halt = match self.halt {
            None => self.inspection.begin()?,
            Some(Halt::Probe { .. }) => self.inspection.go_on()?,
            Some(Halt::Rest) => {
                let Some(event) = recording.events.at(self.point) else { return Ok(Arrival::End) };
                self.point = self.point.next();
                self.ending = 0;
                self.legs.clear();
                self.counts.clear();
                self.inspection.perform(event.choice, &event.key)?
            }
        };
        self.halt = Some(halt);
        let Halt::Probe { thread, rests } = halt else { return Ok(Arrival::Rest) };
        let address = self.inspection.instruction(thread).unwrap_or(0);
        *self.counts.entry((thread, address)).or_default() += 1;
        Ok(Arrival::Probe {
            thread,
            address,
            rests,
            ends: self.comes_to_end(thread, address, &recording.end),
        })
    }

    /// Whether a thread that has come to a probe stands where the recording ends.
    fn comes_to_end(&mut self, thread: ThreadName, address: u64, end: &ReplayPosition) -> bool {
        let leg = end.legs.last().filter(|leg| (leg.thread, leg.address) == (thread, address));
        let Some(leg) = leg.filter(|_| end.point == self.point) else { return false };
        self.ending += 1;
        self.ending == leg.count
    }

    /// The way from the last leg to where it stands.
    pub(in crate::debug) fn leg(&self, thread: ThreadName, address: u64) -> Leg {
        let count = self.counts.get(&(thread, address)).copied().unwrap_or(1);
        Leg { thread, address, count }
    }

    /// It stands at this position, however it has come there.
    pub(in crate::debug) fn settle_at(&mut self, at: &ReplayPosition) {
        self.legs.clone_from(&at.legs);
        self.counts.clear();
    }

    /// Makes where it stands the end of a leg.
    pub(in crate::debug) fn settle(&mut self, leg: Leg) {
        self.legs.push(leg);
        self.counts.clear();
    }
}
