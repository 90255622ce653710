//! Does the program do the same twice under one schedule?
//!
//! Searches that follow schedules from their first execution on ask before it, with the default schedule. The portfolio
//! ([`Strategy::opening`](crate::strategy::Strategy::opening)) asks once it has run a few: many failures are found sooner
//! than that, and each one is run again anyway before it is reported.

use std::mem;

use super::{Ended, Search};
use crate::event::divergence::{Difference, Seen};
use crate::execution::{End, SearchError};
use crate::limit::Go;
use crate::program::{Epoch, Program, Scope};
use crate::strategy::{DefaultSchedule, Guide};
use crate::trace::{Trace, TraceStep, first_missing_synchronisation, first_other_synchronisation};

/// After so many executions, or the last one if that comes sooner.
const AFTER: u64 = 36;

/// How far the check is.
#[derive(Debug, Default)]
pub(super) struct Check {
    is_done: bool,
    /// The very first execution, as far as it can be compared, and the key points that it had.
    first_ever: Option<(Epoch, Vec<TraceStep>)>,
}

impl<P: Program> Search<'_, P> {
    /// Whether it is time to check.
    pub(super) fn is_check_due(&self) -> bool {
        let done = self.stats.executions();
        let is_last = self.options.max_schedules.is_some_and(|max| done >= max);
        !self.check.is_done && (self.strategy.opening().is_none() || done >= AFTER || is_last)
    }

    /// Whether it has not been checked so far.
    pub(super) fn is_unchecked(&self) -> bool {
        !self.check.is_done
    }

    /// Keeps the very first execution, to compare others with.
    pub(super) fn keep_first_ever(&mut self) {
        if !self.check.is_done && self.check.first_ever.is_none() {
            let steps = &self.runner.trace.steps;
            // What came after is another schedule if threads wait where they did not wait then.
            let same = self.runner.promoted().unwrap_or(steps.len());
            self.check.first_ever = Some((self.epoch, steps[..same].to_vec()));
        }
    }

    /// Runs one schedule twice under one set of key points and compares; then the very first execution, which
    /// may have had fewer key points, with the last: what only the first one found or did not find shows there. The
    /// second of the two is an audit as well.
    pub(super) fn check_determinism(&mut self) -> Result<Option<Ended>, SearchError> {
        let checked = self.run_twice();
        self.check = Check { is_done: true, first_ever: None };
        checked
    }

    fn run_twice(&mut self) -> Result<Option<Ended>, SearchError> {
        let mut once: Option<(End, Trace)> = None;
        loop {
            let scope = if once.is_some() { Scope::Audit } else { Scope::All };
            let end = self.run_for_check(&scope)?;
            self.keep_first_ever();
            match end {
                End::Stopped(go) => return Ok(Some(Ended::from(go))),
                End::Promoted(_) => once = None,
                // Too long to run again for this alone; it will be run again as a finding.
                End::Limit(..) if once.is_none() => return Ok(None),
                second => {
                    let trace = mem::take(&mut self.runner.trace);
                    let Some((first, before)) = once.take() else {
                        once = Some((second, trace));
                        continue;
                    };
                    if let Some(difference) = before.first_difference(&trace) {
                        return Err(difference.into());
                    }
                    if first != second {
                        return Err(ends_differ(before.steps.len(), &first, &second).into());
                    }
                    let difference = self.check.first_ever.take().and_then(|(epoch, first)| {
                        // Who goes next in an opening depends on the key points that there are.
                        let is_other =
                            epoch != self.runner.program.epoch() && self.strategy.opening().is_some();
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
                            self.strategy.saw(&trace);
                            Ok(None)
                        }
                    };
                }
            }
        }
    }

    fn run_for_check(&mut self, scope: &Scope) -> Result<End, SearchError> {
        self.stats.other += 1;
        let mut guide: Box<dyn Guide> = match self.strategy.opening() {
            Some(opening) => opening.guide(),
            None => Box::new(DefaultSchedule),
        };
        let limit = &self.options.limit;
        let mut go = || -> Go { limit.look() };
        let end = self.runner.run_within(scope, &[], &mut *guide, &mut go)?;
        if let End::Ended(failures) | End::Limit(_, failures) = &end {
            self.note_seen(failures);
        }
        Ok(end)
    }
}

pub(super) fn ends_differ(at: usize, expected: &End, got: &End) -> Difference {
    let seen = |end: &End| match end {
        End::Ended(failures) | End::Limit(_, failures) => {
            failures.first().map_or(Seen::End, |failure| Seen::Failure(Box::new(failure.clone())))
        }
        End::Cut | End::Promoted(_) | End::Stopped(_) => Seen::CutShort,
    };
    Difference { at, expected: seen(expected), got: seen(got) }
}
