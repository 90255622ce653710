//! Recording from a schedule file alone, for when its program cannot be run.

use std::collections::BTreeMap;

use checker::names::ThreadName;
use checker::operation::OpKind;
use checker::position::{PerEvent, Position};

use super::passing::Passing;
use crate::debug::recording::{RecordedFailure, Recording, Stage, ThreadLifetime, ThreadState, TraceEvent};
use crate::debug::replay_position::ReplayPosition;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::{Location, Switch, Why};
use crate::schedule_file::{SavedChoice, ScheduleFile, place};

impl Recording {
    /// From a file alone: threads, operations and places, as they were saved.
    pub(in crate::debug) fn of_file(saved: &ScheduleFile) -> Self {
        let choices = &saved.choices;
        let labels = ThreadLabels::of(choices.iter().map(|choice| choice.thread), None);
        let events: PerEvent<TraceEvent> = (0..choices.len()).map(|at| event(choices, at, &labels)).collect();
        let columns = labels.columns().into_iter();
        let lives = columns.map(|lane| life(lane.path, lane.thread, choices)).collect();
        let last = choices.last().map_or(ThreadName::MAIN, |choice| choice.thread);
        let first = saved.failure.first_party();
        let failed = first.as_ref().map(|party| party.thread.as_str());
        let thread = labels.columns().into_iter().find(|lane| Some(lane.thread.as_str()) == failed);
        let fault = RecordedFailure {
            kind: saved.failure.kind,
            message: saved.failure.message.clone(),
            thread: thread.map_or(last, |lane| lane.path),
            place: saved.failure.place.clone().or_else(|| own_place(saved, first?.place)),
        };
        let end = ReplayPosition::at_rest(events.end());
        let passing = Passing::of_file(saved);
        let fault = passing.is_none().then_some(fault);
        Self { events, fault, passing, end, lives, harness: None }
    }
}

/// The place of the first of several threads, if it was in code that has steps of its own.
fn own_place(saved: &ScheduleFile, failed: Location) -> Option<Location> {
    let files = saved.choices.iter().filter_map(|choice| place(&choice.at).file);
    files.into_iter().any(|file| failed.file.as_ref() == Some(&file)).then_some(failed)
}

fn event(choices: &[SavedChoice], at: usize, labels: &ThreadLabels) -> TraceEvent {
    let choice = &choices[at];
    let before = at.checked_sub(1).map(|before| choices[before].thread);
    let switch = before.filter(|before| *before != choice.thread).map(|before| {
        let from = labels.label(before);
        // The reason for which a thread did not go on is not saved.
        let runs_again = choices[at..].iter().any(|later| later.thread == before);
        let (why, reason) = match runs_again {
            true => (Why::Preempted, format!("{from} does not go on")),
            false => (Why::Blocked, format!("{from} does not run again")),
        };
        Switch { from, why, reason }
    });
    TraceEvent {
        choice: choice.choice(),
        key: choice.key(),
        text: words(choice),
        place: place(&choice.at),
        switch,
    }
}

fn words(choice: &SavedChoice) -> String {
    match &choice.object {
        Some(object) => format!("{} `{object}`", choice.operation.verb()),
        None => choice.operation.to_string(),
    }
}

/// From its creation on, a thread is about to run its next event; its operations after its last one are not saved.
fn life(name: ThreadName, label: String, choices: &[SavedChoice]) -> ThreadLifetime {
    let mut states: BTreeMap<Position, ThreadState> = BTreeMap::new();
    let mut from = born(name, choices);
    for (at, choice) in choices.iter().enumerate().filter(|(_, choice)| choice.thread == name) {
        states.insert(from, ThreadState::new(Stage::Ready, format!("about to {}", words(choice))));
        from = Position::after(at + 1);
    }
    states.insert(from, ThreadState::new(Stage::Ready, String::new()));
    ThreadLifetime { name, label, states: states.into_iter().collect() }
}

/// The point from which on a thread exists: the n-th thread that another one creates is its n-th child.
fn born(name: ThreadName, choices: &[SavedChoice]) -> Position {
    let Some((&ordinal, parents)) = name.path().split_last() else { return Position::START };
    let parent = parents.iter().try_fold(ThreadName::MAIN, |parent, &ordinal| parent.child(ordinal));
    let creates = |choice: &SavedChoice| choice.operation == OpKind::Create && Some(choice.thread) == parent;
    let creations = choices.iter().enumerate().filter(|(_, choice)| creates(choice));
    let birth = creations.map(|(at, _)| Position::after(at + 1)).nth(usize::from(ordinal).saturating_sub(1));
    birth.unwrap_or(Position::START)
}
