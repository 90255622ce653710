//! The bundled programs, each as one trial or several: the findings in them, their explanations, and their numbers of
//! traces. Trials that look at the same exploration share it.
//!
//! `cargo test -p tests --test bundled -- renamed/c` runs those of one kind and language. Trials that are exhaustive by
//! size alone are ignored, and part of `./test full`.

mod cause_table;
mod exact_counts;
mod explorations;
mod numbers;
mod reduction;
mod renamed;
mod simplest;
mod timed_terms;
mod unseen_terms;
mod verdicts;

use std::sync::Arc;

use libtest_mimic::Arguments;
use tests::Manifest;

use crate::explorations::Explorations;

fn main() {
    let targets = Manifest::read().unwrap_or_else(|error| panic!("{error}")).targets;
    let explorations = Arc::new(Explorations::default());
    let mut trials = exact_counts::trials();
    trials.extend(verdicts::trials(&targets, &explorations));
    trials.extend(simplest::trials(&targets));
    trials.extend(reduction::trials(&targets));
    trials.extend(timed_terms::trials());
    trials.extend(unseen_terms::trials());
    trials.extend(renamed::trials(&targets, &explorations));
    trials.push(cause_table::trial(targets, &explorations));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    // Before the process ends: its folders are removed.
    drop(explorations);
    conclusion.exit();
}
