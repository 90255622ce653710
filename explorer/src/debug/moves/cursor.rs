//! A session's place in its recording, and the moves that need the recording alone: by event, by switch, to either
//! end.

use checker::names::ThreadName;
use checker::position::Position;

use crate::debug::error::DebugError;
use crate::debug::recording::{Recording, Stage, ThreadState};
use crate::debug::replay_position::ReplayPosition;
use crate::debug::request::Direction;
use crate::debug::stop::{Cause, Stop};
use crate::report::Why;

/// A place in a recorded execution.
pub(in crate::debug) struct Cursor {
    pub(in crate::debug) recording: Recording,
    pub(in crate::debug) at: ReplayPosition,
    /// The thread that the last stop was about.
    pub(in crate::debug) thread: ThreadName,
    /// Messages of log points since the last stop.
    pub(in crate::debug) log: Vec<String>,
}

impl Cursor {
    /// One that stands at the end.
    pub(in crate::debug) fn new(recording: Recording) -> Self {
        let at = recording.end.clone();
        let thread = recording.fault.as_ref().map_or_else(|| recording.main(), |fault| fault.thread);
        Self { recording, at, thread, log: Vec::new() }
    }

    /// Goes where a session begins: to the failure; of a schedule that passes, to the first of the events whose order makes it
    /// pass, `None` where these are not known, and the session begins at the start.
    pub(in crate::debug) fn begin(&mut self) -> Option<Stop> {
        let Some(passing) = &self.recording.passing else { return Some(self.go_to_end()) };
        let (step, other) = passing.first().filter(|(step, _)| *step < self.recording.events.end())?;
        Some(self.go_to_order(step, other))
    }

    /// Stands before an event that comes before another one.
    fn go_to_order(&mut self, step: Position, other: Option<Position>) -> Stop {
        let event = |step: Position| {
            let event = self.recording.events.at(step)?;
            Some(format!("{}: {}", self.recording.label(event.thread()), event.text))
        };
        let (first, other) = (event(step), other.and_then(event));
        let words = [first, other].into_iter().flatten().collect::<Vec<_>>().join("; then ");
        let text = format!("it passes where these come in this order: {words}");
        let thread = self.recording.events[step].thread();
        let description = format!("{} · the order that makes it pass", self.number_words(step));
        self.arrive(ReplayPosition::at_rest(step), thread, Cause::Goto, description, Some(text))
    }

    /// The failure, or where the execution ends without one.
    pub(in crate::debug) fn go_to_end(&mut self) -> Stop {
        let (thread, cause, description, text) = match &self.recording.fault {
            Some(fault) => {
                let text = fault.message.clone();
                (fault.thread, Cause::Failure(fault.kind), "the failure".to_owned(), Some(text))
            }
            None => {
                let (description, text) = match &self.recording.passing {
                    Some(passing) => ("the end: the execution passed", Some(passing.words())),
                    None => ("the end: the schedule no longer fails", None),
                };
                (self.thread_at_end(), Cause::End, description.to_owned(), text)
            }
        };
        self.arrive(self.recording.end.clone(), thread, cause, description, text)
    }

    /// The thread that the end is about where nothing fails: one that still exists.
    pub(in crate::debug) fn thread_at_end(&self) -> ThreadName {
        let end = &self.recording.end;
        end.legs.last().map_or_else(|| self.recording.shown_at(end.point), |leg| leg.thread)
    }

    /// The first line of the program, or of the test; its first key point where the compiler has left none before it.
    pub(in crate::debug) fn go_to_start(&mut self, first_line: Option<ReplayPosition>) -> Stop {
        let at = first_line.unwrap_or_default();
        let thread = at.legs.last().map_or_else(|| self.recording.main(), |leg| leg.thread);
        self.arrive(at, thread, Cause::Entry, "the start".to_owned(), None)
    }

    /// So many events have run.
    pub(in crate::debug) fn go_to_step(&mut self, number: usize) -> Result<Stop, DebugError> {
        let steps = self.recording.events.end();
        let Some(step) = Position::of_number(number).filter(|step| *step <= steps) else {
            return Err(DebugError::Unknown(format!(
                "the schedule has {steps} steps, so there is no step {number}"
            )));
        };
        if step == steps {
            return Ok(self.go_to_end());
        }
        let thread = self.recording.shown_at(step);
        let (description, text) = (self.step_words(step, thread), self.event_words(step));
        Ok(self.arrive(ReplayPosition::at_rest(step), thread, Cause::Goto, description, text))
    }

