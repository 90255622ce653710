//! The loop: budgets, limits, determinism, epochs, replay.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::programs::{Changing, Promoting};
use super::*;
use crate::cache::Cache;
use crate::event::agent::{Agent, Choice};
use crate::event::divergence::{Difference, Observation};
use crate::event::failure::{Doing, FailureDetail, FailureKind as Kind};
use crate::event::operation::OpKind;
use crate::execution::{Limits, RunOutcome, Runner};
use crate::limit::Limit;
use crate::program::{Execution, ExecutionError, Program, Until};
use crate::strategy::{Coverage, Decision, Guide, Next, Notes, Strategy, WorkItem};

const RACE: &str =
    "create T2, create T3, join T2, join T3, r x, assert x == 2 | T2: r x, w x x+1 | T3: r x, w x x+1";

fn search(text: &str, options: &Options) -> SearchOutcome {
    explore(&model(text), options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Is over once it has been looked at so often.
fn after(looks: u32, go: StopRequest) -> Options {
    let left = AtomicU32::new(looks);
    let look = move || {
        let is_over = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
        if is_over { go } else { StopRequest::Continue }
    };
    Options { limit: Limit::new(look), ..Options::default() }
}

#[test]
fn a_search_ends_when_its_owner_says_so() {
    for (go, ended) in
        [(StopRequest::BudgetSpent, SearchEnd::Budget), (StopRequest::Cancelled, SearchEnd::Cancelled)]
    {
        for events in [1, 5, 20, 60] {
            let outcome = search("r x, w x | r x, w x | w x", &after(events, go));
            assert_eq!(outcome.ended, ended);
            assert!(!outcome.covered.everything);
        }
    }
}

#[test]
fn a_finding_is_reproduced_even_when_time_is_up() {
    let text = "create T2, r x, assert x == 0 | T2: w x";
    let mut each = (1..).map(|looks| (looks, search(text, &after(looks, StopRequest::BudgetSpent))));
    // Time is up after the last event of the execution that fails, and so before the replays.
    let (looks, outcome) = each.find(|(_, outcome)| !outcome.findings.is_empty()).unwrap();
    assert_eq!((outcome.ended, outcome.findings[0].reproduced), (SearchEnd::FirstBug, (2, 2)));
    // A user who wants to stop gets it as it is.
    let outcome = search(text, &after(looks, StopRequest::Cancelled));
    assert_eq!((outcome.ended, outcome.findings[0].reproduced), (SearchEnd::Cancelled, (0, 2)));
    let mut later = (looks..looks + 20).map(|looks| search(text, &after(looks, StopRequest::Cancelled)));
    let once = later.find(|outcome| outcome.findings[0].reproduced == (1, 2)).unwrap();
    assert_eq!(once.ended, SearchEnd::Cancelled);
}

#[test]
fn the_budget_counts_every_execution_of_the_search() {
    for (strategy, max) in [(StrategyKind::Icb, 7), (StrategyKind::Random, 30), (StrategyKind::Dfs, 3)] {
        let options = Options { strategy, max_schedules: Some(max), ..Options::default() };
        let outcome = search("r x, w x | r x, w x | r x, w x", &options);
        assert_eq!((outcome.ended, outcome.stats.executions()), (SearchEnd::Budget, max));
    }
}

#[test]
fn a_bound_is_covered_only_when_nothing_of_it_is_left() {
    let text = "r x, w x | r x, w x | r x, w x";
    let covered = |max| {
        let options = Options { max_schedules: Some(max), ..Options::default() };
        search(text, &options).covered
    };
    let full = search(text, &Options { max_schedules: None, ..Options::default() });
    assert_eq!(full.covered.preemptions, Some(2));
    let all = full.stats.executions();
    let steps: Vec<Option<u32>> = (1..all).map(|max| covered(max).preemptions).collect();
    assert_eq!((steps[0], steps[steps.len() - 1]), (None, Some(1)));
    assert!(steps.is_sorted());
}

#[test]
fn a_bound_is_not_covered_when_there_was_no_room_for_it() {
    let program = model("r x, w x | r x, w x | r x, w x");
    let options = Options { max_schedules: None, ..Options::default() };
    let mut observer = SilentObserver;
    let mut search = Search::new(&program, &options, &mut observer);
    let bound = crate::strategy::Preemptions { max: 2 };
    search.strategy = Box::new(crate::strategy::Frontier::with_capacity(bound, 2));
    let outcome = search.run().unwrap();
    assert_eq!(
        (outcome.ended, outcome.covered),
        (SearchEnd::Covered, Coverage { preemptions: Some(0), ..Coverage::default() })
    );
}

#[test]
fn a_long_execution_is_no_finding_and_leaves_a_gap() {
    let options = Options { step_limit: 50, ..Options::default() };
    let outcome = search("create T2, r x, while x == 1 { r y } | T2: w x 1", &options);
    assert_eq!(outcome.findings.len(), 0);
    assert!(
        outcome.stats.too_long > 0 && outcome.stats.too_long <= outcome.stats.pruned,
        "{:?}",
        outcome.stats
    );
    // It takes a preemption to let T2 write first.
    assert_eq!(outcome.covered, Coverage { preemptions: Some(0), ..Coverage::default() });
    // The search goes on, and finds what fails.
    let outcome = search("create T2, r x, while x == 1 { r y }, assert x != 2 | T2: w x 1, w x 2", &options);
    let kinds: Vec<Kind> = outcome.findings.iter().map(|finding| finding.failure.kind).collect();
    assert_eq!(kinds, [Kind::Assertion]);
}

#[test]
fn threads_that_keep_each_other_going_let_a_third_one_go() {
    // Both wait for the first thread, which takes no part in what they tell each other.
    let spins = "r x, while x == 0 { w y 1, r y, yield, r x }";
    let text = format!("create T2, create T3, w z 1, w z 2, r z, w x 1 | T2: {spins} | T3: {spins}");
    for strategy in [StrategyKind::Auto, StrategyKind::Guided, StrategyKind::Surw] {
        for seed in 0..5 {
            let options = Options { strategy, seed, max_schedules: Some(100), ..Options::default() };
            let outcome = search(&text, &options);
            assert_eq!(outcome.findings.len(), 0, "{strategy:?}, seed {seed}");
        }
    }
}

#[test]
fn a_thread_that_comes_to_no_key_point_is_no_finding_and_leaves_a_gap() {
    let outcome = search("create T2, r x, while x == 1 { } | T2: w x 1", &Options::default());
    assert_eq!(outcome.findings.len(), 0);
    assert!(
        outcome.stats.too_slow > 0 && outcome.stats.too_slow <= outcome.stats.pruned,
        "{:?}",
        outcome.stats
    );
    assert_eq!(outcome.covered, Coverage { preemptions: Some(0), ..Coverage::default() });
}

#[test]
fn what_others_do_after_the_end_is_seen_but_not_for_ever() {
    let endless = "T2: while 1 { r y }";
    // A preemption before the end would leave the first thread behind for good: that is another matter.
    let options = Options { max_preemptions: 0, ..Options::default() };
    let outcome = search(&format!("create T2, exit | {endless}"), &options);
    assert!(outcome.findings.is_empty());
    assert_eq!(outcome.ended, SearchEnd::Covered);
    assert!(outcome.stats.events < 1_100 * outcome.stats.executions());
    let outcome = search(&format!("create T2, r x, assert x == 1 | {endless}"), &Options::default());
    assert_eq!((outcome.findings.len(), outcome.findings[0].reproduced), (1, (2, 2)));
}

#[test]
fn items_and_notes_survive_being_written_down() {
    fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
        serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
    }
    let program = model("r x, w x | r x, lock m, timedwait c m, unlock m | lock m, signal c, unlock m, w x");
    let (mut strategy, rule) = StrategyKind::Icb.plan(&Options::default());
    let cache = Cache::new(rule);
    let mut runner = Runner::new(&program, Limits::of_events(1_000));
    while let Next::Work(item) = strategy.next(&cache) {
        let item = through_json(&item);
        let mut guide = strategy.guide(&item, &cache);
        let end = runner.run(&item.prefix, &mut *guide, &mut || StopRequest::Continue).unwrap();
        let notes = through_json(&guide.notes());
        if matches!(end, RunOutcome::Completed(_)) {
            cache.end(runner.trace.hb.state());
        }
        strategy.learn(&item, &runner.trace, notes.clone(), &cache);
        // A second result for one item changes nothing.
        strategy.learn(&item, &runner.trace, notes, &cache);
    }
    let plain = all(
        "r x, w x | r x, lock m, timedwait c m, unlock m | lock m, signal c, unlock m, w x",
        StrategyKind::Icb,
        2,
        true,
    );
    assert_eq!(cache.ends().len() as u64, plain.stats.schedules);
}

#[test]
fn yielding_for_ever_is_a_livelock() {
    let options = Options { step_limit: 3_000, ..Options::default() };
    let text = "create T2, w y, r x, while x == 0 { yield, r x } | T2: r y, if y == 0 { w x }";
    let failure = search(text, &options).findings.remove(0).failure;
    assert_eq!(failure.kind, Kind::Livelock);
    assert_eq!(failure.detail, FailureDetail::NothingChanges);
    let doing: Vec<&Doing> = failure.others.iter().map(|party| &party.doing).collect();
    assert_eq!(doing, [&Doing::YieldsForever]);
}

#[test]
fn counting_ones_own_yields_is_no_livelock() {
    let text = "create T2, join T2 | T2: set n 2500, while n > 0 { sleep, set n n-1 }";
    assert!(search(text, &Options::default()).findings.is_empty());
}

#[test]
fn who_yields_waits_for_what_others_write() {
    let options = Options { max_schedules: None, ..Options::default() };
    let outcome = search("create T2, r x, while x == 0 { yield, r x } | T2: r y, r y, w x", &options);
    assert!(outcome.findings.is_empty());
    assert_eq!(outcome.ended, SearchEnd::Covered);
}

#[test]
fn time_goes_on_while_others_spin() {
    // Once the one time-out that is explored is used up, the second one comes when nothing but yields happens.
    let text = "create T2, r x, while x == 0 { yield, r x } \
                | T2: lock m, timedwait c m, timedwait c m, unlock m, w x";
    let outcome = search(text, &Options { max_schedules: None, ..Options::default() });
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings[0].failure);
}

