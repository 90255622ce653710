//! Before the search: does the default schedule do the same twice?

use std::mem;

use super::{Ended, Search, SearchError};
use crate::run::{End, Go};
use crate::seam::Program;
use crate::strategy::DefaultSchedule;
use crate::trace::Difference;

impl<P: Program> Search<'_, P> {
    /// Runs the default schedule twice under one set of key points and compares; then the very first execution, which
    /// may have had fewer key points, with the last: what only the first one found or did not find shows there.
    pub(super) fn check_determinism(&mut self) -> Result<Option<Ended>, SearchError> {
        let mut first_ever = None;
        loop {
            let first = self.run_default()?;
            let first_ever = first_ever.get_or_insert_with(|| self.runner.trace.clone());
            if let End::Stopped(go) = first {
                return Ok(Some(Ended::from(go)));
            }
            // Too long to run again for this alone; it will be run again as a finding.
            if matches!(first, End::Limit(_)) {
                return Ok(None);
            }
            let trace = mem::take(&mut self.runner.trace);
            let second = self.run_default()?;
            match second {
                End::Stopped(go) => return Ok(Some(Ended::from(go))),
                End::Promoted => {}
                _ if first == End::Promoted => {}
                second => {
                    if let Some(difference) = trace.first_difference(&self.runner.trace) {
                        return Err(difference.into());
                    }
                    if first != second {
                        return Err(ends_differ(trace.steps.len(), &first, &second).into());
                    }
                    let difference = first_ever.first_missing_synchronisation(&trace);
                    return difference.map_or(Ok(None), |difference| Err(difference.into()));
                }
            }
        }
    }

    fn run_default(&mut self) -> Result<End, SearchError> {
        self.stats.other += 1;
        let observer = &mut *self.observer;
        let mut go = || -> Go { observer.verdict() };
        self.runner.run(&[], &mut DefaultSchedule, &mut go)
    }
}

pub(super) fn ends_differ(at: usize, expected: &End, got: &End) -> Difference {
    let words = |end: &End| match end {
        End::Ended(failures) | End::Limit(failures) => {
            failures.first().map_or("the end", |failure| &failure.message).to_owned()
        }
        End::Cut(_) | End::Promoted | End::Stopped(_) => "cut short".to_owned(),
    };
    Difference { at, expected: words(expected), got: words(got) }
}
