//! Failures that were seen once: they depend on more than the schedule.

use super::findings::identity::Identity;
use super::note::SearchNote;
use super::outcome::Finding;
use crate::event::failure::Failure;
use crate::strategy::Coverage;
use crate::trace::Trace;

/// Failures of an execution that did not come again when the order of its events was run once more.
pub(super) struct Irreproducible {
    failures: Vec<Failure>,
    preemptions: u32,
    delays: u32,
}

impl Irreproducible {
    /// The failures of an execution, should they not come again.
    pub(super) fn new(failures: &[Failure], trace: &Trace) -> Self {
        let (preemptions, delays) = (trace.preemptions(), trace.delays());
        Self { failures: failures.to_vec(), preemptions, delays }
    }

    /// Whether one of the failures has not been found again, in another execution.
    fn is_missing(&self, findings: &[Finding]) -> bool {
        let is_found = |failure: &Failure| {
            let identity = Identity::of(failure);
            findings.iter().any(|finding| finding.identity == identity)
        };
        !self.failures.iter().all(is_found)
    }

    /// The coverage in spite of failures that were lost: nothing, where the covered schedules would have shown them.
    pub(super) fn covered(all: &[Self], findings: &[Finding], covered: Coverage) -> Coverage {
        let would_show = |irreproducible: &Self| {
            let is_bounded = covered.preemptions >= Some(irreproducible.preemptions)
                || covered.delays >= Some(irreproducible.delays);
            covered.everything || is_bounded
        };
        let is_wrong = all
            .iter()
            .any(|irreproducible| irreproducible.is_missing(findings) && would_show(irreproducible));
        if is_wrong { Coverage::default() } else { covered }
    }

    /// The same, for the user.
    pub(super) fn notes(all: Vec<Self>, findings: &[Finding]) -> Vec<SearchNote> {
        let missing = all.into_iter().filter(|irreproducible| irreproducible.is_missing(findings));
        let mut notes: Vec<SearchNote> =
            missing.flat_map(|irreproducible| irreproducible.failures).map(SearchNote::NotAgain).collect();
        notes.dedup();
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::failure::{FailureDetail, FailureKind};

    fn irreproducible(preemptions: u32) -> Irreproducible {
        let failure = Failure::of_several(FailureKind::Deadlock, FailureDetail::Standstill, Vec::new());
        Irreproducible { failures: vec![failure], preemptions, delays: 9 }
    }

    #[test]
    fn what_would_have_shown_a_lost_failure_is_not_covered() {
        let bounded = Coverage { preemptions: Some(2), ..Coverage::default() };
        let all = Coverage { everything: true, ..bounded };
        let nothing = Coverage::default();
        for (preemptions, covered, expected) in
            [(2, bounded, nothing), (3, bounded, bounded), (3, all, nothing), (0, nothing, nothing)]
        {
            assert_eq!(
                Irreproducible::covered(&[irreproducible(preemptions)], &[], covered),
                expected,
                "{preemptions}"
            );
        }
        assert_eq!(Irreproducible::covered(&[], &[], all), all);
    }

    #[test]
    fn a_lost_failure_is_told_once() {
        let notes = Irreproducible::notes(vec![irreproducible(1), irreproducible(2)], &[]);
        assert!(matches!(notes[..], [SearchNote::NotAgain(_)]), "{notes:?}");
    }
}
