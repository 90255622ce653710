//! Plain runs of a program, made by a process of their own.
//!
//! A process that has launched programs under ptrace has tens of megabytes resident. Forking it costs ten times what it
//! costs to fork a small process, which would flatter whatever is compared with such a run.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The first argument of a process that is there to make plain runs.
const ROLE: &str = "make-plain-runs";

/// The way to start a plain run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The standard library's way: the parent waits until the child has executed the program.
    Spawn,
    /// A copy of the parent executes the program.
    Fork,
}

/// A process that makes plain runs of one program, on the CPU that its creator was bound to.
pub struct PlainRuns {
    process: Child,
    /// `None` once it has been told to end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl PlainRuns {
    /// Starts it. The benchmark's `main` has to begin with [`PlainRuns::serve`].
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn of(program: &Path, start: Start) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.arg(ROLE).arg(program).arg(if start == Start::Fork { "fork" } else { "spawn" });
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (requests, answers) = (process.stdin.take(), process.stdout.take());
        let answers = answers.ok_or("the process for plain runs has no output")?;
        Ok(Self { process, requests, answers: BufReader::new(answers) })
    }

    /// Makes so many runs and says how many seconds they took together.
    ///
    /// # Errors
    /// When the program fails.
    pub fn make(&mut self, runs: u64) -> Outcome<f64> {
        if let Some(requests) = &mut self.requests {
            writeln!(requests, "{runs}")?;
        }
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        answer.trim().parse().map_err(|_| "the process for plain runs has ended".into())
    }

    /// The first action of a benchmark's `main`. `true`: this process was there for plain runs, and has made them.
    ///
    /// # Errors
    /// When the program fails.
    pub fn serve() -> Outcome<bool> {
        let arguments: Vec<_> = env::args_os().skip(1).collect();
        let [role, program, start] = arguments.as_slice() else { return Ok(false) };
        if role != ROLE {
            return Ok(false);
        }
        let start = if start == "fork" { Start::Fork } else { Start::Spawn };
        for request in io::stdin().lines() {
            let runs: u64 = request?.parse()?;
            let begin = Instant::now();
            for _ in 0..runs {
                run(Path::new(program), start)?;
            }
            writeln!(io::stdout(), "{}", begin.elapsed().as_secs_f64())?;
        }
        Ok(true)
    }
}

impl Drop for PlainRuns {
    fn drop(&mut self) {
        drop(self.requests.take());
        // There is no place to report an error.
        let _ = self.process.wait();
    }
}

fn run(program: &Path, start: Start) -> Outcome<()> {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if start == Start::Fork {
        // The group that it has in any case: a change of groups is what the standard library cannot do with posix_spawn.
        command.gid(fs::metadata("/proc/self")?.gid());
    }
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", program.display()).into()) }
}
