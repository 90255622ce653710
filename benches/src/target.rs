//! The programs that are measured.

use std::error::Error;
use std::path::{Path, PathBuf};

use checker::program::{Choice, Execution, Program, Scope, Status, Until};
use ptrace_backend::{LaunchError, LaunchSpec, PtraceProgram, Stepping};
use tests::{Build, BuildError, Optimisation};

/// Builds a target program, whose source is given relative to the targets' folder, at -O2.
///
/// # Errors
/// When it does not compile.
pub fn build(source: &str, flags: &[&str]) -> Result<PathBuf, BuildError> {
    let build = Build::new(source, Optimisation::O2);
    flags.iter().fold(build, |build, flag| build.flag(flag)).program()
}

/// Launches a program as the tool does, without backtraces, for which a panicking program would read its own debug
/// information. Binds the calling thread, and what it starts from then on, to one CPU.
///
/// # Errors
/// When the program cannot be explored.
pub fn launch(program: &Path, stepping: Stepping) -> Result<PtraceProgram, LaunchError> {
    PtraceProgram::launch(LaunchSpec {
        env: std::env::vars_os().filter(|(name, _)| name != "RUST_BACKTRACE").collect(),
        stepping,
        ..LaunchSpec::new(program.to_owned())
    })
}

/// Runs one execution without a search: the thread that ran goes on while it can, else the first that can. Every event is a
/// decision of its own. Says how many events there were.
///
/// # Errors
/// When the program cannot be run.
pub fn default_schedule(program: &PtraceProgram) -> Result<u64, Box<dyn Error>> {
    let mut run = program.start(&Scope::All)?;
    let mut events = 0;
    let mut last = None;
    loop {
        let enabled = || run.agents().iter().filter(|view| view.status == Status::Enabled);
        let Some(view) = enabled().find(|view| Some(view.agent) == last).or_else(|| enabled().next()) else {
            break;
        };
        let choice =
            Choice { agent: view.agent, outcome: view.outcomes.first().copied().unwrap_or_default() };
        last = Some(view.agent);
        run.run(choice, &Until::one())?;
        events += 1;
    }
    run.finish();
    Ok(events)
}
