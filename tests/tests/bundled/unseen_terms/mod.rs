//! Generated programs that touch shared memory in ways that are easily missed, against an enumerator that knows nothing of the
//! tool. Each outcome of a term is found, or the claim that there is none is withheld; no other outcome is found; and where the
//! tool is able to watch all that a program does, few claims are withheld.

mod access;
mod dress;
mod kept;
mod place;
mod program;
mod rust;
mod source;
mod stepped;
mod term;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tests::{Outcome, Tool, is_full, is_sampled};

use self::program::Dress;
use self::term::Term;
use crate::numbers::Numbers;

/// The number of programs; one in so many of them is in the sample.
const PROGRAMS: u64 = 2_000;
const ONE_IN: usize = 60;

/// Programs that were reported wrongly while none of the sample was: each time they run as well.
const ALWAYS: [u64; 3] = [155, 1045, 1428];

/// More preemptions than any outcome needs.
const PREEMPTIONS: &str = "8";

/// One in so many explorations may end with the claim withheld, among programs of a kind of which there are enough to tell.
const WITHHELD: usize = 5;
const ENOUGH: usize = 10;

/// The reason for which there is no claim where the time was up.
const TIME: &str = "time";

/// The results of the program of a seed.
#[derive(Clone)]
struct Seen {
    kinds: Vec<String>,
    is_claimable: bool,
    /// Outcomes that were found, and those of which the tool knows that it may have missed them, had it more time or not.
    found: usize,
    withheld: usize,
    /// Whether the claim that there is no other outcome was made, or would have been with more time.
    is_claimed: bool,
    /// The reasons for which claims were withheld.
    reasons: BTreeSet<String>,
    /// Results that are wrong.
    faults: Vec<String>,
}

/// The results of each seed, each explored once.
type All = Arc<Vec<Mutex<Option<Seen>>>>;

pub(crate) fn trials() -> Vec<Trial> {
    let all: All = Arc::new((0..PROGRAMS).map(|_| Mutex::default()).collect());
    let trial = |seed: u64| {
        let is_left_out = !is_sampled(seed as usize, ONE_IN) && !ALWAYS.contains(&seed);
        let all = Arc::clone(&all);
        Trial::test(format!("unseen-terms/{seed}"), move || {
            let faults = seen(&all, seed)?.faults;
            if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
        })
        .with_ignored_flag(is_left_out)
    };
    let mut trials: Vec<Trial> = (0..PROGRAMS).map(trial).collect();
    trials.push(Trial::test("unseen-terms/withheld", move || few_are_withheld(&all)));
    trials.extend(stepped::trials());
    trials
}

fn seen(all: &All, seed: u64) -> Result<Seen, Failed> {
    let mut seen = all[seed as usize].lock().map_err(|error| error.to_string())?;
    if seen.is_none() {
        *seen = Some(look(seed)?);
    }
    seen.clone().ok_or_else(|| "nothing was seen".into())
}

/// The term of a seed, and its dress.
fn drawn(seed: u64) -> (Term, Dress) {
    let mut numbers = Numbers(seed);
    let term = Term::draw(&mut numbers);
    let dress = Dress::draw(&mut numbers, &term);
    (term, dress)
}

/// Explores the program of a seed once for each outcome, and once for any other.
fn look(seed: u64) -> Result<Seen, Failed> {
    let (term, dress) = drawn(seed);
    let outcomes = term.outcomes().unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let program = dress.compile(folder.path(), &term)?;
    let mut seen = Seen {
        kinds: dress.kinds(),
        is_claimable: dress.is_claimable(),
        found: 0,
        withheld: 0,
        is_claimed: false,
        reasons: BTreeSet::new(),
        faults: Vec::new(),
    };
    let fault = |what: &str, outcome: &Outcome| {
        let source = dress.source(&term);
        format!("{what}\n{dress}\n{term:?}\n{outcomes:?}\n{}\n{source}", outcome.transcript())
    };
    for wanted in &outcomes {
        let outcome = explore(&program, dress.strategy(), [wanted.as_str()])?;
        let message = outcome.finding()["message"].as_str().unwrap_or_default();
        match outcome.code {
            1 if message.split_whitespace().any(|word| word == wanted) => seen.found += 1,
            code if withholds(code, &dress) => {
                let reasons = reasons(&outcome.report);
                seen.withheld += usize::from(!reasons.contains(TIME));
                seen.reasons.extend(reasons);
            }
            _ => seen.faults.push(fault(&format!("{wanted} is possible"), &outcome)),
        }
    }
    let known = ["-"].into_iter().chain(outcomes.iter().map(String::as_str));
    let outcome = explore(&program, dress.strategy(), known)?;
    match outcome.code {
        0 => seen.is_claimed = true,
        code if withholds(code, &dress) => {
            let reasons = reasons(&outcome.report);
            seen.is_claimed = reasons.contains(TIME);
            seen.reasons.extend(reasons);
        }
        _ => seen.faults.push(fault("nothing else is possible", &outcome)),
    }
    Ok(seen)
}

