//! Warnings that may stay, as `interleaver.toml` says, are taken out of a report.

use crate::config::{FILE, Suppression, Suppressions};
use crate::report::Report;

/// Takes the warnings out of a report that may stay, and notes what suppresses nothing.
pub(crate) fn suppress(report: &mut Report, Suppressions { known, problems }: &Suppressions) {
    let mut used = vec![false; known.len()];
    let mut stays = |matches: &dyn Fn(&Suppression) -> bool| {
        let matching = known.iter().position(matches);
        matching.inspect(|&nth| used[nth] = true).is_none()
    };
    let (races, locks) = (report.races.len(), report.potential_deadlocks.len());
    report.races.retain(|race| stays(&|suppression| suppression.matches(race)));
    report
        .potential_deadlocks
        .retain(|potential| stays(&|suppression| suppression.matches_potential_deadlock(potential)));
    report.suppressed_races = (races - report.races.len()) as u64;
    report.suppressed_potential_deadlocks = (locks - report.potential_deadlocks.len()) as u64;
    for (suppression, _) in known.iter().zip(used).filter(|(_, used)| !used) {
        report.notes.push(format!(
            "the [[suppress]] at line {} of {FILE} matches no data race that was seen, and no potential deadlock ({})",
            suppression.line, suppression.reason
        ));
    }
    report.notes.extend_from_slice(problems);
}
