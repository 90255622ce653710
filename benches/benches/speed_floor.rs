//! The speed floor: the cost of exploring one schedule, measured against plainly running the program.
//!
//! All contenders take turns in every round, on one CPU, so that whatever else the machine does meets them alike; ratios
//! are taken within a round.

use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use benches::{PlainRuns, Sample, Start, build, default_schedule, is_measured, launch};
use checker::search::{Options, SilentObserver, explore};
use ptrace_backend::{PtraceProgram, Stepping};

const SOURCE: &str = "c/mutex_counter.c";

/// The most that a schedule may cost, in plain runs.
const FLOOR: f64 = 1.5;

const ROUNDS: u32 = 30;

/// The contender that the floor is about.
const SCHEDULES: usize = 2;

/// A contender runs the program at least so often in each round.
const RUNS: u64 = 25;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Amount of some work.
#[derive(Clone, Copy, Default)]
struct Work {
    runs: u64,
    /// Key points passed; 0 of plain runs.
    events: u64,
    seconds: f64,
}

impl Work {
    fn and(self, more: Self) -> Self {
        Self {
            runs: self.runs + more.runs,
            events: self.events + more.events,
            seconds: self.seconds + more.seconds,
        }
    }
}

/// One way of running the program.
struct Contender<'a> {
    name: &'static str,
    /// For counting stops; `None`: runs plainly.
    traced: Option<&'a PtraceProgram>,
    work: Box<dyn FnMut() -> Outcome<Work> + 'a>,
    /// Seconds per run.
    seconds: Sample,
    /// Seconds per run, as multiples of those of each of the plain contenders in the same round.
    ratios: [Sample; 2],
    total: Work,
    stops: u64,
}

impl<'a> Contender<'a> {
    fn new(
        name: &'static str,
        traced: Option<&'a PtraceProgram>,
        work: impl FnMut() -> Outcome<Work> + 'a,
    ) -> Self {
        Self {
            name,
            traced,
            work: Box::new(work),
            seconds: Sample::default(),
            ratios: Default::default(),
            total: Work::default(),
            stops: 0,
        }
    }

    fn plain(name: &'static str, mut runs: PlainRuns) -> Self {
        Self::new(name, None, move || Ok(Work { runs: RUNS, events: 0, seconds: runs.make(RUNS)? }))
    }

    fn traced(
        name: &'static str,
        program: &'a PtraceProgram,
        run: fn(&PtraceProgram) -> Outcome<Work>,
    ) -> Self {
        Self::new(name, Some(program), move || {
            let begin = Instant::now();
            let work = run(program)?;
            Ok(Work { seconds: begin.elapsed().as_secs_f64(), ..work })
        })
    }

    /// Takes one turn and returns the seconds per run.
    fn turn(&mut self) -> Outcome<f64> {
        let stops = || self.traced.map_or(0, PtraceProgram::stops);
        let before = stops();
        let mut done = Work::default();
        while done.runs < RUNS {
            done = done.and((self.work)()?);
        }
        self.stops += stops() - before;
        self.total = self.total.and(done);
        Ok(done.seconds / done.runs as f64)
    }

    fn line(&self) -> String {
        let micros: Sample = self.seconds.scaled(1e6);
        let micros = micros.to_string();
        let [forked, spawned] = self.ratios.each_ref().map(|ratio| format!("{ratio:.2}"));
        let mut line = format!("{:<32} {micros:<20} {forked:<20} {spawned:<20}", self.name);
        if self.traced.is_some() {
            let per_run = |count: u64| count as f64 / self.total.runs as f64;
            let rate = 1.0 / self.seconds.median();
            let (events, stops) = (per_run(self.total.events), per_run(self.stops));
            line += &format!(" {rate:>10.0} {events:>10.1} {stops:>10.1}");
        }
        line
    }
}

fn main() -> Outcome<()> {
    if PlainRuns::serve()? {
        return Ok(());
    }
    let program = build(SOURCE, &[])?;
    let out_of_line = launch(&program, Stepping::OutOfLine)?;
    let in_place = launch(&program, Stepping::InPlace)?;
    let mut contenders = [
        Contender::plain("plain run, fork + exec", PlainRuns::of(&program, Start::Fork)?),
        Contender::plain("plain run, posix_spawn", PlainRuns::of(&program, Start::Spawn)?),
        Contender::traced("icb, out of line", &out_of_line, search),
        Contender::traced("icb, in place", &in_place, search),
        Contender::traced("default schedule, out of line", &out_of_line, alone),
        Contender::traced("default schedule, in place", &in_place, alone),
    ];
    warm_up(&mut contenders)?;
    let rounds = if is_measured() { ROUNDS } else { 1 };
    for _ in 0..rounds {
        round(&mut contenders)?;
    }
    report(&contenders, rounds)
}

/// Once each, uncounted: the key points are found, the files are in memory.
fn warm_up(contenders: &mut [Contender<'_>]) -> Outcome<()> {
    contenders.iter_mut().try_for_each(|contender| (contender.work)().map(drop))
}

fn round(contenders: &mut [Contender<'_>]) -> Outcome<()> {
    let mut seconds = Vec::new();
    for contender in contenders.iter_mut() {
        seconds.push(contender.turn()?);
    }
    for (contender, &own) in contenders.iter_mut().zip(&seconds) {
        contender.seconds.add(own);
        contender.ratios.iter_mut().zip(&seconds).for_each(|(ratio, plain)| ratio.add(own / plain));
    }
    Ok(())
}

fn report(contenders: &[Contender<'_>], rounds: u32) -> Outcome<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{SOURCE} at -O2, {rounds} interleaved rounds on one CPU: median (least..most)\n")?;
    let columns = ["", "µs per run", "/ fork + exec", "/ posix_spawn"];
    let [name, micros, forked, spawned] = columns;
    writeln!(
        out,
        "{name:<32} {micros:<20} {forked:<20} {spawned:<20} {:>10} {:>10} {:>10}",
        "per second", "key points", "stops"
    )?;
    for contender in contenders {
        writeln!(out, "{}", contender.line())?;
    }
    let ratio = &contenders[SCHEDULES].ratios[0];
    let (median, verdict) = (ratio.median(), verdict(ratio));
    writeln!(out, "\nA schedule costs {median:.2} plain runs; at most {FLOOR} are wanted: {verdict}.")?;
    Ok(())
}

/// Nothing is decided by a machine that is so busy that the rounds disagree.
fn verdict(ratio: &Sample) -> &'static str {
    let usual = ratio.middle_half();
    if usual.iter().all(|&ratio| ratio <= FLOOR) {
        "reached"
    } else if usual.iter().all(|&ratio| ratio > FLOOR) {
        "missed"
    } else {
        "open, the noise is larger than the distance"
    }
}

/// A whole search, with the runs that it makes to see whether the program does the same twice.
fn search(program: &PtraceProgram) -> Outcome<Work> {
    let stats = explore(program, &Options::default(), &mut SilentObserver)?.stats;
    let checks = stats.other;
    let events = stats.events + checks * stats.events / stats.executions_now().max(1);
    Ok(Work { runs: stats.executions() + checks, events, seconds: 0.0 })
}

fn alone(program: &PtraceProgram) -> Outcome<Work> {
    Ok(Work { runs: 1, events: default_schedule(program)?, seconds: 0.0 })
}
