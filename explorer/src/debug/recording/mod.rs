//! Recorded execution, as far as it is known without running anything: its events, and the state of every thread between
//! them.

mod archive;
pub(super) mod passing;
pub(super) mod recorder;

use std::collections::HashMap;

use checker::failure::FailureKind;
use checker::names::{Obj, ThreadName};
use checker::position::{PerEvent, Position};
use checker::program::{Agent, AgentView, BlockedOn, Choice, OpKey, Status};
use checker::search::Replayed;

use super::replay_position::ReplayPosition;
use crate::debug::recording::passing::Passing;
use crate::debug::recording::recorder::StepLog;
use crate::narrate::event_lines::EventLines;
use crate::narrate::failing_thread;
use crate::narrate::finding;
use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::interned::Shared;
use crate::report::{EventLine, Location, Switch};
use crate::say::sentence;

/// A recorded execution, up to its failure.
pub(in crate::debug) struct Recording {
    pub(in crate::debug) events: PerEvent<TraceEvent>,
    pub(in crate::debug) fault: Option<RecordedFailure>,
    /// The data of a schedule that was saved because it passes.
    pub(in crate::debug) passing: Option<Passing>,
    /// The position at which it fails, or ends: there is none behind.
    pub(in crate::debug) end: ReplayPosition,
    /// In the order of their labels.
    pub(in crate::debug) lives: Vec<ThreadLifetime>,
    /// The thread that runs the test and takes no part: its events are passed over.
    pub(in crate::debug) harness: Option<ThreadName>,
}

/// An event.
pub(in crate::debug) struct TraceEvent {
    pub(in crate::debug) choice: Choice,
    pub(in crate::debug) key: OpKey,
    /// The operation, to be read after the thread's name.
    pub(in crate::debug) text: String,
    pub(in crate::debug) place: Location,
    /// The reason for which another thread than before runs here.
    pub(in crate::debug) switch: Option<Switch>,
}

impl TraceEvent {
    pub(in crate::debug) fn thread(&self) -> ThreadName {
        self.choice.agent.thread()
    }
}

/// The failure that the execution ends with.
pub(in crate::debug) struct RecordedFailure {
    pub(in crate::debug) kind: FailureKind,
    pub(in crate::debug) message: String,
    /// The thread that failed; of several that wait for each other, the one that came last.
    pub(in crate::debug) thread: ThreadName,
    /// Its place, if that is all that is known of its calls then.
    pub(in crate::debug) place: Option<Location>,
}

/// A thread from its creation to its end.
pub(in crate::debug) struct ThreadLifetime {
    pub(in crate::debug) name: ThreadName,
    pub(in crate::debug) label: String,
    /// Its states, each from a point on.
    pub(in crate::debug) states: Vec<(Position, ThreadState)>,
}

/// State of a thread while it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::debug) struct ThreadState {
    pub(in crate::debug) stage: Stage,
    /// Follows the thread's name.
    pub(in crate::debug) words: String,
    /// They begin with an adjective, as in "blocked on lock m", in place of a verb.
    pub(in crate::debug) adjective: bool,
}

impl ThreadState {
    /// The state of a thread in these words, which begin with a verb.
    pub(in crate::debug) const fn new(stage: Stage, words: String) -> Self {
        Self { stage, words, adjective: false }
    }
}

/// Stage of a thread: whether it can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::debug) enum Stage {
    Ready,
    Blocked,
    Failed,
    Ended,
}

/// The words for a thread that has failed.
const FAILED: &str = "failed";

