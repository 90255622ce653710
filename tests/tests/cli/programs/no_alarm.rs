//! Correct programs of kinds that were once called broken, or refused; and misuse that was once called correct.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tests::{Build, Optimisation, Outcome, Tool, levels, sample};

fn explore(build: &Build) -> Outcome {
    explore_with(build, &[])
}

fn explore_with(build: &Build, options: &[&str]) -> Outcome {
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = ["--output".as_ref(), folder.path().as_os_str()];
    Tool::explore(output.into_iter().chain(options.iter().map(AsRef::as_ref)), &program).run().unwrap()
}

#[test]
fn correct_programs_are_clean() {
    for source in [
        "time/intended_timeout.c",
        "time/invalid_limit.c",
        "time/invalid_sleep.c",
        "time/clock_after_join.c",
        "synchronisation/tries_and_yields.c",
        "synchronisation/mutex_on_stack.c",
        "kernel/processors.c",
        "code/own_cells.rs",
        "kernel/own_numbers.c",
        "code/lent_frames.c",
        "kernel/calls_under_lock.c",
        "code/jumps_to_functions.c",
        "code/jumps_between.c",
        "kernel/maps_before_main.c",
        "synchronisation/standard_threads.c",
        "code/adds_in_vectors.c",
        "kernel/own_processors.c",
        "time/processor_clocks.c",
        "code/string_streams.cpp",
        "code/last_owner.cpp",
        "synchronisation/detached_each.c",
    ] {
        for level in levels(source) {
            let outcome = explore(&Build::new(format!("correct/{source}"), level));
            let races = outcome.report["races"].as_array().map(Vec::len);
            assert_eq!((outcome.code, races), (0, Some(0)), "{source} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Memory on a thread's own stack is not its own where another thread has the address. No thread has to run for as long as it may.
#[test]
fn a_wait_for_what_lies_on_the_own_stack_comes_to_an_end() {
    let kinds = ["-DYIELDS", "-DPAUSES", "-DLOOKS"];
    for (flag, level) in kinds.into_iter().flat_map(|flag| Optimisation::ALL.map(|level| (flag, level))) {
        let program =
            Build::new("correct/synchronisation/waits_on_own_stack.c", level).flag(flag).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--run-timeout", "10m", "--output"].iter().map(AsRef::as_ref);
        let outcome = Tool::explore(options.chain([folder.path().as_os_str()]), &program).run().unwrap();
        assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
    }
}

/// An execution that is cut claims nothing, and nothing is found.
#[test]
fn a_long_calculation_in_vector_registers_is_no_livelock() {
    let program = Build::new("correct/code/converges.c", Optimisation::O2).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--run-timeout", "200ms", "--max-schedules", "1", "--output"].iter().map(AsRef::as_ref);
    let outcome = Tool::explore(options.chain([folder.path().as_os_str()]), &program).run().unwrap();
    let findings = outcome.report["findings"].as_array().map(Vec::len);
    assert_eq!((outcome.code, findings), (2, Some(0)), "{}", outcome.transcript());
}

/// Time passes for a thread that polls, not for one that has come to a yield.
#[test]
fn no_time_limit_passes_at_a_single_yield() {
    for level in levels("yields_before_wake") {
        for flags in [&[][..], &["-DPOLLS"]] {
            let build = Build::new("correct/time/yields_before_wake.c", level);
            let outcome = explore(&flags.iter().fold(build, |build, flag| build.flag(flag)));
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn a_wait_by_the_processors_time_stamps_comes_to_an_end() {
    for level in levels("waits_by_time_stamps") {
        for flags in [&[][..], &["-DLOOKS"]] {
            let build = Build::new("correct/time/waits_by_time_stamps.c", level);
            let outcome = explore(&flags.iter().fold(build, |build, flag| build.flag(flag)));
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

/// Time stamps that known code reads are answered at traps; code that comes later is known to have come, and nothing else is claimed of it.
#[test]
fn time_stamps_are_made_up_in_code_that_the_program_has_made_too() {
    for level in levels("generated_time_stamps") {
        let outcome = explore(&Build::new("correct/time/generated_time_stamps.c", level));
        let unseen = outcome.report["not_covered"].as_array().map(|kinds| kinds[0]["kind"].as_str());
        let told = (outcome.code, outcome.report["findings"].as_array().map(Vec::len), unseen.flatten());
        assert_eq!(told, (2, Some(0), Some("generated-code")), "{level:?}: {}", outcome.transcript());
    }
}

/// A lock that the C library takes for itself orders what it does under that, although it is no event.
#[test]
fn requests_of_the_c_library_are_in_no_race() {
    for level in levels("asynchronous_writes") {
        let outcome = explore(&Build::new("correct/kernel/asynchronous_writes.c", level));
        let races = outcome.report["races"].as_array().map(Vec::len);
        let kind = outcome.report["not_covered"][0]["kind"].as_str();
        assert_eq!((outcome.code, races, kind), (2, Some(0), Some("task")), "{}", outcome.transcript());
    }
}

/// If a handler can run, or a cancellation comes anywhere, nothing is claimed; nothing is found either.
#[test]
fn signals_arrive_as_they_were_sent() {
    for (source, flag, unseen) in [
        ("kernel/signal_data.c", "-DQUEUED", None),
        ("kernel/cancelled_at_once.c", "-DSLEEP", Some("asynchronous-cancellation")),
        ("kernel/cancelled_at_once.c", "-DSEMAPHORE", Some("asynchronous-cancellation")),
    ] {
        for level in levels(source) {
            let outcome = explore(&Build::new(format!("correct/{source}"), level).flag(flag));
            let kinds = outcome.report["not_covered"].as_array().map(|kinds| kinds[0]["kind"].as_str());
            let told = (outcome.code, outcome.report["findings"].as_array().map(Vec::len), kinds.flatten());
            assert_eq!(told, (2, Some(0), unseen), "{source} {flag} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn what_a_program_maps_over_the_tools_own_memory_is_its_own() {
    for level in levels("maps_at_places") {
        for flags in [&[][..], &["-DEARLY"]] {
            let build = Build::new("correct/kernel/maps_at_places.c", level);
            let outcome = explore(&flags.iter().fold(build, |build, flag| build.flag(flag)));
            assert_eq!(outcome.code, 0, "{level:?} {flags:?}: {}", outcome.transcript());
        }
    }
}

/// Explores a program whose threads lock files of a folder.
fn explore_locks(build: &Build, folder: &Path) -> Outcome {
    let store = tempfile::tempdir().unwrap();
    let options = ["--output".as_ref(), store.path().as_os_str(), "--cwd".as_ref(), folder.as_os_str()];
    Tool::explore(options, &build.program().unwrap()).run().unwrap()
}

#[test]
fn locks_of_files_exclude_one_another() {
    let variants = [("", 0, None), ("-DCLOSED", 0, None), ("-DSHARED", 1, Some("assertion"))];
    let variants = variants.into_iter().chain([("-DCROSSED", 1, Some("deadlock"))]);
    let builds = variants.flat_map(|variant| ["", "-DRANGES"].map(|ranges| (variant, ranges)));
    let builds = builds.flat_map(|build| Optimisation::ALL.map(|level| (build, level)));
    for (((variant, code, kind), ranges), level) in sample(builds, 3) {
        let flags = [variant, ranges].into_iter().filter(|flag| !flag.is_empty());
        let build = flags.fold(Build::new("correct/synchronisation/file_locks.c", level), Build::flag);
        let folder = tempfile::tempdir().unwrap();
        let outcome = explore_locks(&build, folder.path());
        assert_eq!(outcome.code, code, "{variant} {ranges} {level:?}: {}", outcome.transcript());
        let found = outcome.report["findings"][0]["kind"].as_str();
        assert_eq!(found, kind, "{variant} {ranges} {level:?}: {}", outcome.transcript());
    }
}

#[test]
fn threads_wait_for_semaphores_and_messages_of_the_kernel() {
    let variants =
        [("-DPLAIN", 0, None), ("-DRACING", 1, Some("assertion")), ("-DCROSSED", 1, Some("always-fails"))];
    let ways = ["-DSEMAPHORES", "-DMESSAGES", "-DPOSIX", "-DPIPES"];
    let builds = variants.into_iter().flat_map(|variant| ways.map(|way| (variant, way)));
    let builds = builds.flat_map(|build| Optimisation::ALL.map(|level| (build, level)));
    for (((variant, code, kind), way), level) in sample(builds, 5) {
        let outcome = explore(&Build::new("correct/kernel/kernel_queues.c", level).flag(way).flag(variant));
        assert_eq!(outcome.code, code, "{variant} {way} {level:?}: {}", outcome.transcript());
        let found = outcome.report["findings"][0]["kind"].as_str();
        assert_eq!(found, kind, "{variant} {way} {level:?}: {}", outcome.transcript());
    }
}

#[test]
fn a_lock_that_another_process_holds_is_no_deadlock() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("one")).unwrap();
    file.lock().unwrap();
    let outcome =
        explore_locks(&Build::new("correct/synchronisation/file_locks.c", Optimisation::O0), folder.path());
    let unseen = &outcome.report["not_covered"][0]["kind"];
    assert_eq!((outcome.code, unseen), (2, &"outside-input".into()), "{}", outcome.transcript());
}

/// Arguments of `unshare` for a namespace of mounts, where one is permitted.
fn namespace() -> Option<[&'static str; 2]> {
    let arguments = ["--map-root-user", "--mount"];
    let made = Command::new("unshare").args(arguments).arg("true").status();
    made.is_ok_and(|status| status.success()).then_some(arguments)
}

/// Symbols of the C library that are not for linking are in a package of their own: a claim does not rest on whether it is
/// installed.
#[test]
fn nothing_is_taken_away_for_want_of_the_c_librarys_debug_symbols() {
    const HIDE: &str = "[ ! -d /usr/lib/debug ] || mount -t tmpfs none /usr/lib/debug; exec \"$0\" \"$@\"";
    let Some(namespace) = namespace() else { return };
    let builds = [
        ("endings/cancelled.c", &["-DACT=WAIT"][..]),
        ("correct/kernel/kernel_queues.c", &["-DPIPES", "-DPLAIN"]),
    ];
    for (source, flags) in builds {
        for level in levels(source) {
            let build = flags.iter().fold(Build::new(source, level), |build, flag| build.flag(flag));
            let store = tempfile::tempdir().unwrap();
            let tool =
                Tool::explore(["--output".as_ref(), store.path().as_os_str()], &build.program().unwrap());
            let outcome = tool.under("unshare".into(), namespace.into_iter().chain(["sh", "-c", HIDE])).run();
            let outcome = outcome.unwrap();
            assert_eq!(outcome.code, 0, "{source} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Explores a program with its library, which are built from one source. Libraries below `/usr/lib` are the system's: the folder with this
/// one is shown there, in a namespace of its own. `None`: such are not permitted.
fn explore_beside_system_library(source: &str, level: Optimisation) -> Option<Outcome> {
    const SHOW: &str = "mount --bind \"$0\" /usr/lib/gcc && exec \"$@\"";
    let namespace = namespace()?;
    let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
    let library =
        ["-DLIBRARY", "-shared", "-fPIC"].iter().fold(Build::new(source, Optimisation::O2), |b, f| b.flag(f));
    let library = library.program().unwrap();
    let folder = library.parent().unwrap().to_str().unwrap();
    fs::copy(&library, format!("{folder}/lib{name}.so")).unwrap();
    let build = Build::new(source, level).flag(&format!("-Wl,--no-as-needed,-L{folder},-l{name}"));
    let store = tempfile::tempdir().unwrap();
    let tool = Tool::explore(["--output".as_ref(), store.path().as_os_str()], &build.program().unwrap());
    let tool = tool.with("LD_LIBRARY_PATH", "/usr/lib/gcc".as_ref());
    let tool = tool.under("unshare".into(), namespace.into_iter().chain(["sh", "-c", SHOW, folder]));
    Some(tool.run().unwrap())
}

/// The library's thread calls what it is given, so that what it does besides is not seen.
#[test]
fn a_library_of_the_system_wakes_its_own_threads() {
    for level in levels("own_pool") {
        let outcome = explore_beside_system_library("correct/synchronisation/own_pool.c", level);
        let Some(outcome) = outcome else { return };
        let kind = outcome.report["not_covered"][0]["kind"].as_str();
        let told = (outcome.code, outcome.report["findings"].as_array().map(Vec::len), kind);
        assert_eq!(told, (2, Some(0), Some("library-function")), "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn what_the_thread_of_a_system_library_does_is_watched_where_its_function_is_known() {
    for level in levels("counting_library") {
        let outcome = explore_beside_system_library("unseen/libraries/counting_library.c", level);
        let Some(outcome) = outcome else { return };
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn a_program_gets_the_name_that_it_is_called_by() {
    let program = Build::new("correct/code/called_by_link.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("server");
    symlink(&program, &link).unwrap();
    let outcome = Tool::explore(["--output", "out"], "./server".as_ref()).within_folder(folder.path()).run();
    let outcome = outcome.unwrap();
    let told = outcome.report["target"].as_str().unwrap_or_default();
    assert!(outcome.code == 0 && told.ends_with("server"), "{}", outcome.transcript());
    // Called by its own name it fails, and so does its replay, which calls it by that again.
    fs::copy(&program, folder.path().join("other")).unwrap();
    let outcome = Tool::explore(["--output", "out"], "./other".as_ref()).within_folder(folder.path()).run();
    let outcome = outcome.unwrap();
    assert_eq!((outcome.code, &outcome.finding()["kind"]), (1, &"always-fails".into()));
    let schedule = outcome.finding()["schedule_file"].as_str().unwrap().to_owned();
    let replay = Tool::new(["replay", "--format", "json", &schedule]).within_folder(folder.path());
    assert_eq!(replay.run().unwrap().code, 1);
}

#[test]
fn what_is_used_after_it_was_destroyed_fails() {
    for level in levels("destroyed") {
        for variant in ["-DMUTEX", "-DHEAP", "-DSEMAPHORE", "-DCONDITION"] {
            let build = Build::new("endings/destroyed.c", level).flag(variant);
            let outcome = explore(&build);
            let kind = &outcome.finding()["kind"];
            assert_eq!((outcome.code, kind), (1, &"use-after-destroy".into()), "{}", outcome.transcript());
            let outcome = explore(&build.flag("-DJOINED"));
            assert_eq!(outcome.code, 0, "{variant} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The data races that are told of a program, with whether they are certain.
fn races(build: &Build) -> Vec<(String, bool)> {
    let outcome = explore(build);
    let races = outcome.report["races"].as_array().unwrap_or_else(|| panic!("{}", outcome.transcript()));
    let told = |race: &serde_json::Value| {
        (race["variable"].as_str().unwrap_or_default().to_owned(), race["certain"] == true)
    };
    races.iter().map(told).collect()
}

#[test]
fn atomics_that_only_the_source_tells_of_order_what_they_publish() {
    for level in levels("atomics_of_macros") {
        let build = Build::new("correct/synchronisation/atomics_of_macros.c", level);
        assert_eq!(races(&build), [], "{level:?}");
        let without =
            |flag: &str| races(&Build::new("correct/synchronisation/atomics_of_macros.c", level).flag(flag));
        for flag in ["-DNO_FLAG", "-DONE_LINE"] {
            assert_eq!(without(flag), [("mailbox.letter".to_owned(), true)], "{flag} {level:?}");
        }
    }
}

#[test]
fn barriers_within_libraries_order() {
    for level in levels("openmp") {
        let build = || Build::new("correct/synchronisation/openmp.c", level).flag("-fopenmp");
        assert_eq!(races(&build()), [], "{level:?}");
        let found = races(&build().flag("-DNO_BARRIER"));
        assert!(
            found.iter().any(|(variable, certain)| variable.starts_with("first") && *certain),
            "{found:?}"
        );
    }
}

/// Reads by libraries of their own words while others write them may be atomic, and count for nothing here.
#[test]
fn locks_within_libraries_order() {
    for level in levels("openmp_locks") {
        for kind in ["-DCRITICAL", "-DLOCK", "-DNEST", "-DORDERED"] {
            let counted = |flags: &[&str]| {
                let build =
                    Build::new("correct/synchronisation/openmp_locks.c", level).flag("-fopenmp").flag(kind);
                let found = races(&flags.iter().fold(build, |build, flag| build.flag(flag)));
                found.into_iter().filter(|(variable, _)| variable == "count").collect::<Vec<_>>()
            };
            assert_eq!(counted(&[]), [], "{kind} {level:?}");
            assert_eq!(counted(&["-DMISSED"]), [("count".to_owned(), true)], "{kind} {level:?}");
        }
    }
}

#[test]
fn one_call_changes_a_word_and_wakes_at_two() {
    for level in levels("wake_op") {
        let build = || Build::new("correct/synchronisation/wake_op.c", level);
        let outcome = explore(&build());
        let found = outcome.report["races"].as_array().map(Vec::len);
        assert_eq!((outcome.code, found), (0, Some(0)), "{level:?}: {}", outcome.transcript());
        for (flag, kind) in [("-DLATE", "assertion"), ("-DKEPT", "always-fails")] {
            let outcome = explore(&build().flag(flag));
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            let found = outcome.report["findings"][0]["kind"].as_str();
            assert_eq!(found, Some(kind), "{flag} {level:?}: {}", outcome.transcript());
        }
        assert!(races(&build().flag("-DLATE")).contains(&("letter".to_owned(), true)), "{level:?}");
    }
}

#[test]
fn an_indivisible_instruction_on_private_memory_is_a_fence() {
    for level in levels("fence_on_stack") {
        for (flag, code) in [("-DADD", 0), ("-DEXCHANGE", 0), ("-DNO_FENCE", 2)] {
            let outcome = explore(&Build::new("correct/synchronisation/fence_on_stack.c", level).flag(flag));
            assert_eq!(outcome.code, code, "{flag} {level:?}: {}", outcome.transcript());
            let unseen = outcome.report["not_covered"][0]["kind"].as_str();
            assert_eq!(unseen, (code == 2).then_some("store-buffering"), "{flag} {level:?}");
        }
    }
}

#[test]
fn a_server_without_a_client_is_idle_and_not_deadlocked() {
    for level in levels("idle_server") {
        for (variant, options) in [
            ("-DACCEPT", &[][..]),
            ("-DEPOLL", &[]),
            ("-DDATAGRAMS", &[]),
            ("-DTICKS", &["--strategy", "dfs"]),
            ("-DPOLLS", &["--strategy", "dfs"]),
        ] {
            let outcome =
                explore_with(&Build::new("correct/kernel/idle_server.c", level).flag(variant), options);
            let entries = outcome.report["not_covered"].as_array().cloned().unwrap_or_default();
            let is_told = entries.iter().any(|entry| entry["kind"] == "outside-input");
            assert!(outcome.code == 2 && is_told, "{variant} {level:?}: {}", outcome.transcript());
        }
        let ticks = Build::new("correct/kernel/idle_server.c", level).flag("-DTICKS");
        let cut = explore_with(&ticks, &["--step-limit", "300", "--max-schedules", "3"]);
        let notes = cut.report["notes"].to_string();
        assert!(notes.contains("(--client starts a client with the program)"), "{}", cut.transcript());
        let outcome = explore(&Build::new("correct/kernel/idle_server.c", level).flag("-DCYCLE"));
        assert_eq!((outcome.code, &outcome.finding()["kind"]), (1, &"deadlock".into()), "{level:?}");
    }
}

/// A thread that waits for what a child process does is not deadlocked, and an account tells what is not known of it.
#[test]
fn what_a_child_process_does_may_still_come() {
    for way in ["semaphore", "mutex", "condition", "signal", "end", "spawned"] {
        for level in levels(way) {
            let program = Build::new("processes/woken_by_child.c", level).program().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let options = ["--output".as_ref(), folder.path().as_os_str()];
            let outcome = Tool::explore(options, &program).and([way]).run().unwrap();
            let is_right = outcome.code == 2 || outcome.code == 0 && way == "spawned";
            assert!(is_right, "{way} {level:?}: {}", outcome.transcript());
        }
    }
}
