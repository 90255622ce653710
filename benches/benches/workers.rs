//! Worth of a second worker: executions per second with two workers and with one, and of two searches side by side that
//! know nothing of each other, which is what the machine can give.
//!
//! `cargo bench -p benches --bench workers -- [--seconds N] [--rounds N]`. Every turn is a process of its own; the contenders
//! take turns in every round, and ratios are taken within a round.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use benches::{Sample, build, is_measured, launch};
use checker::limit::Limit;
use checker::model::Model;
use checker::program::Program;
use checker::search::{NoWorkers, Options, SilentObserver, StopRequest, Workers, explore_with};
use checker::strategy::StrategyKind;
use explorer::program::worker_pool::{Parallelism, Replicable, WorkerPool};
use ptrace_backend::Stepping;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The first argument of a process that takes a turn.
const ROLE: &str = "take-a-turn";

/// Five threads with twelve accesses each to four variables: more than can be run in a turn, within two preemptions too.
const MODEL: &str = "loop 3 { r a, w b, r c, w d } | loop 3 { r b, w c, r d, w a } | loop 3 { r c, w d, r a, w b } \
                     | loop 3 { r d, w a, r b, w c } | loop 3 { r a, w c, r b, w d }";

/// The same of a real program: three threads, each of which reads and writes one variable twenty times.
const SOURCE: (&str, &[&str]) = ("../counts/counter_racy.c", &["-DT=3", "-DK=20"]);

const STRATEGIES: [StrategyKind; 2] = [StrategyKind::Icb, StrategyKind::Dpor];

/// The subjects of the search: the name, and the factor by which two workers have to be faster than one.
const SUBJECTS: [(&str, f64); 2] = [("in memory", 1.8), ("real program", 1.7)];

/// Factor of two processes over one below which two workers are compared with the processes.
const POSSIBLE: f64 = 1.9;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [role, subject, strategy, workers, seconds, program] = arguments.as_slice()
        && role == ROLE
    {
        let strategy = StrategyKind::named(strategy).ok_or("no such search")?;
        let turn = Duration::from_secs(seconds.parse()?);
        let rate = take_turn(subject, strategy, workers.parse()?, turn, Path::new(program))?;
        writeln!(io::stdout(), "{rate}")?;
        return Ok(());
    }
    let (rounds, seconds) = asked(&arguments)?;
    let program = build(SOURCE.0, SOURCE.1)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "Executions per second, {rounds} interleaved rounds of {seconds} s each: median (least..most)\n"
    )?;
    for strategy in STRATEGIES {
        for (subject, wanted) in SUBJECTS {
            let setting = Setting { subject, strategy, seconds, program: &program };
            writeln!(out, "{} {subject}", strategy.name())?;
            writeln!(out, "{}\n", setting.compare(rounds, wanted)?)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Number of rounds, and seconds that a turn takes in them.
fn asked(arguments: &[String]) -> Outcome<(u32, u32)> {
    let of = |name: &str, default: u32| match arguments.iter().position(|word| word == name) {
        Some(at) => {
            let value = arguments.get(at + 1).and_then(|value| value.parse().ok());
            value.ok_or_else(|| format!("{name} needs a number"))
        }
        None => Ok(default),
    };
    let (rounds, seconds) = if is_measured() { (5, 10) } else { (1, 1) };
    Ok((of("--rounds", rounds)?, of("--seconds", seconds)?))
}

/// Setting that all turns of one comparison share.
struct Setting<'a> {
    subject: &'a str,
    strategy: StrategyKind,
    seconds: u32,
    program: &'a Path,
}

impl Setting<'_> {
    fn compare(&self, rounds: u32, wanted: f64) -> Outcome<String> {
        let [mut one, mut two, mut apart, mut faster, mut possible, mut share] =
            [(); 6].map(|()| Sample::default());
        for _ in 0..rounds {
            let alone = rate_of(self.begin(1, None)?)?;
            let both = rate_of(self.begin(2, None)?)?;
            let processes = [self.begin(1, Some(0))?, self.begin(1, Some(1))?].map(rate_of);
            let [first, second] = processes;
            let side_by_side = first? + second?;
            one.add(alone);
            two.add(both);
            apart.add(side_by_side);
            faster.add(both / alone);
            possible.add(side_by_side / alone);
            share.add(both / side_by_side);
        }
        let verdict = if possible.median() < POSSIBLE {
            format!("two workers are {share:.2} of two processes (the machine gives less than {POSSIBLE})")
        } else {
            let reached = if faster.median() >= wanted { "reached" } else { "missed" };
            format!("{wanted} is wanted: {reached}")
        };
        Ok(format!(
            "  one worker {one}, two {two}: {faster:.2} times as many\n  two processes {apart}: {possible:.2} times as many\n  \
             {verdict}"
        ))
    }

    /// Starts a turn of a process of its own, on one CPU if it is given.
    fn begin(&self, workers: u32, cpu: Option<u32>) -> Outcome<Child> {
        let this = env::current_exe()?;
        let mut command = match cpu {
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.arg("--cpu-list").arg(cpu.to_string()).arg(this);
                command
            }
            None => Command::new(this),
        };
        let Self { subject, strategy, seconds, program } = *self;
        command.args([ROLE, subject, strategy.name(), &workers.to_string(), &seconds.to_string()]);
        Ok(command.arg(program).stdout(Stdio::piped()).spawn()?)
    }
}

/// The executions per second of a turn, once it is over.
fn rate_of(turn: Child) -> Outcome<f64> {
    let output = turn.wait_with_output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse().map_err(|_| "a turn ended without a result")?)
}

fn take_turn(
    subject: &str,
    strategy: StrategyKind,
    workers: usize,
    turn: Duration,
    program: &Path,
) -> Outcome<f64> {
    if subject == SUBJECTS[0].0 {
        return rate(&MODEL.parse::<Model>()?, strategy, workers, turn);
    }
    rate(&launch(program, Stepping::OutOfLine)?, strategy, workers, turn)
}

/// Searches for that long; where a search ends, it begins again.
fn rate<P: Program + Replicable>(
    program: &P,
    strategy: StrategyKind,
    workers: usize,
    turn: Duration,
) -> Outcome<f64> {
    let begin = Instant::now();
    let limit =
        Limit::new(
            move || if begin.elapsed() < turn { StopRequest::Continue } else { StopRequest::BudgetSpent },
        );
    let options = Options { strategy, max_schedules: None, keep_going: true, limit, ..Options::default() };
    let mut done = 0;
    while begin.elapsed() < turn {
        let taken_in = |_: &_| {};
        let outcome = thread::scope(|scope| {
            let others: Box<dyn Workers> = if workers > 1 {
                Box::new(WorkerPool::new(
                    scope,
                    program,
                    Parallelism::Exactly(workers - 1),
                    (&options.limit, &taken_in),
                ))
            } else {
                Box::new(NoWorkers)
            };
            explore_with(program, &options, others, &mut SilentObserver)
        })?;
        done += outcome.stats.executions();
    }
    Ok(done as f64 / begin.elapsed().as_secs_f64())
}