impl Recording {
    /// From a replay, and what was taken down of it.
    pub(in crate::debug) fn of(
        replayed: &Replayed,
        log: &StepLog,
        at: &[Shared<Location>],
        places: &Places<'_>,
    ) -> Self {
        let failure = replayed.failure.as_ref();
        let event_lines = EventLines::tell(&replayed.trace, at, failure, places);
        let words = Phrasing { labels: &event_lines.labels, source: places.source() };
        let steps = &replayed.trace.steps;
        let end = end(log).min(steps.end());
        let last = end.previous().map(|last| steps[last].choice.agent.thread());
        let lives = lives(log, end, &event_lines.labels, &words);
        let harness = places.source().harness();
        let main = lives.first().map_or(ThreadName::MAIN, |life| life.name);
        let fault = failure.map(|failure| RecordedFailure {
            kind: failure.kind,
            message: finding::message(failure, &words),
            thread: failing_thread::thread(failure, &replayed.trace)
                .or(last)
                .filter(|thread| Some(*thread) != harness)
                .unwrap_or(main),
            place: None,
        });
        let mut told: HashMap<u32, EventLine> =
            event_lines.events.into_iter().map(|line: EventLine| (line.number, line)).collect();
        let events = steps.between(Position::START, end).map(|(position, step)| {
            let (choice, key) = step.replayed();
            match told.remove(&position.into()) {
                Some(line) => {
                    let is_from_harness = harness.is_some() && step.last.thread() == harness;
                    let switch = line.switch.filter(|_| !is_from_harness);
                    TraceEvent {
                        choice,
                        key,
                        text: line.text.to_string(),
                        place: Location::clone(&line.place),
                        switch: switch.map(|switch| *switch),
                    }
                }
                None => {
                    let place =
                        at.get(position.count()).map(|place| Location::clone(place)).unwrap_or_default();
                    TraceEvent { choice, key, text: words.event(&step.event), place, switch: None }
                }
            }
        });
        let events: PerEvent<TraceEvent> = events.collect();
        let end = ReplayPosition::at_rest(events.end());
        Self { events, fault, passing: None, end, lives, harness }
    }

    /// Lets the execution end where one of its threads fails, or, if nothing does, where it comes to the last line of the
    /// program: the rest only tells of it.
    pub(in crate::debug) fn end_at(&mut self, end: ReplayPosition, thread: ThreadName) {
        self.events.truncate(end.point);
        let state = match self.fault {
            Some(_) => Some(ThreadState::new(Stage::Failed, FAILED.to_owned())),
            None if end.is_at_rest() => None,
            None => Some(ThreadState::new(Stage::Ready, String::new())),
        };
        if let Some((life, state)) = self.lives.iter_mut().find(|life| life.name == thread).zip(state) {
            life.states.retain(|(from, _)| *from < end.point);
            life.states.push((end.point, state));
        }
        if let Some(fault) = &mut self.fault {
            fault.thread = thread;
        }
        self.end = end;
    }

    /// The end of the execution, in words.
    pub(in crate::debug) fn end_word(&self) -> &'static str {
        if self.fault.is_some() { "the failure" } else { "the end" }
    }

    /// The thread that the program, or the test, begins with.
    pub(in crate::debug) fn main(&self) -> ThreadName {
        self.lives.first().map_or(ThreadName::MAIN, |life| life.name)
    }

    /// Whether an event is the harness's, by its position.
    pub(in crate::debug) fn is_harness(&self, event: Position) -> bool {
        self.events.at(event).is_some_and(|event| Some(event.thread()) == self.harness)
    }

    /// The threads that run from a point on, event by event.
    pub(in crate::debug) fn threads_since(&self, point: Position) -> impl Iterator<Item = ThreadName> {
        self.events.since(point).map(|(_, event)| event.thread())
    }

    pub(in crate::debug) fn life(&self, thread: ThreadName) -> Option<&ThreadLifetime> {
        self.lives.iter().find(|life| life.name == thread)
    }

    /// The number by which clients know a thread: that of its label.
    pub(in crate::debug) fn number(&self, thread: ThreadName) -> u32 {
        let place = self.lives.iter().position(|life| life.name == thread);
        place.map_or(0, |place| place as u32 + 1)
    }

    /// The thread of a number.
    pub(in crate::debug) fn thread(&self, number: u32) -> Option<&ThreadLifetime> {
        self.lives.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    pub(in crate::debug) fn label(&self, thread: ThreadName) -> String {
        self.life(thread).map_or_else(|| thread.to_string(), |life| life.label.clone())
    }

    /// The thread that runs in the stretch that ends at a point: that of the last event.
    pub(in crate::debug) fn runs_before(&self, point: Position) -> ThreadName {
        let last = point.previous().and_then(|last| self.events.at(last));
        last.map_or_else(|| self.main(), TraceEvent::thread)
    }

    /// The thread that a stop at a point, where every thread stands, is about: that of the last event; where that has ended,
    /// or is the harness, the thread that runs next.
    pub(in crate::debug) fn shown_at(&self, point: Position) -> ThreadName {
        let exists = |thread: &ThreadName| self.life(*thread).is_some_and(|life| life.is_alive(point));
        let later = self.threads_since(point);
        let failed = self.fault.as_ref().map(|fault| fault.thread);
        let others = self.lives.iter().map(|life| life.name);
        let mut wanted = std::iter::once(self.runs_before(point)).chain(later).chain(failed).chain(others);
        wanted.find(exists).unwrap_or_else(|| self.main())
    }
}

