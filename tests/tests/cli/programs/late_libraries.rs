//! Libraries that a program loads. While threads run, their order decides where, and neither key points nor findings depend on that; what
//! `main` loads alone is explored as the other libraries are.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::Value;
use tests::{Build, Optimisation, Tool};

use crate::memory::unseen::explore_built;

/// The library that unwinds a stack is loaded when the first thread leaves, at another place once the calls are known to be shared.
#[test]
fn what_a_handler_does_when_its_thread_leaves_is_found() {
    for level in Optimisation::ALL {
        let program = Build::new("endings/leaves_to_handler.c", level).program().unwrap();
        for (what, strategy) in
            ["memory", "option", "signal"].into_iter().flat_map(|what| [(what, "dpor"), (what, "icb")])
        {
            let folder = tempfile::tempdir().unwrap();
            let options = ["--strategy", strategy, "--output"].map(OsStr::new);
            let options = options.into_iter().chain([folder.path().as_os_str()]);
            let outcome = Tool::explore(options, &program).and([what]).run().unwrap();
            assert_eq!(outcome.code, 1, "{what} {strategy} {level:?}: {}", outcome.transcript());
            let finding = outcome.finding();
            assert_eq!(finding["kind"], "assertion", "{}", outcome.transcript());
            assert_eq!(finding["reproduced"], "2/2", "{}", outcome.transcript());
            // The library's own synchronisation is none of the program's.
            let events = finding["events"].as_array().unwrap();
            let is_once =
                |event: &&Value| event["operation"].as_str().is_some_and(|words| words.contains("once"));
            assert!(!events.is_empty() && events.iter().find(is_once).is_none(), "{}", outcome.transcript());
        }
    }
}

#[test]
fn a_failure_in_a_library_is_one_wherever_that_is_loaded() {
    for level in Optimisation::ALL {
        let source = "unseen/libraries/late_library.c";
        let program = Build::new(source, level).program().unwrap();
        let library = Build::new(source, level).flag("-DPLUG_IN").flag("-shared").flag("-fPIC");
        let library = library.program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--strategy", "dpor", "--keep-going", "--output"].map(OsStr::new);
        let options = options.into_iter().chain([folder.path().as_os_str()]);
        let outcome = Tool::explore(options, &program).and([library]).run().unwrap();
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
        let findings = outcome.report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{level:?}: {}", outcome.transcript());
        assert_eq!(findings[0]["kind"], "always-fails", "{level:?}: {}", outcome.transcript());
        assert!(outcome.report["schedules"].as_u64() > Some(1), "{level:?}: {}", outcome.transcript());
    }
}

/// The library of `unseen/libraries/plug_in.c`.
fn plug_in(level: Optimisation, flags: &[&'static str]) -> PathBuf {
    let library =
        Build::new("unseen/libraries/plug_in.c", level).flag("-DPLUG_IN").flag("-shared").flag("-fPIC");
    flags.iter().fold(library, |library, flag| library.flag(flag)).program().unwrap()
}

#[test]
fn what_a_library_does_that_main_has_loaded_is_found() {
    for level in Optimisation::ALL {
        let program = Build::new("unseen/libraries/plug_in.c", level);
        for (flags, expected) in [(&[][..], 1), (&["-DLOCKED"], 0)] {
            let library = plug_in(level, flags);
            let outcome = explore_built(&program, &[], &[&library.to_string_lossy()]);
            assert_eq!(outcome.code, expected, "{flags:?} {level:?}: {}", outcome.transcript());
            assert!(outcome.says("`main` has loaded its last library"), "{}", outcome.transcript());
        }
    }
}

/// Actions that a copy of the process would lack are done in each execution, and libraries that come after them are not watched.
#[test]
fn libraries_that_are_loaded_after_something_else_take_the_claim_away() {
    for level in Optimisation::ALL {
        for (flag, library) in [
            ("-DOPENS", &["-DLOCKED"][..]),
            ("-DSPEAKS", &["-DLOCKED"]),
            ("-DSTARTS", &["-DLOCKED", "-DSTARTS"]),
        ] {
            let program = Build::new("unseen/libraries/plug_in.c", level).flag(flag);
            let outcome = explore_built(&program, &[], &[&plug_in(level, library).to_string_lossy()]);
            assert_eq!(outcome.code, 2, "{flag} {level:?}: {}", outcome.transcript());
            let unseen = outcome.report["not_covered"].as_array().unwrap();
            assert!(unseen.iter().any(|entry| entry["kind"] == "loaded-code"), "{}", outcome.transcript());
        }
    }
}
