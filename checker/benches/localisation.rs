//! Localisation (Falcon, ICSE 2010) over 1,000 executions of 1,000 events, some of which fail.
//!
//! `cargo bench -p checker --bench localisation` prints the time that ranking their patterns takes, once they are recorded.

use std::error::Error;
use std::io::{self, Write as _};
use std::time::Instant;

use checker::explain::rank;
use checker::model::Model;
use checker::search::sample;
use checker::strategy::{Pos, Racing, Sampler};
use checker::trace::Trace;

const TRACES: usize = 1_000;
const EVENTS: usize = 1_000;
const THREADS: usize = 4;
const OBJECTS: usize = 40;
const REPETITIONS: usize = 5;

/// Threads that read and write objects in turn, all of them in another order.
fn model() -> Result<Model, Box<dyn Error>> {
    let access = |thread: usize, nth: usize| {
        let object = nth * (2 * thread + 3) % OBJECTS;
        format!("{} o{object}", if nth.is_multiple_of(3) { "w" } else { "r" })
    };
    let thread = |thread| (0..EVENTS / THREADS).map(|nth| access(thread, nth)).collect::<Vec<_>>().join(", ");
    let objects: Vec<String> = (0..OBJECTS).map(|object| format!("o{object}=0")).collect();
    let threads: Vec<String> = (0..THREADS).map(thread).collect();
    Ok(format!("let {} | {}", objects.join(" "), threads.join(" | ")).parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    let mut traces: Vec<Trace> = Vec::with_capacity(TRACES);
    let mut strategy = Sampler::new(Pos::new(Racing::SameObject), 1);
    sample(&model, &mut strategy, TRACES as u64, 2 * EVENTS as u32, &mut |trace, _| {
        traces.push(trace.clone());
    })?;
    let events: usize = traces.iter().map(|trace| trace.steps.len()).sum();
    // An execution counts as failing if the second thread comes to its last access before the first one does.
    let last = |trace: &Trace, nth: usize| {
        let thread = trace.threads.get(nth).copied();
        trace.steps.iter().rposition(|step| Some(step.event.id.thread) == thread)
    };
    let (failing, passing): (Vec<&Trace>, Vec<&Trace>) =
        traces.iter().partition(|trace| last(trace, 2) < last(trace, 1));
    let mut out = io::stdout();
    writeln!(out, "{} executions, {} failing, {events} events", traces.len(), failing.len())?;
    let mut times = Vec::new();
    let mut suspects = 0;
    for _ in 0..REPETITIONS {
        let started = Instant::now();
        suspects = rank(&failing, &passing, None).len();
        times.push(started.elapsed());
    }
    times.sort();
    let [least, .., most] = times[..] else { return Ok(()) };
    writeln!(
        out,
        "{suspects} patterns ranked in {:.0?} ({least:.0?} to {most:.0?}, {REPETITIONS} times)",
        times[REPETITIONS / 2]
    )?;
    Ok(())
}
