//! How many Mazurkiewicz traces real programs have: `--strategy dpor` runs each of them once.
//!
//! The programs and the numbers are in `tests/counts`; `counts.csv` says where each number comes from. A row is compared as
//! it stands: the executions that ended, how many of them deadlocked, and that none was run twice.

use std::fs;
use std::path::Path;
use std::time::Duration;

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

/// What is wrong with one program, if anything.
fn check(row: &Row) -> Option<String> {
    let source = Path::new("../counts").join(format!("{}.c", row.program));
    let build = row.defines.iter().fold(Build::new(source, Optimisation::O0), |build, flag| build.flag(flag));
    let program = build.program().unwrap();
    let output = tempdir().unwrap();
    let folder = output.path().to_string_lossy();
    let budget = ["--max-schedules", "20000", "--time-limit", "600s"];
    let options = ["--strategy", "dpor", "--keep-going", "--no-races", "--output", &folder];
    let tool = Tool::explore(options.into_iter().chain(budget), &program);
    let outcome = tool.within(LIMIT).run().unwrap();
    let number = |name: &str| outcome.report[name].as_u64();
    let got = [number("schedules"), number("deadlocked"), number("redundant")];
    let complete = outcome.report["covered"]["everything"] == true;
    let expected = [Some(row.traces), Some(row.deadlocked), Some(0)];
    (got != expected || !complete).then(|| {
        format!("{} {:?}: {got:?}, not {expected:?}\n{}", row.program, row.defines, outcome.transcript())
    })
}

fn check_all(wanted: impl Fn(u64) -> bool) {
    let rows: Vec<Row> = rows().into_iter().filter(|row| wanted(row.traces)).collect();
    assert!(!rows.is_empty());
    let wrong: Vec<String> = rows.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {} programs:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn each_trace_is_run_once() {
    check_all(|traces| traces <= 1_000);
}

#[test]
#[ignore = "takes minutes; cargo test -p tests --test exact_counts -- --ignored"]
fn each_of_up_to_ten_thousand_traces_is_run_once() {
    check_all(|traces| (1_001..=10_000).contains(&traces));
}