#[test]
fn time_outs_have_a_bound_of_their_own() {
    let text = "lock m, timedwait c m, unlock m, if c == 0 { r a } | lock n, timedwait d n, unlock n, if d == 0 { r a, crash } \
                | lock m, signal c, unlock m, lock n, signal d, unlock n";
    let found = |max_timeouts| {
        let options = Options { max_timeouts, keep_going: true, max_preemptions: 9, ..Options::default() };
        let outcome = search(text, &options);
        (
            outcome.stats.schedules,
            outcome.covered.everything,
            outcome.findings.iter().any(|f| f.failure.kind == Kind::Crash),
        )
    };
    let (none, some, all) = (found(0), found(1), found(2));
    assert!(none.0 < some.0 && some.0 < all.0, "{none:?} {some:?} {all:?}");
    assert_eq!((none.1, some.1, all.1), (false, false, true));
    assert!(all.2 && some.2);
}

fn kind(seen: &Observation) -> OpKind {
    let Observation::Operation { key, .. } = seen else { panic!("{seen}") };
    key.kind
}

#[test]
fn a_program_that_does_not_repeat_itself_is_refused_with_the_first_difference() {
    let program = Changing::new("r x, w x | r y", "r x, r x | r y", 1);
    let error = explore(&program, &Options::default(), &mut SilentObserver).unwrap_err();
    let SearchError::NotDeterministic(difference) = error else { panic!("{error}") };
    let Difference { at, expected, got } = *difference;
    assert_eq!((at.count(), kind(&expected), kind(&got)), (1, OpKind::Write, OpKind::Read));
    assert!(expected.to_string().starts_with("main write at 0x"), "{expected}");
}

