//! Accesses of a library's generic code to memory that the user shares are explored as if the user had written that
//! code.

use std::ffi::OsStr;
use std::fs;

use tests::{Build, Optimisation, Tool, levels, targets};

use super::unseen::explore_built;

/// All code that is compiled for the program is watched: its source may lie where containers have it, be a dependency, or a test framework.
#[test]
fn the_folder_of_the_source_says_nothing_of_what_is_watched() {
    const SOURCE: &str = "unseen/sharing/shared_after_long.c";
    let from = targets();
    for level in levels("shared_after_long") {
        for folder in
            ["/usr/src/app", "/home/user/.cargo/registry/src/index/dependency-1.0.0", "/project/gtest"]
        {
            let flag = format!("-ffile-prefix-map={}={folder}", from.display());
            let outcome = explore_built(&Build::new(SOURCE, level).flag(&flag), &[], &[]);
            assert_eq!(outcome.code, 1, "{folder} {level:?}: {}", outcome.transcript());
        }
        let outcome = explore_built(&Build::new("unseen/code/compares_for_test.cpp", level), &[], &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

/// A program may be called as a library of the system is, or have a namespace of a test framework's.
#[test]
fn names_say_nothing_of_what_is_watched() {
    for level in levels("namespace_testing") {
        let program = Build::new("unseen/sharing/shared_after_long.c", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["libc-test", "ld-linux-test", "libgomp.test"] {
            let renamed = folder.path().join(name);
            fs::copy(&program, &renamed).unwrap();
            let output = ["--output".as_ref(), folder.path().as_os_str()];
            let outcome = Tool::explore(output, &renamed).run().unwrap();
            assert_eq!(outcome.code, 1, "{name} {level:?}: {}", outcome.transcript());
        }
        let outcome = explore_built(&Build::new("unseen/code/namespace_testing.cpp", level), &[], &[]);
        let kind = outcome.report["findings"][0]["kind"].as_str();
        assert_eq!((outcome.code, kind), (1, Some("deadlock")), "{level:?}: {}", outcome.transcript());
    }
}

/// Its threads end before the call returns or wait for the next one: at no call are there several threads of the program's.
#[test]
fn threads_of_a_system_library_are_not_seen() {
    let build = |level| {
        let build = Build::new("unseen/libraries/library_threads.c", level);
        build.flag("-Wl,--no-as-needed").flag("-l:libzstd.so.1")
    };
    for level in levels("library_threads") {
        let bound = ["--max-preemptions", "0"];
        let outcome = explore_built(&build(level), &bound, &[]);
        let [entry] = &outcome.report["not_covered"].as_array().unwrap()[..] else { panic!("one entry") };
        let told = (outcome.code, entry["kind"].as_str(), entry["function"].as_str());
        assert_eq!(told, (2, Some("library-function"), Some("ZSTD_compress2")), "{}", outcome.transcript());
        let outcome = explore_built(&build(level), &[&bound[..], &["--assume", "libzstd.so"]].concat(), &[]);
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    }
}

/// Such code reads what it is given by reference.
#[test]
fn what_the_standard_library_does_with_values_is_watched() {
    for what in ["formats", "parses", "converts", "terminates", "finds", "sets", "splits", "opens", "joins"] {
        for level in levels(what) {
            let outcome = explore_built(&Build::new("unseen/code/values_in_std.rs", level), &[], &[what]);
            assert_eq!(outcome.code, 1, "{what} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Explores an addition by two threads to this collection, which goes wrong if one is interrupted.
fn breaks(collection: &str) {
    let build = |level| Build::new("memory/unguarded.rs", level);
    // As cargo builds a release: what is not inlined has its name alone.
    let released = build(Optimisation::O2).flag("-Cdebuginfo=0").flag("-Cstrip=debuginfo");
    for build in [build(Optimisation::O0), build(Optimisation::O2), released] {
        let program = build.program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--strategy", "icb", "--output"].map(OsStr::new);
        let options = options.into_iter().chain([folder.path().as_os_str()]);
        let outcome = Tool::explore(options, &program).and([collection]).run().unwrap();
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["preemptions"], 1, "{}", outcome.transcript());
    }
}

#[test]
fn an_unguarded_vector_loses_an_element() {
    breaks("Vec");
}

#[test]
fn an_unguarded_queue_loses_an_element() {
    breaks("VecDeque");
}

#[test]
fn an_unguarded_text_loses_a_character() {
    breaks("String");
}

/// Its code is of another crate than the standard library's own.
#[test]
fn an_unguarded_hash_map_loses_an_element() {
    breaks("HashMap");
}

#[test]
fn an_unguarded_tree_is_damaged() {
    breaks("BTreeMap");
}

#[test]
fn collections_of_a_threads_own_have_no_key_points() {
    for level in levels("shares_nothing") {
        let program = Build::new("memory/shares_nothing.rs", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--strategy", "dpor", "--output"].map(OsStr::new);
        let options = options.into_iter().chain([folder.path().as_os_str()]);
        let outcome = Tool::explore(options, &program).run().unwrap();
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
        assert_eq!(outcome.report["schedules"], 1, "{}", outcome.transcript());
    }
}

/// The last call of a function that the library calls back is a jump where it is optimised: what is jumped to returns to the library.
#[test]
fn what_callbacks_end_with_is_not_taken_for_the_librarys_own() {
    for level in Optimisation::ALL {
        for called_back in ["-DONCE", "-DHANDLER", "-DDESTRUCTOR"] {
            for writes in ["-DSTAMP", "-DENVIRONMENT"] {
                let build = |also: &str| {
                    let build = Build::new("unseen/code/jumps_from_callbacks.c", level);
                    build.flag(called_back).flag(writes).flag(also)
                };
                let outcome = explore_built(&build("-DFAILS"), &[], &[]);
                let is_seen = outcome.code == 1 || outcome.code == 2 && writes == "-DENVIRONMENT";
                assert!(is_seen, "{called_back} {writes} {level:?}: {}", outcome.transcript());
                let outcome = explore_built(&build("-DTRY"), &[], &[]);
                let is_right = outcome.code == 0 || outcome.code == 2 && writes == "-DENVIRONMENT";
                assert!(is_right, "{called_back} {writes} {level:?}: {}", outcome.transcript());
            }
        }
    }
}

/// Operators and members of streams are compiled code of the library, which reads and writes what their arguments name.
#[test]
fn what_streams_read_and_write_beside_themselves_is_seen() {
    for used in ["-DNUMBER", "-DCHARACTER", "-DBYTES", "-DSTRING", "-DINSERTED"] {
        for level in levels(used) {
            let build = Build::new("unseen/streams/stream_arguments.cpp", level).flag(used);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{used} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{used} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Templates in the program and the library's own code hand tasks to threads by atomic variables that both touch.
#[test]
fn tasks_that_a_librarys_threads_run_are_explored() {
    let build = |flags: &[&'static str], level| {
        let build = Build::new("unseen/libraries/tasks.cpp", level).flag("-Wl,--no-as-needed,-ltbb");
        flags.iter().fold(build, |build, flag| build.flag(flag))
    };
    for level in levels("tasks") {
        for (flags, most, expected) in [
            (&[][..], "10000", 1),
            // Hundreds of key points: not all schedules of these are run in the time of a test.
            (&["-DTRY"], "4", 2),
            (&["-DQUEUE"], "10000", 1),
            (&["-DQUEUE", "-DTRY"], "10000", 0),
        ] {
            let outcome = explore_built(&build(flags, level), &["--max-schedules", most], &[]);
            assert_eq!(outcome.code, expected, "{flags:?} {level:?}: {}", outcome.transcript());
            let races = outcome.report["races"].as_array().map_or(0, Vec::len);
            assert!(expected == 1 || races == 0, "{flags:?} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Barriers, turns and tasks of OpenMP are code of the runtime library, which calls functions of the program.
#[test]
fn the_runtime_of_openmp_is_watched() {
    for level in levels("openmp_teams") {
        let build =
            |flag| Build::new("correct/synchronisation/openmp_teams.c", level).flag("-fopenmp").flag(flag);
        for flag in ["-DBARRIER", "-DSINGLE"] {
            let outcome = explore_built(&build(flag), &[], &[]);
            let races = outcome.report["races"].as_array().map(Vec::len);
            assert_eq!((outcome.code, races), (0, Some(0)), "{flag} {level:?}: {}", outcome.transcript());
        }
        for flag in ["-DBARRIER", "-DSINGLE", "-DROUNDS", "-DTASK"] {
            let outcome = explore_built(&build(flag).flag("-DMISSED"), &[], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Calls on a stream are not seen access by access. If events order all of them, their order is all that matters.
#[test]
fn streams_that_threads_use_in_turns_are_explored() {
    let cpp = |flags: &[&'static str], level| {
        let build = Build::new("unseen/streams/stream_in_order.cpp", level).flag("-std=c++20");
        flags.iter().fold(build, |build, flag| build.flag(flag))
    };
    let c = |flag: &'static str, level| Build::new("unseen/streams/file_in_order.c", level).flag(flag);
    for level in levels("streams in order") {
        for (build, expected) in [
            (cpp(&["-DTRY"], level), 0..=0),
            (cpp(&["-DTRY", "-DMIDST"], level), 0..=0),
            (cpp(&["-DORDER"], level), 1..=1),
            (cpp(&["-DHALF=true"], level), 2..=2),
            (cpp(&["-DHALF=false", "-DMIDST"], level), 2..=2),
            // The text is not watched where it is looked at; orders of the calls show it, if these are run.
            (cpp(&["-DHALF=false", "-DKEPT"], level), 1..=2),
            (c("-DTRY", level), 0..=0),
            (c("-DORDER", level), 1..=1),
            (c("-DKEPT", level), 1..=2),
        ] {
            let outcome = explore_built(&build, &[], &[]);
            assert!(expected.contains(&outcome.code), "{build:?}: {}", outcome.transcript());
        }
    }
}

/// The lock of a stream makes each call on it whole: calls of several threads are explored in every order, and wait for one another.
#[test]
fn streams_that_threads_share_are_explored() {
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), "1\n20\n300\n").unwrap();
    let reads = ["--stdin", input.path().to_str().unwrap()];
    for level in levels("shared streams") {
        for (source, flags, expected) in [
            ("shared_stream", &[][..], 1),
            ("shared_stream", &["-DFLUSHES"], 1),
            ("shared_stream", &["-DANY"], 0),
            ("shared_stream", &["-DTOGETHER"], 0),
            ("shared_stream", &["-DTOGETHER", "-DFLUSHES"], 0),
            ("unlocked_stream", &["-DTRY"], 0),
            ("unlocked_stream", &["-DTRY", "-DMACRO"], 0),
            ("stream_locks", &["-DCOUNTS"], 0),
            ("stream_locks", &["-DCOUNTS", "-DTRIES"], 0),
            ("stream_locks", &["-DCOUNTS", "-DTRIES", "-DBOTH"], 1),
            ("stream_locks", &["-DTRY"], 0),
            ("stream_locks", &[], 1),
            ("shared_input", &[], 0),
            ("shared_input", &["-DCOUNTS"], 1),
            ("shared_input", &["-DMEMORY"], 0),
            ("shared_input", &["-DMEMORY", "-DCOUNTS"], 1),
            ("shared_input", &["-DSTANDARD"], 1),
        ] {
            let build = Build::new(format!("unseen/streams/{source}.c"), level);
            let build = flags.iter().fold(build, |build, flag| build.flag(flag));
            let outcome = explore_built(&build, &reads, &[]);
            assert_eq!(outcome.code, expected, "{build:?}: {}", outcome.transcript());
        }
    }
}

/// A function without the lock of its stream is not whole: another thread may find the stream half changed. One that has it is, but for a
/// thread that tries to take the lock meanwhile.
#[test]
fn calls_on_streams_that_are_not_whole_are_not_claimed() {
    for level in levels("unlocked streams") {
        for flags in [&[][..], &["-DMACRO"], &["-DTRIES"]] {
            let build = Build::new("unseen/streams/unlocked_stream.c", level);
            let build = flags.iter().fold(build, |build, flag| build.flag(flag));
            let outcome = explore_built(&build, &[], &[]);
            assert_ne!(outcome.code, 0, "{build:?}: {}", outcome.transcript());
        }
    }
}

/// The library's generic functions that were made with the user's code in them have names of the library and no lines. With its
/// debug information, the library's own functions have lines; without, their symbols name its crates.
#[test]
fn what_is_inlined_into_the_librarys_generic_code_is_found() {
    let build = Build::new("unseen/code/inlined_into_library.rs", Optimisation::O2).flag("-Cdebuginfo=0");
    for build in [build.clone(), build.clone().flag("-Cstrip=debuginfo")] {
        let program = build.program().unwrap();
        for how in ["scope", "debug", "sort", "read", "buffered read", "write"] {
            for (in_one_step, expected) in [(false, 1), (true, 0)] {
                let folder = tempfile::tempdir().unwrap();
                let options = ["--output".as_ref(), folder.path().as_os_str()];
                let arguments = [how, "in one step"];
                let arguments = if in_one_step { &arguments[..] } else { &arguments[..1] };
                let outcome = Tool::explore(options, &program).and(arguments).run().unwrap();
                assert_eq!(outcome.code, expected, "{how}, {in_one_step}: {}", outcome.transcript());
            }
        }
    }
}

/// Memory of the library that has no name outside is found where its functions hand its address on.
#[test]
fn results_that_the_library_keeps_are_lost_to_the_next_call() {
    for flag in ["-DTIME", "-DDATE"] {
        for level in levels(flag) {
            let build = Build::new("unseen/libraries/static_results.c", level).flag(flag);
            let outcome = explore_built(&build, &["--strategy", "dpor"], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The C library's own code is not followed there: a call is one event.
#[test]
fn calls_on_the_environment_are_ordered() {
    let variants = [
        ("-DNUMBER", true),
        ("-DZONE", true),
        ("-DTEXT", true),
        ("-DITSELF", false),
        ("-DPUTS", false),
        ("-DSTORES", true),
        ("-DLISTS", true),
    ];
    for (what, claimed) in variants {
        for level in levels(what) {
            let build = Build::new("unseen/libraries/environment.c", level).flag(what);
            let locked = explore_built(&build.clone().flag("-DTRY"), &[], &[]);
            assert_eq!(locked.code, if claimed { 0 } else { 2 }, "{what} {level:?}: {}", locked.transcript());
            assert_eq!(locked.report["findings"], serde_json::json!([]), "{}", locked.transcript());
            for strategy in ["auto", "dpor"] {
                let outcome = explore_built(&build, &["--strategy", strategy], &[]);
                let codes = if claimed { &[1][..] } else { &[1, 2] };
                assert!(
                    codes.contains(&outcome.code),
                    "{what} {level:?} {strategy}: {}",
                    outcome.transcript()
                );
            }
        }
    }
}

/// They are events, in all orders of which such a call is whole.
#[test]
fn calls_that_may_be_found_half_done_take_the_claim_away() {
    for what in ["-DREMOVES", "-DMAKES", "-DWRITES", "-DREPLACES"] {
        for level in levels(what) {
            let build = Build::new("unseen/libraries/half_done_calls.c", level).flag(what);
            let outcome = explore_built(&build, &[], &[]);
            assert_ne!(outcome.code, 0, "{what} {level:?}: {}", outcome.transcript());
            let locked = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(locked.report["findings"], serde_json::json!([]), "{what}: {}", locked.transcript());
            let is_claimed = ["-DREMOVES", "-DMAKES"].contains(&what);
            assert!(locked.code == 0 || !is_claimed, "{what} {level:?}: {}", locked.transcript());
        }
    }
}

/// Locks of standard streams, keys of thread-specific data, ends of threads: the library's functions wait for, or look at, what others
/// hold, delete or come to.
#[test]
fn what_functions_of_the_library_rely_on_is_seen() {
    for (source, correct) in [
        ("streams/locked_outputs.c", "-DORDERED"),
        ("libraries/deleted_key.c", "-DKEPT"),
        ("endings/cancelled_join.c", "-DDISABLED"),
    ] {
        for level in levels(source) {
            let build = Build::new(format!("unseen/{source}"), level);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{source} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag(correct), &[], &[]);
            assert_eq!(outcome.code, 0, "{source} {level:?}: {}", outcome.transcript());
        }
    }
    for level in levels("joins_itself") {
        let outcome = explore_built(&Build::new("unseen/endings/joins_itself.c", level), &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn what_other_threads_set_is_not_passed_over() {
    for (what, code) in [("-DZONE", 1), ("-DSIZE", 2)] {
        for level in levels(what) {
            let build = Build::new("unseen/libraries/settings_of_others.c", level).flag(what);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, code, "{what} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.report["findings"], serde_json::json!([]), "{}", outcome.transcript());
        }
    }
}

#[test]
fn owners_of_exceptions_are_not_passed_over() {
    for level in levels("exception_owners") {
        let build = Build::new("unseen/libraries/exception_owners.cpp", level);
        let outcome = explore_built(&build, &[], &[]);
        assert_ne!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        let locked = explore_built(&build.flag("-DTRY"), &[], &[]);
        assert_eq!(locked.report["findings"], serde_json::json!([]), "{level:?}: {}", locked.transcript());
    }
}

/// The library destroys what is left of a result: nothing else that threads share, unless the result is an exception.
#[test]
fn results_of_tasks_are_destroyed_in_view_unless_they_are_exceptions() {
    for level in levels("results_of_tasks") {
        let build = Build::new("unseen/libraries/results_of_tasks.cpp", level);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        let thrown = explore_built(&build, &[], &["exception"]);
        assert_eq!(thrown.code, 2, "{level:?}: {}", thrown.transcript());
    }
}

/// Generic code of Rust's `std` that reads and writes is compiled with the program, whatever debug information says of its file.
#[test]
fn readers_of_rusts_library_are_watched() {
    for level in levels("shared_cursor") {
        let build = Build::new("unseen/libraries/shared_cursor.rs", level);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
        let locked = explore_built(&build.flag("--cfg=locked"), &[], &[]);
        assert_eq!(locked.code, 0, "{level:?}: {}", locked.transcript());
    }
}
