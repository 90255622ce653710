//! What a run says about findings that it did not make: are they fixed?

use super::{CheckResult, Checked, KeptFinding, Run};
use crate::report::{Covered, Finding};
use crate::schedule_file::SavedTarget;
use crate::text::plural;

/// Takes a run into account that did not find it, but `others`. Says whether that changes anything.
pub(super) fn not_found(finding: &mut KeptFinding, ran: &SavedTarget, run: &Run, others: &[Finding]) -> bool {
    if finding.fixed.is_some() || !is_same_target(&finding.run, ran) {
        return false;
    }
    let needed = finding.finding.preemptions;
    let (result, words) = match others.iter().find(|other| hides(other, needed)) {
        _ if !reaches(run.covered, needed) => {
            (CheckResult::Inconclusive, format!("inconclusive: {}", run.ended))
        }
        Some(other) => (CheckResult::Inconclusive, hidden_by(other)),
        None => {
            let words =
                format!("fixed: no failure {} · {}", up_to(run, needed), plural(run.schedules, "schedule"));
            (CheckResult::Fixed, words)
        }
    };
    let is_fixed = result == CheckResult::Fixed;
    // Another run of the same build says nothing: the schedule still fails.
    if !is_fixed && finding.run.build_id == ran.build_id {
        return false;
    }
    finding.checked = Some(Checked { at: run.at, result, words });
    finding.fixed = is_fixed.then_some(run.at);
    true
}

/// Whether an execution within so many preemptions may have ended with the other failure before it came to this one.
fn hides(other: &Finding, needed: Option<u32>) -> bool {
    !matches!((other.preemptions, needed), (Some(shown), Some(needed)) if other.fewest && shown > needed)
}

fn hidden_by(other: &Finding) -> String {
    let message = other.message.lines().next().unwrap_or_default();
    format!("inconclusive: the program fails in another way, which may hide this one: {message}")
}

/// Where there are other failures, they need more preemptions.
fn up_to(run: &Run, needed: Option<u32>) -> String {
    match needed {
        Some(needed) if !run.findings.is_empty() => {
            Covered { preemptions: Some(needed), ..Covered::default() }.up_to()
        }
        _ => run.covered.up_to(),
    }
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
