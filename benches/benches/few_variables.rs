//! Savings by watching few variables: key points per execution of pct, which has the accesses of all variables as key
//! points, beside those of pctvb with two variables and with one, and of vtb with one preemption, which is at one variable.
//!
//! `cargo bench -p benches --bench few_variables -- [FOLDER...] [--schedules N]` prints a table in Markdown. The arguments of
//! a program `NAME` are the words of the file `NAME.args` beside it, if there is one. Searches go on after a failure; their
//! findings are not explained. Of pctvb and vtb the executions with few key points are shown, and how many
//! of all they are: the others learn, fail, or are those from which preemptions are chosen.

use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use benches::{arguments, build, executables, is_measured};
use serde_json::Value;
use tests::Tool;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The searches compared, each with its number of variables.
const COLUMNS: [(&str, &str); 4] = [("pct", "2"), ("pctvb", "2"), ("pctvb", "1"), ("vtb", "1")];

/// Longer than any of them takes.
const LIMIT: Duration = Duration::from_secs(600);

fn main() -> Outcome<()> {
    let (programs, schedules) = asked()?;
    let mut out = io::stdout().lock();
    let names = COLUMNS.map(|(search, variables)| match search {
        "pct" => search.to_owned(),
        _ => format!("{search}, v = {variables}"),
    });
    writeln!(out, "| program | {} |", names.join(" | "))?;
    writeln!(out, "| --- |{}", " --- |".repeat(COLUMNS.len()))?;
    for program in programs {
        write!(out, "| {} |", program.file_name().unwrap_or_default().display())?;
        for (search, variables) in COLUMNS {
            write!(out, " {} |", measure(&program, search, variables, &schedules)?)?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The programs, and how many schedules of each search; where nothing is measured, a bundled program.
fn asked() -> Outcome<(Vec<PathBuf>, String)> {
    let (mut programs, mut schedules) = (Vec::new(), "1000".to_owned());
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        if word == "--schedules" {
            schedules = words.next().ok_or("--schedules needs a number")?;
        } else {
            programs.extend(executables(Path::new(&word))?);
        }
    }
    if programs.is_empty() {
        programs.push(build("c/bounded_queue.c", &[])?);
    }
    Ok((programs, if is_measured() { schedules } else { "20".to_owned() }))
}

/// Key points per schedule, and the share of the schedules that have few.
fn measure(program: &Path, search: &str, variables: &str, schedules: &str) -> Outcome<String> {
    let output = tempfile::tempdir()?;
    let options = ["--keep-going", "--no-explain", "--strategy", search, "--max-variables", variables];
    let options = options.into_iter().chain([
        "--max-preemptions",
        "1",
        "--max-schedules",
        schedules,
        "--time-limit",
        "60s",
    ]);
    let options = options.map(OsStr::new).chain([OsStr::new("--output"), output.path().as_os_str()]);
    let outcome = Tool::explore(options, program).and(arguments(program)).within(LIMIT).run()?;
    let report = &outcome.report;
    let number = |value: &Value, member: &str| {
        value[member].as_f64().ok_or_else(|| format!("no {member}: {}", outcome.transcript()))
    };
    if search == "pct" {
        return Ok(format!("{:.1}", number(report, "key_points_per_schedule")?));
    }
    let few = &report["narrow"];
    if few.is_null() {
        return Ok("none".to_owned());
    }
    let all = number(report, "schedules")? + number(report, "redundant")? + number(report, "pruned")?;
    let share = number(few, "schedules")? / (number(few, "schedules")? + all);
    Ok(format!("{:.1} in {:.0} %", number(few, "key_points_per_schedule")?, 100.0 * share))
}
