//! The inputs of a search of one program, whatever drives the program, and its findings so far.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use checker::program::Program;
use checker::search::{self, AlwaysFailsEvidence, Identity, Options};
use ptrace_backend::Stalls;

use crate::config::Suppressions;
use crate::input::request::Request;
use crate::narrate::finding::{self, Failing, Measured};
use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::sentences::unwatched;
use crate::narrate::thread_labels::ThreadLabels;
use crate::narrate::user_frames::places_of_events;
use crate::program::run_notes::Observed;
use crate::program::source::{Frame, Source};
use crate::report::{FailureKind, Finding};
use crate::schedule_file::{SavedTarget, ScheduleFile};
use crate::store::Store;
use crate::store::findings::FindingWriter;
use crate::verbs::deadline::Deadline;
use crate::verbs::search::save;

/// Everything about a search but the program.
pub(crate) struct SearchSession<'a> {
    pub(crate) request: &'a Request,
    /// The target's name in the store.
    pub(crate) name: String,
    pub(crate) target: SavedTarget,
    pub(crate) root: &'a Path,
    pub(crate) store: &'a Store,
    pub(crate) source: &'a dyn Source,
    /// Gives the frame that stands for a failing line where no frame is the user's own.
    pub(crate) instead: &'a dyn Fn() -> Option<Frame>,
    /// Data races that are not to be reported.
    pub(crate) suppressions: &'a Suppressions,
    pub(crate) deadline: &'a Deadline,
    /// The longest time for which threads may be stalled; `None` where no time passes.
    pub(crate) stalls: Option<&'a Arc<Stalls>>,
}

impl SearchSession<'_> {
    /// The options of the checker, with the limit of time.
    pub(crate) fn options(&self) -> Options {
        Options { limit: self.deadline.limit(), ..self.request.options() }
    }

    /// The report on a finding, and the file that replays it.
    pub(crate) fn finding<P: Program>(
        &self,
        program: &Observed<'_, P>,
        found: &search::Finding,
    ) -> (Finding, ScheduleFile) {
        let places = self.places();
        let at = places_of_events(program, &found.trace, &places);
        let failing = Failing::found(found, &at, self.instead);
        let mut told = finding::report(&failing, &Measured::from(found), &places);
        let is_timed = self.stalls.is_some_and(|stalls| stalls.needed().is_some());
        let is_shown = |always: &AlwaysFailsEvidence| {
            always.is_every && unwatched::split(&program.unwatched(), &self.request.assume).0.is_empty()
        };
        told.tried = found.always.filter(|always| !is_shown(always)).map(|always| always.schedules);
        told.unless_stalled = told.kind == FailureKind::AlwaysFails && is_timed;
        let file = self.file(found, &told);
        (told, file)
    }

    /// The file that replays a finding; `told` is the same finding as the report tells it.
    pub(crate) fn file(&self, found: &search::Finding, told: &Finding) -> ScheduleFile {
        let found_by = (self.request.strategy.name(), self.request.seed);
        save::schedule_file(found, told, &self.target, found_by, &self.places())
    }

    pub(crate) fn places(&self) -> Places<'_> {
        Places::new(self.source, self.root)
    }

    /// The failure of a finding as a sentence.
    pub(crate) fn message(&self, found: &search::Finding) -> String {
        let labels = ThreadLabels::of(found.trace.threads.iter().copied(), self.source.harness());
        finding::message(&found.failure, &Phrasing { labels: &labels, source: self.source })
    }
}

/// The findings so far, and the reasons for which parts of them could not be kept.
#[derive(Default)]
pub(crate) struct SearchFindings {
    pub(crate) findings: Vec<(Identity, Finding)>,
    pub(crate) notes: BTreeSet<String>,
}

impl SearchFindings {
    /// Keeps a finding in the place of an earlier one of the same failure. It is reported even where it cannot be saved.
    pub(crate) fn keep(
        &mut self,
        writer: &mut FindingWriter<'_>,
        identity: &Identity,
        told: &mut Finding,
        file: &ScheduleFile,
    ) {
        if let Err(error) = writer.keep(identity, told, file) {
            self.notes.insert(error.to_string());
        }
        self.findings.retain(|(known, _)| known != identity);
        self.findings.push((identity.clone(), told.clone()));
    }
}
