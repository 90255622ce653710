//! Determinism: every bundled bug is found once, and its schedule run again and again. All replays must be identical.
//!
//! The number of replays can be given on the command line: `cargo bench --bench replays -- 100`.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use benches::{is_measured, launch};
use checker::limit::Limit;
use checker::program::ExecutionSummary;
use checker::search::{Finding, Options, Replayed, SilentObserver, explore, replay};
use ptrace_backend::{PtraceProgram, Stepping};
use tests::{Build, Manifest, Optimisation, Target};

/// Number of replays of each finding where no other number is asked for.
const REPLAYS: usize = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Result of the replays of one finding.
struct Tally {
    identical: usize,
    /// The first difference from the search.
    difference: Option<String>,
    seconds: f64,
}

fn main() -> Outcome<()> {
    let (programs, replays) = if is_measured() { (usize::MAX, wanted()?) } else { (2, 3) };
    let mut out = io::stdout().lock();
    let (name, found, seconds) = ("program", "finding", "seconds");
    writeln!(
        out,
        "{name:<28} {found:<12} {:>7} {:>8} {:>10} {seconds:>8}",
        "events", "replays", "identical"
    )?;
    let (mut findings, mut all) = (0, true);
    for (target, level) in buggy()?.into_iter().take(programs) {
        let program = launch(&Build::new(target.source(), level).program()?, Stepping::default())?;
        let name = format!("{} -{}", target.source().display(), level.name());
        let finding = find(&program).map_err(|error| format!("{name}: {error}"))?;
        let Tally { identical, difference, seconds } = tally(&program, &finding, replays);
        let found = format!("{:?}", finding.failure.kind);
        let events = finding.trace.steps.len();
        writeln!(out, "{name:<28} {found:<12} {events:>7} {replays:>8} {identical:>10} {seconds:>8.2}")?;
        if let Some(difference) = difference {
            writeln!(out, "    {difference}")?;
        }
        findings += 1;
        all &= identical == replays;
    }
    if !all {
        return Err("a replay was not identical".into());
    }
    writeln!(out, "\n{findings} findings, {replays} replays each: all identical")?;
    Ok(())
}

/// Number of replays that was asked for on the command line.
fn wanted() -> Outcome<usize> {
    match env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        Some(number) => number.parse().map_err(|_| format!("`{number}` is no number of replays").into()),
        None => Ok(REPLAYS),
    }
}

/// The bundled programs that fail, at both levels.
fn buggy() -> Outcome<Vec<(Target, Optimisation)>> {
    let targets = Manifest::read()?.targets.into_iter();
    let buggy = targets.filter(|target| target.is_bug());
    Ok(buggy.flat_map(|target| Optimisation::ALL.map(|level| (target.clone(), level))).collect())
}

fn find(program: &PtraceProgram) -> Outcome<Finding> {
    let mut outcome = explore(program, &Options::default(), &mut SilentObserver)?;
    outcome.findings.pop().ok_or_else(|| "the search found nothing".into())
}

fn tally(program: &PtraceProgram, finding: &Finding, replays: usize) -> Tally {
    let begin = Instant::now();
    let differences: Vec<_> = (0..replays).filter_map(|_| difference(program, finding)).collect();
    Tally {
        identical: replays - differences.len(),
        seconds: begin.elapsed().as_secs_f64(),
        difference: differences.into_iter().next(),
    }
}

/// Replays a finding; says what was not as in the search.
fn difference(program: &PtraceProgram, finding: &Finding) -> Option<String> {
    let schedule = finding.trace.schedule();
    let Replayed { trace, failure, summary, .. } =
        match replay(program, &schedule, Options::default().step_limit, &Limit::default()) {
            Ok(replayed) => replayed,
            Err(error) => return Some(error.to_string()),
        };
    if let Some(difference) = finding.trace.first_difference(&trace) {
        return Some(format!("event {}: {}, then {}", difference.at, difference.expected, difference.got));
    }
    if failure.as_ref() != Some(&finding.failure) {
        return Some(format!("the failure: {:?}, then {failure:?}", finding.failure));
    }
    // An audit takes down more than the output, which is no matter of the program.
    let output =
        |summary: &ExecutionSummary| (summary.stdout.clone(), summary.stderr.clone(), summary.truncated);
    let (expected, got) = (output(&finding.summary), output(&summary));
    (expected != got).then(|| format!("the output: {expected:?}, then {got:?}"))
}
