//! The line with which `main` ended: when a program has returned its exit code, no frame is left that would show it.

use std::collections::BTreeSet;

use checker::names::ThreadName;
use checker::seam::{Choice, OpKey};
use ptrace_backend::debuginfo::{Function, is_user_file};
use ptrace_backend::{Halt, Inspection, PtraceProgram};

use crate::source::Frame;

/// Programs that come to more lines of `main` are not followed.
const MOST_STOPS: usize = 20_000;

/// Runs a schedule once more, and gives the last line of `main` that begins something: its closing brace does not.
/// `None` where `main` has no lines, or the schedule does not come out again.
pub(crate) fn of_main(program: &PtraceProgram, schedule: &[(Choice, OpKey)]) -> Option<Frame> {
    let lines = lines_of_main(program);
    let mut run = program.inspect().ok()?;
    run.set_probes(&lines.iter().map(|line| line.0).collect()).ok()?;
    let mut seen = Vec::new();
    let halt = run.begin().ok()?;
    follow(&mut run, halt, &mut seen)?;
    for (choice, key) in schedule {
        let halt = run.perform(*choice, key).ok()?;
        follow(&mut run, halt, &mut seen)?;
    }
    let (_, closing) = lines.iter().max_by_key(|(_, line)| *line)?;
    let line = |address: &u64| lines.iter().find(|(known, _)| known == address).map(|(_, line)| *line);
    let begins = seen.iter().rev().find(|address| line(address) != Some(*closing));
    program.locate(program.site(*begins.or(seen.last())?)).into_iter().next_back()
}

/// Lets a thread go on from line to line until it rests.
fn follow(run: &mut Inspection, mut halt: Halt, seen: &mut Vec<u64>) -> Option<()> {
    while let Halt::Probe { thread, .. } = halt {
        if thread == ThreadName::MAIN {
            seen.push(run.instruction(thread)?);
        }
        halt = (seen.len() < MOST_STOPS).then(|| run.go_on().ok())??;
    }
    Some(())
}

/// Where the lines of the user's `main` begin: run-time address and line.
fn lines_of_main(program: &PtraceProgram) -> BTreeSet<(u64, u32)> {
    let Some(module) =
        program.modules().iter().find(|module| module.image.path() == program.executable().path)
    else {
        return BTreeSet::new();
    };
    let mains: Vec<Function<'_>> = module.image.functions().filter(is_main).collect();
    let statements = module.image.statements(&|file| is_user_file(file));
    let inside = statements
        .all
        .iter()
        .filter(|statement| mains.iter().any(|main| main.range.contains(&statement.address)));
    inside.map(|statement| (statement.address.wrapping_add(module.bias), statement.line)).collect()
}

/// `main` of C and C++, or of a Rust crate.
fn is_main(function: &Function<'_>) -> bool {
    let name = function.name().unwrap_or_default();
    name == "main" || name.strip_suffix("::main").is_some_and(|krate| !krate.contains("::"))
}
