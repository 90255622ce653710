//! Code of which no table tells where functions begin, or which bytes are instructions.

use std::ffi::OsStr;

use tests::{Build, Optimisation, Outcome, Tool};

const SOURCE: &str = "unseen/code/untyped_code.c";
const WITHOUT_TABLES: [&str; 3] = ["-s", "-fno-asynchronous-unwind-tables", "-DIN_C"];

fn explored(source: &str, level: Optimisation, flags: &[&str]) -> Outcome {
    let build = flags.iter().fold(Build::new(source, level), |build, flag| build.flag(flag));
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    Tool::explore([OsStr::new("--output"), folder.path().as_os_str()], &program).run().unwrap()
}

/// Whether a claim is withheld since there is code of which nothing is known.
fn is_told_undecoded(outcome: &Outcome) -> bool {
    let mut entries = outcome.report["not_covered"].as_array().into_iter().flatten();
    outcome.code == 2 && entries.any(|entry| entry["kind"] == "undecoded-code")
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
        assert!(outcome.code == 1 || is_told_undecoded(&outcome), "{level:?}: {}", outcome.transcript());
        let outcome = explored(SOURCE, level, &[&WITHOUT_TABLES[..], &["-DBY_POINTER"]].concat());
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

/// The bug is found, or the claim withheld, since there is code of which nothing is known.
#[test]
fn code_that_nothing_calls_code_is_watched_or_told() {
    for level in Optimisation::ALL {
        for flags in [&["-DVARIABLE"][..], &["-DSTUBS"], &[]] {
            let outcome = explored("unseen/code/not_called_code.c", level, flags);
            assert!(
                outcome.code == 1 || is_told_undecoded(&outcome),
                "{level:?} {flags:?}: {}",
                outcome.transcript()
            );
            let outcome = explored("unseen/code/not_called_code.c", level, &[flags, &["-DTRY"]].concat());
            assert!(
                outcome.code == 0 || is_told_undecoded(&outcome),
                "{level:?} {flags:?}: {}",
                outcome.transcript()
            );
        }
    }
}

#[test]
fn a_program_without_any_table_is_watched_from_its_first_instruction() {
    const WITHOUT: [&str; 5] = [
        "-s",
        "-nostartfiles",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-Wl,--no-ld-generated-unwind-info",
    ];
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-DON_STACK"]] {
            let flags = [&WITHOUT, flags].concat();
            let outcome = explored("unseen/code/own_start.c", level, &flags);
            assert_eq!(outcome.code, 1, "{level:?} {flags:?}: {}", outcome.transcript());
            let outcome = explored("unseen/code/own_start.c", level, &[&flags[..], &["-DLOCKED"]].concat());
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn a_callee_may_go_back_to_elsewhere() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-DOVER_TEXT"]] {
            let outcome = explored("unseen/code/odd_returns.c", level, flags);
            let is_assertion = outcome.code == 1 && outcome.finding()["kind"] == "assertion";
            assert!(
                is_assertion || is_told_undecoded(&outcome),
                "{level:?} {flags:?}: {}",
                outcome.transcript()
            );
            let outcome = explored("unseen/code/odd_returns.c", level, &[flags, &["-DLOCKED"]].concat());
            assert!(
                outcome.code == 0 || is_told_undecoded(&outcome),
                "{level:?} {flags:?}: {}",
                outcome.transcript()
            );
        }
    }
}

/// No failure of the program: the copy holds what stands for the copied instructions while it is explored.
#[test]
fn a_copy_of_the_programs_code_is_refused() {
    for level in Optimisation::ALL {
        for flags in [&["-DSHORT"][..], &[]] {
            let outcome = explored("unseen/code/copied_code.c", level, flags);
            assert_eq!(outcome.code, 3, "{level:?} {flags:?}: {}", outcome.transcript());
            assert!(outcome.says("code that it has made"), "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn breakpoints_in_generated_code_are_the_programs_own() {
    for level in Optimisation::ALL {
        let outcome = explored("unseen/code/own_breakpoints.c", level, &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{level:?}: {}", outcome.transcript());
        let outcome = explored("unseen/code/own_breakpoints.c", level, &["-DLOCKED"]);
        assert!(outcome.code == 0 || outcome.code == 2, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn functions_that_begin_with_what_fills_are_left_whole() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-fpatchable-function-entry=2", "-Os"]] {
            let outcome = explored("unseen/code/begins_with_filler.c", level, flags);
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn data_among_instructions_is_left_alone() {
    for level in Optimisation::ALL {
        for flags in [&[][..], &["-s"]] {
            let outcome = explored("unseen/code/data_among_instructions.c", level, flags);
            let kind = &outcome.finding()["kind"];
            assert_eq!(
                (outcome.code, kind),
                (1, &"assertion".into()),
                "{level:?} {flags:?}: {}",
                outcome.transcript()
            );
            let outcome =
                explored("unseen/code/data_among_instructions.c", level, &[flags, &["-DLOCKED"]].concat());
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn stacks_may_move_before_main() {
    for level in Optimisation::ALL {
        let outcome = explored("startup/moves_stack.c", level, &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

/// Without section headers nothing says what is code: no instruction of such a program is watched, and nothing claimed.
#[test]
fn programs_without_section_headers_are_not_called_clean() {
    /// The places of the headers' offset, and of their size, number and names, in the header of an ELF file.
    const HEADERS: [std::ops::Range<usize>; 2] = [40..48, 58..64];
    let program = Build::new("c/lost_update.c", Optimisation::O2).program().unwrap();
    let mut bytes = std::fs::read(program).unwrap();
    HEADERS.into_iter().for_each(|range| bytes[range].fill(0));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("lost_update");
    std::fs::write(&program, bytes).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let outcome = Tool::explore([OsStr::new("--output"), folder.path().as_os_str()], &program).run().unwrap();
    let entry = &outcome.report["not_covered"][0]["kind"];
    assert_eq!((outcome.code, entry), (2, &"undecoded-code".into()), "{}", outcome.transcript());
}
