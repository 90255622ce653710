//! A session's place in its recording, and the moves that need the recording alone: by event, by switch, to either
//! end.

use checker::names::ThreadName;

use crate::debug::error::DebugError;
use crate::debug::position::Position;
use crate::debug::recording::{Recording, Stage, ThreadState};
use crate::debug::request::Direction;
use crate::debug::stop::{Cause, Stop};
use crate::report::Why;

/// A place in a recorded execution.
pub(in crate::debug) struct Cursor {
    pub(in crate::debug) recording: Recording,
    pub(in crate::debug) at: Position,
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
        let (step, other) = passing.first().filter(|(step, _)| *step < self.recording.len())?;
        Some(self.go_to_order(step, other))
    }

    /// Stands before an event that comes before another one.
    fn go_to_order(&mut self, step: usize, other: Option<usize>) -> Stop {
        let event = |step: usize| {
            let event = self.recording.events.get(step)?;
            Some(format!("{}: {}", self.recording.label(event.thread()), event.text))
        };
        let (first, other) = (event(step), other.and_then(event));
        let words = [first, other].into_iter().flatten().collect::<Vec<_>>().join("; then ");
        let text = format!("it passes where these come in this order: {words}");
        let thread = self.recording.events[step].thread();
        let description = format!("{} · the order that makes it pass", self.number_words(step));
        self.arrive(Position::at_rest(step), thread, Cause::Goto, description, Some(text))
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
        end.legs.last().map_or_else(|| self.recording.shown_at(end.events), |leg| leg.thread)
    }

    /// The first line of the program, or of the test; its first key point where the compiler has left none before it.
    pub(in crate::debug) fn go_to_start(&mut self, first_line: Option<Position>) -> Stop {
        let at = first_line.unwrap_or_default();
        let thread = at.legs.last().map_or_else(|| self.recording.main(), |leg| leg.thread);
        self.arrive(at, thread, Cause::Entry, "the start".to_owned(), None)
    }

    /// So many events have run.
    pub(in crate::debug) fn go_to_step(&mut self, step: usize) -> Result<Stop, DebugError> {
        let steps = self.recording.len();
        if step > steps {
            return Err(DebugError::Unknown(format!(
                "the schedule has {steps} steps, so there is no step {step}"
            )));
        }
        if step == steps {
            return Ok(self.go_to_end());
        }
        let thread = self.recording.shown_at(step);
        let description = self.step_words(step, thread);
        Ok(self.arrive(Position::at_rest(step), thread, Cause::Goto, description, self.event_words(step)))
    }

    /// One key point of any thread; `None` where that is before the first one.
    pub(in crate::debug) fn by_event(&mut self, direction: Direction) -> Option<Stop> {
        let recording = &self.recording;
        let counts = |event: &usize| !recording.is_harness(*event);
        let step = match direction {
            Direction::Forward if self.at.events == recording.len() && self.at.is_at_rest() => {
                return Some(self.go_to_end());
            }
            // On the way to a key point, the key point comes next.
            Direction::Forward if !self.at.is_at_rest() => self.at.events,
            Direction::Forward => {
                (self.at.events..recording.len()).find(counts).map_or(recording.len(), |event| event + 1)
            }
            Direction::Back => (0..self.at.events).rev().find(counts)?,
        };
        if step == recording.len() {
            return Some(self.go_to_end());
        }
        let thread = match direction {
            Direction::Forward => recording.shown_at(step),
            Direction::Back => recording.events[step].thread(),
        };
        let description = self.step_words(step, thread);
        Some(self.arrive(Position::at_rest(step), thread, Cause::Step, description, self.event_words(step)))
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
    ) -> Option<usize> {
        let events = &self.recording.events;
        let is_wanted = |step: &usize| {
            let switch = events.get(*step).and_then(|event| event.switch.as_ref());
            switch.is_some_and(|switch| switch.why != Why::Timeout && wanted(switch.why))
        };
        // At rest, the switch here has been seen; on the way to it, it lies ahead.
        let here = self.at.events;
        match direction {
            Direction::Forward => (here + usize::from(self.at.is_at_rest())..events.len()).find(is_wanted),
            Direction::Back => (0..here).rev().find(is_wanted),
        }
    }

    /// Stands where the thread changes before an event.
    pub(in crate::debug) fn at_switch(&mut self, step: usize) -> Stop {
        let event = &self.recording.events[step];
        let (thread, switch) = (event.thread(), event.switch.as_ref());
        let is_preemption = switch.is_some_and(|switch| switch.why == Why::Preempted);
        let cause = if is_preemption { Cause::Preemption } else { Cause::Switch };
        let text = switch.map(|switch| switch.reason.clone());
        let description =
            format!("{} · switched to {}", self.number_words(step), self.recording.label(thread));
        self.arrive(Position::at_rest(step), thread, cause, description, text)
    }

    pub(in crate::debug) fn at_breakpoint(
        &mut self,
        at: Position,
        thread: ThreadName,
        hits: Vec<u64>,
    ) -> Stop {
        let words = self.step_words(at.events, thread);
        self.arrive(at, thread, Cause::Breakpoints(hits), words, None)
    }

    /// Without a program: to the next or previous event of the thread.
    pub(in crate::debug) fn by_own_event(&mut self, thread: ThreadName, direction: Direction) -> Stop {
        let events = &self.recording.events;
        let is_own = |step: &usize| events[*step].thread() == thread;
        let found = match direction {
            // Its event at hand is where it stands: the next one is where it stands after that.
            Direction::Forward => (self.at.events..events.len()).find(is_own).map(|step| step + 1),
            Direction::Back => (0..self.at.events.min(events.len())).rev().find(is_own),
        };
        match found {
            Some(step) if step < events.len() => {
                let words = self.step_words(step, thread);
                self.arrive(Position::at_rest(step), thread, Cause::Step, words, None)
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
        let later = self.recording.events.iter().skip(self.at.events);
        let born = self.recording.life(thread).and_then(|life| life.states.first()).map(|(from, _)| *from);
        let is_on_its_way = self.at.legs.last().is_some_and(|leg| leg.thread == thread);
        later.map(|event| event.thread()).any(|runs| runs == thread)
            || is_on_its_way
            || (!self.at.is_at_rest() && born == Some(self.at.events))
    }

    /// A thread does not get to another line.
    pub(in crate::debug) fn stays(&mut self, thread: ThreadName, at: Position) -> Stop {
        let label = self.recording.label(thread);
        let state = self.recording.life(thread).and_then(|life| life.state(at.events)).cloned();
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
                let later = self.recording.events.iter().skip(at.events).map(|event| event.thread());
                let next = later.into_iter().find(|runs| Some(*runs) != self.recording.harness);
                let failed = self.recording.fault.as_ref().map(|fault| fault.thread);
                let other = next.or(failed).unwrap_or_else(|| self.recording.main());
                (at, other, format!("{label} has ended · switched to {}", self.recording.label(other)))
            }
        };
        self.arrive(at, thread, Cause::Step, words, None)
    }

    pub(in crate::debug) fn arrive(
        &mut self,
        at: Position,
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
    pub(in crate::debug) fn step_words(&self, step: usize, thread: ThreadName) -> String {
        let words = self.number_words(step);
        if thread == self.thread {
            return words;
        }
        format!("{words} · switched to {}", self.recording.label(thread))
    }

    pub(in crate::debug) fn number_words(&self, step: usize) -> String {
        format!("step {step} of {}", self.recording.len())
    }

    /// The event that ran last, in words.
    fn event_words(&self, step: usize) -> Option<String> {
        let event = self.recording.events.get(step.checked_sub(1)?)?;
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
