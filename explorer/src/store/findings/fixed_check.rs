//! The findings that a run did not make: fixed, or not seen within less than they were looked for before.

use super::{Bound, CheckResult, Checked, KeptFinding, Run, again};
use crate::report::plural::plural;
use crate::report::{Covered, FailureKind, Finding, Report};
use crate::say::sentence;
use crate::schedule_file::SavedTarget;

/// Takes a run into account that did not find it, but `others`. Says whether that changes anything.
pub(super) fn not_found(finding: &mut KeptFinding, ran: &SavedTarget, run: &Run, others: &[Finding]) -> bool {
    // A failure in every schedule may only have come from wrong arguments.
    let is_always = finding.finding.kind == FailureKind::AlwaysFails;
    if finding.fixed.is_some() || !(is_always || is_given_the_same(&finding.run, ran)) {
        return false;
    }
    let bound = again::bound(finding);
    let is_covered = run.not_covered.is_empty() && bound.is_within(&run.covered);
    // A shorter run of the same build says nothing: the schedule still fails.
    if !is_covered && finding.run.build_id == ran.build_id {
        return false;
    }
    let (result, words) = match others.iter().find(|other| hides(other, bound)) {
        _ if !is_covered => (CheckResult::Inconclusive, not_seen(finding, run)),
        Some(other) => (CheckResult::Inconclusive, hidden_by(other)),
        None => {
            let up_to = if others.is_empty() { run.covered.up_to() } else { bound.words() };
            (CheckResult::Fixed, format!("fixed: no failure {up_to} · {}", plural(run.ran(), "schedule")))
        }
    };
    finding.fixed = (result == CheckResult::Fixed).then_some(run.at);
    finding.checked = Some(Checked { at: run.at, result, words: sentence(words) });
    true
}

impl Run {
    /// The run, with what it covered of the schedules among which a finding is looked for: where that stalls a thread, those in
    /// which threads are.
    pub(super) fn as_for(&self, finding: &KeptFinding, report: &Report) -> Self {
        let is_timed = finding.finding.stall.is_some() && self.covered.max_stall_ns.is_some();
        let (covered, complete) = match &report.stalled {
            _ if !is_timed => (self.covered.clone(), self.complete),
            Some(stalled) => (stalled.covered.clone(), stalled.complete),
            None => (Covered::default(), false),
        };
        Self { covered, complete, ..self.clone() }
    }
}

/// Whether an execution within a bound may have ended with the other failure before it came to this one.
fn hides(other: &Finding, bound: Bound) -> bool {
    !matches!((other.preemptions, bound), (Some(shown), Bound::Preemptions(bound)) if other.fewest && shown > bound)
}

/// A run that did not find it, and does not show that it is fixed.
fn not_seen(finding: &KeptFinding, run: &Run) -> String {
    let bound = again::bound(finding);
    let why = match () {
        () if !bound.is_within(&run.covered) && run.complete => {
            format!("it is to be looked for {}", bound.words())
        }
        () if bound.is_within(&run.covered) && !run.not_covered.is_empty() => {
            "not everything was watched that could matter".to_owned()
        }
        () => run.reason().to_owned(),
    };
    match run.covered.up_to() {
        up_to if up_to.is_empty() => format!("inconclusive: {why}"),
        up_to => format!("not seen {up_to}: inconclusive, {why}"),
    }
}

fn hidden_by(other: &Finding) -> String {
    let message = other.message.lines().next().unwrap_or_default();
    format!("inconclusive: the program fails in another way, which may hide this one: {message}")
}

/// The result of a target's last run for a finding, be it that it says nothing.
#[must_use]
pub fn last_words(finding: &KeptFinding, last: &Run) -> Checked {
    let is_of_last = |checked: &&Checked| checked.at == last.at && checked.result != CheckResult::StillFails;
    match &finding.checked {
        _ if last.findings.contains(&finding.id) => found(last.at),
        Some(checked) if is_of_last(&checked) => checked.clone(),
        _ => {
            let words = sentence(not_seen(finding, last));
            Checked { at: last.at, result: CheckResult::Inconclusive, words }
        }
    }
}

/// The run found it.
pub(super) fn found(at: u64) -> Checked {
    Checked { at, result: CheckResult::StillFails, words: sentence("still fails".to_owned()) }
}

/// Whether both ran the same thing: neither the build nor the user's language makes another one of it.
pub(super) fn is_given_the_same(one: &SavedTarget, other: &SavedTarget) -> bool {
    let given = |target: &SavedTarget| {
        let SavedTarget { program, arguments, directory, stdin, client, ready, .. } = target.clone();
        (
            program,
            arguments,
            directory,
            stdin,
            (client, ready),
            target.ignore_exit_code,
            target.fresh_directory,
        )
    };
    given(one) == given(other)
}
