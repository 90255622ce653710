//! After a search: why what it found happens. The explanation takes the finding's place in report and store.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use checker::explain::{self, Unexplained};
use checker::search::{self, Go, Outcome};

use crate::explanation::Explanation;
use crate::kept::Keeper;
use crate::peculiar::Observed;
use crate::session::{Made, Session};
use crate::watch::Watch;

/// How long the explanation of one finding may take.
const TIME: Duration = Duration::from_secs(10);

impl Session<'_> {
    /// Explains every finding, as far as its time allows.
    pub(crate) fn explain_all<P: checker::seam::Program>(
        &self,
        program: &Observed<'_, P>,
        outcome: &Outcome,
        (keeper, made): (&mut Keeper<'_>, &mut Made),
        watch: &mut dyn Watch,
    ) {
        for found in outcome.findings.iter().filter(|_| self.request.explain) {
            match self.explanation(program, found) {
                Ok(explained) => {
                    let (mut told, file) = self.finding(program, &explained.finding);
                    let before = made.findings.iter().find(|(identity, _)| *identity == found.identity);
                    let before = before.and_then(|(_, told)| told.id.clone());
                    let mut explanation = Explanation::from(&explained);
                    if let Some(original) = &mut explanation.original {
                        original.schedule_file = before.and_then(|id| keeper.set_aside(&id));
                    }
                    told.explanation = Some(explanation);
                    made.keep(keeper, &found.identity, &mut told, &file);
                    watch.finding(&told);
                }
                Err(Unexplained::Always) => {}
                Err(why) => {
                    made.notes.insert(format!("{}: not explained, because {why}", found.failure.message));
                }
            }
        }
    }

    fn explanation<P: checker::seam::Program>(
        &self,
        program: &Observed<'_, P>,
        found: &search::Finding,
    ) -> Result<explain::Explanation, Unexplained> {
        let started = Instant::now();
        let mut go = || {
            if self.cancel.load(Ordering::Relaxed) {
                Go::Cancelled
            } else if started.elapsed() >= TIME {
                Go::BudgetSpent
            } else {
                Go::Continue
            }
        };
        explain::explain(program, found, &self.request.options(), &mut go)
    }
}
