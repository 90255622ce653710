//! The explanations of all bundled bugs, as a table: compares it with the one in `docs/explanations.md`, and prints it
//! where that is another.

use std::fs;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tests::{Build, Optimisation, Target, told_pattern, workspace};

use crate::explorations::Explorations;

const HEAD: &str = "| example | preemptions | depth | rank | critical pair | sentence |\n| --- | --- | --- | --- | --- | --- |\n";

pub(crate) fn trial(targets: Vec<Target>, explorations: &Arc<Explorations>) -> Trial {
    let explorations = Arc::clone(explorations);
    Trial::test("cause-table", move || check(&targets, &explorations))
}

fn check(targets: &[Target], explorations: &Explorations) -> Result<(), Failed> {
    let mut table = HEAD.to_owned();
    for target in targets.iter().filter(|target| target.is_bug()) {
        table.push_str(&row(target, explorations)?);
    }
    let page = fs::read_to_string(workspace().join("docs/explanations.md"))?;
    if page.contains(&table) {
        Ok(())
    } else {
        Err(format!("docs/explanations.md has another table; this one belongs there:\n{table}").into())
    }
}

fn row(target: &Target, explorations: &Explorations) -> Result<String, Failed> {
    let program = Build::new(target.source(), Optimisation::O0).program()?;
    let made = explorations.of(&program);
    let finding = made.exploration()?.outcome.finding();
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
    Ok(format!("| {} |\n", cells.join(" | ")))
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
