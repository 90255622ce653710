//! Generated programs whose threads sleep and leave marks, against an enumerator that knows nothing of threads: which orders of
//! marks are possible if no thread may be stalled for longer than a bound. Each of them is found, and no other one is; and `dpor`
//! runs as many classes as `dfs`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tests::{Outcome, Tool, is_sampled};

use crate::numbers::Numbers;

/// The number of terms; one in so many of them is in the sample.
const TERMS: u64 = 120;
const ONE_IN: usize = 24;

/// More orders than these are not looked for one by one.
const MOST: usize = 8;

/// Bounds on stalls, in milliseconds: sleeps are multiples of ten.
const STALLS: [u64; 2] = [0, 15];

/// The action of a thread.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Deed {
    Mark,
    /// For so many milliseconds.
    Sleep(u64),
}

type Term = Vec<Vec<Deed>>;

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |seed: u64| {
        let is_left_out = !is_sampled(seed as usize, ONE_IN);
        Trial::test(format!("timed-terms/{seed}"), move || check(seed)).with_ignored_flag(is_left_out)
    };
    (0..TERMS).map(trial).collect()
}

/// A term with few orders.
fn term(seed: u64) -> Term {
    let mut numbers = Numbers(seed);
    loop {
        let threads = 2 + numbers.below(2);
        let mut thread = || -> Vec<Deed> {
            let deeds = 1 + numbers.below(4);
            let deed = |_| match numbers.below(5) {
                0..2 => Deed::Mark,
                tens => Deed::Sleep(10 * (tens - 1)),
            };
            (0..deeds).map(deed).collect()
        };
        let term: Term = (0..threads).map(|_| thread()).collect();
        if STALLS.iter().all(|&stall| (1..=MOST).contains(&orders(&term, stall).len())) {
            return term;
        }
    }
}

/// Every order of marks, by the numbers of their threads.
fn orders(term: &Term, stall: u64) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    continue_with(term, stall, (&vec![(0, 0); term.len()], 0), &mut String::new(), &mut found);
    found
}

/// Goes on where each thread has done so many deeds, and stands at such a time, and the last mark was made at another. A thread
/// that marks sees that one, and has caught up.
fn continue_with(
    term: &Term,
    stall: u64,
    (at, last): (&[(usize, u64)], u64),
    order: &mut String,
    found: &mut BTreeSet<String>,
) {
    let due = |thread: usize| {
        let (done, now) = at[thread];
        let deed = term[thread].get(done)?;
        Some(if let Deed::Sleep(time) = deed { now + time } else { now })
    };
    let mut is_over = true;
    for thread in 0..term.len() {
        let Some(until) = due(thread) else { continue };
        is_over = false;
        let deed = term[thread][at[thread].0];
        let mut others = (0..term.len()).filter(|&other| other != thread).filter_map(due);
        if deed != Deed::Mark && others.any(|other| other + stall < until) {
            continue;
        }
        let (until, marked) =
            if deed == Deed::Mark { (until.max(last), until.max(last)) } else { (until, last) };
        let mut next = at.to_vec();
        next[thread] = (at[thread].0 + 1, until);
        let length = order.len();
        if deed == Deed::Mark {
            let _ = write!(order, "{thread}");
        }
        continue_with(term, stall, (&next, marked), order, found);
        order.truncate(length);
    }
    if is_over {
        found.insert(order.clone());
    }
}

/// A program that fails if its marks come in the order that is its first argument; or, where the second one is there, if they
/// come in none of these orders.
fn source(term: &Term) -> String {
    let mut text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <string.h>\n\
                    #include <unistd.h>\nstatic atomic_int next;\nstatic char order[16];\n\
                    static void mark(char who) { order[atomic_fetch_add(&next, 1)] = who; }\n"
        .to_owned();
    for (thread, deeds) in term.iter().enumerate() {
        let _ = write!(text, "static void *thread_{thread}(void *unused)\n{{\n");
        for deed in deeds {
            let _ = match deed {
                Deed::Mark => writeln!(text, "    mark('{thread}');"),
                Deed::Sleep(time) => writeln!(text, "    usleep({});", time * 1000),
            };
        }
        text.push_str("    return unused;\n}\n");
    }
    let threads = term.len();
    let _ = write!(text, "int main(int count, char **words)\n{{\n    pthread_t threads[{threads}];\n");
    for thread in 0..threads {
        let _ = writeln!(text, "    pthread_create(&threads[{thread}], 0, thread_{thread}, 0);");
    }
    let _ = writeln!(text, "    for (int i = 0; i < {threads}; i++)\n        pthread_join(threads[i], 0);");
    text.push_str("    int known = 0;\n    for (int i = 1; i < count; i++)\n        known |= !strcmp(words[i], order);\n");
    text.push_str("    assert(count == 2 ? !known : known);\n    return 0;\n}\n");
    text
}

fn check(seed: u64) -> Result<(), Failed> {
    let term = term(seed);
    let folder = tempfile::tempdir()?;
    let (code, program) = (folder.path().join("term.c"), folder.path().join("term"));
    std::fs::write(&code, source(&term))?;
    let built =
        Command::new("gcc").args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(&code).status()?;
    assert!(built.success(), "{term:?}");
    for stall in STALLS {
        let orders = orders(&term, stall);
        for order in &orders {
            let outcome = explore(&program, ("dfs", stall), [order.as_str()])?;
            assert_eq!(outcome.code, 1, "{term:?}, {stall} ms, {order}: {}", outcome.transcript());
        }
        // Twice the first, so that there are two of them.
        let all = || orders.iter().take(1).chain(&orders).map(String::as_str);
        let [every, reduced] = ["dfs", "dpor"].map(|strategy| explore(&program, (strategy, stall), all()));
        let (every, reduced) = (every?, reduced?);
        for outcome in [&every, &reduced] {
            let findings = &outcome.report["findings"];
            let is_one = findings.as_array().is_some_and(Vec::is_empty);
            assert!(is_one, "{term:?}, {stall} ms, {orders:?}: {}", outcome.transcript());
            assert_eq!(outcome.report["covered"]["everything"], true, "{term:?}: {}", outcome.transcript());
        }
        for count in ["schedules", "deadlocked"] {
            let counts = [&every, &reduced].map(|outcome| &outcome.report[count]);
            assert_eq!(counts[0], counts[1], "{term:?}, {stall} ms: {count}");
        }
        assert_eq!(reduced.report["redundant"], 0, "{term:?}, {stall} ms");
    }
    Ok(())
}

fn explore<'w>(
    program: &Path,
    (strategy, stall): (&str, u64),
    words: impl IntoIterator<Item = &'w str>,
) -> Result<Outcome, Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().to_string_lossy();
    let stall = format!("{stall}ms");
    let options = ["--strategy", strategy, "--max-stall", &stall, "--no-races"];
    let rest = ["--workers", "1", "--time-limit", "60s", "--output", &folder];
    let tool = Tool::explore(options.into_iter().chain(rest), program).and(words);
    Ok(tool.run()?)
}
