//! Several workers come to what one comes to, whenever each of them gets done.

use std::cell::Cell;

use delegate::delegate;
use proptest::prelude::{any, proptest};

use super::brute_force::against_oracle::program;
use super::*;
use crate::event::failure::Failure;
use crate::event::names::Obj;
use crate::event::object_description::ObjectDescription;
use crate::limit::Limit;
use crate::lock_order::PotentialDeadlock;
use crate::program::{Epoch, ExecutionSummary, Program, Scope, StartError};
use crate::race::RacingPair;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::SeededRng;
use crate::trace::Trace;

/// Workers without threads, whose pace is a matter of a seed: when a job is begun, when it is done, and what is lost.
struct Paced<'p, P> {
    desk: WorkerContext<'p, P>,
    count: usize,
    pace: SeededRng,
    waiting: Vec<Job>,
    done: Vec<JobOutcome>,
    used: &'p Cell<u64>,
    papers: Vec<TraceBuffer>,
}

impl<P: Program> Paced<'_, P> {
    fn one_in(&mut self, n: usize) -> bool {
        self.pace.below(n) == 0
    }

    /// Some of what waits is run now, with what is known now.
    fn go_on(&mut self) {
        while !self.waiting.is_empty() && !self.one_in(3) {
            let job = self.waiting.swap_remove(self.pace.below(self.waiting.len()));
            // One in a while is never heard of again.
            if !self.one_in(20) {
                let paper = self.papers.pop().unwrap_or_default();
                self.done.push(job.run(&mut self.desk, paper, &Limit::default()));
            }
        }
    }
}

impl<P: Program> Workers for Paced<'_, P> {
    fn count(&self) -> usize {
        self.count
    }

    fn room(&mut self) -> usize {
        (2 * self.count).saturating_sub(self.waiting.len())
    }

    fn hand_out(&mut self, job: Job) {
        self.waiting.push(job);
        self.go_on();
    }

    fn recall(&mut self, id: u64) -> bool {
        let at = self.waiting.iter().position(|job| job.id() == id);
        at.map(|at| self.waiting.swap_remove(at)).is_some()
    }

    fn collect(&mut self, wait: bool) -> Option<JobOutcome> {
        self.go_on();
        if self.done.is_empty() || !wait && self.one_in(2) {
            return None;
        }
        Some(self.done.swap_remove(self.pace.below(self.done.len())))
    }

    fn holds(&self, id: u64) -> bool {
        self.waiting.iter().any(|job| job.id() == id) || self.done.iter().any(|done| done.id() == id)
    }

    fn used(&mut self, _id: u64, _events: u32, _ending: &ExecutionSummary) {
        self.used.set(self.used.get() + 1);
    }

    fn unused(&mut self, _id: u64) {}

    fn give_back(&mut self, paper: TraceBuffer) {
        self.papers.push(paper);
    }
}

/// The results of a search, in full. Tables inside of a trace may still have empty places from the execution before.
fn told(outcome: &SearchOutcome) -> String {
    let SearchOutcome {
        stats,
        covered,
        at_synchronisation,
        findings,
        races,
        triangles,
        torn,
        ended,
        notes,
        lock_orders,
    } = outcome;
    let mut told = format!("{stats:?} {covered:?} {at_synchronisation:?} {triangles:?} {ended:?} {notes:?}");
    told += &format!(" {}", torn.confirm(&Default::default(), |_, _| None));
    for RacingPair { race, trace, certain, harm, .. } in races.clone().into_found() {
        told += &format!("\n{race:?} {:?} {certain} {harm:?}", trace.schedule());
    }
    for PotentialDeadlock { edges, trace, .. } in lock_orders.clone().into_found() {
        told += &format!("\n{edges:?} {:?}", trace.schedule());
    }
    for finding in findings {
        let Finding { failure, identity, trace, preemptions, fewest, delays, threads, variables, .. } =
            finding;
        let Finding { schedule_number, reproduced, summary, epoch, outdated, .. } = finding;
        let trace = (trace.schedule(), trace.hb.state(), &trace.threads, &trace.pending_at_end);
        told += &format!(
            "\n{failure:?} {identity:?} {preemptions:?} {fewest} {delays:?} {threads:?} {variables:?} "
        );
        told += &format!("{schedule_number} {reproduced:?} {summary:?} {epoch:?} {outdated} {trace:?}");
    }
    told
}

/// The search with so many workers in all, and the number of executions that were run ahead.
fn outcome(program: &impl Program, options: &Options, workers: usize, pace: u64) -> (String, u64) {
    outcome_of(program, program, options, workers, pace)
}

/// The same, where the other workers run a program of their own.
fn outcome_of(
    here: &impl Program,
    there: &impl Program,
    options: &Options,
    workers: usize,
    pace: u64,
) -> (String, u64) {
    let used = Cell::new(0);
    let paced = Paced {
        desk: WorkerContext::new(there),
        count: workers - 1,
        pace: SeededRng::new(pace, 0),
        waiting: Vec::new(),
        done: Vec::new(),
        used: &used,
        papers: Vec::new(),
    };
    let outcome = explore_with(here, options, Box::new(paced), &mut SilentObserver).unwrap();
    (told(&outcome), used.get())
}

