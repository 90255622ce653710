//! Before the search: does the default schedule do the same twice?

use std::mem;

use super::{Ended, Search, SearchError};
use crate::difference::{Difference, Seen};
use crate::run::{End, Go};
use crate::seam::{Program, Scope};
use crate::strategy::DefaultSchedule;
use crate::trace::Trace;

impl<P: Program> Search<'_, P> {
    /// Runs the default schedule twice under one set of key points and compares; then the very first execution, which
    /// may have had fewer key points, with the last: what only the first one found or did not find shows there. The
    /// second of the two is an audit as well.
    pub(super) fn check_determinism(&mut self) -> Result<Option<Ended>, SearchError> {
        let mut first_ever = None;
        let mut once: Option<(End, Trace)> = None;
        loop {
            let scope = if once.is_some() { Scope::Audit } else { Scope::All };
            let end = self.run_default(&scope)?;
            let first_ever = first_ever.get_or_insert_with(|| {
                let mut trace = self.runner.trace.clone();
                // What came after is another schedule if threads wait where they did not wait then.
                trace.steps.truncate(self.runner.promoted().unwrap_or(usize::MAX));
                trace
            });
            match end {
                End::Stopped(go) => return Ok(Some(Ended::from(go))),
                End::Promoted(_) => once = None,
                // Too long to run again for this alone; it will be run again as a finding.
                End::Limit(_) if once.is_none() => return Ok(None),
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
                    let difference = first_ever.first_missing_synchronisation(&trace);
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

    fn run_default(&mut self, scope: &Scope) -> Result<End, SearchError> {
        self.stats.other += 1;
        let observer = &mut *self.observer;
        let mut go = || -> Go { observer.verdict() };
        let end = self.runner.run_within(scope, &[], &mut DefaultSchedule, &mut go)?;
        if let End::Ended(failures) | End::Limit(failures) = &end {
            self.note_seen(failures);
        }
        Ok(end)
    }
}

pub(super) fn ends_differ(at: usize, expected: &End, got: &End) -> Difference {
    let words = |end: &End| match end {
        End::Ended(failures) | End::Limit(failures) => {
            failures.first().map_or("the end", |failure| &failure.message).to_owned()
        }
        End::Cut(_) | End::Promoted(_) | End::Stopped(_) => "cut short".to_owned(),
    };
    Difference { at, expected: Seen::Other(words(expected)), got: Seen::Other(words(got)) }
}
