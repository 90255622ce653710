//! Findings: which failures are found, how they are told, and whether they are concurrency bugs.

use super::*;
use crate::event::failure::{Doing, FailureDetail, FailureKind as Kind};
use crate::event::names::ThreadName;
use crate::event::wait::BlockedOn;
use crate::limit::Limit;

fn search(text: &str, options: Options) -> SearchOutcome {
    explore(&model(text), &options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The first failure that the default search finds.
fn first(text: &str) -> Finding {
    let outcome = search(text, Options::default());
    assert_eq!(outcome.ended, SearchEnd::FirstBug, "{text}");
    assert_eq!(outcome.findings.len(), 1, "{text}");
    let finding = outcome.findings.into_iter().next().unwrap();
    assert_eq!(finding.reproduced, (2, 2));
    finding
}

fn check(text: &str, kind: Kind, preemptions: u32) -> Finding {
    let finding = first(text);
    assert_eq!((finding.failure.kind, finding.preemptions), (kind, Some(preemptions)), "{text}");
    assert!(finding.fewest, "{text}");
    finding
}

/// The parts that threads have in a failure, in their order there.
fn doing(finding: &Finding) -> Vec<(ThreadName, &Doing)> {
    finding.failure.others.iter().map(|party| (party.thread, &party.doing)).collect()
}

fn child() -> ThreadName {
    ThreadName::MAIN.child(1).unwrap()
}

fn is_held_by(doing: &Doing, thread: ThreadName) -> bool {
    matches!(doing, Doing::Waits(BlockedOn::Mutex { owner: Some(owner), .. }) if *owner == thread)
}

const LOST_UPDATE: &str = "create T2, create T3, join T2, join T3, r x, assert x == 2 \
                           | T2: r x, w x x+1 | T3: r x, w x x+1";

#[test]
fn each_kind_is_found_with_the_fewest_preemptions() {
    check(LOST_UPDATE, Kind::Assertion, 1);
    let circle = "create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b";
    check(circle, Kind::Deadlock, 1);
    check("r x, if x == 0 { w y }, r y, if y == 0 { crash } | r y, w x", Kind::Crash, 0);
    check("create T2, r x, if x { unlock m } | T2: w x", Kind::UnlockNotHeld, 1);
    let spins = check("create T2, w y, w x | T2: r y, if y { await z }", Kind::Livelock, 0);
    assert!(matches!(doing(&spins)[..], [(_, Doing::Waits(BlockedOn::Await(_)))]), "{spins:?}");
}

#[test]
fn a_deadlock_names_who_waits_for_whom() {
    let finding =
        first("create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b");
    assert_eq!(finding.failure.detail, FailureDetail::Circle(vec![ThreadName::MAIN, child()]));
    let [(first, own), (second, other)] = doing(&finding)[..] else { panic!("{finding:?}") };
    assert_eq!([first, second], [ThreadName::MAIN, child()]);
    assert!(is_held_by(own, child()) && is_held_by(other, ThreadName::MAIN), "{finding:?}");
    assert!(finding.failure.others.iter().all(|party| party.stack.len() == 1));
}

#[test]
fn a_thread_that_takes_its_own_lock_again_waits_for_itself() {
    let alone = first("lock a, lock a");
    assert_eq!(alone.failure.detail, FailureDetail::Circle(vec![ThreadName::MAIN]));
}

#[test]
fn a_signal_that_hit_nobody_makes_a_deadlock_a_lost_wake_up() {
    let finding = first("create T2, lock m, wait c m, unlock m | T2: lock m, signal c, unlock m");
    assert_eq!(finding.failure.kind, Kind::Deadlock);
    let FailureDetail::LostWakeUp { waiter, signaller, .. } = finding.failure.detail else {
        panic!("{finding:?}")
    };
    assert_eq!([waiter, signaller], [ThreadName::MAIN, child()]);
    let waits = first("create T2, lock m, r x, if x == 0 { wait c m }, unlock m | T2: r y");
    assert_eq!(waits.failure.detail, FailureDetail::Standstill);
}

#[test]
fn a_circle_that_a_time_out_breaks_is_no_failure() {
    let text = "create T2, lock a, timedlock b, if b { unlock b }, unlock a | T2: lock b, lock a, unlock a, unlock b";
    let outcome = search(text, Options::default());
    assert_eq!((outcome.findings.len(), outcome.ended), (0, SearchEnd::Covered));
}

#[test]
fn a_timed_wait_that_nobody_answers_is_no_failure() {
    let outcome = search(
        "create T2, lock m, timedwait c m, timedwait c m, unlock m, join T2 | T2: r x",
        Options::default(),
    );
    assert!(outcome.findings.is_empty());
    assert_eq!(outcome.covered, crate::strategy::Coverage { preemptions: Some(2), ..Default::default() });
}

#[test]
fn one_failure_in_many_schedules_is_one_finding() {
    let outcome = search(LOST_UPDATE, Options { keep_going: true, ..Options::default() });
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].preemptions, Some(1));
    assert_eq!(outcome.ended, SearchEnd::Covered);
}

