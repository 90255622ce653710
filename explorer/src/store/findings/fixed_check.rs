//! What a run says about findings that it did not make: are they fixed?

use super::{CheckResult, Checked, KeptFinding, Run};
use crate::report::plural::plural;
use crate::report::{Covered, FailureKind, Finding};
use crate::say::sentence;
use crate::schedule_file::SavedTarget;

/// Takes a run into account that did not find it, but `others`. Says whether that changes anything.
pub(super) fn not_found(finding: &mut KeptFinding, ran: &SavedTarget, run: &Run, others: &[Finding]) -> bool {
    // What fails whatever the schedule may only have been run with the wrong arguments.
    let is_always = finding.finding.kind == FailureKind::AlwaysFails;
    if finding.fixed.is_some() || !(is_always || is_given_the_same(&finding.run, ran)) {
        return false;
    }
    let needed = finding.finding.preemptions;
    let is_covered = run.not_covered.is_empty() && reaches(&run.covered, needed);
    // A shorter run of the same build says nothing: the schedule still fails.
    if !is_covered && finding.run.build_id == ran.build_id {
        return false;
    }
    let (result, words) = match others.iter().find(|other| hides(other, needed)) {
        _ if !is_covered => (CheckResult::Inconclusive, cut_short(run)),
        Some(other) => (CheckResult::Inconclusive, hidden_by(other)),
        None => {
            let words =
                format!("fixed: no failure {} · {}", up_to(run, needed), plural(run.schedules, "schedule"));
            (CheckResult::Fixed, words)
        }
    };
    finding.fixed = (result == CheckResult::Fixed).then_some(run.at);
    finding.checked = Some(Checked { at: run.at, result, words: sentence(words) });
    true
}

/// Whether an execution within so many preemptions may have ended with the other failure before it came to this one.
fn hides(other: &Finding, needed: Option<u32>) -> bool {
    !matches!((other.preemptions, needed), (Some(shown), Some(needed)) if other.fewest && shown > needed)
}

/// Why it ended, without the option of the command line that was given.
fn cut_short(run: &Run) -> String {
    format!("inconclusive: {}", run.reason())
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

/// What the last run of its target says about a finding, be it that it says nothing.
#[must_use]
pub fn last_words(finding: &KeptFinding, last: &Run) -> Checked {
    let is_of_last = |checked: &&Checked| checked.at == last.at && checked.result != CheckResult::StillFails;
    match &finding.checked {
        _ if last.findings.contains(&finding.id) => found(last.at),
        Some(checked) if is_of_last(&checked) => checked.clone(),
        _ => Checked { at: last.at, result: CheckResult::Inconclusive, words: sentence(cut_short(last)) },
    }
}

/// The run found it.
pub(super) fn found(at: u64) -> Checked {
    Checked { at, result: CheckResult::StillFails, words: sentence("still fails".to_owned()) }
}

/// Whether both ran the same thing: neither the build nor the user's language makes another one of it.
fn is_given_the_same(one: &SavedTarget, other: &SavedTarget) -> bool {
    let given = |target: &SavedTarget| {
        let SavedTarget { program, arguments, directory, stdin, .. } = target.clone();
        (program, arguments, directory, stdin, target.ignore_exit_code, target.fresh_directory)
    };
    given(one) == given(other)
}

fn reaches(covered: &Covered, preemptions: Option<u32>) -> bool {
    covered.everything
        || matches!((covered.preemptions, preemptions), (Some(covered), Some(needed)) if covered >= needed)
}
