//! Executions with accesses of few variables as key points are what the same scheduler does with all of them, and are
//! replayed exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::executions::bundled::{CPP, RUST, all_in_c, at_levels};
use checker::byte_set::ByteSet;
use checker::names::Obj;
use checker::operation::OpKind;
use checker::program::{
    Agent, AgentView, BlockedOn, Choice, Execution, OpKey, Program, Scope, Status, Step, Stop, Until,
};
use ptrace_backend::{LaunchSpec, PtraceProgram};

/// So many orders of priority.
const ORDERS: u64 = 6;

/// So many variables of each program, one after another.
const VARIABLES: usize = 4;

/// A program that spins, or waits again and again with a time-out, is left after so many events.
const EVENTS: usize = 1_000;

/// Strict priority: the agent that can go and has the highest priority goes; one that gives way has the lowest from
/// then on.
struct ByPriority {
    order: u64,
    sunk: Vec<Agent>,
}

impl ByPriority {
    fn rank(&self, agent: Agent) -> (Option<std::cmp::Reverse<usize>>, u64) {
        let words = format!("{} {agent:?}", self.order / 2);
        let number = words.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let number = if self.order.is_multiple_of(2) { number } else { !number };
        // Later ones are lower, and all of them below those that never gave way.
        let sunk = self.sunk.iter().rposition(|&known| known == agent);
        (sunk.map(std::cmp::Reverse), number)
    }

    fn choose(&mut self, agents: &[AgentView]) -> Option<Choice> {
        let can_go = agents.iter().filter(|view| view.status == Status::Enabled);
        let highest = can_go.max_by_key(|view| {
            let (sunk, number) = self.rank(view.agent);
            (sunk.is_none(), sunk, number)
        })?;
        if highest.gives_way() {
            self.sunk.push(highest.agent);
        }
        Some(Choice { agent: highest.agent, outcome: highest.outcomes[0] })
    }
}

/// The course of one execution.
struct Shown {
    steps: Vec<(Choice, Step)>,
    spun_on: Vec<Obj>,
}

fn execute(program: &PtraceProgram, scope: &Scope, order: u64) -> Shown {
    let mut run = program.start(scope).unwrap();
    let mut scheduler = ByPriority { order, sunk: Vec::new() };
    let mut shown = Shown { steps: Vec::new(), spun_on: Vec::new() };
    while shown.steps.len() < EVENTS
        && let Some(choice) = scheduler.choose(run.agents())
    {
        let batch = run.run(choice, &Until::one()).unwrap();
        for step in batch.steps {
            for view in &step.changed {
                if let Status::Blocked(BlockedOn::Await(locations)) = &view.status {
                    shown.spun_on.extend_from_slice(locations);
                }
            }
            shown.steps.push((choice, step));
        }
        if matches!(batch.stop, Stop::Promoted | Stop::Failed) {
            break;
        }
    }
    run.finish();
    shown
}

/// The events that a scope does not leave out: the thread, the kind, the place, and the accesses.
fn seen(shown: &Shown, scope: &Scope) -> Vec<String> {
    let events = shown.steps.iter().map(|(_, step)| &step.event);
    let events = events.filter(|event| !scope.leaves_out(&event.op));
    events
        .map(|event| {
            format!("{} {:?} {:x?} {:?}", event.id.thread, event.op.kind, event.site, event.did.accesses)
        })
        .collect()
}

