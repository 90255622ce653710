//! What is told of every bundled bug, as a table: prints it, and compares it with the one in `docs/explanations.md`.
//!
//! `cargo test -p tests --test explanations`

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use serde_json::Value;
use tests::{Build, Manifest, Optimisation, Target, Tool, told_pattern, workspace};

/// The search's minute, and what the explanation takes.
const LIMIT: Duration = Duration::from_secs(75);

const HEAD: &str = "| example | preemptions | depth | rank | critical pair | sentence |\n| --- | --- | --- | --- | --- | --- |\n";

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = Manifest::read()?;
    let bugs = manifest.targets.iter().filter(|target| target.is_bug());
    let table: String = std::iter::once(HEAD.to_owned()).chain(bugs.map(row)).collect();
    io::stdout().write_all(table.as_bytes())?;
    let page = fs::read_to_string(workspace().join("docs/explanations.md"))?;
    if page.contains(&table) {
        Ok(())
    } else {
        Err("docs/explanations.md has another table: what is printed above belongs there".into())
    }
}

fn row(target: &Target) -> String {
    let program = Build::new(target.source(), Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // All of it, however slow the machine.
    let options = ["--explain-time".as_ref(), "1h".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explore(options, &program).within(LIMIT).run().unwrap();
    let finding = outcome.finding();
    let why = &finding["explanation"];
    let sentence = text(&why["sentence"]);
    let cells = [
        format!("`{}`", target.source().display()),
        at_most(&finding["preemptions"], &finding["fewest"]),
        at_most(&why["depth"]["value"], &why["depth"]["exact"]),
        told_pattern(why, sentence).map(rank).unwrap_or_default(),
        pair(why),
        sentence.to_owned(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, or the bound that it is.
fn at_most(value: &Value, is_exact: &Value) -> String {
    let exact = if is_exact == true { "" } else { "≤ " };
    format!("{exact}{value}")
}

fn rank(pattern: &Value) -> String {
    match pattern["tied"].as_u64() {
        Some(tied) if tied > 1 => format!("{} ({tied} tied)", pattern["rank"]),
        _ => pattern["rank"].to_string(),
    }
}

fn pair(why: &Value) -> String {
    let side = |side: &Value| format!("{} {} :{}", text(&side["thread"]), text(&side["text"]), side["line"]);
    let swaps = why["pair"]["swaps"].as_array().into_iter().flatten();
    let swaps: Vec<String> = swaps.map(|swap| format!("{}, {}", side(&swap[0]), side(&swap[1]))).collect();
    swaps.join("; ")
}
