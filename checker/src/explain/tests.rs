//! Explanations of failures of model programs.

use super::*;
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::limit::{Limit, StopRequest};
use crate::model::Model;
use crate::search::SilentObserver;
use crate::search::tests::brute_force::oracle::always_fails_after;
use crate::search::{Finding, Options, SearchOutcome, explore};
use crate::strategy::StrategyKind;

pub(super) fn model(text: &str) -> Model {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The outcome of a search with the options that are the default.
pub(super) fn outcome(text: &str) -> SearchOutcome {
    explore(&model(text), &Options::default(), &mut SilentObserver).unwrap()
}

pub(super) fn found(text: &str, options: &Options) -> Finding {
    let outcome = explore(&model(text), options, &mut SilentObserver).unwrap();
    outcome.findings.into_iter().next().unwrap_or_else(|| panic!("{text}: nothing was found"))
}

fn by(strategy: StrategyKind, seed: u64) -> Options {
    Options { strategy, seed, ..Options::default() }
}

/// The explanation of what a search finds first.
pub(super) fn explained(text: &str, options: &Options) -> Explanation {
    explain(&model(text), &found(text, options), (options, Effort::Bounded), &mut || (), &mut |_, _| ())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

const LOST_UPDATE: &str = "create T2, create T3, join T2, join T3, r x, assert x == 2 \
                           | T2: r x, w x x+1 | T3: r x, w x x+1";

/// Two tests before two sets; see `tests/targets/c/spin_flag.c`.
const SPIN_FLAG: &str = "create T2, create T3, join T2, join T3, r x, assert x == 2 \
                         | T2: await f f==0, w f 1, r x, w x x+1, w f 0 \
                         | T3: await f f==0, w f 1, r x, w x x+1, w f 0";

/// A window within a window.
const THREE: &str = "create T2, create T3, create T4 | T2: w u 1, w u 0 \
                     | T3: r u, if u { w o 1, w o 0 } | T4: r o, assert o == 0";

const DEADLOCK: &str =
    "create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b";

#[test]
fn the_fewest_preemptions_are_reached_from_bad_schedules() {
    for (text, preemptions, switches) in
        [(LOST_UPDATE, 1, 4), (SPIN_FLAG, 2, 5), (THREE, 2, 3), (DEADLOCK, 1, 1)]
    {
        for seed in 0..20 {
            let told = explained(text, &by(StrategyKind::Random, seed));
            assert_eq!(told.finding.preemptions, Some(preemptions), "{text}, seed {seed}");
            assert!(told.finding.fewest, "{text}, seed {seed}");
            assert_eq!(told.switches, switches, "{text}, seed {seed}");
            assert!(told.minimised, "{text}, seed {seed}");
        }
    }
}

#[test]
fn the_simplest_schedule_is_the_same_whichever_search_found_it() {
    let of = |strategy| {
        // To its end, so that the search itself knows that no schedule has fewer preemptions.
        let options = Options { keep_going: true, ..by(strategy, 0) };
        let told = explained(LOST_UPDATE, &options);
        assert!(told.finding.fewest, "{}", strategy.name());
        told.finding.trace.schedule()
    };
    let expected = of(StrategyKind::Icb);
    for strategy in [StrategyKind::Auto, StrategyKind::Dpor, StrategyKind::Idb] {
        assert_eq!(of(strategy), expected, "{}", strategy.name());
    }
}

/// Without time, the schedule that was found is all that there is; with as much as it takes, it is the simplest one.
#[test]
fn what_time_has_cut_short_can_be_brought_to_its_end() {
    let options = by(StrategyKind::Random, 3);
    let found = found(SPIN_FLAG, &options);
    let program = model(SPIN_FLAG);
    let at_once = Options { limit: Limit::new(|| StopRequest::BudgetSpent), ..options.clone() };
    let cut = explain(&program, &found, (&at_once, Effort::Bounded), &mut || (), &mut |_, _| ()).unwrap();
    assert_eq!((cut.minimised, cut.finding.fewest), (false, false));
    assert_eq!(cut.finding.trace.first_difference(&found.trace), None);
    assert!(cut.finding.preemptions > Some(2), "{:?}", cut.finding.preemptions);
    let whole =
        explain(&program, &cut.finding, (&options, Effort::Full), &mut || (), &mut |_, _| ()).unwrap();
    assert_eq!((whole.minimised, whole.finding.fewest, whole.finding.preemptions), (true, true, Some(2)));
}

#[test]
fn depth_is_one_more_than_the_change_points_that_it_takes() {
    for (text, depth) in [
        // Only the order of the threads matters.
        ("create T2, w x | T2: r x, assert x != 0", 1),
        (LOST_UPDATE, 2),
        (DEADLOCK, 2),
        (THREE, 3),
        (SPIN_FLAG, 3),
    ] {
        let told = explained(text, &Options::default());
        assert_eq!(told.depth, Some(Depth { value: depth, exact: true }), "{text}");
    }
}

/// Each read must see another write: seven times a thread is left that could go on.
const ALTERNATING: &str = "create T2, create T3 \
    | T2: r x a, r x b, r x c, r x d, r x e, assert (a*10000 + b*1000 + c*100 + d*10 + e) != 1234 \
    | T3: w x 1, w x 2, w x 3, w x 4";

#[test]
fn what_is_deeper_than_can_be_searched_has_a_bound_that_was_run() {
    let told = explained(ALTERNATING, &by(StrategyKind::Dfs, 0));
    assert_eq!((told.finding.preemptions, told.finding.fewest), (Some(7), true));
    assert_eq!(told.depth, Some(Depth { value: told.switches + 1, exact: false }));
}

/// Three threads take turns in one order only, in which none of them goes again before the others.
const IN_TURNS: &str = "create T2, create T3, create T4, join T2, join T3, join T4, r s, assert s != 10 \
    | T2: cas s 0 1, cas s 3 4, down g, cas s 7 8 \
    | T3: cas s 1 2, cas s 4 5, cas s 6 7, up g, cas s 9 10 \
    | T4: cas s 2 3, cas s 5 6, cas s 8 9";

#[test]
fn threads_that_have_all_been_lowered_are_enacted_too() {
    let options = Options { max_schedules: None, ..by(StrategyKind::Random, 1) };
    let told = explained(IN_TURNS, &options);
    assert_eq!(told.depth.map(|depth| depth.exact), Some(false), "{:?}", told.depth);
}

/// The paper's Figure 1: the assertion fails only if no other thread but T2 writes `x` and `y` in between.
const FIGURE_1: &str = "create T2, create T3, r x, if x == 0 { w x 1 }, r y, if y == 0 { w y 1 }, \
                        r x, if x == 2 { r y, assert y != 2 } \
                        | T2: r x, if x == 1 { w x 2 }, r y, if y == 1 { w y 2 } \
                        | T3: r x, if x == 1 { w x 3 }, r y, if y == 1 { w y 3 }";

/// A pattern of the failing execution: the variable, and the threads that read and write it (`1W 2W 1R`).
fn words(text: &str, suspect: &Suspect) -> String {
    let seen = &suspect.seen;
    let touches = seen.iter().map(|seen| {
        let number = seen.thread.path().first().map_or(1, |ordinal| ordinal + 1);
        format!("{number}{}", if seen.writes { "W" } else { "R" })
    });
    let touches: Vec<String> = touches.collect();
    format!("{} {}", model(text).name_of(seen[0].obj).unwrap(), touches.join(" "))
}

#[test]
fn the_papers_example_ranks_both_true_patterns_at_the_top() {
    let told = explained(FIGURE_1, &Options::default());
    let top: Vec<String> = told.suspects.iter().take(2).map(|suspect| words(FIGURE_1, suspect)).collect();
    assert_eq!(top, ["y 1W 2W 1R", "x 1W 2W 1R"]);
    assert!(told.compared.1 > 10, "{:?}", told.compared);
}

#[test]
fn what_a_thread_reads_that_the_failure_does_not_depend_on_is_not_to_blame() {
    // Without a preemption T3 reads `x` as well, once T1 can go on.
    let text = "create T2, create T3, await y, r x, assert x == 0 | T2: w x 1 | T3: w y, r x";
    let told = explained(text, &Options::default());
    let seen = &told.finding.trace.steps;
    assert!(seen.iter().any(|step| step.event.id.thread.path() == [2] && step.event.op.kind == OpKind::Read));
    let suspects: Vec<String> = told.suspects.iter().map(|suspect| words(text, suspect)).collect();
    assert_eq!(suspects[0], "x 2W 1R", "{suspects:?}");
    assert!(!suspects.contains(&"x 2W 3R".to_owned()), "{suspects:?}");
}

/// The kind of mistake, in a word.
pub(super) fn kind(diagnosis: &Diagnosis) -> &'static str {
    match diagnosis.cause {
        Cause::DoubleLock { .. } => "double lock",
        Cause::LockOrder(_) => "lock order",
        Cause::Circle(_) => "circle",
        Cause::Standstill(_) => "standstill",
        Cause::MissingRelease(_) => "missing release",
        Cause::LostWakeUp { .. } => "lost wake-up",
        Cause::MissedNotification { .. } => "missed notification",
        Cause::StolenWakeUp(_) => "stolen wake-up",
        Cause::FailedTry { .. } => "failed try",
        Cause::Aba(_) => "aba",
        Cause::Livelock(_) => "livelock",
        Cause::UseAfterFree(_) => "use after free",
        Cause::DoubleFree(_) => "double free",
        Cause::LostUpdate(_) => "lost update",
        Cause::Atomicity(_) => "atomicity",
        Cause::Torn(_) => "torn",
        Cause::Order(_) => "order",
        Cause::Pair(_) => "pair",
        Cause::Unclear => "unclear",
    }
}

/// One thread's update is lost if another one that only sets comes between.
const COUNTERS: &str = "create T2, r x, w x x+1, join T2, r x, assert x != 1 | T2: w x 5";

/// The pattern that tells is the order of two writes, the second of which has read before the first.
const TWO_COME_BETWEEN: &str =
    "create T2, r x, w x x+1, join T2, r x, assert x != 1 | T2: r x, w x 5, r x, w x 7";

#[test]
fn the_cause_is_that_of_the_program() {
    for (text, expected) in [
        (COUNTERS, "lost update"),
        (TWO_COME_BETWEEN, "lost update"),
        (LOST_UPDATE, "lost update"),
        (FIGURE_1, "atomicity"),
        (DEADLOCK, "lock order"),
        ("create T2, r s, assert s == 1 | T2: w s", "order"),
        // Each of the two is what it was before or after both writes; together they never were.
        (
            "create T2, lock m, w x 1, unlock m, lock m, w y 1, unlock m | T2: lock m, r x a, r y b, unlock m, assert a == b",
            "torn",
        ),
        // Between two rounds both are read as they should be.
        ("create T2, add x 1, add y 1, add x 1, add y 1 | T2: r x a, r y b, assert b < a+1", "torn"),
        ("create T2, lock m, r x, if x { lock m }, unlock m | T2: w x", "double lock"),
        // It leaves with the lock, or with the semaphore that it gives back otherwise.
        ("create T2, lock m, w x, unlock m | T2: lock m, r x, if x { unlock m }", "missing release"),
        ("let s=1 | create T2, down s, w x, up s | T2: down s, r x, if x { up s }", "missing release"),
        (
            "let s=1 t=1 | create T2, down s, down t, up t, up s | T2: down t, down s, up s, up t",
            "lock order",
        ),
        // A thread that takes from this semaphore never gives back.
        ("let s=1 | create T2, r f, if f == 0 { up s }, down s | T2: w f, down s", "missed notification"),
        ("create T2, lock m, r f, if f == 0 { wait c m }, unlock m | T2: w f, signal c", "lost wake-up"),
        ("create T2, lock m, r f, if f { wait c m }, unlock m | T2: w f", "missed notification"),
        ("create T2, w y, w x | T2: r y, if y { await z }", "livelock"),
        // The thread that would do what is waited for waits for a lock.
        ("create T2, lock m, bar b 2, unlock m | T2: lock m, unlock m, bar b 2", "circle"),
        (
            "create T2, lock o, lock m, r x, if x == 0 { wait c m }, unlock m, unlock o \
             | T2: lock o, lock m, w x 1, signal c, unlock m, unlock o",
            "circle",
        ),
        // Main has posted by then, and waits for the thread that waits for another post.
        ("create T2, r f, if f == 0 { up s }, up s, join T2 | T2: w f, down s, down s", "order"),
    ] {
        let told = explained(text, &Options::default());
        assert_eq!((kind(&told.diagnosis), told.diagnosis.thin), (expected, false), "{text}");
    }
}

#[test]
fn who_keeps_a_lock_is_who_has_not_given_it_back() {
    for (text, owner) in [
        // The other reader has it, whichever was first.
        (
            "create T2, create T3, wrlock l, wrunlock l | T2: rdlock l, r f, if f == 0 { rdunlock l } | T3: rdlock l, w f, rdunlock l",
            1,
        ),
        // Main gives back what the other one took.
        (
            "let s=1 | create T2, create T3, down s, r f, up s | T2: down s, w f, up s | T3: down s, r f, if f == 0 { up s }",
            2,
        ),
    ] {
        let told = explained(text, &Options::default());
        let Cause::MissingRelease(link) = &told.diagnosis.cause else {
            panic!("{text}: {:?}", told.diagnosis)
        };
        assert_eq!(link.owner.path(), [owner], "{text}");
    }
}

#[test]
fn a_semaphore_is_not_called_forgotten_where_somebody_would_post_it_or_is_done_with_it() {
    for (text, expected) in [
        // It is posted, were it not for the lock.
        ("create T2, lock m, down s, unlock m | T2: lock m, up s, unlock m", "circle"),
        // A thread that has taken one is done with it, and puts another one in only if told to.
        (
            "let s=2 | create T2, create T3, w f, down s | T2: down s, r f, if f { up s } | T3: down s",
            "missed notification",
        ),
    ] {
        let told = explained(text, &Options::default());
        assert_eq!(kind(&told.diagnosis), expected, "{text}");
    }
}

#[test]
fn a_lock_of_the_programs_own_that_both_came_past_is_told_beside_what_it_should_have_kept() {
    let told = explained(SPIN_FLAG, &Options::default());
    assert_eq!((kind(&told.diagnosis), told.diagnosis.thin), ("lost update", false));
    let past = told.diagnosis.bypassed_lock.unwrap_or_else(|| panic!("{:?}", told.diagnosis));
    let object = |seen: &ObservedAccess| model(SPIN_FLAG).name_of(seen.obj);
    assert!(past.iter().all(|seen| object(seen).as_deref() == Some("f")), "{past:?}");
    // A variable that no thread spins on is no lock; and neither is one that keeps out the threads that it should.
    let flag = SPIN_FLAG.replace("await f f==0", "r f");
    assert_eq!(explained(&flag, &Options::default()).diagnosis.bypassed_lock, None);
    let kept = LOST_UPDATE.replace("r x, w x x+1", "await f f==0, w f 1, w f 0, r x, w x x+1");
    assert_eq!(explained(&kept, &Options::default()).diagnosis.bypassed_lock, None);
    // It looks before it exchanges, and at what the exchange gives: a thread that is kept out comes back.
    let tries = "await f f==0, add f 1, r x, w x x+1, r f, if f == 1 { w f 0 }";
    let tries = LOST_UPDATE.replace("r x, w x x+1", tries);
    assert_eq!(explained(&tries, &Options::default()).diagnosis.bypassed_lock, None);
}

/// The threads that circle in a livelock, what their loops look at, and the thread that has changed that, in which event.
fn circling(text: &str) -> Vec<String> {
    let told = explained(text, &Options::default());
    let Cause::Livelock(circling) = &told.diagnosis.cause else { panic!("{text}: {:?}", told.diagnosis) };
    let steps = &told.finding.trace.steps;
    let words = |circling: &SpinningThread| {
        let awaits: Vec<String> =
            circling.awaits.iter().filter_map(|&obj| model(text).name_of(obj)).collect();
        let changed = circling.changed.map(|at| &steps[at].event);
        let changed = changed.map(|event| format!("{} {:?}", event.id.thread, event.op.kind));
        format!("{} {}: {}", circling.thread, awaits.join(" "), changed.unwrap_or_default())
    };
    circling.iter().map(words).collect()
}

#[test]
fn a_livelock_has_who_circles_and_who_brought_it_about() {
    let text = "let a=0 b=0 | create T2, w a 1, await b b == 0, w a 0 | T2: w b 1, await a a == 0, w b 0";
    assert_eq!(circling(text), ["main b: main/1 Write", "main/1 a: main Write"]);
    assert_eq!(circling("create T2, w y, w x | T2: r y, if y { await z }"), ["main/1 z: "]);
}

/// The critical pair: variable and events (`x 2R 3W`).
fn pair(text: &str, told: &Explanation) -> Vec<String> {
    let pair = told.pair.as_ref().unwrap_or_else(|| panic!("{text}: no pair"));
    let steps = &told.finding.trace.steps;
    let number =
        |thread: crate::event::names::ThreadName| thread.path().first().map_or(1, |ordinal| ordinal + 1);
    let event = |at: Position| {
        let event = &steps[at].event;
        let object = event.op.may.accesses.first().and_then(|access| model(text).name_of(access.obj));
        format!("{}{:?} {}", number(event.id.thread), event.op.kind, object.unwrap_or_default())
    };
    let words = |swap: &Swap| match swap.second {
        Second::Event(second) => format!("{}, {}", event(swap.first), event(second)),
        Second::Pending(thread) => format!("{}, {} waits", event(swap.first), number(thread)),
    };
    pair.swaps.iter().map(words).collect()
}

#[test]
fn the_critical_pair_is_the_one_whose_swap_ends_well() {
    for (text, expected) in [
        (LOST_UPDATE, "3Read x, 2Write x"),
        (DEADLOCK, "1Lock a, 2 waits"),
        ("create T2, r s, assert s == 1 | T2: w s", "1Read s, 2Write s"),
    ] {
        let told = explained(text, &Options::default());
        assert_eq!(pair(text, &told), [expected], "{text}");
        assert!(told.pair.as_ref().unwrap().passing.steps.len() > 2, "{text}");
    }
}

#[test]
fn where_no_single_swap_does_it_the_fewest_that_do_are_told() {
    // Both orders are wrong in the default schedule.
    let text = "create T2, r a, r b, assert a + b > 0 | T2: w a, w b";
    let told = explained(text, &Options::default());
    assert_eq!(pair(text, &told).len(), 1, "either swap does it");
    assert_eq!(told.pair.unwrap().failed, 0);
}

#[test]
fn the_point_of_no_return_is_the_first_event_after_which_brute_force_finds_no_way_out() {
    for (text, expected) in [
        (LOST_UPDATE, Some("Read")),
        (DEADLOCK, Some("Lock")),
        (COUNTERS, Some("Write")),
        (FIGURE_1, Some("Write")),
        ("create T2, r s, assert s == 1 | T2: w s", Some("Read")),
        ("create T2, lock m, r f, if f == 0 { wait c m }, unlock m | T2: w f, signal c", None),
        ("create T2, lock m, r x, if x { lock m }, unlock m | T2: w x", None),
    ] {
        let told = explained(text, &Options::default());
        let point = told.point_of_no_return.unwrap_or_else(|| panic!("{text}: {:?}", told.missing));
        let steps = &told.finding.trace.steps;
        let kind = format!("{:?}", steps[point.event].event.op.kind);
        assert!(expected.is_none_or(|expected| kind == expected), "{text}: {kind}");
        assert!(point.exhaustive, "{text}");
        let choices: Vec<_> = told.finding.trace.schedule().iter().map(|(choice, _)| *choice).collect();
        let is_lost = |events: Position| always_fails_after(&model(text), &choices[..events.count()]);
        assert!(!is_lost(point.event) && is_lost(point.event.next()), "{text}: {point:?}");
        assert!(point.before < point.after, "{text}: {point:?}");
        assert!((point.after - 1.0).abs() < f64::EPSILON, "{text}: {point:?}");
    }
}

#[test]
fn what_fails_whatever_comes_has_no_point_of_no_return() {
    // Every schedule fails, but not in the same way.
    let text = "create T2, r s, assert s == 1 | T2: w s 1, r t, assert t == 1";
    assert_eq!(explained(text, &Options::default()).point_of_no_return, None);
}

#[test]
fn what_begins_after_the_point_of_no_return_is_not_to_blame() {
    // If T2 reads f too early, it reads h too early as well: but all is lost by then.
    let text = "create T2, w f 1, w h 1, w g 1, join T2, r k, assert k == 1 \
                | T2: r f, if f == 1 { await g g==1 }, r h, w k f";
    let told = explained(text, &Options::default());
    let event = told.point_of_no_return.unwrap_or_else(|| panic!("{:?}", told.missing)).event;
    let begins: Vec<Position> = told.suspects.iter().map(|suspect| suspect.seen[0].position).collect();
    assert_eq!(begins, [event], "{:#?}", told.suspects);
    let ranked = told.suspects.iter().map(|suspect| (suspect.rank, suspect.tied));
    assert_eq!(ranked.collect::<Vec<_>>(), [(1, 1)]);
}

#[test]
fn an_order_that_was_tried_is_no_thin_evidence() {
    // Any of three swaps helps, so that most executions with one of these orders end well.
    let text = "create T2, r a, r b, r c, assert a + b + c > 0 | T2: w a, w b, w c";
    let told = explained(text, &Options::default());
    assert!(told.suspects.iter().all(|suspect| suspect.score < 0.5), "{:#?}", told.suspects);
    assert_eq!((kind(&told.diagnosis), told.diagnosis.thin), ("order", false), "{:?}", told.diagnosis);
    let [swap] = told.pair.unwrap().swaps[..] else { panic!("either swap does it") };
    let Cause::Order(seen) = told.diagnosis.cause else { panic!("it is an order") };
    assert_eq!((seen[0].position, Second::Event(seen[1].position)), (swap.first, swap.second));
}

#[test]
fn what_was_read_between_two_writes_makes_the_second_one_a_lost_update() {
    // The pattern that tells is three writes.
    let text = "create T2, w x 1, r x, w x x+1, join T2, r x, assert x != 2 | T2: w x 5";
    let told = explained(text, &Options::default());
    assert!(told.suspects[0].pattern.0.iter().all(|touch| touch.writes), "{:#?}", told.suspects);
    let Cause::LostUpdate(seen) = told.diagnosis.cause else { panic!("{:?}", told.diagnosis) };
    assert_eq!(seen.iter().map(|seen| seen.writes).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn who_has_given_way_cannot_be_let_go_by_lowering_others() {
    let update = "r x, w x x+1";
    for wait in ["yield", "sleep"] {
        let text = format!(
            "{wait}, create T2, {wait}, {update}, join T2, r x, assert x == 2 | T2: {wait}, {update}, {wait}"
        );
        for seed in 0..5 {
            let told = explained(&text, &by(StrategyKind::Random, seed));
            assert_eq!(told.missing, [], "{text}");
        }
    }
}
