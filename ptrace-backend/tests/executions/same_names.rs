//! The execution that finds out what main allocates names it as all later ones do, which only know of it.

use crate::executions::compiled::compile;
use checker::operation::{Effect, OpKind};
use checker::program::{Choice, Execution, Program, Scope, Status, Until};
use ptrace_backend::{LaunchSpec, PtraceProgram};

/// The first sleep at a futex in an execution in which one thread yields for ever, and another one goes whenever those
/// before it cannot.
fn slept_at(program: &PtraceProgram) -> Effect {
    let mut run = program.start(&Scope::All).unwrap();
    let slept_at = loop {
        let view = run.agents().iter().find(|view| view.status == Status::Enabled).unwrap();
        let choice = Choice { agent: view.agent, outcome: view.outcomes[0] };
        let batch = run.run(choice, &Until::one()).unwrap();
        if let Some(step) = batch.steps.into_iter().find(|step| step.event.op.kind == OpKind::FutexWait) {
            break step.event.did;
        }
    };
    run.finish();
    slept_at
}

/// The main thread of Rust's harness waits before the test creates a thread, with which the names begin.
#[test]
fn what_a_harness_waits_at_has_one_name() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&folder, "frameworks/rust_tests.rs", &["--test"]);
    let args = ["leaves_a_thread_behind", "--exact"].map(Into::into).to_vec();
    let program = PtraceProgram::launch(LaunchSpec { args, ..LaunchSpec::new(program) }).unwrap();
    // From then on it is known that threads share the allocated memory.
    let unnamed = slept_at(&program);
    let first = slept_at(&program);
    assert_ne!(first, unnamed);
    for _ in 0..3 {
        assert_eq!(slept_at(&program), first);
    }
}
