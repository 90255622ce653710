//! Code of which no table tells where functions begin, or which bytes are instructions.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool};

const SOURCE: &str = "unseen/untyped_code.c";
const WITHOUT_TABLES: [&str; 3] = ["-s", "-fno-asynchronous-unwind-tables", "-DIN_C"];

fn explored(source: &str, level: Optimisation, flags: &[&str]) -> Outcome {
    let build = flags.iter().fold(Build::new(source, level), |build, flag| build.flag(flag));
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    Tool::explore([OsStr::new("--output"), folder.path().as_os_str()], &program).run().unwrap()
}

#[test]
fn code_that_no_symbol_calls_a_function_is_watched() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-s"], &WITHOUT_TABLES] {
            let outcome = explored(SOURCE, level, flags);
            assert_eq!(outcome.code, 1, "{level:?} {flags:?}: {}", outcome.transcript());
            let outcome = explored(SOURCE, level, &[flags, &["-DTRY"]].concat());
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

/// A short piece of code to which only data points may be data, unless most code is like that.
#[test]
fn what_may_be_data_is_told_where_it_looks_like_code() {
    for level in Optimisation::ALL {
        let outcome = explored(SOURCE, level, &["-s", "-DBY_POINTER"]);
        let entries = outcome.report["not_covered"].as_array().into_iter().flatten();
        let is_told = entries.into_iter().any(|entry| entry["kind"] == "undecoded-code");
        assert!(outcome.code == 1 || outcome.code == 2 && is_told, "{level:?}: {}", outcome.transcript());
        let outcome = explored(SOURCE, level, &[&WITHOUT_TABLES[..], &["-DBY_POINTER"]].concat());
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn functions_that_begin_with_what_fills_are_left_whole() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-fpatchable-function-entry=2", "-Os"]] {
            let outcome = explored("unseen/begins_with_filler.c", level, flags);
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}
