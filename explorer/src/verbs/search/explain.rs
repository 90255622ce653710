//! Explanation of the findings after a search. The explanation takes the finding's place in report and store.

use std::mem;

use checker::explain::{self, CriticalPair, ExplanationError};
use checker::position::Position;
use checker::search::{self, SearchOutcome};
use checker::trace::Trace;

use crate::narrate::explanation::{self, ExplanationContext};
use crate::program::run_notes::Observed;
use crate::report::Finding;
use crate::report::explanation::Pair;
use crate::say::sentence;
use crate::schedule_file::{SavedPass, ScheduleFile};
use crate::store::findings::FindingWriter;
use crate::verbs::search::session::{SearchFindings, SearchSession};
use crate::verbs::watch::Watch;

impl SearchSession<'_> {
    /// Explains every finding, as far as its time allows; the executions for that tell more about the races of the search.
    pub(crate) fn explain_all<P: checker::program::Program>(
        &self,
        program: &Observed<'_, P>,
        outcome: &mut SearchOutcome,
        (writer, made): (&mut FindingWriter<'_>, &mut SearchFindings),
        watch: &mut dyn Watch,
    ) {
        let SearchOutcome { findings, races, .. } = outcome;
        for found in findings.iter().filter(|_| self.request.explain) {
            let mut is_first = self.request.races;
            let mut compared = |trace: &Trace, failed| {
                // The failure may have been found before the memory of a race was known to be shared.
                if mem::take(&mut is_first) {
                    races.take(trace, None);
                }
                races.compare(trace, failed);
            };
            match self.explanation(program, found, &mut || {}, &mut compared) {
                Ok(explained) => self.keep_explained(program, &explained, (writer, made), watch),
                Err(ExplanationError::Always) => {}
                Err(why) => {
                    let message = self.message(found);
                    made.notes.insert(sentence(format!("{message}: not explained, because {why}")));
                }
            }
        }
    }

    /// Keeps an explained finding in the place of the one that was kept before.
    pub(crate) fn keep_explained<P: checker::program::Program>(
        &self,
        program: &Observed<'_, P>,
        explained: &explain::Explanation,
        (writer, made): (&mut FindingWriter<'_>, &mut SearchFindings),
        watch: &mut dyn Watch,
    ) {
        let identity = &explained.finding.identity;
        let (mut told, mut file) = self.finding(program, &explained.finding);
        file.failure.minimised = explained.minimised;
        let before = made.findings.iter().find(|(known, _)| known == identity).map(|(_, told)| told);
        let id = before.and_then(|told| told.id.clone());
        // It may have been explained before, and the schedule in which it was found is the first one then.
        let earlier = before.and_then(|told| told.explanation.as_ref()?.original.clone());
        let places = self.places();
        let context = ExplanationContext::new(explained, &told, &places);
        let mut explanation = self.deadline.while_telling(|| {
            let time = self.request.explain_time;
            explanation::explanation(&context, program, (explained, time), &self.deadline.limit())
        });
        told.explanation = Some(explanation.clone());
        // The files beside a schedule that stays belong to that one.
        let id = id.filter(|id| !writer.is_outlasted(id, &told));
        match (earlier, &mut explanation.original, &id) {
            (Some(earlier), original, _) => *original = Some(earlier),
            (None, Some(original), Some(id)) => original.schedule_file = writer.set_aside(id),
            _ => {}
        }
        if let (Some(found), Some(pair), Some(id)) = (&explained.pair, &mut explanation.pair, &id) {
            let file = self.passing_file(&explained.finding, found, pair, &told);
            match writer.keep_passing(id, &file) {
                Ok(file) => pair.schedule_file = Some(file),
                Err(error) => drop(made.notes.insert(error.to_string())),
            }
        }
        told.explanation = Some(explanation);
        made.keep(writer, identity, &mut told, &file);
        watch.finding(&told);
    }

    /// The file that replays an execution that ends well.
    fn passing_file(
        &self,
        failing: &search::Finding,
        critical: &CriticalPair,
        pair: &Pair,
        told: &Finding,
    ) -> ScheduleFile {
        let passing = &critical.passing;
        let found = search::Finding {
            trace: passing.clone(),
            preemptions: Some(passing.preemptions()),
            fewest: false,
            delays: Some(passing.delays()),
            ..failing.clone()
        };
        let told = Finding { events: pair.passing.clone(), ..told.clone() };
        let places = critical.places(&failing.trace).into_iter();
        let order = places.map(|(second, first)| (second.count(), first.map(Position::count))).collect();
        let passes = Some(SavedPass { order });
        ScheduleFile { passes, ..self.file(&found, &told) }
    }

    /// Finds out why it fails; `tick` is called at every event, `compared` as [`explain::explain`] says.
    pub(crate) fn explanation<P: checker::program::Program>(
        &self,
        program: &Observed<'_, P>,
        found: &search::Finding,
        tick: &mut dyn FnMut(),
        compared: &mut dyn FnMut(&Trace, bool),
    ) -> Result<explain::Explanation, ExplanationError> {
        self.deadline.begin_in_halves(self.request.explain_time);
        explain::explain(program, found, (&self.options(), self.request.effort), tick, compared)
    }
}
