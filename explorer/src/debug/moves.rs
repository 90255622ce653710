//! Moves from key point to key point: by event, by switch, to either end. They need no process.

use checker::names::ThreadName;

use super::debuggee::Debuggee;
use super::error::DebugError;
use super::position::Position;
use super::stop::{Cause, Stop};
use crate::report::Why;

/// Which way a move goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// As the program runs.
    Forward,
    /// Back in time.
    Back,
}

impl Debuggee<'_> {
    /// The failure, or where the execution ends without one.
    pub(super) fn go_to_end(&mut self) -> Stop {
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

    /// So many events have run.
    pub(super) fn go_to_step(&mut self, step: usize) -> Result<Stop, DebugError> {
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

    /// One key point of any thread.
    pub(super) fn by_event(&mut self, direction: Direction) -> Stop {
        let recording = &self.recording;
        let counts = |event: &usize| !recording.is_harness(*event);
        let step = match direction {
            Direction::Forward if self.at.events == recording.len() && self.at.is_at_rest() => {
                return self.go_to_end();
            }
            // On the way to a key point, the key point comes next.
            Direction::Forward if !self.at.is_at_rest() => self.at.events,
            Direction::Forward => {
                (self.at.events..recording.len()).find(counts).map_or(recording.len(), |event| event + 1)
            }
            Direction::Back => match (0..self.at.events).rev().find(counts) {
                Some(event) => event,
                None => return self.go_to_start(),
            },
        };
        if step == recording.len() {
            return self.go_to_end();
        }
        let thread = match direction {
            Direction::Forward => recording.shown_at(step),
            Direction::Back => recording.events[step].thread(),
        };
        let description = self.step_words(step, thread);
        self.arrive(Position::at_rest(step), thread, Cause::Step, description, self.event_words(step))
    }

    /// The nearest change of thread, else the end in that direction.
    pub(super) fn by_switch(&mut self, direction: Direction) -> Stop {
        match self.switch(direction, |_| true) {
            Some(step) => self.at_switch(step),
            None if direction == Direction::Forward => self.go_to_end(),
            None => self.go_to_start(),
        }
    }

    /// The nearest step in a direction before whose event the thread changes for a wanted reason.
    pub(super) fn switch(&self, direction: Direction, wanted: impl Fn(Why) -> bool) -> Option<usize> {
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
    pub(super) fn at_switch(&mut self, step: usize) -> Stop {
        let event = &self.recording.events[step];
        let (thread, switch) = (event.thread(), event.switch.as_ref());
        let is_preemption = switch.is_some_and(|switch| switch.why == Why::Preempted);
        let cause = if is_preemption { Cause::Preemption } else { Cause::Switch };
        let text = switch.map(|switch| switch.reason.clone());
        let description =
            format!("{} · switched to {}", self.number_words(step), self.recording.label(thread));
        self.arrive(Position::at_rest(step), thread, cause, description, text)
    }

    pub(super) fn arrive(
        &mut self,
        at: Position,
        thread: ThreadName,
        cause: Cause,
        description: String,
        text: Option<String>,
    ) -> Stop {
        let log = std::mem::take(&mut self.log);
        let stop = Stop { thread: self.recording.number(thread), cause, description, text, log };
        self.stop(at, thread, stop)
    }

    /// "step 3 of 20", and who runs if that is somebody else than before.
    pub(super) fn step_words(&self, step: usize, thread: ThreadName) -> String {
        let words = self.number_words(step);
        if thread == self.thread {
            return words;
        }
        format!("{words} · switched to {}", self.recording.label(thread))
    }

    pub(super) fn number_words(&self, step: usize) -> String {
        format!("step {step} of {}", self.recording.len())
    }

    /// What ran last.
    fn event_words(&self, step: usize) -> Option<String> {
        let event = self.recording.events.get(step.checked_sub(1)?)?;
        Some(format!("{}: {}", self.recording.label(event.thread()), event.text))
    }
}
