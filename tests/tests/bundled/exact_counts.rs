//! Exact numbers of Mazurkiewicz traces of real programs: `--strategy dpor` runs each trace once.
//!
//! The programs and the numbers are in `tests/counts`; `counts.csv` says where each number comes from. A row is compared as
//! it stands: the executions that ended, how many of them deadlocked, and that none was run twice.

use std::fs;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tempfile::tempdir;
use tests::{Build, Optimisation, Tool, targets};

/// Most of the time goes into programs with many traces: seconds each, longer on a machine that does something else.
const LIMIT: Duration = Duration::from_secs(600);

/// A program, and what is known of it.
struct Row {
    program: String,
    defines: Vec<String>,
    traces: u64,
    deadlocked: u64,
}

fn rows() -> Vec<Row> {
    let table = fs::read_to_string(targets().join("../counts/counts.csv")).unwrap();
    let row = |line: &str| {
        let [program, defines, traces, _complete, deadlocked, _source] =
            line.splitn(6, ',').collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        Row {
            program: program.to_owned(),
            defines: defines.split_whitespace().map(str::to_owned).collect(),
            traces: traces.parse().unwrap(),
            deadlocked: deadlocked.parse().unwrap(),
        }
    };
    table.lines().skip(1).map(row).collect()
}

/// More traces than these are counted in the full run, and more than those not at all.
const MANY: u64 = 300;
const MOST: u64 = 10_000;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = rows().into_iter().filter(|row| row.traces <= MOST).map(|row| {
        let name =
            [&*row.program].into_iter().chain(row.defines.iter().map(|flag| flag.trim_start_matches("-D")));
        let name = format!("exact-counts/{}", name.collect::<Vec<_>>().join("/"));
        let is_long = row.traces > MANY;
        Trial::test(name, move || check(&row)).with_ignored_flag(is_long)
    });
    trials.collect()
}

fn check(row: &Row) -> Result<(), Failed> {
    let source = Path::new("../counts").join(format!("{}.c", row.program));
    let build = row.defines.iter().fold(Build::new(source, Optimisation::O0), |build, flag| build.flag(flag));
    let output = tempdir()?;
    let folder = output.path().to_string_lossy();
    let budget = ["--max-schedules", "20000", "--time-limit", "600s"];
    let options = ["--strategy", "dpor", "--keep-going", "--no-races", "--output", &folder];
    let tool = Tool::explore(options.into_iter().chain(budget), &build.program()?);
    let outcome = tool.within(LIMIT).run()?;
    let number = |name: &str| outcome.report[name].as_u64();
    let got = [number("schedules"), number("deadlocked"), number("redundant")];
    let expected = [Some(row.traces), Some(row.deadlocked), Some(0)];
    if got == expected && outcome.report["covered"]["everything"] == true {
        return Ok(());
    }
    Err(format!("{got:?}, not {expected:?}\n{}", outcome.transcript()).into())
}