#[test]
fn the_schedule_with_the_fewest_preemptions_is_kept() {
    let options = Options { strategy: StrategyKind::Dfs, keep_going: true, ..Options::default() };
    let outcome = search(LOST_UPDATE, options);
    assert_eq!(outcome.findings[0].preemptions, Some(1));
    // All schedules were explored, but not in order of preemptions.
    assert!(!outcome.findings[0].fewest);
}

#[test]
fn different_failures_are_different_findings() {
    let text = "create T2, create T3, r x, assert x != 1, assert x != 2 | T2: w x 1 | T3: w x 2";
    let outcome = search(text, Options { keep_going: true, ..Options::default() });
    assert_eq!(outcome.findings.len(), 2);
}

#[test]
fn what_fails_in_every_schedule_is_no_concurrency_bug() {
    check("r x, assert x == 1, create T2 | T2: w x", Kind::AlwaysFails, 0);
    let everywhere = first("create T2, w x, join T2, assert 0 | T2: w x");
    assert_eq!(everywhere.failure.kind, Kind::AlwaysFails);
    assert!(everywhere.trace.threads.len() == 2);
}

#[test]
fn what_passes_in_one_schedule_does_not_always_fail() {
    // Without preemptions it fails in each schedule, but not in a random one.
    let text = "create T2, r x, w y, assert x == 1 | T2: w x";
    let finding = first(text);
    assert_eq!((finding.failure.kind, finding.preemptions), (Kind::Assertion, Some(0)));
    // A random schedule is unlikely to pass this: it must let thread 3 go 13 times in a row. Without preemptions one of
    // two does.
    let text = "create T2, create T3, join T2 | T2: r x, assert x == 1 | T3: loop 12 { r y }, w x";
    let outcome = search(text, Options::default());
    assert_eq!(outcome.findings[0].failure.kind, Kind::Assertion);
    assert!(outcome.stats.other > 100);
}

#[test]
fn a_process_that_has_ended_in_time_has_not_failed() {
    // Thread 2 fails in every schedule, but in some of them it would not have come to that.
    let finding = first("create T2, exit | T2: w x, assert 0");
    assert_eq!(finding.failure.kind, Kind::Assertion);
}

#[test]
fn others_run_on_after_a_failure() {
    // The second failure is seen though the first one comes before it.
    let outcome = search("assert 0 | r x, w x, crash", Options { keep_going: true, ..Options::default() });
    assert_eq!(outcome.findings.len(), 2);
    assert_eq!(outcome.findings[0].trace.steps.len(), 2);
}

#[test]
fn the_end_of_the_process_leaves_no_deadlock() {
    let outcome = search("create T2, exit | T2: lock m, lock m", Options::default());
    assert!(outcome.findings.is_empty());
    check("create T2 | T2: lock m, lock m", Kind::AlwaysFails, 0);
}

/// A long schedule is replayed in parts.
#[test]
fn a_schedule_that_does_not_come_out_is_told_from_its_beginning() {
    let program = model(&vec!["r x"; 3_000].join(", "));
    let run = |steps: &[_]| replay(&program, steps, 10_000, &Limit::default());
    let mut schedule = run(&[]).unwrap().trace.schedule();
    assert_eq!(run(&schedule).unwrap().trace.steps.len(), schedule.len());
    schedule[2_500].1.kind = crate::event::operation::OpKind::Write;
    let Err(SearchError::Diverged(difference)) = run(&schedule) else { panic!("it came out") };
    assert_eq!(difference.at.count(), 2_500);
}
