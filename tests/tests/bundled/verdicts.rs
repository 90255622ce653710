//! Every bundled bug is found with the fewest preemptions and replayed from its file, its cause is told, and the nearest
//! schedule that passes does so; every correct twin is clean. So it is at both optimisation levels, and, but for the causes,
//! in programs as they are released, optimised and without debug information. Optimised programs are a sample but in the full
//! run.

use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::{
    Build, Expectation, Language, Optimisation, Outcome, Target, Tool, is_sampled, running, tells_pattern,
    told_pattern,
};

use crate::explorations::{Explorations, LIMIT, explore};

/// Of optimised builds, one in so many is in the sample.
const ONE_IN: usize = 8;

/// One trial for each program and build. The explanation of a released program, of which nothing is expected but that it
/// comes to an end, is made in a trial of its own.
pub(crate) fn trials(targets: &[Target], explorations: &Arc<Explorations>) -> Vec<Trial> {
    let name = |target: &Target, build: &str| {
        format!("verdicts/{}/{}/{build}", target.language.folder(), target.name)
    };
    let mut trials = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        for level in Optimisation::ALL {
            let (wanted, explorations) = (target.clone(), Arc::clone(explorations));
            let check = move || check(&wanted, level, &explorations);
            let is_left_out = level == Optimisation::O2 && !is_sampled(place, ONE_IN);
            trials.push(Trial::test(name(target, level.name()), check).with_ignored_flag(is_left_out));
        }
        let wanted = target.clone();
        let released = Trial::test(name(target, "released"), move || check_released(&wanted, false));
        // Another part of the programs, without those of a thousand schedules each.
        trials.push(released.with_ignored_flag(!is_sampled(place + 5, ONE_IN)));
        if target.is_bug() {
            let wanted = target.clone();
            let check = move || check_released(&wanted, true);
            trials.push(Trial::test(name(target, "released-explained"), check).with_ignored_flag(true));
        }
    }
    trials
}

fn check(target: &Target, level: Optimisation, explorations: &Explorations) -> Result<(), Failed> {
    let program = Build::new(target.source(), level).program()?;
    match &target.expectation {
        Expectation::Clean | Expectation::CleanWithinBound => {
            let outcome = explore(&program, within_bound(target), true)?.outcome;
            verdict(not_clean(target, &outcome), &outcome, &program)
        }
        Expectation::Found { kind, preemptions } => {
            let made = explorations.of(&program);
            let outcome = &made.exploration()?.outcome;
            let wrong = not_found(outcome, target, kind, (*preemptions, level))?;
            verdict(wrong, outcome, &program)
        }
    }
}

/// Without debug information, but with symbols.
fn check_released(target: &Target, explains: bool) -> Result<(), Failed> {
    let without = if target.language == Language::Rust { "-Cstrip=debuginfo" } else { "-g0" };
    let build = Build::new(target.source(), Optimisation::O2).flag(without);
    // Both trials of a program may run at the same time, and each looks for processes that it has left running.
    let place = Path::new("released-explained").join(target.language.folder());
    let program = if explains { build.program_for(&place.to_string_lossy())? } else { build.program()? };
    let outcome = explore(&program, within_bound(target), explains)?.outcome;
    let mut wrong = Vec::new();
    match &target.expectation {
        Expectation::Clean | Expectation::CleanWithinBound => wrong = not_clean(target, &outcome),
        Expectation::Found { kind, .. } => {
            expect(&mut wrong, "exit code", &json!(outcome.code), &json!(1));
            expect(&mut wrong, "kind", &outcome.finding()["kind"], &json!(kind));
        }
    }
    verdict(wrong, &outcome, &program)
}

/// The options of the only search that does not look further than it has to, and what the program answers for.
fn within_bound(target: &Target) -> &'static [&'static str] {
    match target.expectation {
        // It reads data while they are written, and throws them away.
        _ if target.name == "snapshot_ok" && target.language == Language::Cpp => &["--assume", "torn-access"],
        Expectation::CleanWithinBound => &["--strategy", "icb", "--max-preemptions", "1"],
        _ => &[],
    }
}

fn verdict(mut wrong: Vec<String>, outcome: &Outcome, program: &Path) -> Result<(), Failed> {
    wrong.extend(running(program).iter().map(|process| format!("process {process} is left running")));
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}", wrong.join("\n"), outcome.transcript()).into())
}

fn not_clean(target: &Target, outcome: &Outcome) -> Vec<String> {
    let bound = if target.expectation == Expectation::CleanWithinBound { 1 } else { 2 };
    let report = &outcome.report;
    let mut wrong = Vec::new();
    expect(&mut wrong, "exit code", &json!(outcome.code), &json!(0));
    expect(&mut wrong, "verdict", &report["verdict"], &json!("clean"));
    expect(&mut wrong, "covered", &report["covered"]["preemptions"], &json!(bound));
    expect(&mut wrong, "potential deadlocks", &report["potential_deadlocks"], &json!([]));
    wrong
}