/// Whether the tool ended without a claim. It refuses a program whose processes, which run as they like, come to another end when
/// what was found is run again.
fn withholds(code: i32, dress: &Dress) -> bool {
    code == 2 || code == 3 && dress.is_forked()
}

fn explore<'w>(
    program: &Path,
    strategy: &str,
    words: impl IntoIterator<Item = &'w str>,
) -> Result<Outcome, Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().to_string_lossy();
    let mut options = vec!["--strategy", strategy, "--memory-model", "sc", "--no-races", "--workers", "1"];
    options.extend(["--time-limit", "10s", "--output", &folder]);
    if strategy != "dpor" {
        options.extend(["--max-preemptions", PREEMPTIONS]);
    }
    Ok(Tool::explore(options, program).and(words).run()?)
}

/// The reasons for which a report makes no claim.
fn reasons(report: &Value) -> BTreeSet<String> {
    let entries = report["not_covered"].as_array().into_iter().flatten();
    let words = |entry: &Value| {
        let words = ["kind", "module", "function"].map(|name| entry[name].as_str().unwrap_or_default());
        words.join(" ").trim_end().to_owned()
    };
    let all: BTreeSet<String> = entries.map(words).collect();
    if all.is_empty() { BTreeSet::from([TIME.to_owned()]) } else { all }
}

/// The results of the programs of a kind.
#[derive(Default)]
struct Count {
    programs: usize,
    found: usize,
    withheld: usize,
    claimed: usize,
    faults: usize,
    reasons: BTreeSet<String>,
}

/// Of each kind of programs of which claims are to be made, at most a fifth of all claims are withheld. Prints a table of all kinds.
fn few_are_withheld(all: &All) -> Result<(), Failed> {
    let mut counts: BTreeMap<(bool, String), Count> = BTreeMap::new();
    for seed in (0..PROGRAMS).filter(|&seed| is_sampled(seed as usize, ONE_IN)) {
        let seen = seen(all, seed)?;
        for kind in seen.kinds.iter().chain(["all".to_owned()].iter()) {
            let count = counts.entry((seen.is_claimable, kind.clone())).or_default();
            count.programs += 1;
            count.found += seen.found;
            count.withheld += seen.withheld;
            count.claimed += usize::from(seen.is_claimed);
            count.faults += usize::from(!seen.faults.is_empty());
            count.reasons.extend(seen.reasons.clone());
        }
    }
    let mut table = "kind | programs | found | withheld | claimed | wrong | reasons\n".to_owned();
    let mut too_many = Vec::new();
    for ((is_claimable, kind), count) in &counts {
        let Count { programs, found, withheld, claimed, faults, reasons } = count;
        let named = if *is_claimable { kind.clone() } else { format!("{kind} (not claimable)") };
        let reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
        let _ = writeln!(
            table,
            "{named} | {programs} | {found} | {withheld} | {claimed} | {faults} | {}",
            reasons.join(", ")
        );
        let unclaimed = programs - claimed;
        let is_much = withheld * WITHHELD > found + withheld || unclaimed * WITHHELD > *programs;
        if *is_claimable && is_much && *programs >= ENOUGH {
            too_many.push(named);
        }
    }
    if is_full() {
        std::io::stdout().write_all(table.as_bytes())?;
    }
    if too_many.is_empty() { Ok(()) } else { Err(format!("{}:\n{table}", too_many.join(", ")).into()) }
}