impl ThreadLifetime {
    /// State of the thread at a point; none before it is created.
    pub(in crate::debug) fn state(&self, point: Position) -> Option<&ThreadState> {
        let after = self.states.partition_point(|(from, _)| *from <= point);
        self.states.get(after.checked_sub(1)?).map(|(_, state)| state)
    }

    /// Whether it exists at a point.
    pub(in crate::debug) fn is_alive(&self, point: Position) -> bool {
        self.state(point).is_some_and(|state| state.stage != Stage::Ended)
    }
}

/// The point of the first failure, or behind the last event.
fn end(log: &StepLog) -> Position {
    let fails = |view: &AgentView| matches!(view.status, Status::Failed(_));
    if log.initial.iter().any(fails) {
        return Position::START;
    }
    let failing = log.steps.position(|step| step.changed.iter().any(fails));
    failing.map_or(log.steps.end(), Position::next)
}

fn lives(log: &StepLog, end: Position, labels: &ThreadLabels, words: &Phrasing<'_>) -> Vec<ThreadLifetime> {
    let columns = labels.columns().into_iter();
    let mut lives: Vec<ThreadLifetime> = columns
        .map(|lane| ThreadLifetime { name: lane.path, label: lane.thread, states: Vec::new() })
        .collect();
    let changes = log.steps[..end].iter().map(|step| step.changed.as_slice());
    let views = std::iter::once(log.initial.as_slice()).chain(changes);
    for (point, views) in Position::START.until(end.next()).zip(views) {
        for view in views {
            let Agent::Thread(name) = view.agent else { continue };
            if let Some(life) = lives.iter_mut().find(|life| life.name == name) {
                life.states.push((point, state(view, words)));
            }
        }
    }
    lives.retain(|life| !life.states.is_empty());
    lives
}

fn state(view: &AgentView, words: &Phrasing<'_>) -> ThreadState {
    let (stage, words) = match &view.status {
        Status::Enabled => {
            let pending = view.pending.as_ref().map(|op| format!("about to {}", words.pending(op)));
            (Stage::Ready, pending.unwrap_or_default())
        }
        Status::Blocked(on) => (Stage::Blocked, blocked(on, words)),
        Status::Failed(_) => (Stage::Failed, FAILED.to_owned()),
        Status::Finished => (Stage::Ended, "has ended".to_owned()),
    };
    let adjective = matches!(&view.status, Status::Blocked(on) if blocked_at(on).is_some());
    ThreadState { stage, words: sentence(words.replace('`', "")), adjective }
}

/// The object at which a thread waits, with the word for what it is; `None`: the wait is not told as one at an object.
const fn blocked_at(on: &BlockedOn) -> Option<(&'static str, Obj)> {
    Some(match on {
        BlockedOn::Mutex { obj, .. } => ("lock", *obj),
        BlockedOn::Read(obj) => ("read lock", *obj),
        BlockedOn::Write(obj) => ("write lock", *obj),
        BlockedOn::Cond(obj) => ("condition variable", *obj),
        BlockedOn::Sem(obj) => ("semaphore", *obj),
        BlockedOn::Barrier { obj, .. } => ("barrier", *obj),
        BlockedOn::Futex(obj) => ("futex", *obj),
        BlockedOn::Once(obj) => ("initialiser", *obj),
        BlockedOn::Message(obj) | BlockedOn::Room(obj) => ("message queue", *obj),
        BlockedOn::Join(_)
        | BlockedOn::Await(_)
        | BlockedOn::Input(_)
        | BlockedOn::Output(_)
        | BlockedOn::Outside(_)
        | BlockedOn::Arrival
        | BlockedOn::Process
        | BlockedOn::Test
        | BlockedOn::Time(_) => return None,
    })
}

fn blocked(on: &BlockedOn, words: &Phrasing<'_>) -> String {
    match blocked_at(on) {
        Some((what, obj)) => format!("blocked on {what} {}", words.object(obj)),
        None => words.waits(on),
    }
}
