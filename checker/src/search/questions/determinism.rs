//! Does the program do the same twice under one schedule?
//!
//! Searches that follow schedules from their first execution on ask before it, with the default schedule. The portfolio
//! ([`Strategy::determinism_schedule`]) asks once it has run a few: many failures are found sooner
//! than that, and each one is run again anyway before it is reported.

use std::mem;

use crate::execution::{RunOutcome, SearchError, ends_differ};
use crate::program::{Epoch, Program, Scope};
use crate::search::executor::Executor;
use crate::search::outcome::SearchEnd;
use crate::strategy::{DefaultSchedule, Guide, Strategy};
use crate::trace::{Trace, TraceStep, first_missing_synchronisation, first_other_synchronisation};

/// After so many executions, or the last one if that comes sooner.
const AFTER: u64 = 36;

/// The progress of the check.
#[derive(Debug, Default)]
pub(in crate::search) struct DeterminismCheck {
    is_done: bool,
    /// The very first execution, as far as it can be compared, and the key points that it had.
    first_ever: Option<(Epoch, Vec<TraceStep>)>,
}

impl DeterminismCheck {
    /// Whether it is time to check.
    pub(in crate::search) fn is_due<P: Program>(
        &self,
        executor: &Executor<'_, P>,
        strategy: &dyn Strategy,
    ) -> bool {
        let done = executor.stats.executions();
        let is_last = executor.options.max_schedules.is_some_and(|max| done >= max);
        !self.is_done && (strategy.determinism_schedule().is_none() || done >= AFTER || is_last)
    }

    /// Whether it has been checked.
    pub(in crate::search) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Keeps the very first execution, to compare others with.
    pub(in crate::search) fn keep_first_ever<P: Program>(&mut self, executor: &Executor<'_, P>) {
        if !self.is_done && self.first_ever.is_none() {
            let steps = &executor.runner.trace.steps;
            // The events behind that point are another schedule if threads wait where they did not wait then.
            let same = executor.runner.promoted().unwrap_or(steps.end());
            self.first_ever = Some((executor.epoch, steps[..same].to_vec()));
        }
    }

    /// Runs one schedule twice under one set of key points and compares; then the very first execution, which
    /// may have had fewer key points, with the last: what only the first one found or did not find shows there. The
    /// second of the two is an audit as well.
    pub(in crate::search) fn check<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
        strategy: &mut dyn Strategy,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let checked = self.run_twice(executor, strategy);
        *self = Self { is_done: true, first_ever: None };
        checked
    }

    fn run_twice<P: Program>(
        &mut self,
        executor: &mut Executor<'_, P>,
        strategy: &mut dyn Strategy,
    ) -> Result<Option<SearchEnd>, SearchError> {
        let mut once: Option<(RunOutcome, Trace)> = None;
        loop {
            let scope = if once.is_some() { Scope::Audit } else { Scope::All };
            let end = run(executor, strategy, &scope)?;
            self.keep_first_ever(executor);
            match end {
                RunOutcome::Stopped(go) => return Ok(Some(SearchEnd::from(go))),
                RunOutcome::Promoted(_) => once = None,
                // Too long to run again for this alone; it will be run again as a finding.
                RunOutcome::LimitExceeded(..) if once.is_none() => return Ok(None),
                second => {
                    let trace = mem::take(&mut executor.runner.trace);
                    let Some((first, before)) = once.take() else {
                        once = Some((second, trace));
                        continue;
                    };
                    if let Some(difference) = before.first_difference(&trace) {
                        return Err(difference.into());
                    }
                    if first != second {
                        return Err(ends_differ(before.steps.end(), &first, &second).into());
                    }
                    let difference = self.first_ever.take().and_then(|(epoch, first)| {
                        // The next thread in an opening depends on the key points that there are.
                        let is_other = epoch != executor.runner.program.epoch()
                            && strategy.determinism_schedule().is_some();
                        let compare = if is_other {
                            first_other_synchronisation
                        } else {
                            first_missing_synchronisation
                        };
                        compare(&first, &trace.steps)
                    });
                    return match difference {
                        Some(difference) => Err(difference.into()),
                        None => {
                            strategy.observe(&trace);
                            Ok(None)
                        }
                    };
                }
            }
        }
    }
}

fn run<P: Program>(
    executor: &mut Executor<'_, P>,
    strategy: &dyn Strategy,
    scope: &Scope,
) -> Result<RunOutcome, SearchError> {
    let mut guide: Box<dyn Guide> = match strategy.determinism_schedule() {
        Some(schedule) => schedule.guide(),
        None => Box::new(DefaultSchedule),
    };
    let end = executor.run_aside(scope, &[], &mut *guide)?;
    if let RunOutcome::Completed(failures) | RunOutcome::LimitExceeded(_, failures) = &end {
        executor.note_seen(failures);
    }
    Ok(end)
}
