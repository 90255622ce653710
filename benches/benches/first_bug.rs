//! Number of schedules that a search needs to its first failure: for every executable of a folder, the mean over seeds.
//!
//! `cargo bench -p benches --bench first_bug -- FOLDER [STRATEGY...] [--seeds N]` prints a table in Markdown. The arguments
//! of a program `NAME` are the words of the file `NAME.args` beside it, if there is one. A figure counts every execution
//! that was started up to and including the failing one. Searches without a seed run once.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use benches::{arguments, build, executables, is_measured};
use tests::Tool;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Every search that a person might choose for this.
const ALL: [&str; 10] = ["auto", "icb", "dpor", "period", "guided", "surw", "pos", "rapos", "pct", "random"];

/// These do the same whatever the seed.
const SEEDLESS: [&str; 5] = ["icb", "idb", "dfs", "dpor", "period"];

/// One run, as the published figures limit theirs.
const LIMITS: [&str; 4] = ["--max-schedules", "10000", "--time-limit", "300s"];

/// A search that misses more often has no figure: the rest of its seeds is not run.
const MISSES: u64 = 1;

/// Arguments of the command line.
struct Asked {
    folder: Option<PathBuf>,
    strategies: Vec<String>,
    seeds: u64,
}

/// Totals of the runs of one search on one program.
#[derive(Default)]
struct Runs {
    executions: u64,
    found: u64,
    run: u64,
}

fn main() -> Outcome<()> {
    let asked = asked()?;
    let mut out = io::stdout().lock();
    writeln!(out, "| program | {} |", asked.strategies.join(" | "))?;
    writeln!(out, "| --- |{}", " --- |".repeat(asked.strategies.len()))?;
    for program in programs(asked.folder.as_deref())? {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        write!(out, "| {name} |")?;
        for strategy in &asked.strategies {
            write!(out, " {} |", measure(&program, strategy, asked.seeds)?)?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn asked() -> Outcome<Asked> {
    let mut asked = Asked { folder: None, strategies: Vec::new(), seeds: 20 };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        if word == "--seeds" {
            asked.seeds = words.next().ok_or("--seeds needs a number")?.parse()?;
        } else if asked.folder.is_none() {
            asked.folder = Some(PathBuf::from(word));
        } else {
            asked.strategies.push(word);
        }
    }
    if asked.strategies.is_empty() {
        asked.strategies = ALL.map(str::to_owned).into();
    }
    if !is_measured() {
        asked = Asked { folder: None, strategies: vec!["auto".to_owned()], seeds: 1 };
    }
    Ok(asked)
}

/// The executables of the folder by name; without one, a bundled program.
fn programs(folder: Option<&Path>) -> Outcome<Vec<PathBuf>> {
    let Some(folder) = folder else { return Ok(vec![build("c/lost_update.c", &[])?]) };
    executables(folder)
}

fn measure(program: &Path, strategy: &str, seeds: u64) -> Outcome<String> {
    let seeds = if SEEDLESS.contains(&strategy) { 1 } else { seeds };
    let arguments = arguments(program);
    let mut runs = Runs::default();
    for seed in 0..seeds {
        let output = tempfile::tempdir()?;
        let seed = seed.to_string();
        let options = ["--strategy", strategy, "--seed", &seed].into_iter().chain(LIMITS);
        let options = options.map(OsStr::new).chain([OsStr::new("--output"), output.path().as_os_str()]);
        let tool = Tool::explore(options, program).and(&arguments);
        let outcome = tool.within(Duration::from_secs(360)).run()?;
        runs.run += 1;
        if outcome.report["verdict"] == "found" {
            runs.found += 1;
            runs.executions += outcome.finding()["executions"].as_u64().ok_or("a finding has no count")?;
        } else if runs.run - runs.found > MISSES {
            break;
        }
    }
    Ok(runs.to_string())
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "counts of executions are small")]
        let mean = self.executions as f64 / self.found as f64;
        match self.found {
            0 => f.write_str("none"),
            found if found < self.run => write!(f, "{mean:.1} ({found} of {})", self.run),
            _ => write!(f, "{mean:.1}"),
        }
    }
}
