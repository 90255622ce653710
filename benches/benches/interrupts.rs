//! Latency of an interrupt: from SIGINT or SIGTERM to the end of the tool, with its report written, while it searches,
//! explains, minimises, or looks through a folder. The ratio is to the shortest exploration of the same program, one
//! execution.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use benches::{Sample, is_measured};
use tests::{Build, Optimisation, Tool, binary};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// As long as an end in order is to take at most, in milliseconds.
const WANTED: f64 = 2000.0;

/// A program for each, and what the tool does with it.
const PHASES: [(&str, &str); 7] = [
    ("c/bounded_queue_ok.c", "search"),
    ("c/livelock.c", "search"),
    ("limits/never_ends.c", "search"),
    ("input_output/floods.c", "search"),
    ("c/three_threads.c", "explanation"),
    ("c/work_stealing.c", "minimise"),
    ("c/lost_update.c", "list"),
];

fn main() -> Outcome<()> {
    let rounds = if is_measured() { 20 } else { 1 };
    let mut out = io::stdout().lock();
    writeln!(out, "{:<34} {:>24} {:>26} {:>14}", "interrupted", "ms", "ratio", "beyond 2 s")?;
    for (source, phase) in PHASES {
        let program = Build::new(source, Optimisation::O0).program()?;
        let (mut times, mut ratios) = (Sample::default(), Sample::default());
        for round in 0..rounds {
            let folder = tempfile::tempdir()?;
            let whole = shortest(&program)?;
            let child = begun(phase, &program, folder.path())?;
            // Moments that are spread over what comes next; the same in every run.
            thread::park_timeout(Duration::from_millis(round * 37 % 500));
            let Some(time) = end(child, round % 2 == 0)? else { continue };
            times.add(time);
            ratios.add(time / whole);
        }
        let beyond = times.most() > WANTED;
        let name = format!("{source} ({phase})");
        writeln!(out, "{name:<34} {times:>24.1} {ratios:>26.2} {:>14}", if beyond { "yes" } else { "no" })?;
    }
    Ok(())
}

/// The tool at the beginning of the phase.
fn begun(phase: &str, program: &Path, folder: &Path) -> Outcome<Child> {
    let mut command = Command::new(binary()?);
    let store = folder.join("store");
    match phase {
        "list" => {
            for nth in 0..500 {
                fs::copy(program, folder.join(nth.to_string()))?;
            }
            command.arg("list").arg(folder);
        }
        "minimise" => {
            command.arg("minimise").arg(found(program, &store)?);
        }
        _ => {
            command.args(["explore", "--time-limit", "1h", "--explain-time", "1h", "--run-timeout", "1h"]);
            command.args(["--max-schedules", "100000000", "--strategy", "random", "--output"]);
            command.arg(store).arg("--").arg(program);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if phase == "explanation"
        && let Some(said) = &mut child.stdout
    {
        // Said when it is found; its explanation comes next.
        BufReader::with_capacity(1, said).read_line(&mut String::new())?;
    }
    Ok(child)
}

/// The schedule of a failure, not explained.
fn found(program: &Path, store: &Path) -> Outcome<PathBuf> {
    let outcome = Tool::explore(["--output".as_ref(), store.as_os_str()], program).run()?;
    Ok(outcome.finding()["schedule_file"].as_str().unwrap_or_default().into())
}

/// Interrupts it, and says how many milliseconds that took. None if it had ended.
fn end(mut child: Child, by_keyboard: bool) -> Outcome<Option<f64>> {
    if child.try_wait()?.is_some() {
        return Ok(None);
    }
    let signal = if by_keyboard { "-INT" } else { "-TERM" };
    let output = child.stdout.take();
    // The report may be longer than a pipe holds.
    let reader = thread::spawn(move || output.map(|mut output| output.read_to_end(&mut Vec::new())));
    let began = Instant::now();
    Command::new("kill").arg(signal).arg(child.id().to_string()).status()?;
    child.wait()?;
    let time = began.elapsed().as_secs_f64() * 1e3;
    drop(reader.join());
    Ok(Some(time))
}

/// Time of the tool for one execution, from start to end, in milliseconds.
fn shortest(program: &Path) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(binary()?);
    command.args(["explore", "--no-explain", "--max-schedules", "1", "--run-timeout", "100ms"]);
    command.args(["--time-limit", "200ms", "--output"]);
    command.arg(folder.path()).arg("--").arg(program);
    let began = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
