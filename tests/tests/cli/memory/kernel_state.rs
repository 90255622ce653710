//! State of a process in the kernel, and effects of other processes on it: they are events, or take the claim away.

use tests::{Build, Optimisation, Outcome, Tool, levels};

use super::unseen::{explore_built, explore_with};

/// In a folder of its own, as it makes files there.
fn explore(build: &Build, argument: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--cwd".as_ref(), folder.path().as_os_str()];
    let explored = Tool::explore(options, &build.program().unwrap()).and([argument]);
    explored.within_folder(folder.path()).run().unwrap()
}

#[test]
fn addresses_and_names_that_another_thread_has_for_a_moment_are_found_taken() {
    for (nth, way) in ["replace", "hint", "grow", "socket"].into_iter().enumerate() {
        let build = Build::new("unseen/kernel/kernel_names.c", Optimisation::ALL[nth % 2]);
        let outcome = explore(&build, way);
        assert_eq!(outcome.code, 1, "{way}: {}", outcome.transcript());
        let outcome = explore(&build.flag("-DTRY"), way);
        assert_eq!(outcome.code, 0, "{way}: {}", outcome.transcript());
    }
}

/// Memory has one name, at whatever address a thread has it, and calls on its file come upon it.
#[test]
fn memory_at_two_addresses_is_one_memory() {
    for flag in ["-DTWO", "-DAGAIN", "-DCALLS"] {
        for level in levels(flag) {
            let build = Build::new("unseen/kernel/mapped_twice.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
            assert_eq!(outcome.report["races"].as_array().map_or(0, Vec::len), 0, "{}", outcome.transcript());
        }
    }
}

/// The address of a mapping depends on the schedule, its name does not.
#[test]
fn memory_that_each_thread_maps_is_called_after_the_file() {
    for level in levels("mapped_apart") {
        let build = Build::new("unseen/kernel/mapped_apart.c", level);
        for strategy in ["auto", "dpor"] {
            let options = ["--strategy", strategy, "--keep-going"];
            let outcome = explore_built(&build, &options, &[]);
            assert_eq!(outcome.code, 1, "{level:?} {strategy}: {}", outcome.transcript());
            let words = "file /memfd:number in memory (+0x0)";
            assert!(outcome.transcript().contains(words), "{}", outcome.transcript());
            let outcome = explore_built(&build.clone().flag("-DTRY"), &options, &[]);
            assert_eq!(outcome.code, 0, "{level:?} {strategy}: {}", outcome.transcript());
        }
    }
}

#[test]
fn memory_that_shows_a_file_for_a_moment_is_its_content() {
    for flag in ["-DLOADS", "-DREADS", "-DOWN"] {
        for level in levels(flag) {
            let build = Build::new("unseen/kernel/mapped_for_a_moment.c", level).flag(flag);
            for strategy in ["auto", "dpor"] {
                let outcome = explore_built(&build, &["--strategy", strategy], &[]);
                assert_eq!(outcome.code, 1, "{flag} {level:?} {strategy}: {}", outcome.transcript());
            }
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn limits_on_memory_files_with_two_names_and_addresses_that_were_freed_take_the_claim_away() {
    for (nth, way) in ["limit", "link", "freed"].into_iter().enumerate() {
        let level = Optimisation::ALL[nth % 2];
        let outcome = explore(&Build::new("unseen/kernel/kernel_names.c", level), way);
        assert_eq!(outcome.code, 2, "{way}: {}", outcome.transcript());
    }
}

#[test]
fn the_number_that_a_message_brings_a_file_is_as_much_taken_as_that_of_one_opened() {
    for flag in ["-DOPENS", "-DRECEIVES"] {
        for level in levels(flag) {
            let build = Build::new("unseen/kernel/descriptor_numbers.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// A thread that the kernel would keep waiting for itself is told so.
#[test]
fn futexes_with_priority_inheritance_that_the_kernel_takes_and_gives_back_are_events() {
    for (flag, code) in [("-DCROSSED", 1), ("-DSEEN", 1), ("-DTRY", 0)] {
        for level in levels(flag) {
            let build = Build::new("synchronisation/pi_futexes.c", level).flag(flag);
            for strategy in ["auto", "dpor"] {
                let outcome = explore_built(&build, &["--strategy", strategy], &[]);
                assert_eq!(outcome.code, code, "{flag} {level:?} {strategy}: {}", outcome.transcript());
            }
        }
    }
}

#[test]
fn a_wake_of_a_futex_is_for_those_that_wait_for_its_kind() {
    for flag in ["-DSTAY", "-DMOVED", "-DNONE"] {
        for level in levels(flag) {
            let build = Build::new("synchronisation/futex_kinds.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            assert_eq!(outcome.finding()["kind"], "deadlock", "{}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Of objects whose waits and wakes the model carries out, such a use takes the claim away.
#[test]
fn private_calls_on_a_futex_meet_at_one_address_alone() {
    for (flag, code) in [("-DTWO", 1), ("-DMIXED", 1), ("-DSEMAPHORE", 2), ("-DMUTEX", 2), ("-DHEIR", 2)] {
        for level in levels(flag) {
            let build = Build::new("synchronisation/futex_ways.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, code, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.clone().flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
            if flag != "-DMIXED" {
                let outcome = explore_built(&build.flag("-DPLACE"), &[], &[]);
                assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
            }
        }
    }
}

#[test]
fn the_end_of_the_programs_data_is_state_of_its_process() {
    for flag in ["-DMORE", "-DLESS"] {
        for level in levels(flag) {
            let build = Build::new("unseen/kernel/program_break.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, 0, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
    // The C library moves it for its heap, which is no event.
    for level in levels("-DHEAP") {
        let build = Build::new("unseen/kernel/program_break.c", level).flag("-DHEAP");
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 2, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn a_position_is_one_for_all_calls_that_move_it() {
    for (nth, way) in ["ask", "names", "file"].into_iter().enumerate() {
        let build = Build::new("input_output/moves_position.c", Optimisation::ALL[nth % 2]);
        let outcome = explore(&build, way);
        assert_eq!(outcome.code, 1, "{way}: {}", outcome.transcript());
        let outcome = explore(&build.flag("-DTRY"), way);
        assert_eq!(outcome.code, 0, "{way}: {}", outcome.transcript());
    }
}

#[test]
fn what_the_kernel_does_where_a_thread_ends_to_a_list_of_the_programs_own_is_an_event() {
    for level in levels("robust_list") {
        let build = Build::new("unseen/kernel/robust_list.c", level);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
        for way in ["-DTRY", "-DWAITS"] {
            let outcome = explore_built(&build.clone().flag(way), &[], &[]);
            assert_eq!(outcome.code, 0, "{level:?} {way}: {}", outcome.transcript());
        }
    }
}

#[test]
fn pages_that_a_pipe_refers_to_take_the_claim_away_where_they_may_be_written() {
    for (flag, unwritten) in [("-DVMSPLICE", 2), ("-DSPLICE", 0), ("-DSENDFILE", 0)] {
        for level in levels(flag) {
            let build = Build::new("input_output/pages_in_pipes.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 2, "{flag} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
            assert_eq!(outcome.code, unwritten, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Pushes and pops of handlers there are not watched.
#[test]
fn an_alternate_stack_that_threads_share_takes_the_claim_away() {
    for level in levels("alternate_stack") {
        let build = Build::new("unseen/stacks/alternate_stack.c", level);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 2, "{level:?}: {}", outcome.transcript());
        assert_eq!(outcome.report["not_covered"][0]["kind"], "switched-stack", "{}", outcome.transcript());
        let outcome = explore_built(&build.flag("-DTRY"), &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn a_child_that_threads_do_not_only_wait_for_takes_the_claim_away() {
    for (nth, (way, code)) in
        [("end", 2), ("ask", 2), ("kill", 2), ("file", 2), ("wait", 0)].into_iter().enumerate()
    {
        let build = Build::new("processes/child_meddles.c", Optimisation::ALL[nth % 2]);
        let outcome = explore(&build, way);
        let is_right = outcome.code == code || code == 2 && outcome.code == 1;
        assert!(is_right, "{way}: {}", outcome.transcript());
    }
}

/// The end of a thread is an event where the program asks for it, and does not wait.
#[test]
fn a_thread_that_has_not_ended_yet_is_found_by_who_asks_for_its_end() {
    for (nth, way) in ["join", "timed", "clock"].into_iter().enumerate() {
        let outcome = explore_with("endings/asks_for_end.c", Optimisation::ALL[nth % 2], &[], &[way]);
        assert_eq!(outcome.code, 1, "{way}: {}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{way}: {}", outcome.transcript());
    }
    for (nth, way) in ["join or wait", "long"].into_iter().enumerate() {
        let outcome = explore_with("endings/asks_for_end.c", Optimisation::ALL[nth % 2], &[], &[way]);
        assert_eq!(outcome.code, 0, "{way}: {}", outcome.transcript());
    }
    // The time of a join runs out only if the thread is stalled for as long.
    let outcome =
        explore_with("endings/asks_for_end.c", Optimisation::O2, &["--max-stall", "10ms"], &["long"]);
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
}

/// The end of a thread is no event for calls that fail behind it.
#[test]
fn a_call_that_names_a_thread_which_may_have_ended_takes_the_claim_away() {
    let ways = [
        ("itself", 0),
        ("setname first", 0),
        ("setname", 2),
        ("setname last", 1),
        ("getname", 2),
        ("clock", 2),
        ("affinity last", 2),
        ("schedparam first", 0),
        ("schedparam", 2),
    ];
    for (nth, (way, code)) in ways.into_iter().enumerate() {
        let outcome = explore_with("endings/named_late.c", Optimisation::ALL[nth % 2], &[], &[way]);
        assert_eq!(outcome.code, code, "{way}: {}", outcome.transcript());
    }
}

#[test]
fn calls_that_are_given_the_number_of_a_thread_depend_on_its_end() {
    for call in ["group", "setpriority", "scheduler", "param", "limit", "session", "io", "process-group"] {
        for level in levels(call) {
            let build = Build::new("unseen/endings/numbered_late.c", level);
            let outcome = explore_built(&build, &[], &[call]);
            assert_eq!(outcome.code, 2, "{call} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.flag("-DFIRST"), &[], &[call]);
            assert_eq!(outcome.code, 0, "{call} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn what_the_kernel_tells_of_a_thread_and_what_a_process_gets_are_no_events() {
    for ((way, kind), level) in
        [("kill", "system-call"), ("spawn", "task")].into_iter().zip(Optimisation::ALL)
    {
        let build = Build::new("unseen/endings/asks_for_end.c", level).flag("-DALONE");
        let outcome = explore_built(&build, &[], &[way]);
        assert_eq!(outcome.code, 2, "{way}: {}", outcome.transcript());
        assert_eq!(outcome.report["not_covered"][0]["kind"], kind, "{way}: {}", outcome.transcript());
    }
}

/// The calls by which `ended_descriptors.c` uses a descriptor.
const USES: &[&str] = &[
    "fsync",
    "fdatasync",
    "syncfs",
    "fadvise",
    "readahead",
    "poll",
    "select",
    "getsockname",
    "getsockopt",
    "setsockopt",
    "signalfd",
    "timerfd_settime",
    "timerfd_gettime",
    "openat",
    "fstatat",
    "statx",
    "faccessat",
    "readlinkat",
    "unlinkat",
    "renameat",
    "linkat",
    "symlinkat",
    "mkdirat",
    "fchmodat",
    "utimensat",
];

/// A call that is given a descriptor depends on what ends it, or gives its number to another file; whichever comes first.
#[test]
fn calls_on_a_descriptor_depend_on_its_end() {
    for level in levels("ended_descriptors") {
        let build = Build::new("unseen/kernel/ended_descriptors.c", level);
        for call in USES {
            for flag in ["-DCLOSE", "-DFIRST", "-DREPLACE"] {
                // These find nothing amiss with the end of a pipe.
                if flag == "-DREPLACE" && ["syncfs", "poll", "select"].contains(call) {
                    continue;
                }
                let outcome = explore_built(&build.clone().flag(flag), &[], &[call]);
                assert_eq!(outcome.code, 1, "{call} {flag} {level:?}: {}", outcome.transcript());
            }
            let outcome = explore_built(&build.clone().flag("-DTRY"), &[], &[call]);
            assert_eq!(outcome.code, 0, "{call} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Registrations, seals, and signals that a wait lets in.
#[test]
fn calls_depend_on_what_the_kernel_permits() {
    for level in levels("kernel_permits") {
        let build = Build::new("unseen/kernel/kernel_permits.c", level);
        for call in ["barrier", "seal", "wait", "wait2"] {
            let outcome = explore_built(&build, &[], &[call]);
            assert_eq!(outcome.code, 1, "{call} {level:?}: {}", outcome.transcript());
            let outcome = explore_built(&build.clone().flag("-DTRY"), &[], &[call]);
            assert_eq!(outcome.code, 0, "{call} {level:?}: {}", outcome.transcript());
        }
    }
}
