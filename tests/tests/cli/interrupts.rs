//! Whenever the tool is interrupted, it comes back in order: with a report, with what it has found in the store, and with nothing of
//! the program left. Whenever it is killed, its store can be used again.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tests::{Build, Optimisation, Tool, WATCHDOG, binary, running};

/// Programs that fail at once, late, or never, and explanations that take long.
const PROGRAMS: [&str; 6] = [
    "c/lost_update.c",
    "c/three_threads.c",
    "c/work_stealing.c",
    "c/bounded_queue_ok.c",
    "c/livelock.c",
    "peculiar/forks_beside_threads.c",
];

fn program(source: &str, test: &str) -> PathBuf {
    Build::new(source, Optimisation::O0).program_for(test).unwrap()
}

/// Runs the tool and sends it a signal after so long, should it not have ended by then.
fn interrupted(arguments: &[&str], program: &Path, (signal, after): (Signal, Duration)) -> Output {
    let mut command = Command::new(binary().unwrap());
    command.arg("explore").args(arguments).arg("--").arg(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let tool = Pid::from_raw(child.id().cast_signed());
    let (done, ended) = mpsc::channel();
    let reader = thread::spawn(move || done.send(child.wait_with_output()));
    let output = ended.recv_timeout(after).or_else(|_| {
        kill(tool, signal).unwrap();
        ended.recv_timeout(WATCHDOG)
    });
    if output.is_err() {
        let _ = kill(tool, Signal::SIGKILL);
    }
    let _ = reader.join();
    output.unwrap_or_else(|_| panic!("{command:?} goes on after {signal} at {after:?}")).unwrap()
}

fn kept(folder: &Path) -> usize {
    fs::read_dir(folder.join("findings")).map_or(0, Iterator::count)
}

/// Interrupts searches, reproductions and explanations at random moments.
fn comes_back_in_order(times: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for nth in 0..times {
        let source = PROGRAMS[nth as usize % PROGRAMS.len()];
        let program = program(source, &format!("interrupts-{seed}"));
        let folder = tempfile::tempdir().unwrap();
        let signal = if random.random_bool(0.5) { Signal::SIGINT } else { Signal::SIGTERM };
        let after = Duration::from_millis(random.random_range(50..900));
        let options = [
            "--format",
            "json",
            "--strategy",
            "random",
            "--explain-time",
            "1h",
            "--time-limit",
            "1h",
            "--output",
        ];
        let arguments: Vec<&str> = options.into_iter().chain([folder.path().to_str().unwrap()]).collect();
        let output = interrupted(&arguments, &program, (signal, after));
        let said = format!(
            "{source}, {signal} after {after:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(running(&program), [0; 0], "{said}");
        // It may not have come to handle signals, or to start the program, or the program not to its first key point.
        let said_nothing = output.stdout.is_empty() && output.status.code() == Some(2);
        if said_nothing || output.status.signal() == Some(signal as i32) || output.status.code() == Some(3) {
            assert_eq!((kept(folder.path()), output.stdout.len()), (0, 0), "{said}");
            continue;
        }
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        let found = report["findings"].as_array().unwrap().len();
        assert_eq!(output.status.code(), Some(if found > 0 { 1 } else { 2 }), "{said}");
        assert_eq!(kept(folder.path()), found, "{said}");
    }
}

/// Kills the tool at random moments, and uses its store again.
fn leaves_a_store_that_opens(times: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let program = program("c/lost_update.c", &format!("kills-{seed}"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let options = ["--format", "json", "--explain-time", "300ms", "--output", folder];
    for _ in 0..times {
        let after = Duration::from_millis(random.random_range(50..900));
        interrupted(&options, &program, (Signal::SIGKILL, after));
        for entry in fs::read_dir(Path::new(folder).join("findings")).into_iter().flatten().flatten() {
            let content = fs::read(entry.path()).unwrap();
            let is_whole = serde_json::from_slice::<Value>(&content).is_ok();
            assert!(
                is_whole || entry.file_name().to_string_lossy().starts_with(".new-"),
                "{:?}",
                entry.path()
            );
        }
    }
    let outcome = Tool::explore(&options[4..], &program).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    let schedule = outcome.finding()["schedule_file"].as_str().unwrap();
    let again = Tool::new(["replay", "--format", "json", schedule]).run().unwrap();
    assert_eq!(again.code, 1, "{}", again.transcript());
}

#[test]
fn an_interrupt_ends_whatever_it_does_with_a_report() {
    comes_back_in_order(12, 1);
}

#[test]
fn a_store_outlives_what_kills_the_tool() {
    leaves_a_store_that_opens(6, 1);
}

#[test]
#[ignore = "takes minutes: ./test full"]
fn two_hundred_interrupts_end_with_a_report() {
    comes_back_in_order(200, 2);
}

#[test]
#[ignore = "takes minutes: ./test full"]
fn a_store_outlives_two_hundred_kills() {
    leaves_a_store_that_opens(200, 2);
}

/// What was found is said before it is explained.
#[test]
fn what_is_found_is_said_at_once() {
    let program = program("c/three_threads.c", "said-at-once");
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy", "random", "--explain-time", "1h", "--time-limit", "1h", "--output"];
    let mut command = Command::new(binary().unwrap());
    command.arg("explore").args(options).arg(folder.path()).arg("--").arg(&program);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut first)
        .unwrap();
    // Whatever it does by now.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.starts_with("Found: "), "{first}");
    assert_eq!(kept(folder.path()), 1);
}