    /// One key point of any thread; `None` where that is before the first one.
    pub(in crate::debug) fn by_event(&mut self, direction: Direction) -> Option<Stop> {
        let recording = &self.recording;
        let end = recording.events.end();
        let counts = |event: &Position| !recording.is_harness(*event);
        let step = match direction {
            Direction::Forward if self.at.point == end && self.at.is_at_rest() => {
                return Some(self.go_to_end());
            }
            // On the way to a key point, the key point comes next.
            Direction::Forward if !self.at.is_at_rest() => self.at.point,
            Direction::Forward => self.at.point.until(end).find(counts).map_or(end, Position::next),
            Direction::Back => Position::START.until(self.at.point).rev().find(counts)?,
        };
        if step == end {
            return Some(self.go_to_end());
        }
        let thread = match direction {
            Direction::Forward => recording.shown_at(step),
            Direction::Back => recording.events[step].thread(),
        };
        let (description, text) = (self.step_words(step, thread), self.event_words(step));
        Some(self.arrive(ReplayPosition::at_rest(step), thread, Cause::Step, description, text))
    }

    /// The nearest change of thread, else the end in that direction; `None` where that is the start.
    pub(in crate::debug) fn by_switch(&mut self, direction: Direction) -> Option<Stop> {
        match self.switch(direction, |_| true) {
            Some(step) => Some(self.at_switch(step)),
            None if direction == Direction::Forward => Some(self.go_to_end()),
            None => None,
        }
    }

    /// The nearest step in a direction before whose event the thread changes for a wanted reason.
    pub(in crate::debug) fn switch(
        &self,
        direction: Direction,
        wanted: impl Fn(Why) -> bool,
    ) -> Option<Position> {
        let events = &self.recording.events;
        let is_wanted = |step: &Position| {
            let switch = events.at(*step).and_then(|event| event.switch.as_ref());
            switch.is_some_and(|switch| switch.why != Why::Timeout && wanted(switch.why))
        };
        // At rest, the switch here has been seen; on the way to it, it lies ahead.
        let here = self.at.point;
        let next = if self.at.is_at_rest() { here.next() } else { here };
        match direction {
            Direction::Forward => next.until(events.end()).find(is_wanted),
            Direction::Back => Position::START.until(here).rev().find(is_wanted),
        }
    }

    /// Stands where the thread changes before an event.
    pub(in crate::debug) fn at_switch(&mut self, step: Position) -> Stop {
        let event = &self.recording.events[step];
        let (thread, switch) = (event.thread(), event.switch.as_ref());
        let is_preemption = switch.is_some_and(|switch| switch.why == Why::Preempted);
        let cause = if is_preemption { Cause::Preemption } else { Cause::Switch };
        let text = switch.map(|switch| switch.reason.clone());
        let description =
            format!("{} · switched to {}", self.number_words(step), self.recording.label(thread));
        self.arrive(ReplayPosition::at_rest(step), thread, cause, description, text)
    }

    pub(in crate::debug) fn at_breakpoint(
        &mut self,
        at: ReplayPosition,
        thread: ThreadName,
        hits: Vec<u64>,
    ) -> Stop {
        let words = self.step_words(at.point, thread);
        self.arrive(at, thread, Cause::Breakpoints(hits), words, None)
    }

    /// Without a program: to the next or previous event of the thread.
    pub(in crate::debug) fn by_own_event(&mut self, thread: ThreadName, direction: Direction) -> Stop {
        let events = &self.recording.events;
        let is_own = |step: &Position| events[*step].thread() == thread;
        let found = match direction {
            // Its event at hand is where it stands: the next one is where it stands after that.
            Direction::Forward => self.at.point.until(events.end()).find(is_own).map(Position::next),
            Direction::Back => Position::START.until(self.at.point.min(events.end())).rev().find(is_own),
        };
        match found {
            Some(step) if step < events.end() => {
                let words = self.step_words(step, thread);
                self.arrive(ReplayPosition::at_rest(step), thread, Cause::Step, words, None)
            }
            Some(_) => self.go_to_end(),
            None if direction == Direction::Back => self.begins_here(thread),
            None => self.stays(thread, self.at.clone()),
        }
    }

