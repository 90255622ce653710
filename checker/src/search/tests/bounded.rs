//! Searches bounded by variables and threads, by periods, guided ones, and the portfolio.

use std::collections::BTreeSet;

use super::*;
use crate::event::failure::{Failure, FailureKind};
use crate::strategy::{Bounds, Coverage, Vtb};
use crate::trace::Trace;

fn options(strategy: StrategyKind) -> Options {
    Options { strategy, ..Options::default() }
}

fn search(text: &str, options: &Options) -> SearchOutcome {
    explore(&model(text), options, &mut SilentObserver).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The example programs of the paper on variable and thread bounding, each with the preemptions and variables that its
/// failure takes. An increment is one step.
const FIGURES: [(&str, u32, u32); 5] = [
    ("r a, assert a == 0 | add a", 0, 0),
    ("r a t1, r a t2, assert t1 == t2 | add a", 1, 1),
    ("r a t1, r a t2, assert t1 == t2 | w a 1, w a 0", 2, 1),
    ("r a t1, r a t2, r b t3, assert t1 == t2 || t3 != 1 | w a 1, w b 1, w b 0", 2, 2),
    ("r a t1, r a t2, r b t3, r b t4, assert t1 == t2 || t3 == t4 | add a | add b", 2, 2),
];

fn vtb(text: &str, max_preemptions: u32, max_variables: u32, seed: u64) -> SearchOutcome {
    let options =
        Options { max_preemptions, max_variables, max_threads: 3, seed, ..options(StrategyKind::Vtb) };
    search(text, &Options { max_schedules: None, ..options })
}

#[test]
fn the_figures_of_the_variable_bounding_paper_fail_at_their_bounds_and_not_below() {
    for seed in 0..10 {
        for (text, c, v) in FIGURES {
            let found = vtb(text, c, v, seed);
            assert_eq!(found.findings.len(), 1, "{text}");
            assert_eq!(found.findings[0].failure.kind, FailureKind::Assertion, "{text}");
            if c > 0 {
                let fewer = vtb(text, c - 1, v, seed);
                assert_eq!((fewer.findings.len(), fewer.ended), (0, SearchEnd::Covered), "{text}");
            }
            if v > 1 || (v > 0 && c > 0) {
                let fewer = vtb(text, c, v - 1, seed);
                assert_eq!((fewer.findings.len(), fewer.ended), (0, SearchEnd::Covered), "{text}");
            }
            assert_eq!(found.covered, Coverage::default());
        }
    }
}

#[test]
fn three_threads_that_must_be_ordered_are_found_without_preemptions() {
    // Figure 8: both increments before the third thread.
    for seed in 0..10 {
        assert_eq!(vtb("add a | add a | r a, assert a != 2", 0, 0, seed).findings.len(), 1);
    }
}

#[test]
fn variable_bounding_tries_every_preemption_at_its_variables() {
    // Under an order of priority that lets thread 1 go first: once uninterrupted, and left after each of its accesses of x.
    let text = "w x, w y, w x, w z | r x, w x, r y, r z";
    let mut search = Vtb::new(Bounds { preemptions: 1, variables: 1, threads: 3 }, 1);
    let mut classes = BTreeSet::new();
    let mut note = |run: &Trace, _: &[Failure]| {
        classes.insert(run.hb.state());
    };
    let runs = super::sample(&model(text), &mut search, 1_000, 1_000, &mut note).unwrap();
    // With one variable at a time, every class with one preemption is reached: each preemption is at one variable.
    let all = all(text, StrategyKind::Icb, 1, true);
    assert_eq!((classes.len() as u64, runs < 1_000), (all.stats.schedules, true));
    // The search itself sees few events of most executions, and does not know their classes.
    let stats = vtb(text, 1, 1, 1).stats;
    assert_eq!(stats.schedules + stats.redundant + stats.narrow, runs);
    assert!(stats.narrow > stats.schedules, "{stats:?}");
}

/// The listing in section 2 of the paper on periodical scheduling: a flag, a count of waiters, a lock that the last one
/// frees. Using the lock after that, freeing it twice, and following the pointer that was cleared are failures.
const ONCE: &str = "r done, if done == 0 { add n, r p, if p == 0 { crash }, r f, assert f == 0, lock m, r done, \
                    if done == 0 { w done }, unlock m, add n -1, if n == 1 { add f, assert f == 0, w p 0 } }";

#[test]
fn periods_show_the_failures_of_the_papers_listing() {
    let text = format!("let p=1 | create T2, create T3, join T2, join T3 | T2: {ONCE} | T3: {ONCE}");
    let all = Options {
        max_periods: 6,
        max_schedules: Some(20_000),
        keep_going: true,
        ..options(StrategyKind::Period)
    };
    let outcome = search(&text, &all);
    // By place in the code: following the pointer after it was cleared, using the lock after it was freed, freeing it
    // twice. Either thread can fail in each way; the numbers are of the first one that does.
    let place = |found: &Finding| found.failure.stack[0].0 & 0xffff_ffff;
    let mut found: Vec<(u64, u64)> =
        outcome.findings.iter().map(|found| (place(found), found.schedule_number)).collect();
    found.sort_unstable();
    found.dedup_by_key(|(place, _)| *place);
    let numbers: Vec<u64> = found.into_iter().map(|(_, number)| number).collect();
    assert_eq!((outcome.findings.len(), numbers), (6, vec![15, 408, 123]));
    // Six periods are enough for every class of this program.
    let dfs = search(&text, &Options { max_schedules: None, keep_going: true, ..options(StrategyKind::Dfs) });
    assert_eq!((outcome.stats.schedules, outcome.ended), (dfs.stats.schedules, SearchEnd::Covered));
    assert_eq!(outcome.stats.executions(), 14_152);
}

#[test]
fn guided_schedules_see_every_pair() {
    // The read sees any of twelve writes or none; a random walk rarely lets it see the last of a row.
    let text = "create T2, create T3, r x, assert x != 12 | T2: w x 1, w x 2, w x 3, w x 4, w x 5, w x 6 \
                | T3: w x 7, w x 8, w x 9, w x 10, w x 11, w x 12";
    for seed in 0..20 {
        let options = Options { seed, max_schedules: Some(400), ..options(StrategyKind::Guided) };
        assert_eq!(search(text, &options).ended, SearchEnd::FirstBug, "{seed}");
    }
}

#[test]
fn the_portfolio_covers_what_icb_or_dpor_covers_and_no_more() {
    // dpor has few classes to run.
    let text = "r x, w x | r x, w x | r y, w x, w y";
    let every = search(text, &Options { max_schedules: None, ..options(StrategyKind::Dpor) });
    let limits = Options { max_preemptions: 3, max_schedules: None, ..options(StrategyKind::Auto) };
    let auto = search(text, &limits);
    let everything = Coverage { preemptions: Some(3), everything: true, ..Coverage::default() };
    assert_eq!((auto.covered, auto.ended), (everything, SearchEnd::Covered));
    assert_eq!(auto.stats.schedules, every.stats.schedules);
    // It takes dpor more executions than icb to come to its end.
    let text = "r x, w x, r y, w y, r x, w x | r x, w x, r y, w y, r x, w x | r y, w x, w y, r y, w x, w y";
    for bound in 0..=3 {
        let limits = Options { max_preemptions: bound, max_schedules: None, ..Options::default() };
        let icb = search(text, &limits);
        let auto = search(text, &Options { strategy: StrategyKind::Auto, ..limits });
        assert_eq!((auto.covered, auto.ended), (icb.covered, SearchEnd::Covered));
        // The others find classes beyond the bound, and repeat what icb finds.
        assert!(auto.stats.schedules >= icb.stats.schedules);
    }
    // A search that ends before icb has covered a bound does not name it.
    let few = Options { max_schedules: Some(3), ..options(StrategyKind::Auto) };
    assert_eq!(search(text, &few).covered, Coverage::default());
}

#[test]
fn what_others_leave_unfinished_is_no_gap_in_what_icb_covers() {
    // Only with a preemption does thread 1 run past the limit; without one there are 720 schedules of the others alone.
    let others = " | w y".repeat(6);
    let text = format!("r x a, r x b, if a != b {{ loop 5 {{ w z }} }} | w x{others}");
    let limits = Options {
        max_preemptions: 0,
        step_limit: 11,
        max_schedules: None,
        keep_going: true,
        ..Options::default()
    };
    let auto = search(&text, &Options { strategy: StrategyKind::Auto, ..limits.clone() });
    let icb = search(&text, &limits);
    let kinds = |outcome: &SearchOutcome| -> Vec<_> {
        outcome.findings.iter().map(|found| found.failure.kind).collect()
    };
    assert_eq!((kinds(&auto), kinds(&icb)), (vec![], vec![]));
    assert!(auto.stats.too_long > 0 && icb.stats.too_long == 0);
    assert_eq!((icb.covered.preemptions, auto.covered), (Some(0), icb.covered));
}

#[test]
fn each_of_them_is_a_function_of_its_seed() {
    let text = "lock m, timedwait c m, unlock m, yield, r x, w y | r x, lock m, signal c, unlock m, w x | r x, yield, w y";
    use StrategyKind::{Auto, Guided, Pctvb, Period, Vtb};
    for strategy in [Auto, Guided, Pctvb, Period, Vtb] {
        let run =
            || search(text, &Options { keep_going: true, max_schedules: Some(300), ..options(strategy) });
        assert_eq!(run().stats, run().stats, "{strategy:?}");
        assert_eq!(run().findings.len(), 0, "{strategy:?}");
    }
}