fn not_found(
    outcome: &Outcome,
    target: &Target,
    kind: &str,
    (preemptions, level): (u64, Optimisation),
) -> Result<Vec<String>, Failed> {
    let finding = outcome.finding();
    let mut wrong = Vec::new();
    expect(&mut wrong, "exit code", &json!(outcome.code), &json!(1));
    expect(&mut wrong, "verdict", &outcome.report["verdict"], &json!("found"));
    expect(&mut wrong, "kind", &finding["kind"], &json!(kind));
    expect(&mut wrong, "preemptions", &finding["preemptions"], &json!(preemptions));
    expect(&mut wrong, "fewest", &finding["fewest"], &json!(true));
    expect(&mut wrong, "reproduced", &finding["reproduced"], &json!("2/2"));
    let lines = target.failing_lines()?;
    if !finding["line"].as_u64().is_some_and(|line| lines.contains(&line)) {
        wrong.push(format!("line: expected one of {lines:?}, got {}", finding["line"]));
    }
    let source = target.source();
    if !finding["file"].as_str().is_some_and(|file| file.ends_with(&*source.to_string_lossy())) {
        wrong.push(format!("file: expected {}, got {}", source.display(), finding["file"]));
    }
    let schedule = finding["schedule_file"].as_str().unwrap_or_default();
    let replayed = Tool::new(["replay", "--format", "json", schedule]).within(LIMIT).run()?;
    expect(&mut wrong, "exit code of the replay", &json!(replayed.code), &json!(1));
    expect(&mut wrong, "kind in the replay", &replayed.finding()["kind"], &json!(kind));
    if let Some(cause) = &target.cause {
        let optimised = cause.optimised.as_ref().filter(|_| level == Optimisation::O2);
        wrong.extend(not_explained(outcome, optimised.unwrap_or(&cause.why), cause.pair)?);
    }
    Ok(wrong)
}

/// The cause is the one that is seeded, and without it the program passes.
fn not_explained(outcome: &Outcome, why: &str, pair: [u64; 2]) -> Result<Vec<String>, Failed> {
    let mut wrong = Vec::new();
    let explanation = &outcome.finding()["explanation"];
    expect(&mut wrong, "why", &explanation["sentence"], &json!(why));
    expect(&mut wrong, "missing", &explanation["missing"], &json!([]));
    wrong.extend(not_ranked(explanation, why));
    let told = &explanation["pair"];
    let sides = told["swaps"].as_array().into_iter().flatten().flat_map(|swap| [&swap[0], &swap[1]]);
    let lines: Vec<Option<u64>> = sides.map(|side| side["line"].as_u64()).collect();
    expect(&mut wrong, "critical pair", &json!(lines), &json!(pair));
    let lost = &explanation["no_return"];
    let found_out = (&lost["exhaustive"], &lost["after"]);
    if found_out != (&json!(true), &json!(1.0)) || lost["before"].as_f64().is_none_or(|share| share >= 1.0) {
        wrong.push(format!("point of no return: {lost}"));
    }
    // From there on the passing execution is another one.
    let [failing, passing] = [&outcome.finding()["events"], &told["passing"]];
    let event = |event: &Value| (event["thread"].clone(), event["text"].clone());
    let until = (0..).find(|&at| failing[at].is_null() || event(&failing[at]) != event(&passing[at]));
    if lost["number"].as_u64() < until.map(|at| at as u64) {
        wrong.push(format!(
            "point of no return: {lost}, but what passes differs from event {until:?} on only"
        ));
    }
    let passing = told["schedule_file"].as_str().unwrap_or_default();
    let replayed = Tool::new(["replay", "--format", "json", passing]).within(LIMIT).run()?;
    expect(&mut wrong, "exit code of the one that passes", &json!(replayed.code), &json!(0));
    expect(&mut wrong, "verdict of the one that passes", &replayed.report["verdict"], &json!("clean"));
    expect(&mut wrong, "schedules of the one that passes", &replayed.report["schedules"], &json!(1));
    Ok(wrong)
}

/// The last rank that the pattern of a cause may have, and the largest number of patterns that may share it.
const RANK: u64 = 2;
const TIED: u64 = 3;

/// The accesses of an atomicity or order violation rank at the top.
fn not_ranked(explanation: &Value, why: &str) -> Option<String> {
    let is_top = |pattern: &Value| {
        pattern["rank"].as_u64().is_some_and(|rank| rank <= RANK)
            && pattern["tied"].as_u64().is_some_and(|tied| tied <= TIED)
    };
    let is_ranked = !tells_pattern(why) || told_pattern(explanation, why).is_some_and(is_top);
    let patterns = &explanation["patterns"];
    (!is_ranked).then(|| {
        format!("rank: expected at most {RANK}, with at most {TIED} tied, for what is told: {patterns:#}")
    })
}

fn expect(wrong: &mut Vec<String>, what: &str, got: &Value, expected: &Value) {
    if got != expected {
        wrong.push(format!("{what}: expected {expected}, got {got}"));
    }
}