#[test]
fn a_failure_that_does_not_happen_again_is_an_error() {
    let failing = "create T2, r x, assert x == 0 | T2: w x";
    let passing = "create T2, r x, assert x == x | T2: w x";
    // Two runs for the comparison, one of the search that passes and its audit, and one that fails: then the program
    // changes.
    let program = Changing::new(failing, passing, 5);
    let error = explore(&program, &Options::default(), &mut SilentObserver).unwrap_err();
    let SearchError::NotDeterministic(difference) = error else { panic!("{error}") };
    assert_eq!((difference.at.count(), &*difference.expected.to_string()), (3, "a failure (Assertion)"));
}

#[test]
fn what_was_found_is_not_lost_when_the_program_changes() {
    let first = "create T2, r x, assert x == 0, r y, assert y == 0 | T2: w x, w y";
    let options = Options { keep_going: true, ..Options::default() };
    let starts = Changing::new(first, first, 0);
    explore(&starts, &options, &mut SilentObserver).unwrap();
    let all = starts.starts.into_inner();
    // The audit at the end is the last one.
    let program = Changing::new(first, &format!("r z, {first}"), all - 2);
    let outcome = explore(&program, &options, &mut SilentObserver).unwrap();
    assert!(!outcome.findings.is_empty() && outcome.ended == SearchEnd::Cancelled);
    assert!(matches!(outcome.notes[0], SearchNote::StoppedEarly(SearchError::NotDeterministic(_))));
    assert_eq!(outcome.covered, Coverage::default());
}

