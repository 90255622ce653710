//! A thread that has to look whether it may go on, and does not.

use std::env;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use ptrace_backend::attention::Attention;

/// The number of `SIGABRT`.
const ABORT: i32 = 6;

/// Set for the process that is to be ended.
const DEAF: &str = "INTERLEAVER_TEST_DEAF";

#[test]
fn a_loop_that_does_not_look_ends_the_process() {
    if env::var_os(DEAF).is_some() {
        let _attention = Attention::pay();
        for round in 0_u64.. {
            black_box(round);
        }
    }
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", "a_loop_that_does_not_look_ends_the_process", "--nocapture"]).env(DEAF, "1");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORT), "{said}");
    assert!(said.contains("without looking whether it may go on"), "{said}");
}
