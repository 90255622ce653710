//! Code that is not the program's own is watched, or takes the claim away: no program that can fail because of it is
//! called clean.

use std::sync::Arc;
use std::thread;

use nix::sys::resource::{Resource, getrlimit};
use tests::{Build, Optimisation, Outcome, Tool, levels};

fn explore(source: &str, level: Optimisation, options: &[&str]) -> Outcome {
    explore_with(source, level, options, &[])
}

pub(super) fn explore_with(
    source: &str,
    level: Optimisation,
    options: &[&str],
    arguments: &[&str],
) -> Outcome {
    explore_built(&Build::new(format!("unseen/{source}"), level), options, arguments)
}

pub(crate) fn explore_built(build: &Build, options: &[&str], arguments: &[&str]) -> Outcome {
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = ["--output".as_ref(), folder.path().as_os_str()];
    let options = output.into_iter().chain(options.iter().map(AsRef::as_ref));
    let outcome = Tool::explore(options, &program).and(arguments).within_folder(folder.path()).run().unwrap();
    if let Some(schedule) = outcome.report["findings"][0]["schedule_file"].as_str() {
        let replayed = Tool::new(["replay", "--format", "json", schedule]).run().unwrap();
        assert_eq!(replayed.code, 1, "{}: {}", program.display(), replayed.transcript());
    }
    outcome
}

/// The kinds of what was not watched, and whether the user answers for it.
fn entries(outcome: &Outcome, of: &str) -> Vec<String> {
    let entries = outcome.report.pointer(of).and_then(serde_json::Value::as_array);
    let mut kinds: Vec<String> =
        entries.into_iter().flatten().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect();
    kinds.dedup();
    kinds
}