#[test]
fn new_key_points_start_the_search_again() {
    // The race is invisible as long as `x` is no key point.
    let program = Promoting::new("create T2, w y, join T2 | T2: r y", RACE, 3);
    let outcome = explore(&program, &Options::default(), &mut SilentObserver).unwrap();
    assert_eq!(outcome.stats.before_restart, 2);
    let finding = &outcome.findings[0];
    assert_eq!((finding.failure.kind, finding.preemptions, finding.epoch.0), (Kind::Assertion, Some(1), 1));
    assert_eq!(finding.schedule_number, outcome.stats.executions());
    assert!(!finding.outdated);
}

#[test]
fn an_audit_shows_key_points_that_executions_do_not() {
    // Two runs for the comparison, the second of which is an audit; the search has two, and the last one is audited.
    for (after, before_restart) in [(1, 0), (3, 2)] {
        let mut program = Promoting::new("create T2, w y, join T2 | T2: r y", RACE, after);
        program.to_audits = true;
        let outcome = explore(&program, &Options::default(), &mut SilentObserver).unwrap();
        assert_eq!(outcome.stats.before_restart, before_restart);
        assert_eq!(outcome.findings[0].failure.kind, Kind::Assertion);
        program.to_audits = false;
        assert_eq!(program.epoch().0, 1);
    }
}

#[test]
fn a_failure_that_shows_key_points_is_carried_over() {
    let plain = search(RACE, &Options::default());
    let number = plain.findings[0].schedule_number;
    let before = 2 + u32::try_from(number).unwrap() - 1;
    let program = Promoting::new(RACE, RACE, before);
    let outcome = explore(&program, &Options::default(), &mut SilentObserver).unwrap();
    let finding = &outcome.findings[0];
    assert_eq!((finding.schedule_number, outcome.stats.before_restart), (number, number));
    assert_eq!((finding.executions, finding.epoch.0), (2 + number, 1));
    assert_eq!(plain.findings[0].executions, 2 + number);
}

#[test]
fn an_execution_that_shows_key_points_itself_is_not_audited() {
    // Its schedule does not come out under the new ones.
    let program = Promoting::new("create T2, w y, join T2 | T2: r y", &format!("r z, {RACE}"), 2);
    let outcome = explore(&program, &Options::default(), &mut SilentObserver).unwrap();
    assert_eq!((outcome.stats.before_restart, outcome.findings.len()), (1, 1));
}

#[test]
fn one_execution_in_a_hundred_is_audited_where_none_is_watched_as_a_whole() {
    // 252 orders of five writes and five others, each its own class.
    let program = model("w x, w x, w x, w x, w x | w x, w x, w x, w x, w x");
    let options = Options { strategy: StrategyKind::Dfs, ..Options::default() };
    let outcome = explore(&program, &options, &mut SilentObserver).unwrap();
    assert_eq!((outcome.stats.schedules, outcome.stats.redundant + outcome.stats.pruned), (252, 0));
    assert_eq!(outcome.stats.other, 2);
    let options = Options { strategy: StrategyKind::Random, max_schedules: Some(252), ..Options::default() };
    let outcome = explore(&program, &options, &mut SilentObserver).unwrap();
    assert_eq!(outcome.stats.executions_now(), 252);
    assert_eq!(outcome.stats.other, 2 + 2);
}

#[test]
fn key_points_found_before_the_search_cost_nothing_of_it() {
    let program = Promoting::new("r y | r y", "r x, w x | w x", 0);
    let outcome = explore(&program, &Options::default(), &mut SilentObserver).unwrap();
    assert_eq!((outcome.stats.before_restart, outcome.stats.schedules), (0, 3));
}

