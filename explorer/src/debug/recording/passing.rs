//! A schedule that was saved because it passes: the session begins at the order of events that makes it pass.

use checker::position::Position;

use crate::schedule_file::ScheduleFile;

/// The part of a schedule file that is about a schedule that passes.
pub(in crate::debug) struct Passing {
    /// The events that come in the other order than where it fails: first the one that comes first here.
    order: Vec<(Position, Option<Position>)>,
    /// The failure that it does without, as a sentence.
    without: String,
}

impl Passing {
    /// `None` of a schedule that fails.
    pub(in crate::debug) fn of_file(saved: &ScheduleFile) -> Option<Self> {
        let numbers = saved.passes.as_ref()?.order.iter();
        let pair = |&(first, other): &(usize, Option<usize>)| {
            Some((Position::of_number(first)?, other.and_then(Position::of_number)))
        };
        Some(Self { order: numbers.filter_map(pair).collect(), without: saved.failure.message.clone() })
    }

    /// The message at the end of the session.
    pub(in crate::debug) fn words(&self) -> String {
        format!("nothing has failed; the schedule that fails ends with: {}", self.without)
    }

    /// The first of these events, and the other one of its two.
    pub(in crate::debug) fn first(&self) -> Option<(Position, Option<Position>)> {
        self.order.iter().copied().min_by_key(|(first, _)| *first)
    }
}
