//! A schedule that was saved because it passes: the session begins at the order of events that makes it pass.

use checker::names::ThreadName;

use super::debuggee::Debuggee;
use super::position::Position;
use super::recording::Recording;
use super::stop::{Cause, Stop};
use crate::schedule_file::ScheduleFile;

/// What a schedule file says of a schedule that passes.
pub(super) struct Passing {
    /// The numbers of the events that come in the other order than where it fails: first the one that comes first here.
    order: Vec<(usize, Option<usize>)>,
    /// The failure that it does without, as a sentence.
    without: String,
}

impl Passing {
    /// `None` of a schedule that fails.
    pub(super) fn of_file(saved: &ScheduleFile) -> Option<Self> {
        let order = saved.passes.as_ref()?.order.clone();
        Some(Self { order, without: saved.failure.message.clone() })
    }

    /// What is said at the end.
    pub(super) fn words(&self) -> String {
        format!("nothing has failed; the schedule that fails ends with: {}", self.without)
    }

    /// Where the first of these events is, and the other one of its two.
    fn first(&self) -> Option<(usize, Option<usize>)> {
        self.order.iter().copied().min_by_key(|(first, _)| *first)
    }
}

impl Recording {
    /// What the execution ends with, in words.
    pub(super) fn end_word(&self) -> &'static str {
        if self.fault.is_some() { "the failure" } else { "the end" }
    }
}

impl Debuggee<'_> {
    /// Goes where a session begins: to the failure; of a schedule that passes, to the first of the events whose order makes it
    /// pass, or to its start where these are not known.
    pub(super) fn begin(&mut self) -> Stop {
        let Some(passing) = &self.recording.passing else { return self.go_to_end() };
        match passing.first().filter(|(step, _)| *step < self.recording.len()) {
            Some((step, other)) => self.go_to_order(step, other),
            None => self.go_to_start(),
        }
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

    /// Whom the end is about where nothing fails: a thread that still exists.
    pub(super) fn thread_at_end(&self) -> ThreadName {
        let end = &self.recording.end;
        end.legs.last().map_or_else(|| self.recording.shown_at(end.events), |leg| leg.thread)
    }
}