#[test]
fn a_found_schedule_replays_and_a_foreign_one_says_where_it_does_not_fit() {
    let found = search(RACE, &Options::default());
    let schedule = found.findings[0].trace.schedule();
    let replayed = replay(&model(RACE), &schedule, 1_000, &Limit::default()).unwrap();
    assert_eq!(replayed.failure.unwrap().kind, Kind::Assertion);
    assert_eq!(replayed.trace.first_difference(&found.findings[0].trace), None);
    let other = RACE.replacen("T3: r x, w x", "T3: r x, r x", 1).replace("r x x+1", "r x");
    let error = replay(&model(&other), &schedule, 1_000, &Limit::default()).unwrap_err();
    let SearchError::Diverged(difference) = error else { panic!("{error}") };
    let Difference { at, expected, got } = *difference;
    assert_eq!(schedule[at.count()].0.agent.thread().to_string(), "main/2");
    assert_eq!((kind(&expected), kind(&got)), (OpKind::Write, OpKind::Read));
}

#[test]
fn random_schedules_depend_on_the_seed_alone() {
    let run = |seed, first| {
        let mut random = crate::strategy::Sampler::new(crate::strategy::Random, seed);
        let program = model("loop 5 { r x, w x } | loop 5 { r x, w x } | loop 5 { r x, w x }");
        let limits = Limits::of_events(1_000);
        let mut runner = Runner::new(&program, limits);
        let cache = Cache::new(None);
        let items: Vec<WorkItem> = (0..4)
            .filter_map(|_| if let Next::Work(item) = random.next(&cache) { Some(item) } else { None })
            .collect();
        let mut hash_of = |item: &WorkItem| {
            let mut guide = random.guide(item, &cache);
            runner.run(&item.prefix, &mut *guide, &mut || StopRequest::Continue).unwrap();
            runner.trace.hb.state()
        };
        items[first..].iter().map(&mut hash_of).collect::<Vec<_>>()
    };
    let all = run(1, 0);
    assert_eq!(all, run(1, 0));
    // Each schedule is the same, whatever ran before it.
    assert_eq!(all[2..], run(1, 2)[..]);
    assert_ne!(all, run(2, 0));
    assert!(all[0] != all[1] && all[1] != all[2]);
}

/// Lets each thread go as far as it can in one call.
struct InBatches {
    passed: usize,
}

impl Guide for InBatches {
    fn choose(&mut self, at: &crate::state::scheduling_point::SchedulingPoint<'_>) -> Decision {
        at.default_choice()
            .map_or(Decision::Prune, |choice| Decision::Run { choice, until: Until::events(u32::MAX) })
    }

    fn pass(&mut self, at: &crate::state::scheduling_point::SchedulingPoint<'_>) {
        assert!(at.default_choice().is_some());
        self.passed += 1;
    }

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}

#[test]
fn a_batch_is_recorded_as_its_single_events_are() {
    let text = "create T2, lock m, r x, while x == 0 { wait c m, r x }, unlock m, join T2 \
                | T2: r y, lock m, w x, signal c, unlock m, yield, r y";
    let program = model(text);
    let limits = Limits::of_events(1_000);
    let mut single = Runner::new(&program, limits);
    single.run(&[], &mut crate::strategy::DefaultSchedule, &mut || StopRequest::Continue).unwrap();
    let mut batched = Runner::new(&program, limits);
    let mut guide = InBatches { passed: 0 };
    batched.run(&[], &mut guide, &mut || StopRequest::Continue).unwrap();
    assert_eq!(single.trace.first_difference(&batched.trace), None);
    assert_eq!(single.trace.hb.state(), batched.trace.hb.state());
    assert!(guide.passed > 5);
    for (a, b) in single.trace.steps.iter().zip(&batched.trace.steps) {
        assert_eq!((a.preemptions, a.delays, &a.reason), (b.preemptions, b.delays, &b.reason));
    }
}

#[test]
fn a_choice_that_is_not_there_is_refused() {
    let program = model("r x");
    let mut run = program.start(&crate::program::Scope::All).unwrap();
    let choice =
        Choice { agent: Agent::Timeout(crate::event::names::ThreadName::MAIN), outcome: Default::default() };
    assert!(matches!(run.run(choice, &Until::one()), Err(ExecutionError::Impossible(_))));
}

#[test]
fn an_execution_that_keeps_a_thread_waiting_covers_nothing() {
    let options = Options { step_limit: 600, keep_going: true, ..Options::default() };
    let outcome = search("create T2, r x, while x == 0 { r y, r x } | T2: w x", &options);
    assert!(outcome.findings.is_empty());
    assert_eq!(outcome.covered, Coverage::default());
    assert!(outcome.stats.too_long > 0, "{:?}", outcome.stats);
}
