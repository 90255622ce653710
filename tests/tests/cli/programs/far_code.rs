//! Programs with so much code that it is decoded only once an execution has come to it.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool};

fn explored(level: Optimisation, flags: &[&str], options: &[&str]) -> Outcome {
    let build =
        flags.iter().fold(Build::new("unseen/code/far_code.c", level), |build, flag| build.flag(flag));
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options =
        [OsStr::new("--output"), folder.path().as_os_str()].into_iter().chain(options.iter().map(OsStr::new));
    Tool::explore(options, &program).run().unwrap()
}

/// An order that is not the first one leads to code that is closed until then.
#[test]
fn what_one_order_leads_to_is_seen() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-DHANDLES"], &["-DPROTECTS"]] {
            for workers in ["1", "3"] {
                let outcome = explored(level, flags, &["--workers", workers]);
                assert_eq!(outcome.code, 1, "{level:?} {flags:?}: {}", outcome.transcript());
                let kind = &outcome.finding()["kind"];
                assert_eq!(kind, "assertion", "{level:?} {flags:?}: {}", outcome.transcript());
            }
        }
    }
}

#[test]
fn every_schedule_with_such_code_is_run() {
    for level in Optimisation::ALL {
        for workers in ["1", "3"] {
            let outcome = explored(level, &["-DLOCKED"], &["--workers", workers, "--strategy", "dpor"]);
            assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
            // Either order of the turns; where both add, the first addition is before, between or behind what the other thread does.
            assert_eq!(outcome.report["schedules"], 4, "{level:?}: {}", outcome.transcript());
            assert_eq!(outcome.report["covered"]["everything"], true, "{level:?}: {}", outcome.transcript());
        }
    }
}

/// A child process runs such code as it does without the tool.
#[test]
fn a_child_process_runs_such_code() {
    for level in Optimisation::ALL {
        let outcome = explored(level, &["-DLOCKED", "-DFORKS"], &[]);
        assert_eq!(outcome.code, 2, "{level:?}: {}", outcome.transcript());
    }
}
