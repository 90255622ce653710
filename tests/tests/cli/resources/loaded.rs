//! A machine that is busy with other things takes longer, and comes to the same. These tests keep it busy, so that none should run
//! beside them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::{Build, Optimisation, Outcome, Tool};

/// Processes that compute for as long as this is there: for each processor of a small machine some, and each before the tool.
struct Load(Vec<Child>);

impl Load {
    fn new() -> Self {
        // Each in a session of its own: the kernel divides its time between sessions first.
        let mut busy = Command::new("setsid");
        busy.args(["/bin/sh", "-c", "while :; do :; done"]).stdin(Stdio::null());
        Self((0..8).map(|_| busy.spawn().unwrap()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Explores with no limit in sight but that on one thread, which is short.
fn explore(program: &Path, options: &[&str], niceness: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let limits = ["--time-limit", "1h", "--run-timeout", "300ms", "--workers", "1", "--output"];
    let options = limits
        .iter()
        .map(OsStr::new)
        .chain([folder.path().as_os_str()])
        .chain(options.iter().map(OsStr::new));
    let tool = Tool::explain(options, program).within(Duration::from_secs(300));
    let mut outcome = tool.under("/usr/bin/nice".into(), ["-n", niceness]).run().unwrap();
    let told = outcome.report.to_string().replace(folder.path().to_str().unwrap(), "");
    outcome.report = told.parse().unwrap();
    outcome
}

/// The members of a report that are not a matter of time.
fn lasting(outcome: &Outcome) -> Vec<&Value> {
    ["verdict", "findings", "races", "schedules", "covered", "not_covered", "complete", "ended"]
        .iter()
        .map(|member| &outcome.report[*member])
        .collect()
}

#[test]
#[ignore = "takes the whole machine: ./test full"]
fn beside_other_work_the_same_is_found_and_explained() {
    for source in ["c/lost_update.c", "c/livelock.c", "waiting/always_waits.c"] {
        let program = Build::new(source, Optimisation::O0).program_for("loaded").unwrap();
        let alone = explore(&program, &[], "0");
        let load = Load::new();
        let beside = explore(&program, &[], "4");
        drop(load);
        assert_eq!(lasting(&alone), lasting(&beside), "{source}");
    }
}

#[test]
#[ignore = "takes the whole machine: ./test full"]
fn a_child_that_waits_for_its_turn_is_waited_for() {
    let program = Build::new("processes/child_computes.c", Optimisation::O0).program_for("loaded").unwrap();
    let options = ["--max-schedules", "2", "--strategy", "icb"];
    let load = Load::new();
    let beside = explore(&program, &options, "4");
    drop(load);
    assert!(!beside.says("--run-timeout"), "{}", beside.transcript());
    assert_eq!(beside.report["findings"].as_array().map(Vec::len), Some(0), "{}", beside.transcript());
}
