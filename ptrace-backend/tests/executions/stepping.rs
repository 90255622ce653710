//! Both ways of passing a trapped instruction give the same trace; and nothing is left of a program that was dropped.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::executions::bundled::{CPP, RUST, all_in_c, at_levels};
use crate::executions::compiled::compile;
use checker::program::{Agent, AgentView, Choice, Execution, Program, Scope, Status, Step, Stop, Until};
use ptrace_backend::{LaunchSpec, PtraceProgram, Stepping};

/// Each program runs under the default schedule, and under one random schedule for each of these seeds.
const SEEDS: [u64; 5] = [1, 2, 3, 5, 8];

/// A program that spins on, or waits again and again with a time-out, is left after so many events.
const EVENTS: usize = 1_000;

/// The choice of the agent that goes next.
enum Scheduler {
    /// The last one goes on while it can, else the first that can.
    Default { last: Option<Agent> },
    /// Any one that can, from a linear congruential generator.
    Random { state: u64 },
}

impl Scheduler {
    fn all() -> impl Iterator<Item = Self> {
        let random = SEEDS.into_iter().map(|state| Self::Random { state });
        [Self::Default { last: None }].into_iter().chain(random)
    }

    fn choose(&mut self, agents: &[AgentView]) -> Option<Choice> {
        let movable = |gives_way: bool| {
            let such = |view: &&AgentView| view.status == Status::Enabled && view.gives_way() == gives_way;
            agents.iter().filter(such).flat_map(choices).collect::<Vec<_>>()
        };
        let mut choices = movable(false);
        if choices.is_empty() {
            choices = movable(true);
        }
        let first = *choices.first()?;
        Some(match self {
            Self::Default { last } => {
                let next = choices.into_iter().find(|choice| Some(choice.agent) == *last).unwrap_or(first);
                *last = Some(next.agent);
                next
            }
            Self::Random { state } => {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                choices[(*state >> 33) as usize % choices.len()]
            }
        })
    }
}

fn choices(view: &AgentView) -> impl Iterator<Item = Choice> {
    view.outcomes.iter().map(|&outcome| Choice { agent: view.agent, outcome })
}

/// All that one execution showed.
#[derive(PartialEq, Debug)]
struct Shown {
    steps: Vec<Step>,
    agents: Vec<AgentView>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn execute(program: &PtraceProgram, scheduler: &mut Scheduler) -> Shown {
    let mut run = program.start(&Scope::Audit).unwrap();
    let mut steps = Vec::new();
    while steps.len() < EVENTS
        && let Some(choice) = scheduler.choose(run.agents())
    {
        let batch = run.run(choice, &Until::one()).unwrap();
        steps.extend(batch.steps);
        if batch.stop == Stop::Promoted {
            break;
        }
    }
    let agents = run.agents().to_vec();
    let ending = run.finish();
    Shown { steps, agents, stdout: ending.stdout, stderr: ending.stderr }
}

fn launch(program: &Path, stepping: Stepping) -> PtraceProgram {
    let run_timeout = Duration::from_secs(60);
    let spec = LaunchSpec { run_timeout, stepping, ..LaunchSpec::new(program.to_owned()) };
    PtraceProgram::launch(spec).unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// The course of the execution by every scheduler once all their key points are known, and the stops that it took.
fn explore(program: &Path, stepping: Stepping) -> (Vec<Shown>, u64) {
    let program = launch(program, stepping);
    loop {
        let (epoch, stops) = (program.epoch(), program.stops());
        let shown: Vec<_> = Scheduler::all().map(|mut scheduler| execute(&program, &mut scheduler)).collect();
        if program.epoch() == epoch {
            return (shown, program.stops() - stops);
        }
    }
}

/// Compares both ways of stepping. Each has a thread of its own, which `launch` binds to one CPU.
fn compare(program: &Path) {
    let explore = |stepping| {
        thread::scope(|scope| scope.spawn(|| explore(program, stepping)).join())
            .unwrap_or_else(|_| panic!("{} cannot be explored {stepping:?}", program.display()))
    };
    let (out_of_line, few) = explore(Stepping::OutOfLine);
    let (in_place, many) = explore(Stepping::InPlace);
    let name = program.display();
    for (schedule, (expected, got)) in in_place.iter().zip(&out_of_line).enumerate() {
        for (at, (expected, got)) in expected.steps.iter().zip(&got.steps).enumerate() {
            assert_eq!(expected, got, "{name}: event {at} of schedule {schedule}");
        }
        assert_eq!(expected, got, "{name}: the end of schedule {schedule}");
    }
    assert!(in_place.iter().all(|shown| shown.steps.len() > 1), "{name}: nothing was compared");
    assert!(few < many, "{name}: {few} stops out of line, {many} in place: both are stepped alike");
}

fn check<S: AsRef<str> + Sync>(sources: &[S]) {
    at_levels(sources, |_, program| compare(program));
}

#[test]
fn c_programs_give_the_same_trace_both_ways() {
    check(&all_in_c());
}

#[test]
fn a_cpp_program_gives_the_same_trace_both_ways() {
    check(&[CPP]);
}

#[test]
fn a_rust_program_gives_the_same_trace_both_ways() {
    check(&[RUST]);
}

/// The processes that the calling thread has started, or had started for it, and that it has not reaped.
fn children() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/children").unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The threads of the calling thread's children.
fn threads() -> usize {
    let tasks = |child| fs::read_dir(format!("/proc/{child}/task")).unwrap().count();
    children().into_iter().map(tasks).sum()
}

#[test]
fn nothing_is_left_of_a_program_that_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&folder, "c/lock_order.c", &["-O0"]);
    assert_eq!(children(), [""; 0]);
    let program = launch(&program, Stepping::OutOfLine);
    assert_eq!(threads(), 1, "the template stands at main");
    execute(&program, &mut Scheduler::Default { last: None });
    assert_eq!(threads(), 1, "an execution that has finished leaves nothing");
    let mut run = program.start(&Scope::Audit).unwrap();
    let main = run.agents()[0].agent;
    while run.agents().len() < 3 {
        let choice = choices(&run.agents()[0]).next().unwrap();
        assert_eq!(choice.agent, main);
        run.run(choice, &Until::one()).unwrap();
    }
    assert_eq!((children().len(), threads()), (2, 4), "the template, and main with both threads");
    drop(run);
    assert_eq!(threads(), 1, "nor does one that is dropped half way");
    drop(program);
    assert_eq!(children(), [""; 0]);
}
