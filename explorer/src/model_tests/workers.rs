//! Several workers, real threads: their results, and the effects on a search when they fail.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use checker::failure::Failure;
use checker::limit::Limit;
use checker::model::{Model, ModelRun};
use checker::names::Obj;
use checker::object_description::ObjectDescription;
use checker::program::{Epoch, ExecutionSummary, Program, Scope, StartError};
use checker::trace::Trace;
use delegate::delegate;

use super::{LOST_UPDATE, explore_on, explore_with};
use crate::input::request::{Request, Strategy};
use crate::program::worker_pool::{Parallelism, Replicable};

/// Some thousands of executions within two preemptions, some of which fail.
const BUSY: &str = "T1: create T2, create T3, r x, w y x+1, r z, w x, join T2, join T3, r x, assert x<3 \
                    | T2: r x, w x x+1, r y, w z y, r x | T3: r x, w x x+1, r z, w y z, w z";

/// A program, copies of which end their worker after so many executions; or cannot be had.
struct Fragile {
    model: Model,
    executions: Option<u32>,
}

struct Copy {
    model: Model,
    left: AtomicU32,
}

impl Program for Copy {
    type Run = ModelRun;

    fn start(&self, scope: &Scope) -> Result<ModelRun, StartError> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "this worker was to end here");
        self.model.start(scope)
    }

    delegate! {
        to self.model {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

impl Replicable for Fragile {
    type Copy = Copy;
    type Known = ();
    type Learnt = ();

    const WORTH_WHILE: u32 = 10;

    fn again(&self, _nth: usize, _limit: &Limit) -> Option<Copy> {
        self.executions.map(|left| Copy { model: self.model.clone(), left: AtomicU32::new(left) })
    }

    fn at_once(&self) -> usize {
        4
    }

    fn has_external_effects(&self) -> bool {
        false
    }

    fn copy_has_external_effects(_copy: &Copy) -> bool {
        false
    }

    fn known(&self) {}

    fn has_outgrown(&self, _copy: &Copy) -> bool {
        false
    }

    fn adopt(_copy: &Copy, _known: &()) -> bool {
        true
    }

    fn learnt(_copy: &Copy) -> Option<()> {
        Some(())
    }

    fn learn(&self, _learnt: (), _events: u32) {}
}

/// A program that from some time on could meet itself: the search knows once it has asked so often, a copy once it has run
/// so often.
struct Meeting {
    model: Model,
    asked: AtomicU32,
    here: u32,
    copies: u32,
    /// Number of executions that copies have begun.
    ran: Arc<AtomicU32>,
}

struct Visitor {
    model: Model,
    own: AtomicU32,
    meets_after: u32,
    ran: Arc<AtomicU32>,
}

impl Meeting {
    fn new(here: u32, copies: u32) -> Self {
        Self { model: BUSY.parse().unwrap(), asked: AtomicU32::new(0), here, copies, ran: Arc::default() }
    }
}

impl Program for Visitor {
    type Run = ModelRun;

    fn start(&self, scope: &Scope) -> Result<ModelRun, StartError> {
        self.own.fetch_add(1, Ordering::Relaxed);
        self.ran.fetch_add(1, Ordering::Relaxed);
        self.model.start(scope)
    }

    delegate! {
        to self.model {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

impl Replicable for Meeting {
    type Copy = Visitor;
    type Known = ();
    type Learnt = ();

    const WORTH_WHILE: u32 = 10;

    fn again(&self, _nth: usize, _limit: &Limit) -> Option<Visitor> {
        let (model, ran) = (self.model.clone(), Arc::clone(&self.ran));
        Some(Visitor { model, own: AtomicU32::new(0), meets_after: self.copies, ran })
    }

    fn at_once(&self) -> usize {
        5
    }

    fn has_external_effects(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.here
    }

    fn copy_has_external_effects(copy: &Visitor) -> bool {
        copy.own.load(Ordering::Relaxed) > copy.meets_after
    }

    fn known(&self) {}

    fn has_outgrown(&self, _copy: &Visitor) -> bool {
        false
    }

    fn adopt(_copy: &Visitor, _known: &()) -> bool {
        true
    }

    fn learnt(_copy: &Visitor) -> Option<()> {
        Some(())
    }

    fn learn(&self, _learnt: (), _events: u32) {}
}

fn thorough(request: &mut Request) {
    request.keep_going = true;
    request.workers = NonZeroUsize::new(4);
}

#[test]
fn the_report_is_that_of_one_worker() {
    for program in [LOST_UPDATE, BUSY] {
        for strategy in [Strategy::Icb, Strategy::Idb, Strategy::Auto, Strategy::Random, Strategy::Pct] {
            let change = |request: &mut Request| {
                thorough(request);
                (request.strategy, request.max_schedules) = (strategy, 2_000);
            };
            let model: Model = program.parse().unwrap();
            let together = explore_on(program, Some(&model), change).timeless();
            let alone = explore_with(program, |request| {
                change(request);
                request.workers = NonZeroUsize::new(1);
            })
            .timeless();
            assert!(alone.schedules > 1);
            assert_eq!(together, alone, "{}: {program}", strategy.name());
        }
    }
}

#[test]
fn workers_that_end_or_never_begin_change_nothing() {
    let alone = explore_with(BUSY, |request| request.keep_going = true).timeless();
    for executions in [None, Some(0), Some(1), Some(100)] {
        let fragile = Fragile { model: BUSY.parse().unwrap(), executions };
        let together = explore_on(BUSY, Some(&fragile), thorough).timeless();
        assert_eq!(together, alone, "{executions:?}");
    }
}

/// Workers that were not asked for end where executions could meet, whether the search notices that or a worker.
#[test]
fn workers_leave_a_program_that_could_meet_itself_to_the_search() {
    let change = |request: &mut Request, workers| {
        thorough(request);
        (request.strategy, request.workers) = (Strategy::Icb, workers);
    };
    let alone = explore_with(BUSY, |request| change(request, NonZeroUsize::new(1))).timeless();
    let never = u32::MAX;
    for (here, copies) in [(0, never), (50, never), (never, 0), (never, 20), (never, never)] {
        let program = Meeting::new(here, copies);
        let together = explore_on(BUSY, Some(&program), |request| change(request, None)).timeless();
        assert_eq!(together, alone, "{here}, {copies}");
        let ran = program.ran.load(Ordering::Relaxed);
        // Each of four workers may be in the middle of one when another notices.
        assert!(
            copies == never || ran <= 4 * (copies + 1),
            "{here}, {copies}: {ran} executions beside the search"
        );
        assert!(here > 0 || ran == 0, "{here}, {copies}: {ran} executions beside the search");
    }
}

#[test]
fn whoever_asks_for_workers_has_them_and_else_there_is_one_for_each_cpu() {
    let program = Meeting::new(0, 0);
    assert_eq!(Parallelism::of(NonZeroUsize::new(1), &program), Parallelism::Exactly(0));
    assert_eq!(Parallelism::of(NonZeroUsize::new(3), &program), Parallelism::Exactly(2));
    assert_eq!(Parallelism::of(None, &program), Parallelism::WhileApart(4));
}
