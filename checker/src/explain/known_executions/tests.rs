//! Programs whose executions are told, beside the same that run.

use std::sync::atomic::Ordering;

use super::tree::LONGEST;
use super::*;
use crate::execution::{Limits, RunOutcome, Runner, SearchError};
use crate::explain::tests::model;
use crate::limit::StopRequest;
use crate::search::Options;
use crate::search::tests::programs::{Changing, Promoting};
use crate::strategy::{Guide, Random, Sample, SeededRng};

const PROGRAMS: [&str; 5] = [
    "create T2, create T3, join T2, join T3, r x, assert x == 2 | T2: r x, w x x+1 | T3: r x, w x x+1",
    "create T2, lock a, lock b, unlock b, unlock a | T2: lock b, lock a, unlock a, unlock b",
    "create T2, w x | T2: r x, assert x != 0",
    "create T2, create T3, join T2, join T3 | T2: await f f==0, w f 1, w f 0 | T3: await f f==0, w f 1, w f 0",
    "create T2, sleep, w x 1, join T2 | T2: yield, r x, if x { yield, w y 1 }",
];

fn random(number: u64) -> Box<dyn Guide> {
    Random.guide(SeededRng::new(7, number))
}

/// An execution: how it ended, its events, and the agents as it left them.
fn run<P: Program>(
    program: &P,
    prefix: &[(Choice, OpKey)],
    guide: &mut dyn Guide,
) -> Result<(RunOutcome, Trace, ExecutionSummary, Vec<AgentView>), SearchError> {
    let mut runner = Runner::new(program, Limits::of(&Options::default()));
    let end = runner.run(prefix, guide, &mut || StopRequest::Continue)?;
    let agents = runner.agents.threads().to_vec();
    Ok((end, runner.trace, runner.summary, agents))
}

#[test]
fn what_is_told_is_what_would_run() {
    for text in PROGRAMS {
        let (program, tree) = (model(text), Mutex::default());
        let known = KnownExecutions::new(&program, &tree);
        for number in 0..200 {
            let (end, trace, summary, agents) = run(&program, &[], &mut *random(number)).unwrap();
            let told = run(&known, &[], &mut *random(number)).unwrap();
            assert_eq!((&told.0, &told.2, &told.3), (&end, &summary, &agents), "{text}, {number}");
            assert_eq!(told.1.first_difference(&trace), None, "{text}, {number}");
            assert_eq!(told.1.hb.state(), trace.hb.state(), "{text}, {number}");
            // A part of it, and then other choices.
            let schedule = trace.schedule();
            let prefix = &schedule[..number as usize % (schedule.len() + 1)];
            let (end, trace, ..) = run(&program, prefix, &mut *random(number + 1)).unwrap();
            let told = run(&known, prefix, &mut *random(number + 1)).unwrap();
            assert_eq!((told.0, told.1.first_difference(&trace)), (end, None), "{text}, {number}");
        }
        assert!(known.recalled() > 200, "{text}: {}", known.recalled());
    }
}

#[test]
fn an_execution_starts_where_it_leaves_what_is_known_and_only_once() {
    let (program, tree) = (Changing::new(PROGRAMS[0], PROGRAMS[0], u32::MAX), Mutex::default());
    let known = KnownExecutions::new(&program, &tree);
    for (number, starts) in [(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)] {
        run(&known, &[], &mut *random(number)).unwrap();
        assert_eq!(program.starts.load(Ordering::Relaxed), starts, "{number}");
    }
    run(known.program(), &[], &mut *random(0)).unwrap();
    assert_eq!(program.starts.load(Ordering::Relaxed), 3);
}

#[test]
fn with_more_key_points_nothing_is_known_any_more() {
    let (program, tree) = (Promoting::new(PROGRAMS[0], PROGRAMS[1], 1), Mutex::default());
    let known = KnownExecutions::new(&program, &tree);
    run(&known, &[], &mut *random(0)).unwrap();
    let (end, ..) = run(&known, &[], &mut *random(1)).unwrap();
    assert!(matches!(end, RunOutcome::Promoted(_)), "{end:?}");
    for _ in 0..2 {
        let (end, trace, ..) = run(&known, &[], &mut *random(0)).unwrap();
        let (expected, other, ..) = run(&model(PROGRAMS[1]), &[], &mut *random(0)).unwrap();
        assert_eq!((end, trace.first_difference(&other)), (expected, None));
    }
    assert_eq!(known.recalled(), 1);
}

#[test]
fn a_program_that_does_something_else_the_second_time_is_not_told_on() {
    let (program, tree) = (Changing::new(PROGRAMS[0], PROGRAMS[1], 1), Mutex::default());
    let known = KnownExecutions::new(&program, &tree);
    run(&known, &[], &mut *random(0)).unwrap();
    let result = (1..50).find_map(|number| run(&known, &[], &mut *random(number)).err());
    assert!(matches!(result, Some(SearchError::Diverged { .. })), "{result:?}");
    // From then on it is known as it is.
    let (end, trace, ..) = run(&known, &[], &mut *random(0)).unwrap();
    let (expected, other, ..) = run(&model(PROGRAMS[1]), &[], &mut *random(0)).unwrap();
    assert_eq!((end, trace.first_difference(&other)), (expected, None));
}

#[test]
fn long_executions_are_known_up_to_a_point() {
    let long = format!("create T2, {}join T2 | T2: r x", "w x 1, ".repeat(LONGEST));
    let (program, tree) = (model(&long), Mutex::default());
    let known = KnownExecutions::new(&program, &tree);
    for _ in 0..2 {
        let (end, trace, ..) = run(&known, &[], &mut *random(0)).unwrap();
        let (expected, other, ..) = run(&program, &[], &mut *random(0)).unwrap();
        assert_eq!((end, trace.first_difference(&other)), (expected, None));
    }
    assert_eq!((known.recalled(), lock(&tree).nodes.len()), (0, LONGEST + 1));
}
