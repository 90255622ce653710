//! Runs that look for what was found before.

use super::*;
use crate::input::request::{Request, Strategy};

#[test]
fn what_is_not_found_within_its_bound_is_fixed() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(0));
    checkout.explored("build-2", &[], Some(0));
    let kept = checkout.only();
    assert_eq!((kept.fixed, kept.checked.unwrap().result), (None, CheckResult::Inconclusive));
    checkout.explored("build-2", &[], Some(1));
    let kept = checkout.only();
    let checked = kept.checked.unwrap();
    assert_eq!((kept.fixed, checked.result), (Some(checked.at), CheckResult::Fixed));
    assert_eq!(checked.words, "fixed: no failure up to 1 preemption · 312 schedules");
    checkout.explored("build-3", &[2], Some(0));
    assert_eq!(checkout.only().fixed, None);
}

#[test]
fn less_than_the_exploration_that_found_it_shows_nothing_fixed() {
    let checkout = Checkout::new();
    checkout.explored_deep("build-1", &[(2, 0)], Some(2));
    for (covered, words) in [
        (None, "inconclusive: it was stopped"),
        (Some(0), "not seen up to 0 preemptions: inconclusive, it is to be looked for up to 2 preemptions"),
        (Some(1), "not seen up to 1 preemption: inconclusive, it is to be looked for up to 2 preemptions"),
    ] {
        checkout.explored("build-2", &[], covered);
        let kept = checkout.only();
        let checked = kept.checked.unwrap();
        let expected = (None, CheckResult::Inconclusive, words);
        assert_eq!((kept.fixed, checked.result, checked.words.as_str()), expected);
    }
    // One that goes less far and finds it makes no smaller exploration of it.
    checkout.explored_deep("build-3", &[(2, 0)], Some(0));
    checkout.explored("build-4", &[], Some(1));
    assert_eq!(checkout.only().fixed, None);
    checkout.explored("build-4", &[], Some(2));
    let checked = checkout.only().checked.unwrap();
    assert_eq!(checked.words, "fixed: no failure up to 2 preemptions · 312 schedules");
    // A failure that comes back after that is another story.
    checkout.explored_deep("build-5", &[(2, 0)], Some(0));
    checkout.explored("build-6", &[], Some(0));
    assert_eq!(checkout.only().checked.unwrap().result, CheckResult::Fixed);
}

#[test]
fn a_finding_is_looked_for_as_far_as_it_was_found() {
    let checkout = Checkout::new();
    checkout.explored_deep("build-1", &[(2, 3)], Some(2));
    let mut kept = checkout.only();
    let asked = || Request { max_schedules: 1, time_limit: Duration::ZERO, ..Request::new("app".into()) };
    let again = |kept: &KeptFinding, mut request: Request| {
        kept.look_again(&mut request);
        (request.strategy, request.max_preemptions, request.max_schedules, request.time_limit.as_millis())
    };
    assert_eq!(again(&kept, asked()), (Strategy::Icb, 3, 10, 10));
    let more = Request { max_preemptions: 5, max_schedules: 99, strategy: Strategy::Dfs, ..asked() };
    assert_eq!(again(&kept, more), (Strategy::Dfs, 5, 99, 10));
    kept.extent.as_mut().unwrap().bound = Bound::Everything;
    assert_eq!(again(&kept, asked()).0, Strategy::Dpor);
    // Older stores do not say how far it was.
    kept.extent = None;
    kept.finding.preemptions = Some(0);
    assert_eq!(again(&kept, asked()), (Strategy::Icb, asked().max_preemptions, 1, 0));
}

#[test]
fn a_program_that_fails_in_another_way_is_not_fixed() {
    for (preemptions, result, words) in [
        (
            1,
            CheckResult::Inconclusive,
            "inconclusive: the program fails in another way, which may hide this one: it fails",
        ),
        // Preemptions up to the bound of the exploration that found it show no failure at all.
        (2, CheckResult::Fixed, "fixed: no failure up to 1 preemption · 312 schedules"),
    ] {
        let checkout = Checkout::new();
        checkout.explored("build-1", &[2], Some(0));
        let before = checkout.only();
        checkout.explored_deep("build-2", &[(1, preemptions)], Some(2));
        let kept = checkout.folder().finding(&before.id).unwrap();
        let checked = kept.checked.unwrap();
        assert_eq!((checked.result, checked.words.as_str()), (result, words));
        assert_eq!(kept.fixed.is_some(), result == CheckResult::Fixed);
    }
}

#[test]
fn a_shorter_run_of_the_same_build_says_nothing() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(0));
    checkout.explored("build-1", &[], None);
    assert_eq!(checkout.only().checked, None);
}

#[test]
fn what_fails_whatever_the_schedule_may_have_lacked_arguments() {
    let checkout = Checkout::new();
    for (kind, is_fixed) in [(FailureKind::AlwaysFails, true), (FailureKind::Assertion, false)] {
        let found = KeptFinding {
            finding: Finding { preemptions: Some(0), ..finding(kind) },
            ..kept_of(&checkout, "build-1")
        };
        let mut settled = found.clone();
        let with_arguments = SavedTarget { arguments: vec!["1".into()], ..run("build-1") };
        let last = Run { findings: Vec::new(), ..last_of(&checkout) };
        fixed_check::not_found(&mut settled, &with_arguments, &last, &[]);
        assert_eq!(settled.fixed.is_some(), is_fixed, "{kind:?}");
    }
}

#[test]
fn the_last_run_of_a_target_says_something_of_every_finding() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(1));
    let words = || last_words(&checkout.only(), &last_of(&checkout)).words;
    assert_eq!(words(), "still fails");
    checkout.explored("build-1", &[], None);
    assert_eq!(checkout.only().checked, None);
    assert_eq!(words(), "inconclusive: it was stopped");
    checkout.explored("build-2", &[], Some(1));
    assert_eq!(words(), "fixed: no failure up to 1 preemption · 312 schedules");
}

/// A finding of a build, and what the last run came to, in which nothing was found with one preemption.
fn kept_of(checkout: &Checkout, build: &str) -> KeptFinding {
    checkout.explored(build, &[2], Some(1));
    checkout.only()
}

fn last_of(checkout: &Checkout) -> Run {
    checkout.folder().target().unwrap().last
}
