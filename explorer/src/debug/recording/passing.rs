//! A schedule that was saved because it passes: the session begins at the order of events that makes it pass.

use crate::schedule_file::ScheduleFile;

/// The part of a schedule file that is about a schedule that passes.
pub(in crate::debug) struct Passing {
    /// The numbers of the events that come in the other order than where it fails: first the one that comes first here.
    order: Vec<(usize, Option<usize>)>,
    /// The failure that it does without, as a sentence.
    without: String,
}

impl Passing {
    /// `None` of a schedule that fails.
    pub(in crate::debug) fn of_file(saved: &ScheduleFile) -> Option<Self> {
        let order = saved.passes.as_ref()?.order.clone();
        Some(Self { order, without: saved.failure.message.clone() })
    }

    /// The message at the end of the session.
    pub(in crate::debug) fn words(&self) -> String {
        format!("nothing has failed; the schedule that fails ends with: {}", self.without)
    }

    /// The number of the first of these events, and that of the other one of its two.
    pub(in crate::debug) fn first(&self) -> Option<(usize, Option<usize>)> {
        self.order.iter().copied().min_by_key(|(first, _)| *first)
    }
}