    pub(in crate::debug) fn begins_here(&mut self, thread: ThreadName) -> Stop {
        let words = format!("{} begins here", self.recording.label(thread));
        self.arrive(self.at.clone(), thread, Cause::Step, words, None)
    }

    /// Whether a thread runs between here and the end.
    pub(in crate::debug) fn runs_again(&self, thread: ThreadName) -> bool {
        let mut later = self.recording.threads_since(self.at.point);
        let born = self.recording.life(thread).and_then(|life| life.states.first()).map(|(from, _)| *from);
        let is_on_its_way = self.at.legs.last().is_some_and(|leg| leg.thread == thread);
        later.any(|runs| runs == thread)
            || is_on_its_way
            || (!self.at.is_at_rest() && born == Some(self.at.point))
    }

    /// A thread does not get to another line.
    pub(in crate::debug) fn stays(&mut self, thread: ThreadName, at: ReplayPosition) -> Stop {
        let label = self.recording.label(thread);
        let state = self.recording.life(thread).and_then(|life| life.state(at.point)).cloned();
        let (at, thread, words) = match state.as_ref().map(|state| (state.stage, state)) {
            Some((Stage::Blocked, state)) => (at, thread, stays_so(&label, state)),
            Some((Stage::Ready, _)) if self.recording.fault.is_none() && thread == self.thread_at_end() => {
                return self.go_to_end();
            }
            Some((Stage::Ready, _)) => {
                let end = self.recording.end.clone();
                (end, thread, format!("{label} does not run again before {}", self.recording.end_word()))
            }
            Some((Stage::Failed, _)) => return self.go_to_end(),
            Some((Stage::Ended, _)) | None => {
                let mut later = self.recording.threads_since(at.point);
                let next = later.find(|runs| Some(*runs) != self.recording.harness);
                let failed = self.recording.fault.as_ref().map(|fault| fault.thread);
                let other = next.or(failed).unwrap_or_else(|| self.recording.main());
                (at, other, format!("{label} has ended · switched to {}", self.recording.label(other)))
            }
        };
        self.arrive(at, thread, Cause::Step, words, None)
    }

    pub(in crate::debug) fn arrive(
        &mut self,
        at: ReplayPosition,
        thread: ThreadName,
        cause: Cause,
        description: String,
        text: Option<String>,
    ) -> Stop {
        let log = std::mem::take(&mut self.log);
        let stop = Stop { thread: self.recording.number(thread), cause, description, text, log };
        (self.at, self.thread) = (at, thread);
        stop
    }

    /// "step 3 of 20", with the thread that runs if that is another one than before.
    pub(in crate::debug) fn step_words(&self, step: Position, thread: ThreadName) -> String {
        let words = self.number_words(step);
        if thread == self.thread {
            return words;
        }
        format!("{words} · switched to {}", self.recording.label(thread))
    }

    pub(in crate::debug) fn number_words(&self, step: Position) -> String {
        format!("step {step} of {}", self.recording.events.end())
    }

    /// The event that ran last, in words.
    fn event_words(&self, step: Position) -> Option<String> {
        let event = self.recording.events.at(step.previous()?)?;
        Some(format!("{}: {}", self.recording.label(event.thread()), event.text))
    }
}

/// Says that a thread does not go on.
fn stays_so(label: &str, state: &ThreadState) -> String {
    let how = if state.adjective { "stays" } else { "still" };
    format!("{label} {how} {}", state.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_thread_is_said_in_a_sentence() {
        let state = |words: &str, adjective| ThreadState {
            adjective,
            ..ThreadState::new(Stage::Blocked, words.to_owned())
        };
        for (state, expected) in [
            (state("blocked on lock m", true), "T1 stays blocked on lock m"),
            (state("spins until turn changes", false), "T1 still spins until turn changes"),
            (state("waits for T2 to end", false), "T1 still waits for T2 to end"),
        ] {
            assert_eq!(stays_so("T1", &state), expected);
        }
    }
}
