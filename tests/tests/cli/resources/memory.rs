//! The tool's memory for a long execution: 650 bytes an event, where all events are of locks.

use std::fs;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};

use tests::{Build, Optimisation, binary};

/// A quarter of a million events, and a few: longer than what is explained.
const ROUNDS: &str = "-DROUNDS=62750";

/// In MB. The events take 165 of 220.
const MOST: u64 = 240;

#[test]
#[ignore = "takes a minute: ./test full"]
fn a_long_execution_takes_little_memory_and_is_not_explained() {
    let program = Build::new("limits/long.c", Optimisation::O0).flag(ROUNDS).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut tool = Command::new(binary().unwrap())
        .args(["explore", "--step-limit", "2000000", "--time-limit", "10m", "--format", "json", "--output"])
        .args([folder.path(), "--".as_ref(), &program])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = tool.stdout.take().unwrap();
    // The rest of the report does not fit into the pipe: the tool waits, and all else is done.
    let mut report = vec![0; 2_000];
    stdout.read_exact(&mut report).unwrap();
    let most = most_memory(&tool);
    io::copy(&mut stdout, &mut io::sink()).unwrap();
    assert_eq!(tool.wait().unwrap().code(), Some(1));
    let report = String::from_utf8_lossy(&report);
    let sentence = "not explained, because its execution has 251004 events, and an explanation, which runs hundreds \
                    like it, is made of up to 250000";
    assert!(report.contains(sentence), "{report}");
    assert!(most < MOST, "{most} MB");
}

/// The most memory that a process has had so far, in MB.
fn most_memory(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