fn options(strategy: StrategyKind, bound: u32) -> Options {
    Options {
        strategy,
        max_preemptions: bound,
        max_delays: bound,
        max_schedules: Some(300),
        keep_going: true,
        races: true,
        lock_order: true,
        ..Options::default()
    }
}

/// Runs the search with one to four workers; returns the number of executions that were run ahead.
fn check(text: &str, options: &Options, pace: u64) -> u64 {
    let program = model(text);
    let (expected, _) = outcome(&program, options, 1, pace);
    let mut ahead = 0;
    for workers in 2..=4 {
        let (got, used) = outcome(&program, options, workers, pace);
        assert_eq!(got, expected, "{} with {workers} workers, pace {pace}: {text}", options.strategy.name());
        ahead += used;
    }
    ahead
}

proptest! {
    #![proptest_config(generated(16))]

    #[test]
    fn every_search_comes_to_the_same_with_any_number_of_workers(text in program(), pace in any::<u64>()) {
        for bound in 0..=2 {
            check(&text, &Options { max_schedules: None, ..options(StrategyKind::Icb, bound) }, pace);
            check(&text, &options(StrategyKind::Idb, bound), pace);
        }
        check(&text, &options(StrategyKind::Dpor, 0), pace);
        check(&text, &options(StrategyKind::BoundedDpor, 1), pace);
        check(&text, &Options { keep_going: false, ..options(StrategyKind::Icb, 2) }, pace);
        check(&text, &Options { cache: false, ..options(StrategyKind::Icb, 1) }, pace);
        for strategy in StrategyKind::ALL {
            check(&text, &Options { max_schedules: Some(60), ..options(strategy, 2) }, pace);
        }
        // Executions that are cut by a limit take their states out of the cache again.
        check(&text, &Options { step_limit: 5, ..options(StrategyKind::Icb, 1) }, pace);
        check(&text, &Options { step_limit: 5, ..options(StrategyKind::Dpor, 0) }, pace);
    }
}

#[test]
fn opposite_orders_of_locks_come_out_the_same() {
    let text =
        "lock a, lock b, r x, unlock b, unlock a | lock b, lock a, w x, unlock a, unlock b | r x, w y | r y";
    for strategy in [StrategyKind::Icb, StrategyKind::Idb, StrategyKind::Auto] {
        for pace in 0..5 {
            check(text, &options(strategy, 0), pace);
        }
    }
}

#[test]
fn joins_and_what_is_kept_aside_for_them_come_out_the_same() {
    for text in [
        "T1: r a, w e, join T2, r e | T2: join T3 | T3: w a | T4: w e",
        "join T2, join T3 | T2: w a | T3: r a, lock m, timedwait c m, unlock m, r x | T4: signal c, w x",
        "join T2, join T3 | T2: w a | T3: r a, yield, yield, r x | T4: w x",
    ] {
        // With others beside them there are enough executions for some to be chosen early.
        let text = format!("{text} | r z, w z | w z, r z");
        for pace in 0..20 {
            assert!(check(&text, &options(StrategyKind::Icb, 2), pace) > 0);
        }
    }
}

#[test]
fn what_others_have_shown_by_its_turn_counts_for_what_an_execution_of_dpor_leads_to() {
    for text in [
        "cas x 0 1, r x | cas x 1 2, r y | cas x 2 3, w y",
        "down s, r x, up s | down s, w x, up s | up s, trydown s, r x",
        "trydown s, w x | up s, r x | down s, cas x 0 1 | cas x 1 2",
    ] {
        for pace in 0..20 {
            assert!(check(text, &options(StrategyKind::Dpor, 0), pace) > 0);
        }
    }
}

/// Three threads with four accesses each to one of two variables.
const BUSY: &str = "r x, w x x+1, w y, r x | r x, w x x+1, r y, w y | r y, w x, w y, r x";

#[test]
fn the_other_workers_have_their_share_of_the_executions() {
    use StrategyKind::{Dpor, Icb, Idb, Pos, Random};
    // A search that learns from its executions begins with few at once.
    for (strategy, share) in [(Icb, 1.0), (Idb, 1.0), (Dpor, 1.0), (Random, 1.0), (Pos, 1.0)] {
        let options = options(strategy, 2);
        let all = explore(&model(BUSY), &options, &mut SilentObserver).unwrap().stats.executions();
        let ahead = check(BUSY, &options, 1);
        assert!(ahead as f64 > share * all as f64, "{}: {ahead} of three times {all}", strategy.name());
    }
}

/// A program whose key points are others than those that the search knows.
struct Elsewhere(Model);

impl Program for Elsewhere {
    type Run = crate::model::ModelRun;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        self.0.start(scope)
    }

    fn epoch(&self) -> Epoch {
        Epoch(1)
    }

    delegate! {
        to self.0 {
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

#[test]
fn what_ran_under_other_key_points_does_not_count() {
    let (here, elsewhere) = (model(BUSY), Elsewhere(model(BUSY)));
    let options = options(StrategyKind::Icb, 2);
    let (expected, _) = outcome(&here, &options, 1, 1);
    assert_eq!(outcome_of(&here, &elsewhere, &options, 2, 1), (expected, 0));
}
