//! Programs whose code is opened as executions come to it run as those whose code is all open from the beginning.

use std::path::Path;

use crate::executions::bundled::{CPP, RUST, all_in_c, at_levels};
use checker::names::ThreadName;
use checker::program::{Choice, Execution, OpKey, Program, Scope, Status, Until};
use ptrace_backend::{LaunchSpec, Opening, PtraceProgram};

/// More executions than any of the programs needs until it is known what is a key point.
const MOST: usize = 60;

/// So many events are compared.
const EVENTS: usize = 400;

/// The events of an execution in which the thread that ran goes on while it can, with the key points that executions show by then.
fn settled(program: &Path, opening: Opening) -> Vec<(ThreadName, OpKey)> {
    let program =
        PtraceProgram::launch(LaunchSpec { opening, ..LaunchSpec::new(program.to_owned()) }).unwrap();
    for _ in 0..MOST {
        let epoch = program.epoch();
        let mut run = program.start(&Scope::Audit).unwrap();
        let mut events: Vec<(ThreadName, OpKey)> = Vec::new();
        let mut last = None;
        while events.len() < EVENTS {
            let enabled = || run.agents().iter().filter(|view| view.status == Status::Enabled);
            let goes_on = |last| enabled().find(|view| Some(view.agent) == last && !view.gives_way());
            let Some(view) = goes_on(last).or_else(|| enabled().find(|view| Some(view.agent) != last)) else {
                break;
            };
            let choice = Choice { agent: view.agent, outcome: view.outcomes[0] };
            last = Some(choice.agent);
            let batch = run.run(choice, &Until::one()).unwrap();
            let key = |event: &checker::program::Event| OpKey { kind: event.op.kind, site: event.site };
            events.extend(batch.steps.iter().map(|step| (step.event.id.thread, key(&step.event))));
        }
        run.finish();
        if program.epoch() == epoch {
            return events;
        }
    }
    panic!("there are always more key points");
}

#[test]
fn code_that_is_opened_late_runs_as_code_that_is_open() {
    let mut sources = all_in_c();
    sources.extend([CPP, RUST].map(str::to_owned));
    at_levels(&sources, |name, program| {
        let at_once = settled(program, Opening::AtOnce);
        assert!(!at_once.is_empty(), "{name}");
        assert_eq!(settled(program, Opening::AsReached { least: 0 }), at_once, "{name}");
    });
}
