//! The tool comes back in its time, whatever a program does, and nothing of the program is left.

use std::path::{Path, PathBuf};

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use tests::{Build, Optimisation, Tool, running, sample};

/// The actions of threads of `hangs.c`.
const ALL: [&str; 43] = [
    "loops",
    "waits-for-a-flag",
    "pauses",
    "forks-sleepers",
    "forks-families",
    "forks-for-ever",
    "executes-again",
    "executes-sleep",
    "stops",
    "lends-its-memory",
    "waits-for-a-child",
    "kills-a-child-with-threads",
    "traces-a-child",
    "is-traced-by-a-child",
    "leaves-a-daemon",
    "signals-itself",
    "waits-in-a-pipe",
    "accepts",
    "waits-for-a-futex",
    "polls-nothing",
    "locks-a-file-twice",
    "sleeps-for-years",
    "locks-itself",
    "waits-for-a-stopped-child",
    "takes-no-signal",
    "faults-for-ever",
    "aborts-for-ever",
    "alarms-itself",
    "stops-its-parent",
    "children-trace-each-other",
    "traces-and-forgets",
    "executes-for-ever",
    "moves-on",
    "creates-threads-for-ever",
    "shares-its-memory",
    "lends-it-on",
    "hides-in-a-namespace",
    "keeps-the-output",
    "writes-for-ever",
    "maps-for-ever",
    "cannot-exit",
    "hides-its-memory",
    "pauses-at-exit",
];

fn hangs(test: &str) -> PathBuf {
    Build::new("limits/hangs.c", Optimisation::O0).program_for(test).unwrap()
}

/// Explores for half a second what a thread does, and perhaps another one beside it.
fn comes_back(program: &Path, what: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--time-limit", "500ms", "--run-timeout", "300ms", "--workers", "1", "--output"];
    let options = options.map(AsRef::as_ref).into_iter().chain([folder.path().as_os_str()]);
    let outcome = Tool::explore(options, program).and(what).run().unwrap_or_else(|error| panic!("{error:?}"));
    // An execution that does not end is no failure, unless nothing can ever change.
    let kinds: Vec<&str> = outcome.report["findings"]
        .as_array()
        .map(|found| found.iter().filter_map(|finding| finding["kind"].as_str()).collect())
        .unwrap_or_default();
    let is_real = |kind: &&str| ["deadlock", "livelock", "crash", "always-fails"].contains(kind);
    assert!(kinds.iter().all(is_real), "{what:?}: {}", outcome.transcript());
    assert_eq!(running(program), [0; 0], "{what:?}: {}", outcome.transcript());
}

#[test]
fn what_one_thread_does_never_outlasts_the_time_limit() {
    let program = hangs("one-thread");
    for what in sample(ALL, 3) {
        comes_back(&program, &[what]);
    }
}

#[test]
fn what_two_threads_do_never_outlasts_the_time_limit() {
    pairs(4, 1);
}

#[test]
#[ignore = "takes minutes: ./test full"]
fn what_many_two_threads_do_never_outlasts_the_time_limit() {
    pairs(300, 2);
}

#[test]
fn an_execution_that_takes_all_the_time_is_told_of() {
    let program = Build::new("limits/slow_start.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--time-limit".as_ref(), "1s".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explore(options, &program).run().unwrap();
    let notes = outcome.report["notes"].to_string();
    assert!(outcome.code == 2 && notes.contains("had not ended after "), "{}", outcome.transcript());
}

#[test]
fn a_search_leaves_time_to_judge_the_races_that_it_has_seen() {
    let program = Build::new("limits/long_races.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--time-limit".as_ref(), "4s".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explore(options, &program).run().unwrap();
    let (races, ended) = (&outcome.report["races"], outcome.report["ended"].to_string());
    let leaves = ended.contains("its share of 4s was up, a part of which is for judging what it has seen");
    assert!(leaves && races[0].is_object(), "{}", outcome.transcript());
}

fn pairs(count: usize, seed: u64) {
    let program = hangs(&format!("two-threads-{seed}"));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..count {
        let pair = [ALL.choose(&mut random).unwrap(), ALL.choose(&mut random).unwrap()].map(|what| *what);
        comes_back(&program, &pair);
    }
}
