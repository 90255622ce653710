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
        for flags in [&[][..], &["-DHANDLES"], &["-DPROTECTS"], &["-DSPINS"]] {
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

/// The program decides what memory may be executed, which the tool finds out when it closes its code, or opens it again.
#[test]
fn code_that_cannot_be_closed_or_opened_is_open() {
    for level in Optimisation::ALL {
        for restriction in ["-DIMPLIES", "-DREFUSES", "-DREFUSES_LATE"] {
            let outcome = explored(level, &[restriction], &[]);
            assert_eq!(outcome.code, 1, "{level:?} {restriction}: {}", outcome.transcript());
            let outcome = explored(level, &[restriction, "-DLOCKED"], &[]);
            assert_eq!(outcome.code, 0, "{level:?} {restriction}: {}", outcome.transcript());
        }
    }
}

/// Code that the program can write takes the claim away, and is left as it is.
#[test]
fn code_that_a_constructor_makes_writable_can_be_written() {
    for level in Optimisation::ALL {
        let outcome = explored(level, &["-DWRITABLE", "-DLOCKED"], &[]);
        let told = (outcome.code, outcome.report["not_covered"][0]["kind"].as_str());
        assert_eq!(told, (2, Some("generated-code")), "{level:?}: {}", outcome.transcript());
    }
}

/// The traps in code are gone where that is read from its file again.
#[test]
fn code_that_is_discarded_takes_the_claim_away() {
    for level in Optimisation::ALL {
        for flags in [&["-DDISCARDS"][..], &["-DDISCARDS", "-DLOCKED"]] {
            let outcome = explored(level, flags, &[]);
            let entries = &outcome.report["not_covered"];
            let told = (outcome.code, entries[0]["kind"].as_str());
            assert_eq!(told, (2, Some("generated-code")), "{level:?} {flags:?}: {}", outcome.transcript());
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
