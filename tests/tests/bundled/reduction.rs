//! `dpor` runs each class of executions that `dfs` runs, and each once, on every bundled program for which both come to an end
//! soon. They share no idea of what commutes with what: `dfs` takes every order and compares states, `dpor` takes an order only
//! if a race says that it matters. So a class that one of them lacks is an event that does not say all that it depends on, a
//! race that is not reversed, or memory that was shared and not seen to be.
//!
//! Those on which it takes longer have trials as well, which are part of the full run, as is what is not in the sample.

use std::path::PathBuf;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tests::{Build, Optimisation, Outcome, Target, Tool, is_sampled};

/// For the slow ones, on a machine that does something else.
const LIMIT: Duration = Duration::from_secs(150);

/// Of the builds, one in so many is in the sample.
const ONE_IN: usize = 5;

/// Programs on which the two differ, or do not both end, and why.
const LEFT_OUT: [(&str, &str); 7] = [
    ("cpp/lock_order_ok.cpp", "threads that try for two locks, and give way, can do so for ever"),
    ("rust/bounded_queue.rs", "almost 4,000 classes"),
    ("rust/bounded_queue_ok.rs", "almost 4,000 classes"),
    ("rust/order_violation.rs", "who receives yields until the other has sent, however often"),
    ("rust/order_violation_ok.rs", "who receives yields until the other has sent, however often"),
    ("rust/reader_writer.rs", "more than 1,400 classes"),
    ("rust/reader_writer_ok.rs", "more than 1,400 classes"),
];

/// Programs with signal handlers, which could run where no search lets them, so that they call nothing covered.
const NEVER_COVERED: [&str; 1] = ["signals_too_late.c"];

/// Programs on which `dfs` takes many seconds.
const SLOW: [&str; 2] = ["cpp/barrier.cpp", "cpp/barrier_ok.cpp"];

/// Further programs, with the number of their classes where that is easily told.
const OTHERS: &[(&str, Option<u64>)] = &[
    // Three times the cancellation can take effect: before the thread sleeps, while it does, and after that. Or it comes too late.
    ("endings/cancelled_once.c", Some(4)),
    // The cancellation comes before the wait begins, and then the signal before or after; or while it waits, and the signal
    // after that.
    ("endings/cancelled_before_the_signal.c", Some(3)),
    // It comes before the wait begins, and the signal before or after that; or while it waits, and the signal before the wait,
    // or after the cancellation; or the signal ends the wait, and it comes before the mutex is taken again, or after.
    ("endings/cancelled_or_signalled.c", Some(6)),
    // It comes before the thread waits, and is seen before the post or after; or the thread is through by then.
    ("endings/cancelled_or_posted.c", Some(3)),
    ("endings/exits_by_another.c", Some(2)),
    ("endings/main_leaves.c", None),
    ("endings/main_leaves_ok.c", None),
    ("endings/main_leaves_mutex.c", Some(1)),
    // The owner has the mutex before the waiter waits, or after.
    ("synchronisation/condition_with_heirs.c", Some(2)),
    ("startup/constructor_threads.c", None),
    // The variable that is looked at has been set, or has not.
    ("synchronisation/joins_in_order.c", Some(2)),
    // Either is the last to use the box; and the one step of main comes before, between or after the two of the other.
    ("memory/panics_and_frees.rs", Some(6)),
    // The flag is set before one of the 40 reads, or after them all; or it is not set.
    ("waiting/reads_in_vain.c", Some(42)),
    // Main takes both before the thread does, or only the second one, or none.
    ("synchronisation/robust_ending.c", Some(3)),
    // The flag is set before the thread looks, or after that.
    ("waiting/sleeps_first.c", Some(2)),
    // The flag is found set, and no thread waits; or it is not, and the wait comes before the word is written, or after
    // that.
    ("synchronisation/futex_by_hand.c", Some(3)),
    // The write comes first, between the two looks, or last.
    ("input_output/looks_without_waiting.c", Some(3)),
    // The read comes after the first byte or after both.
    ("input_output/pipe_pieces.c", Some(2)),
    // The byte is there, or the time is over before it is.
    ("input_output/polls_for_a_time.c", Some(2)),
    // The signal comes before the worker's only step, which main sees or does not, or after it.
    ("signals/signals_too_late.c", Some(3)),
    // The first flag is seen, or the second one, at once; or the loop waits for both, and sees the first, the second, or both.
    ("waiting/spins_on_two.c", Some(5)),
    ("synchronisation/three_increments.rs", Some(6)),
    ("waiting/try_locks.c", None),
    // The value is read before its second write; or after it, and the byte was received before the count was sent, or after.
    ("input_output/two_channels.c", Some(3)),
];

pub(crate) fn trials(targets: &[Target]) -> Vec<Trial> {
    let bundled = targets.iter().map(|target| (target.source(), None));
    let bundled = bundled.filter(|(source, _)| LEFT_OUT.iter().all(|(other, _)| !source.ends_with(other)));
    let others = OTHERS.iter().map(|&(source, classes)| (PathBuf::from(source), classes));
    let trials = bundled.chain(others).enumerate().flat_map(|(place, (source, classes))| {
        let is_slow = SLOW.iter().any(|slow| source.ends_with(slow));
        Optimisation::ALL.map(|level| {
            let build = Build::new(&source, level);
            let name = format!("reduction/{}/{}", source.display(), level.name());
            let covers = NEVER_COVERED.iter().all(|never| !source.ends_with(never));
            let is_left_out = is_slow || !is_sampled(place + level as usize, ONE_IN);
            Trial::test(name, move || check(&build, classes, covers)).with_ignored_flag(is_left_out)
        })
    });
    trials.collect()
}

fn check(build: &Build, classes: Option<u64>, covers: bool) -> Result<(), Failed> {
    let (all, reduced) = (explore(build, "dfs")?, explore(build, "dpor")?);
    let mut wrong = Vec::new();
    for key in ["schedules", "deadlocked"] {
        if all.report[key] != reduced.report[key] {
            wrong.push(format!("{key}: dfs {}, dpor {}", all.report[key], reduced.report[key]));
        }
    }
    if reduced.report["redundant"] != 0 {
        wrong.push(format!("dpor has run {} classes again", reduced.report["redundant"]));
    }
    if let Some(classes) = classes.filter(|&classes| all.report["schedules"] != classes) {
        wrong.push(format!("schedules: expected {classes}, got {}", all.report["schedules"]));
    }
    let is_as_expected = |outcome: &&Outcome| (outcome.report["covered"]["everything"] == true) == covers;
    if ![&all, &reduced].iter().all(is_as_expected) {
        wrong.push(format!("everything is covered: expected {covers}"));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}{}", wrong.join("\n"), all.transcript(), reduced.transcript()).into())
}

/// By one worker: as many programs as there are CPUs are explored at a time.
fn explore(build: &Build, strategy: &str) -> Result<Outcome, Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().to_string_lossy();
    let options =
        ["--strategy", strategy, "--keep-going", "--no-races", "--workers", "1", "--max-stall", "100ms"];
    let rest = ["--time-limit", "120s", "--output", &folder];
    let program = build.program()?;
    Ok(Tool::explore(options.into_iter().chain(rest), &program).within(LIMIT).run()?)
}
