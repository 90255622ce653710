//! The memory of the tool itself after 100,000 schedules of one search.
//!
//! The program has far more happens-before classes than that, so that the frontier and the cache only ever grow. The
//! strategy can be named on the command line: `cargo bench --bench memory -- dfs`.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use benches::{build, is_measured, launch, peak_memory};
use checker::limit::Limit;
use checker::search::{Observer, Options, Progress, StopRequest, explore};
use checker::strategy::StrategyKind;
use ptrace_backend::Stepping;

/// Three threads, each of which reads and writes one variable four times.
const SOURCE: (&str, &[&str]) = ("../counts/counter_racy.c", &["-DT=3", "-DK=4"]);

/// The most memory that the tool may need, in bytes.
const FLOOR: u64 = 200_000_000;

const SCHEDULES: u64 = 100_000;

/// Number of schedules between two looks at the memory.
const EVERY: u64 = 10_000;

/// Prints the memory as the search goes on.
struct Growth {
    start: Instant,
    failed: Option<io::Error>,
    ends: Arc<AtomicBool>,
}

impl Growth {
    fn print(&self, schedules: u64) -> io::Result<()> {
        let megabytes = peak_memory()? as f64 / 1e6;
        let rate = schedules as f64 / self.start.elapsed().as_secs_f64();
        writeln!(io::stdout(), "{schedules:>7} schedules {megabytes:>7.1} MB {rate:>6.0} per second")
    }
}

impl Observer for Growth {
    fn progress(&mut self, progress: &Progress) {
        if progress.schedules.is_multiple_of(EVERY) {
            self.failed = self.print(progress.schedules).err();
            self.ends.store(self.failed.is_some(), Ordering::Relaxed);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let strategy = strategy();
    let schedules = if is_measured() { SCHEDULES } else { EVERY / 10 };
    let program = launch(&build(SOURCE.0, SOURCE.1)?, Stepping::OutOfLine)?;
    let ends = Arc::<AtomicBool>::default();
    let ended = Arc::clone(&ends);
    let options = Options {
        strategy,
        max_preemptions: u32::MAX,
        max_delays: u32::MAX,
        max_schedules: Some(schedules),
        keep_going: true,
        limit: Limit::new(move || {
            if ended.load(Ordering::Relaxed) { StopRequest::Cancelled } else { StopRequest::Continue }
        }),
        ..Options::default()
    };
    let mut out = io::stdout();
    writeln!(out, "{strategy:?}, {} {}", SOURCE.0, SOURCE.1.join(" "))?;
    let mut growth = Growth { start: Instant::now(), failed: None, ends };
    let outcome = explore(&program, &options, &mut growth)?;
    if let Some(error) = growth.failed {
        return Err(error.into());
    }
    let peak = peak_memory()?;
    let verdict = if peak < FLOOR { "reached" } else { "missed" };
    let (megabytes, floor) = (peak as f64 / 1e6, FLOOR / 1_000_000);
    let stats = outcome.stats;
    writeln!(
        out,
        "\n{megabytes:.1} MB after {} schedules ({:.1} key points each); less than {floor} MB are wanted: {verdict}.",
        stats.executions(),
        stats.events as f64 / stats.executions_now().max(1) as f64,
    )?;
    Ok(())
}

fn strategy() -> StrategyKind {
    env::args()
        .find_map(|argument| StrategyKind::named(&argument))
        .unwrap_or(StrategyKind::unless_named(false))
}
