//! Latencies for a person who steps: from the request for a step, either way, to the event that it has been made, through
//! the real debug adapter; and the time that a session takes to open. For every bundled program that fails, and for
//! executions of 1,000 and 10,000 events. Every step is one by source line, near the end of the execution: going back is
//! dearest there.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use benches::{Sample, is_measured};
use serde_json::{Value, json};
use tests::{Adapter, Build, Found, Manifest, Optimisation, targets, workspace};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The executions that are longer than any bundled one: the flag that makes them so.
const LONG: [&str; 2] = ["-DROUNDS=166", "-DROUNDS=1666"];

/// Times of one program's session, in milliseconds.
#[derive(Default)]
struct Measured {
    events: u64,
    opening: Sample,
    back: Sample,
    next: Sample,
}

fn main() -> Outcome<()> {
    let (programs, openings, steps) = if is_measured() { (usize::MAX, 5, 20) } else { (2, 1, 2) };
    let mut out = io::stdout().lock();
    let (name, opening, back) = ("program", "opening (ms)", "stepBack (ms)");
    writeln!(out, "{name:<28} {:>7} {opening:>22} {back:>22} {:>22}", "events", "next (ms)")?;
    let mut all = [Sample::default(), Sample::default(), Sample::default()];
    for (name, found) in bundled()?.take(programs) {
        let measured = measure(&found?, openings, steps);
        row(&mut out, &name, &measured)?;
        for (all, one) in all.iter_mut().zip([&measured.opening, &measured.back, &measured.next]) {
            all.add(one.median());
        }
    }
    let [opening, back, next] = all;
    writeln!(out, "{:<36} {opening:>22.1} {back:>22.1} {next:>22.1}", "medians of the bundled programs")?;
    for flag in LONG.into_iter().take(if is_measured() { LONG.len() } else { 0 }) {
        let measured = measure(&long(flag)?, openings, steps);
        row(&mut out, &format!("stepping/long.c {flag}"), &measured)?;
    }
    Ok(())
}

fn row(out: &mut impl Write, name: &str, measured: &Measured) -> io::Result<()> {
    let Measured { events, opening, back, next } = measured;
    let cells = [opening, back, next].map(|sample| format!("{sample:.1}"));
    writeln!(out, "{name:<28} {events:>7} {:>22} {:>22} {:>22}", cells[0], cells[1], cells[2])
}

/// A finding of every bundled program that fails.
fn bundled() -> Outcome<impl Iterator<Item = (String, Outcome<Found>)>> {
    let all = Manifest::read()?.targets.into_iter();
    let buggy = all.filter(|target| target.is_bug());
    Ok(buggy.map(|target| {
        let source = target.source();
        let found = || -> Outcome<Found> {
            let program = Build::new(&source, Optimisation::O0).program()?;
            Ok(Found::of_program(program, &targets().join(&source), &[]))
        };
        (source.display().to_string(), found())
    }))
}

/// A long execution: it fails in the first schedule, and there is no need to look for more.
fn long(flag: &str) -> Outcome<Found> {
    let source = Path::new("stepping/long.c");
    let program = Build::new(source, Optimisation::O0).flag(flag).program()?;
    Ok(Found::of_program(program, &targets().join(source), &["--max-schedules", "2"]))
}

fn measure(found: &Found, openings: usize, steps: usize) -> Measured {
    let mut measured = Measured::default();
    for _ in 1..openings {
        measured.opening.add(open(found).2);
    }
    let (mut adapter, stop, opening) = open(found);
    measured.opening.add(opening);
    let position = adapter.succeed("interleaver/position", &Value::Null);
    measured.events = position["steps"].as_u64().unwrap_or_default();
    let thread = json!({"threadId": stop["threadId"]});
    for _ in 0..steps {
        measured.back.add(timed(&mut adapter, "stepBack", &thread));
        measured.next.add(timed(&mut adapter, "next", &thread));
    }
    measured
}

/// A session, and what it took from the start of the adapter to the first stop.
fn open(found: &Found) -> (Adapter, Value, f64) {
    let begin = Instant::now();
    let (adapter, stop) = Adapter::launched(&found.schedule, workspace());
    (adapter, stop, milliseconds(begin))
}

fn timed(adapter: &mut Adapter, command: &str, arguments: &Value) -> f64 {
    let begin = Instant::now();
    adapter.go(command, arguments);
    milliseconds(begin)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
