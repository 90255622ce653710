//! Whenever the tool is interrupted, it comes back in order: with a report, with what it has found in the store, and with nothing of
//! the program left. Whenever it is killed, its store can be used again.

use std::ffi::OsStr;
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
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tests::editor::{Editor, until};
use tests::{Build, Optimisation, Tool, WATCHDOG, binary, running, targets};

/// Programs that fail at once, late, or never, and explanations that take long.
const PROGRAMS: [&str; 20] = [
    "c/lost_update.c",
    "c/three_threads.c",
    "c/work_stealing.c",
    "c/bounded_queue_ok.c",
    "c/livelock.c",
    "c/lock_order.c",
    "c/lost_wakeup.c",
    "c/reader_writer_ok.c",
    "c/semaphore.c",
    "c/spin_flag_ok.c",
    "c/use_after_free.c",
    "cpp/barrier.cpp",
    "cpp/snapshot.cpp",
    "waiting/always_waits.c",
    "processes/execs.c",
    "input_output/floods.c",
    "processes/forks_beside_threads.c",
    "limits/never_ends.c",
    "processes/pipe_to_child.c",
    "signals/signals.c",
];

fn program(source: &str, test: &str) -> PathBuf {
    Build::new(source, Optimisation::O0).program_for(test).unwrap()
}

/// An exploration of a program.
fn exploration(arguments: &[&str], program: &Path) -> Command {
    let mut command = Command::new(binary().unwrap());
    command.arg("explore").args(arguments).arg("--").arg(program);
    command
}

/// Runs the tool and sends it a signal after so long, should it not have ended by then.
fn interrupted(mut command: Command, (signal, after): (Signal, Duration)) -> Output {
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

/// An interrupt, at a moment within so many milliseconds.
fn drawn(random: &mut ChaCha8Rng, within: u64) -> (Signal, Duration) {
    let signal = if random.random_bool(0.5) { Signal::SIGINT } else { Signal::SIGTERM };
    (signal, Duration::from_millis(random.random_range(0..within)))
}

fn kept(folder: &Path) -> usize {
    fs::read_dir(folder.join("findings")).map_or(0, Iterator::count)
}

/// Interrupts searches, reproductions and explanations at random moments: a failure is reproduced and explained once it is found.
fn comes_back_in_order(times: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for nth in 0..times {
        let source = PROGRAMS[nth as usize % PROGRAMS.len()];
        let program = program(source, &format!("interrupts-{seed}"));
        let folder = tempfile::tempdir().unwrap();
        let (signal, after) = drawn(&mut random, 900);
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
        let output = interrupted(exploration(&arguments, &program), (signal, after));
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

/// Interrupts listings of a folder with many programs, and replays and minimisations of a finding.
fn looks_and_replays_come_back(times: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let program = program("c/three_threads.c", &format!("looks-{seed}"));
    let folder = tempfile::tempdir().unwrap();
    for nth in 0..200 {
        fs::copy(&program, folder.path().join(format!("{nth}"))).unwrap();
    }
    let store = folder.path().join("store");
    let found = Tool::explore([OsStr::new("--output"), store.as_os_str()], &program).run().unwrap();
    let schedule = found.finding()["schedule_file"].as_str().unwrap().to_owned();
    let mut before = fs::read(&schedule).unwrap();
    for nth in 0..times {
        let words =
            [["list", folder.path().to_str().unwrap()], ["replay", &schedule], ["minimise", &schedule]]
                [nth as usize % 3];
        let mut command = Command::new(binary().unwrap());
        command.args(words);
        let (signal, after) = drawn(&mut random, 300);
        let output = interrupted(command, (signal, after));
        let errors = String::from_utf8_lossy(&output.stderr);
        let said = format!("{words:?}, {signal} after {after:?}: {}\n{errors}", output.status);
        // Nothing has to be put in order after a look at a folder, and before signals are handled.
        let by_signal = output.status.signal() == Some(signal as i32);
        assert!(by_signal || output.status.code().is_some_and(|code| code <= 3), "{said}");
        assert_eq!(running(&program), [0; 0], "{said}");
        let now = fs::read(&schedule).unwrap();
        assert!(serde_json::from_slice::<Value>(&now).is_ok(), "{said}");
        // Only a minimisation that comes to its end before the signal changes it.
        assert!(words[0] == "minimise" || now == before, "{said}");
        before = now;
    }
}

/// Ends language servers at random moments while they build, by signals, or by an end of the conversation.
fn builds_end_with_their_server(times: u32, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for nth in 0..times {
        let workspace = tempfile::tempdir().unwrap();
        let path = |name: &str| workspace.path().canonicalize().unwrap().join(name);
        fs::create_dir(path(".git")).unwrap();
        fs::copy("/bin/sleep", path("compiler")).unwrap();
        fs::write(path("interleaver.toml"), "build = \"./compiler 1000 & ./compiler 1000\"\n").unwrap();
        fs::copy(targets().join("c/lost_update.c"), path("app.c")).unwrap();
        let mut editor = Editor::spawned(&path("")).unwrap().answering(|method, _| {
            (method == "window/showMessageRequest").then(|| json!({ "title": "Build" }))
        });
        editor.begin(json!({ "trusted": true }));
        let source = path("app.c");
        editor.open(&source);
        let lens = editor.lens(&source, "▶ Build, then explore");
        editor.click(&lens);
        editor.wait_for_lens(&source, |title| title.starts_with("● building"));
        if nth % 2 == 0 {
            // The question is answered, and the shell has started both.
            editor.wait_for_method("window/showMessageRequest", |_| true);
            until("it is built", || running(&path("compiler")).len() == 2);
        }
        // The process that starts the tests may have the other signals ignored, and a server leaves that so.
        let signals = [Signal::SIGTERM, Signal::SIGKILL];
        let signal = signals.choose(&mut random);
        let server = editor.process().unwrap();
        if random.random_bool(0.8) {
            kill(Pid::from_raw(server.id().cast_signed()), *signal.unwrap()).unwrap();
            server.wait().unwrap();
        } else {
            editor.hang_up().wait().unwrap();
        }
        until("the build has ended", || running(&path("compiler")).is_empty());
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
        interrupted(exploration(&options, &program), (Signal::SIGKILL, after));
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
fn an_interrupted_look_or_replay_comes_back() {
    looks_and_replays_come_back(9, 1);
}

#[test]
fn a_build_ends_with_its_server() {
    builds_end_with_their_server(4, 1);
}

#[test]
fn a_store_outlives_what_kills_the_tool() {
    leaves_a_store_that_opens(6, 1);
}

#[test]
#[ignore = "takes minutes: ./test full"]
fn two_hundred_interrupts_end_with_a_report() {
    comes_back_in_order(200, 2);
    looks_and_replays_come_back(120, 2);
    builds_end_with_their_server(40, 2);
}

#[test]
#[ignore = "takes minutes: ./test full"]
fn a_store_outlives_two_hundred_kills() {
    leaves_a_store_that_opens(200, 2);
}

/// A failure is reported before it is explained.
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
    // Its state by now is of no interest.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.starts_with("Found: "), "{first}");
    assert_eq!(kept(folder.path()), 1);
}
