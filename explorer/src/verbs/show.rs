//! The verb `show`: one saved schedule, run again, as the graph of its events.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use checker::position::Position;
use checker::program::Program;
use checker::search::{Replayed, SearchError};
use checker::trace::Trace;

use crate::error::Error;
use crate::escaping;
use crate::narrate::event_lines::EventLines;
use crate::narrate::finding;
use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::user_frames::places_of_events;
use crate::report::{EventGraph, EventLine, GRAPH_FORMAT, GRAPH_VERSION, GraphFailure};
use crate::trust::Consent;
use crate::verbs::replay::{ReplayContext, with_saved};

/// Replays a schedule file, and tells which of its events happened before which. Runs on the calling thread, and binds it to
/// one CPU.
///
/// # Errors
/// As [`replay`](super::replay::replay), and where it is cancelled.
pub fn show(file: &Path, consent: Consent<'_>, cancel: &Arc<AtomicBool>) -> Result<EventGraph, Error> {
    with_saved(file, consent, cancel, |context, program| {
        let (replayed, _) = context.replayed(program)?;
        let replayed = replayed.ok_or(Error::Search(SearchError::Stopped))?;
        Ok(graph(context, program, &replayed))
    })
}

/// Writes the object that `--format json` prints; ends with a line break.
///
/// # Errors
/// When it cannot be written.
pub fn graph_json(graph: &EventGraph, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(escaping::Json::new(&mut *to), graph)?;
    to.write_all(b"\n")
}

fn graph(context: &ReplayContext<'_>, program: &impl Program, replayed: &Replayed) -> EventGraph {
    let places = Places::new(context.source, context.root);
    let trace = &replayed.trace;
    let at = places_of_events(program, trace, &places);
    let told = EventLines::tell(trace, &at, replayed.failure.as_ref(), &places);
    let words = Phrasing { labels: &told.labels, source: context.source };
    let failure = replayed.failure.as_ref().map(|failure| {
        let failed = failure.thread.map(|thread| told.labels.label(thread));
        let is_its = |event: &&EventLine| failed.as_ref().is_none_or(|thread| *event.thread == *thread);
        let after = told.events.iter().rfind(is_its).map(|event| event.number);
        GraphFailure { message: finding::message(failure, &words), after }
    });
    EventGraph {
        format: GRAPH_FORMAT.to_owned(),
        version: GRAPH_VERSION,
        target: context.saved.target.program_in_words(),
        schedule_file: context.file.to_string_lossy().into_owned(),
        failure,
        lanes: told.labels.columns(),
        happens_before: happens_before(trace, &told.events),
        events: told.events,
    }
}

/// Pairs of these events, of different threads, of which the first comes immediately before the second.
fn happens_before(trace: &Trace, events: &[EventLine]) -> Vec<[u32; 2]> {
    let is_told = |number: u32| events.binary_search_by_key(&number, |event| event.number).is_ok();
    let mut pairs = Vec::new();
    for event in events {
        let position = Position::after(event.number as usize);
        let thread = trace.steps[position].event.id.thread;
        let Some(thread) = trace.threads.iter().position(|&name| name == thread) else { continue };
        let earlier = trace.hb.immediately_before(position, thread).into_iter().map(u32::from);
        let mut earlier: Vec<u32> = earlier.filter(|&number| is_told(number)).collect();
        earlier.sort_unstable();
        pairs.extend(earlier.into_iter().map(|number| [number, event.number]));
    }
    pairs
}
