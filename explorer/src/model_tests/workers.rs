//! Several workers, real threads: what they come to, and what they do to a search when they fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use checker::model::{Model, ModelRun};
use checker::names::Obj;
use checker::seam::{Epoch, Program, Scope, StartError};

use super::{LOST_UPDATE, explore_on, explore_with};
use crate::request::{Request, Strategy};
use crate::workers::Repeatable;

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

    fn epoch(&self) -> Epoch {
        Epoch::default()
    }

    fn describe(&self, obj: Obj) -> Option<String> {
        self.model.describe(obj)
    }
}

impl Repeatable for Fragile {
    type Copy = Copy;
    type Known = ();
    type Learnt = ();

    const WORTH_WHILE: u32 = 10;

    fn again(&self, _nth: usize, _stop: &Arc<AtomicBool>) -> Option<Copy> {
        self.executions.map(|left| Copy { model: self.model.clone(), left: AtomicU32::new(left) })
    }

    fn known(&self) {}

    fn adopt(_copy: &Copy, _known: &()) {}

    fn learnt(_copy: &Copy) -> Option<()> {
        Some(())
    }

    fn learn(&self, _learnt: (), _events: u32) {}
}

fn thorough(request: &mut Request) {
    request.keep_going = true;
    request.workers = 4;
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
                request.workers = 1;
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