/// Accesses that locks order are no key points where there are many of them; what only some orders of the locks show is found.
#[test]
fn what_is_handed_over_in_order_is_covered_and_what_is_not_is_found() {
    let handed_over = |level, how: &str| explore_with("sharing/handed_over.c", level, &[], &[how]);
    for level in levels("sharing/handed_over.c") {
        for how in ["in order", "in turns"] {
            let outcome = handed_over(level, how);
            let key_points = outcome.report["key_points_per_schedule"].as_f64();
            let are_few = key_points.is_some_and(|count| count < 30.0);
            assert!(outcome.code == 0 && are_few, "{how} {level:?}: {}", outcome.transcript());
        }
        for how in ["late", "freed", "between", "impatient"] {
            let outcome = handed_over(level, how);
            let wanted = if how == "freed" { "use-after-free" } else { "assertion" };
            let kind = outcome.report["findings"][0]["kind"].as_str();
            assert_eq!((outcome.code, kind), (1, Some(wanted)), "{how} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn shared_memory_is_found_wherever_it_lies_in_private_memory() {
    for level in levels("sharing/beside_private.c") {
        for place in ["32", "252", "256", "511"] {
            let outcome =
                explore_with("sharing/beside_private.c", level, &["--max-preemptions", "1"], &[place]);
            assert_eq!(outcome.code, 1, "{place} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn what_is_watched_is_found() {
    for source in [
        "sharing/long_loop.c",
        "sharing/shared_after_long.c",
        "libraries/library_state.c",
        "libraries/library_tree.cpp",
        "stacks/lent_thread_local.c",
        "kernel/kernel_reads.c",
        "processor/growing_text.c",
        "processor/text_without_case.c",
        "libraries/address_in_library.c",
        "stacks/lent_after_long.c",
        "libraries/library_reads_later.c",
        "processor/by_segment.c",
        "libraries/called_by_pointer.c",
        "endings/exit_handlers.c",
        "endings/taken_keys.c",
    ] {
        for level in levels(source) {
            let outcome = explore(source, level, &[]);
            assert_eq!(outcome.code, 1, "{source} {level:?}: {}", outcome.transcript());
            assert_eq!(outcome.report["verdict"], "found", "{source}");
        }
    }
}

/// Functions that end with a jump are not on the stack, and addresses of functions go through vector registers: both only where the program is
/// optimised.
#[test]
fn what_is_called_last_by_an_address_from_a_structure_is_found() {
    for source in ["libraries/functions_in_struct.c", "libraries/functions_in_box.rs"] {
        for level in Optimisation::ALL {
            let outcome = explore(source, level, &[]);
            assert_eq!(outcome.code, 1, "{source} {level:?}: {}", outcome.transcript());
        }
    }
}

/// A thread's own memory is where no register leads out of it.
#[test]
fn what_lies_elsewhere_is_found_by_the_segment_of_a_threads_own_memory() {
    for level in levels("fs") {
        let outcome =
            explore_built(&Build::new("unseen/processor/by_segment.c", level).flag("-DFS"), &[], &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

/// `dpor` reverses orders by what is known of an operation before it runs.
#[test]
fn what_calls_store_is_found() {
    for (which, strategy) in
        ["join", "interval", "timer", "file"].into_iter().flat_map(|which| [(which, "dpor"), (which, "icb")])
    {
        for level in levels(which) {
            let outcome =
                explore_with("libraries/stored_by_calls.c", level, &["--strategy", strategy], &[which]);
            assert_eq!(outcome.code, 1, "{which} {strategy} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Private work of any length is watched, and costs a claim nothing.
#[test]
fn long_private_work_is_covered() {
    for level in levels("shared_after_long") {
        let build = Build::new("unseen/sharing/shared_after_long.c", level).flag("-DLOCKED");
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        assert_eq!(outcome.report["covered"]["everything"], true, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn what_is_not_watched_takes_the_claim_away_unless_the_user_answers_for_it() {
    for (source, kind) in [
        ("libraries/library_calls_back.c", "library-function"),
        ("libraries/looked_up.c", "library-function"),
        ("streams/borrowed_output.cpp", "library-function"),
        ("code/generated_code.c", "generated-code"),
        ("kernel/shared_with_a_child.c", "task"),
        ("kernel/thread_by_clone.c", "task"),
        ("endings/cancelled_anywhere.c", "asynchronous-cancellation"),
        ("streams/one_stream.c", "file"),
        ("stacks/dead_frame.c", "dead-frame"),
        ("sharing/reused_address.c", "address-reuse"),
        ("processor/torn_copy.c", "torn-access"),
        ("processor/copied_counters.c", "torn-access"),
        ("processor/number_in_steps.c", "torn-access"),
        ("processor/string_stores.c", "torn-access"),
        ("processor/read_in_parts.c", "torn-access"),
        ("processor/store_buffering.c", "store-buffering"),
        ("processor/recursive_mutex.c", "store-buffering"),
        ("processor/time_in_buffer.c", "store-buffering"),
        ("processor/plain_release.c", "store-buffering"),
        ("processor/stored_past_the_cache.c", "store-buffering"),
        ("libraries/stored_by_calls.c signal", "library-function"),
        ("libraries/stored_by_calls.c counter", "library-function"),
        ("kernel/processes.c processors", "library-function"),
        ("kernel/processes.c mappings", "system-call"),
        ("kernel/processes.c vfork", "task"),
        ("kernel/processes.c exec", "task"),
        ("sharing/overwritten.c assigned", "held-object"),
        ("sharing/overwritten.c compared", "held-object"),
        ("streams/read_by_macro.c", "file"),
        ("libraries/panic_hook.rs", "library-function"),
    ] {
        let (file, argument) = source.split_once(' ').unwrap_or((source, ""));
        let explore = |level, options: &[&str]| explore_with(file, level, options, &[argument]);
        for level in levels(source) {
            let outcome = explore(level, &[]);
            let at = format!("{source} {level:?}: {}", outcome.transcript());
            if outcome.code == 1 {
                continue;
            }
            assert_eq!((outcome.code, &outcome.report["verdict"]), (2, &"inconclusive".into()), "{at}");
            assert!(entries(&outcome, "/not_covered").iter().any(|entry| entry == kind), "{at}");
            let outcome = explore(level, &["--assume", kind]);
            assert!(entries(&outcome, "/covered/assumes").iter().any(|entry| entry == kind), "{at}");
            assert!(entries(&outcome, "/not_covered").iter().all(|entry| entry != kind), "{at}");
        }
    }
}

/// In the order in which they run first the program fails; in the other one, which is not seen to be another one, it does not.
#[test]
fn what_is_not_watched_is_not_said_to_fail_whatever_the_schedule() {
    for what in ["mappings", "vfork"] {
        for level in levels(what) {
            let outcome = explore_with("kernel/processes.c", level, &[], &[what, "first"]);
            let finding = outcome.finding();
            let is_claimed = finding["kind"] == "always-fails" && finding["tried"].is_null();
            assert!(outcome.code == 1 && !is_claimed, "{what} {level:?}: {}", outcome.transcript());
        }
    }
}

/// Code and data share a page: the data is the program's, wherever traps stand.
#[test]
fn data_in_pages_of_code_is_left_alone() {
    let ways = ["before", "later", "section"].into_iter().flat_map(|way| [(way, "dpor"), (way, "icb")]);
    for (way, strategy) in ways {
        for level in Optimisation::ALL {
            let options = ["--memory-model", "sc", "--strategy", strategy];
            let explore =
                |arguments: &[&str]| explore_with("code/data_in_code.c", level, &options, arguments);
            let outcome = explore(&[way]);
            let result = (outcome.code, &outcome.finding()["kind"]);
            assert_eq!(
                result,
                (1, &"assertion".into()),
                "{way} {strategy} {level:?}: {}",
                outcome.transcript()
            );
            let outcome = explore(&[way, "locked"]);
            let result = (outcome.code, entries(&outcome, "/not_covered"));
            let expected = (2, vec!["generated-code".to_owned()]);
            assert_eq!(result, expected, "{way} {strategy} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn coroutines_are_covered_unless_another_thread_uses_their_stacks() {
    for level in levels("stacks/coroutines.c") {
        let outcome = explore("stacks/coroutines.c", level, &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        let lent = explore_built(&Build::new("unseen/stacks/coroutines.c", level).flag("-DLENT"), &[], &[]);
        assert_eq!(lent.code, 1, "{level:?}: {}", lent.transcript());
        assert_eq!(entries(&lent, "/not_covered"), ["switched-stack"], "{level:?}: {}", lent.transcript());
    }
}

#[test]
fn sequential_consistency_alone_is_claimed_where_it_was_asked_for() {
    for level in levels("store_buffering") {
        let outcome = explore("processor/store_buffering.c", level, &[]);
        let store = &outcome.report["not_covered"][0]["stores"][0];
        assert_eq!((&store["store"]["line"], &store["load"]["line"]), (&14.into(), &15.into()), "{store}");
        let outcome = explore("processor/store_buffering.c", level, &["--memory-model", "sc"]);
        let covered = &outcome.report["covered"];
        assert_eq!((outcome.code, &covered["memory_model"]), (0, &"sc".into()), "{}", outcome.transcript());
    }
}

#[test]
fn stores_past_the_cache_are_no_matter_of_sequential_consistency() {
    for level in levels("stored_past_the_cache") {
        let outcome = explore("processor/stored_past_the_cache.c", level, &["--memory-model", "sc"]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn calls_of_which_all_is_known_take_nothing_away() {
    for level in levels("known_calls") {
        let outcome = explore("libraries/known_calls.c", level, &[]);
        let result = (outcome.code, entries(&outcome, "/not_covered"));
        assert_eq!(result, (0, vec![]), "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn where_buffers_are_emptied_in_time_nothing_is_taken_away() {
    for level in levels("fenced") {
        let outcome = explore("processor/fenced.c", level, &[]);
        assert_eq!(outcome.code, 0, "{level:?}: {}", outcome.transcript());
        for (source, flag) in [
            ("plain_release.c", "-DMUTEX"),
            ("recursive_mutex.c", "-DFIRST"),
            ("read_in_parts.c", "-DLOCKED"),
        ] {
            let build = Build::new(format!("unseen/processor/{source}"), level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 0, "{source} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn a_name_that_answers_for_nothing_is_noted() {
    let outcome = explore("processor/fenced.c", Optimisation::O0, &["--assume", "libnothing.so"]);
    let note =
        "nothing is assumed for `libnothing.so`, which is no kind of what is not seen, and no library of it";
    assert!(outcome.report["notes"].as_array().unwrap().contains(&note.into()), "{}", outcome.transcript());
}

/// Beside a process that creates temporary files as well: the kernel gives their numbers to either.
#[test]
fn streams_that_one_thread_uses_take_nothing_away() {
    let running = Arc::new(());
    let neighbour = Arc::downgrade(&running);
    thread::spawn(move || {
        while neighbour.upgrade().is_some() {
            let files: Vec<_> = (0..50).map(|_| tempfile::tempfile()).collect();
            drop(files);
        }
    });
    for level in levels("own_streams") {
        let outcome = explore("streams/own_streams.c", level, &[]);
        let result = (outcome.code, entries(&outcome, "/not_covered"));
        assert_eq!(result, (0, vec![]), "{}", outcome.transcript());
    }
    drop(running);
}

#[test]
fn the_state_of_a_process_is_what_its_threads_share() {
    let of_sockets = ["bound", "connected", "listening"];
    let others = [
        "mask",
        "folder",
        "limit",
        "core",
        "signal",
        "length",
        "mode",
        "descriptor",
        "number",
        "name",
        "group",
    ];
    let kinds = of_sockets.into_iter().chain(others);
    // If core files are forbidden for good, nothing about them changes.
    let is_forbidden = getrlimit(Resource::RLIMIT_CORE).is_ok_and(|(_, most)| most == 0);
    for what in kinds.filter(|what| *what != "core" || !is_forbidden) {
        for level in levels(what) {
            let outcome = explore_with("kernel/process_state.c", level, &[], &[what]);
            assert_eq!(outcome.code, 1, "{what} {level:?}: {}", outcome.transcript());
            assert_ne!(outcome.finding()["kind"], "always-fails", "{what} {level:?}");
        }
    }
}

/// The C library has every thread set its own, by a signal that a thread before a system call gets too late.
#[test]
fn an_identity_that_is_set_beside_other_threads_takes_the_claim_away() {
    for level in levels("identity") {
        let outcome = explore_with("kernel/process_state.c", level, &[], &["identity"]);
        assert_eq!(entries(&outcome, "/not_covered"), ["system-call"], "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn calls_on_memory_depend_on_what_is_mapped() {
    let calls = ["msync", "mlock", "mlock2", "munlock", "madvise", "mincore", "mprotect"];
    for (nth, call) in calls.into_iter().enumerate() {
        let level = Optimisation::ALL[nth % 2];
        let outcome = explore_with("kernel/mapped_pages.c", level, &[], &[call]);
        assert_eq!(outcome.code, 1, "{call} {level:?}: {}", outcome.transcript());
        assert_ne!(outcome.finding()["kind"], "always-fails", "{call} {level:?}");
    }
}

#[test]
fn code_of_the_program_is_told_from_the_librarys_without_debug_information() {
    for flag in ["-g0", "-O1"] {
        let build = Build::new("unseen/code/inlined_lambda.cpp", Optimisation::O2).flag("-g0").flag(flag);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 1, "{flag}: {}", outcome.transcript());
    }
}

#[test]
fn an_address_that_was_freed_is_compared_with_another_block_s() {
    let build = Build::new("unseen/sharing/reused_address.c", Optimisation::O2).flag("-DCOMPARED");
    let outcome = explore_built(&build, &[], &[]);
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert_eq!(entries(&outcome, "/not_covered"), ["address-reuse"], "{}", outcome.transcript());
}

#[test]
fn the_last_at_a_barrier_and_a_stack_that_the_program_gives_are_seen() {
    for (flag, level) in ["-DTOLD", "-DLENT"].into_iter().zip(Optimisation::ALL) {
        let build = Build::new("unseen/stacks/last_at_barrier.c", level).flag(flag);
        let outcome = explore_built(&build, &[], &[]);
        assert_eq!(outcome.code, 1, "{flag} {level:?}: {}", outcome.transcript());
        assert_eq!(outcome.finding()["kind"], "assertion", "{}", outcome.transcript());
    }
}

#[test]
fn virtual_functions_of_libraries_take_the_claim_away() {
    for flags in [&[][..], &["-DPOOL"]] {
        for level in levels(&flags.concat()) {
            let build = Build::new("unseen/libraries/library_virtual.cpp", level);
            let build = flags.iter().fold(build, |build, flag| build.flag(flag));
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, 2, "{flags:?} {level:?}: {}", outcome.transcript());
            assert_eq!(entries(&outcome, "/not_covered"), ["library-function"], "{}", outcome.transcript());
        }
    }
}

/// A change of the signals that a thread takes is no event.
#[test]
fn a_signal_of_the_process_beside_a_change_of_a_mask_takes_the_claim_away() {
    for (flag, code) in [("-DTAKES", 2), ("-DAPART", 0)] {
        for level in levels(flag) {
            let build = Build::new("unseen/kernel/process_signal.c", level).flag(flag);
            let outcome = explore_built(&build, &[], &[]);
            assert_eq!(outcome.code, code, "{flag} {level:?}: {}", outcome.transcript());
        }
    }
}

#[test]
fn a_function_that_moves_its_stack_is_watched_there() {
    for level in levels("moved_stack") {
        let outcome = explore("stacks/moved_stack.c", level, &[]);
        assert_eq!(outcome.code, 1, "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn what_the_kernel_alone_knows_takes_the_claim_away() {
    for (what, kind) in [
        ("semaphore", "system-call"),
        ("watch", "system-call"),
        ("threads", "system-call"),
        ("mappings", "system-call"),
        ("kcmp", "system-call"),
    ] {
        let outcome = explore_with("kernel/kernel_only.c", Optimisation::O0, &[], &[what]);
        assert_eq!(outcome.code, 2, "{what}: {}", outcome.transcript());
        assert_eq!(entries(&outcome, "/not_covered"), [kind], "{what}: {}", outcome.transcript());
        let name = &outcome.report["not_covered"][0]["function"];
        assert!(what != "kcmp" || name == "kcmp", "{}", outcome.transcript());
    }
}
