//! Random numbers that code asks the processor for are the same in every execution, and differ within one.

use std::collections::HashSet;
use std::path::Path;
use std::thread;

use crate::executions::compiled::compile;
use checker::program::{Choice, Execution, Program, Scope, Status, Until};
use ptrace_backend::{LaunchSpec, PtraceProgram};

const EXECUTIONS: usize = 1_000;

fn launch(program: &Path) -> PtraceProgram {
    PtraceProgram::launch(LaunchSpec::new(program.to_owned())).unwrap()
}

/// The output of the program. `last_first`: of several threads that can go, the youngest goes.
fn output(program: &PtraceProgram, last_first: bool) -> String {
    let mut run = program.start(&Scope::All).unwrap();
    loop {
        let mut enabled = run.agents().iter().filter(|view| view.status == Status::Enabled);
        let next = if last_first { enabled.next_back() } else { enabled.next() };
        let Some(view) = next else { break };
        let choice = Choice { agent: view.agent, outcome: view.outcomes[0] };
        run.run(choice, &Until::one()).unwrap();
    }
    let ending = run.finish();
    assert_eq!(String::from_utf8_lossy(&ending.stderr), "");
    String::from_utf8(ending.stdout).unwrap()
}

/// One launch binds its thread to one CPU, so each gets a thread of its own.
fn launched<T: Send>(program: &Path, work: impl FnOnce(&PtraceProgram) -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(|| work(&launch(program))).join()).unwrap()
}

/// Every execution under every schedule prints the same, as do those of another launch. Returns what that is.
fn the_same_each_time(program: &Path) -> String {
    let first = launched(program, |program| {
        let first = output(program, false);
        for execution in 0..EXECUTIONS {
            assert_eq!(output(program, execution % 2 == 1), first, "execution {execution}");
        }
        first
    });
    assert_eq!(launched(program, |program| output(program, false)), first, "another launch");
    first
}

#[test]
fn the_processor_gives_the_same_numbers_each_time() {
    for level in ["-O0", "-O2"] {
        let folder = tempfile::tempdir().unwrap();
        let program = compile(&folder, "random/hardware_random.c", &[level, "-mrdrnd", "-mrdseed"]);
        let shown = the_same_each_time(&program);
        let numbers: HashSet<&str> = shown.split_whitespace().collect();
        assert_eq!(numbers.len(), 4 * 4, "no number comes twice: {shown}");
        // A narrow number that were wider than its operand would have overwritten what stands behind it.
        let widths: HashSet<usize> = numbers.iter().map(|number| number.len()).collect();
        assert_eq!(widths, HashSet::from([16, 8, 4]), "{shown}");
    }
}

#[test]
fn the_cpp_librarys_device_gives_the_same_numbers_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&folder, "random/random_device.cpp", &["-O2"]);
    let shown = the_same_each_time(&program);
    let numbers: HashSet<&str> = shown.lines().collect();
    assert_eq!(numbers.len(), 4, "no number comes twice: {shown}");
}
