//! What a run says about findings that it did not make: are they fixed?

use super::{CheckResult, Checked, KeptFinding, Run};
use crate::report::Covered;
use crate::schedule_file::SavedTarget;
use crate::text::plural;

/// Takes a run into account that did not find it. Says whether that changes anything.
pub(super) fn not_found(finding: &mut KeptFinding, ran: &SavedTarget, run: &Run) -> bool {
    if finding.fixed.is_some() || !is_same_target(&finding.run, ran) {
        return false;
    }
    let fixed = reaches(run.covered, finding.finding.preemptions);
    // A shorter run of the same build says nothing: its schedule still fails.
    if !fixed && finding.run.build_id == ran.build_id {
        return false;
    }
    finding.checked = Some(Checked {
        at: run.at,
        result: if fixed { CheckResult::Fixed } else { CheckResult::Inconclusive },
        words: if fixed {
            format!("fixed: no failure {} · {}", run.covered.up_to(), plural(run.schedules, "schedule"))
        } else {
            format!("inconclusive: {}", run.ended)
        },
    });
    finding.fixed = fixed.then_some(run.at);
    true
}

/// The run found it.
pub(super) fn found(at: u64) -> Checked {
    Checked { at, result: CheckResult::StillFails, words: "still fails".to_owned() }
}

/// Whether both ran the same thing: neither the build nor the user's language makes another one of it.
fn is_same_target(one: &SavedTarget, other: &SavedTarget) -> bool {
    let given = |target: &SavedTarget| {
        let SavedTarget { program, arguments, directory, stdin, .. } = target.clone();
        (program, arguments, directory, stdin, target.ignore_exit_code, target.fresh_directory)
    };
    given(one) == given(other)
}

fn reaches(covered: Covered, preemptions: Option<u32>) -> bool {
    covered.everything
        || matches!((covered.preemptions, preemptions), (Some(covered), Some(needed)) if covered >= needed)
}
