//! The enumerator against a second reference: a stepper (`tests/stepper`) runs the compiled programs one thread at a time, and
//! preempts each thread at each of its instructions, and several of them by chance. No outcome comes about that the enumerator does
//! not list, and those come about that need no more than one preemption. So the tool is compared with what the instructions do.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tests::{Build, Optimisation, is_full, is_sampled, stepper};

use super::drawn;

/// The number of programs, the first ones that are short; one in so many of them is in the sample.
const PROGRAMS: usize = 100;
const ONE_IN: usize = 50;

/// Executions of a program with several preemptions.
const DRAWN: u32 = 400;

/// Outcomes that need more preemptions come about by chance: they are counted.
const SURE: usize = 1;

/// Bundled programs, with the way in which an execution of them ends that has one preemption in the wrong place.
const FAULTY: [(&str, &str); 3] =
    [("c/lost_update.c", "signal 6"), ("c/lock_order.c", "deadlock"), ("c/lost_wakeup.c", "deadlock")];

/// The same programs without the fault.
const CORRECT: [&str; 3] = ["c/lost_update_ok.c", "c/lock_order_ok.c", "c/lost_wakeup_ok.c"];

/// A way in which executions of a program have ended.
struct Ending {
    /// The status of the process, or that all of its threads wait.
    how: String,
    /// The line that the program has printed: its outcome.
    words: String,
    /// The number of these executions, and the preemptions of the first one.
    executions: String,
}

pub(super) fn trials() -> Vec<Trial> {
    let short = (0..).filter(|&seed| drawn(seed).1.is_short()).take(PROGRAMS);
    let trial = |(place, seed): (usize, u64)| {
        let is_left_out = !is_sampled(place, ONE_IN);
        Trial::test(format!("stepped-terms/{seed}"), move || check(seed)).with_ignored_flag(is_left_out)
    };
    let mut trials: Vec<Trial> = short.enumerate().map(trial).collect();
    trials.push(Trial::test("stepped-terms/faults", faults_are_found));
    trials
}

/// Without an argument a program fails whatever its outcome is, and prints it.
fn check(seed: u64) -> Result<(), Failed> {
    let (term, dress) = drawn(seed);
    let least = term.preemptions();
    assert_eq!(least.keys().cloned().collect::<BTreeSet<_>>(), term.outcomes().unwrap_or_default());
    let folder = tempfile::tempdir()?;
    let program = dress.compile(folder.path(), &term)?;
    // The enumerator knows of no preemption in the middle of an access that takes several instructions of a library.
    let place = if dress.is_indivisible() { "anywhere" } else { "own" };
    let (counts, endings) = step(place, DRAWN, &program)?;
    let is_listed = |ending: &Ending| ending.how == dress.failure() && least.contains_key(&ending.words);
    let (reached, unexpected): (Vec<_>, Vec<_>) = endings.iter().partition(|ending| is_listed(ending));
    let reached: BTreeSet<&str> = reached.iter().map(|ending| ending.words.as_str()).collect();
    let missing: Vec<_> = least.iter().filter(|(outcome, _)| !reached.contains(outcome.as_str())).collect();
    let mut table = format!(
        "stepped-terms/{seed}: {place}, {counts}: {} outcomes listed, {} reached",
        least.len(),
        reached.len()
    );
    for (outcome, preemptions) in &missing {
        table += &format!(", {outcome} (needs {preemptions} preemptions) not reached");
    }
    for Ending { how, words, executions } in &unexpected {
        table += &format!(", {how} {words} unexpected ({executions})");
    }
    if is_full() {
        std::io::stdout().write_all(format!("{table}\n").as_bytes())?;
    }
    let is_sure = |preemptions: usize| preemptions <= SURE && !dress.adds();
    if unexpected.is_empty() && !missing.iter().any(|(_, preemptions)| is_sure(**preemptions)) {
        return Ok(());
    }
    Err(format!("{table}\n{dress}\n{term:?}\n{}", dress.source(&term)).into())
}

/// One preemption is enough for the stepper to show that a bundled program is wrong, and none shows that of a correct one. Optimised,
/// an increment is one instruction, which no stepper interrupts.
fn faults_are_found() -> Result<(), Failed> {
    for (source, how) in FAULTY.into_iter().chain(CORRECT.map(|source| (source, "exit 0"))) {
        let (counts, endings) = step("anywhere", 0, &Build::new(source, Optimisation::O0).program()?)?;
        let hows: BTreeSet<&str> = endings.iter().map(|ending| ending.how.as_str()).collect();
        assert_eq!(hows, BTreeSet::from(["exit 0", how]), "{source}: {counts}");
    }
    Ok(())
}

/// Runs a program under the stepper: its counts of executions, steps and points; and the ways in which the executions have ended.
fn step(place: &str, drawn: u32, program: &Path) -> Result<(String, Vec<Ending>), Failed> {
    let output = Command::new(stepper()?).args([place, &drawn.to_string()]).arg(program).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines();
    let counts = lines.next().unwrap_or_default().to_owned();
    let ending = |line: &str| {
        let [executions, how, words, first] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        let executions = format!("{executions} times, first by {first}");
        Some(Ending { how: how.into(), words: words.into(), executions })
    };
    let endings = lines.map(|line| ending(line).ok_or_else(|| line.into())).collect::<Result<_, Failed>>()?;
    Ok((counts, endings))
}