fn launch(program: &Path) -> PtraceProgram {
    let run_timeout = Duration::from_secs(60);
    let spec = LaunchSpec { run_timeout, ..LaunchSpec::new(program.to_owned()) };
    PtraceProgram::launch(spec).unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// Runs every order of priority with all key points, until no more are found.
fn all(program: &PtraceProgram) -> Vec<Shown> {
    loop {
        let epoch = program.epoch();
        let shown = (0..ORDERS).map(|order| execute(program, &Scope::All, order)).collect();
        if program.epoch() == epoch {
            return shown;
        }
    }
}

/// The variables that most accesses are of.
fn variables(shown: &[Shown]) -> Vec<Obj> {
    let mut counts: BTreeMap<Obj, usize> = BTreeMap::new();
    for (_, Step { event, .. }) in shown.iter().flat_map(|shown| &shown.steps) {
        if matches!(event.op.kind, OpKind::Read | OpKind::Write | OpKind::Update) {
            event.op.may.accesses.iter().for_each(|access| *counts.entry(access.obj).or_default() += 1);
        }
    }
    let mut variables: Vec<Obj> = counts.keys().copied().collect();
    variables.sort_by_key(|variable| std::cmp::Reverse(counts[variable]));
    variables.truncate(VARIABLES);
    variables
}

/// Compares executions with the accesses of one variable, and with none, to those with all. Of these scopes: the events and
/// the stops that they took, and what all of them took each time.
fn compare(program: &Path) -> [u64; 4] {
    let name = program.display();
    let program = launch(program);
    all(&program);
    let before = program.stops();
    let wide = all(&program);
    let wide_stops = program.stops() - before;
    let spun_on: BTreeSet<Obj> = wide.iter().flat_map(|shown| shown.spun_on.iter().copied()).collect();
    let mut scopes: Vec<Vec<Obj>> = variables(&wide).into_iter().map(|variable| vec![variable]).collect();
    scopes.push(Vec::new());
    let mut sums = [0; 4];
    for variables in scopes {
        let objects: ByteSet = variables.iter().chain(&spun_on).copied().collect();
        let scope = Scope::Objects(Arc::new(objects));
        let before = program.stops();
        let narrow: Vec<Shown> = (0..ORDERS).map(|order| execute(&program, &scope, order)).collect();
        sums[1] += program.stops() - before;
        for (order, (narrow, wide)) in narrow.iter().zip(&wide).enumerate() {
            let (few, all) = (seen(narrow, &scope), seen(wide, &scope));
            let both =
                if wide.steps.len() < EVENTS { few.len().max(all.len()) } else { few.len().min(all.len()) };
            let first = (0..both).find(|&at| few.get(at) != all.get(at));
            let at = first.map(|at| (at, few.get(at), all.get(at)));
            assert_eq!(at, None, "{name}: order {order} within {variables:x?}");
            replay(&program, &scope, narrow);
            sums[0] += narrow.steps.len() as u64;
            sums[2] += wide.steps.len() as u64;
        }
        sums[3] += wide_stops;
    }
    sums
}

fn replay(program: &PtraceProgram, scope: &Scope, shown: &Shown) {
    let key = |step: &Step| OpKey { kind: step.event.op.kind, site: step.event.site };
    let schedule: Vec<(Choice, OpKey)> =
        shown.steps.iter().map(|(choice, step)| (*choice, key(step))).collect();
    let mut run = program.start(scope).unwrap();
    let batch = run.replay(&schedule).unwrap();
    let steps: Vec<&Step> = shown.steps.iter().map(|(_, step)| step).collect();
    assert_eq!(batch.steps.iter().collect::<Vec<_>>(), steps);
    run.finish();
}

fn check<S: AsRef<str> + Sync>(sources: &[S]) -> BTreeMap<String, [u64; 4]> {
    let sums = Mutex::new(BTreeMap::new());
    at_levels(sources, |name, program| {
        let compared = compare(program);
        sums.lock().unwrap().insert(name.to_owned(), compared);
    });
    sums.into_inner().unwrap()
}

#[test]
fn c_programs_do_the_same_whatever_is_left_out() {
    let sums = check(&all_in_c());
    let fewer = ["bounded_queue", "double_checked", "work_stealing"];
    let fewer = fewer.iter().flat_map(|name| ["-O0", "-O2"].map(|level| (level, format!("{name}{level}"))));
    let run: Vec<_> = fewer.filter_map(|(level, name)| Some((level, *sums.get(&name)?, name))).collect();
    assert!(run.len() >= 3, "{sums:?}");
    for (level, [few, few_stops, all, all_stops], name) in run {
        assert!(few < all && few_stops <= all_stops, "{name}: {sums:?}");
        // Unoptimised code goes through pointers, and what is behind one takes a stop to look at.
        assert!(few_stops < all_stops || level == "-O0", "{name}: {sums:?}");
    }
}

#[test]
fn a_cpp_program_does_the_same_whatever_is_left_out() {
    check(&[CPP]);
}

#[test]
fn a_rust_program_does_the_same_whatever_is_left_out() {
    check(&[RUST]);
}
