//! Programs that do unusual things are explored all the same, and the report says in a sentence what is unusual.

use std::fs;

use tests::{Build, Optimisation, Outcome, Tool, levels, running};

/// Explores the program of this name with these options; nothing is left running afterwards. One test per program, for what
/// another test runs at the same time would count as left.
fn explore(name: &str, options: &[&str]) -> Outcome {
    explore_at(Optimisation::O0, name, options)
}

/// The same at every optimisation.
fn explore_all(name: &str, check: impl Fn(&Outcome)) {
    for level in levels(name) {
        check(&explore_at(level, name, &[]));
    }
}

fn explore_at(level: Optimisation, name: &str, options: &[&str]) -> Outcome {
    let program = Build::new(format!("{name}.c"), level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder_option = ["--output".as_ref(), folder.path().as_os_str()];
    let options = folder_option.into_iter().chain(options.iter().map(AsRef::as_ref));
    let outcome = Tool::explore(options, &program).run().unwrap();
    assert_eq!(running(&program), [] as [i32; 0], "{}", outcome.transcript());
    outcome
}

/// No failure, and this phrase in a note.
fn clean(outcome: &Outcome, phrase: &str) {
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
    noted(outcome, phrase);
}

/// No failure, and what could not be watched, of this kind, takes the claim away.
fn not_seen(outcome: &Outcome, kind: &str) {
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "inconclusive", "{}", outcome.transcript());
    let entries = outcome.report["not_covered"].as_array().into_iter().flatten();
    assert!(entries.into_iter().any(|entry| entry["kind"] == kind), "{kind}: {}", outcome.transcript());
}

/// A failure of this kind.
fn found(outcome: &Outcome, kind: &str) {
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert_eq!(outcome.finding()["kind"], kind, "{}", outcome.transcript());
}

/// No failure, but no bound is covered.
fn left_open(outcome: &Outcome) {
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "inconclusive", "{}", outcome.transcript());
}

/// Every search comes to the assertion that fails.
fn fails_in_every_search(name: &str) {
    fails_with_stalls(name, "0s");
}

/// The same where threads may be stalled for so long.
fn fails_with_stalls(name: &str, at_most: &str) {
    for level in levels(name) {
        for strategy in ["auto", "icb", "dfs", "dpor", "bounded-dpor"] {
            let options = ["--strategy", strategy, "--max-stall", at_most];
            found(&explore_at(level, name, &options), "assertion");
        }
    }
}

fn noted(outcome: &Outcome, phrase: &str) {
    let notes = outcome.report["notes"].to_string().to_lowercase();
    assert!(notes.contains(phrase), "a note with `{phrase}` is expected: {}", outcome.transcript());
}

/// Supported, or refused by name.
fn clean_or_refused(outcome: &Outcome, phrase: &str) {
    match outcome.code {
        0 => assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript()),
        3 => assert!(outcome.says(phrase), "`{phrase}` is expected: {}", outcome.transcript()),
        _ => panic!("{}", outcome.transcript()),
    }
}

#[test]
fn it_never_creates_a_thread() {
    let outcome = explore("startup/one_thread", &[]);
    clean(&outcome, "thread");
    assert_eq!(outcome.report["schedules"], 1, "{}", outcome.transcript());
}

#[test]
fn it_fails_before_it_creates_a_thread() {
    let outcome = explore("startup/fails_alone", &[]);
    found(&outcome, "always-fails");
    let stderr = outcome.finding()["output"]["stderr"].as_str().unwrap_or_default();
    assert!(stderr.contains("no table given"), "the program's output is expected: {}", outcome.transcript());
}

#[test]
fn it_fails_in_a_constructor() {
    let outcome = explore("startup/fails_in_constructor", &[]);
    found(&outcome, "always-fails");
    let stderr = outcome.finding()["output"]["stderr"].as_str().unwrap_or_default();
    assert!(stderr.contains("no table given"), "the program's output is expected: {}", outcome.transcript());
    assert!(outcome.says("check"), "the constructor is to be named: {}", outcome.transcript());
}

#[test]
fn it_creates_threads_in_a_constructor() {
    let outcome = explore("startup/constructor_threads", &[]);
    found(&outcome, "assertion");
    assert_eq!(outcome.finding()["reproduced"], "2/2", "{}", outcome.transcript());
    noted(&outcome, "constructor");
}

#[test]
fn it_forks() {
    let outcome = explore("processes/forks", &[]);
    left_open(&outcome);
    noted(&outcome, "processes");
}

#[test]
fn it_forks_and_has_no_other_thread() {
    let outcome = explore("processes/forks_alone", &[]);
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    noted(&outcome, "processes");
    assert!(!outcome.says("one schedule only"), "{}", outcome.transcript());
}

#[test]
fn it_forks_while_it_has_several_threads() {
    explore_all("processes/forks_beside_threads", |outcome| {
        left_open(outcome);
        noted(outcome, "forks while it has several threads");
    });
}

#[test]
fn it_writes_to_one_descriptor_and_reads_from_another() {
    fails_in_every_search("input_output/pipe_pieces");
}

#[test]
fn it_talks_through_sockets_and_events() {
    fails_in_every_search("input_output/two_channels");
}

#[test]
fn it_looks_for_input_without_waiting() {
    fails_in_every_search("input_output/looks_without_waiting");
}

#[test]
fn it_waits_for_input_for_a_time() {
    fails_with_stalls("input_output/polls_for_a_time", "20ms");
}

#[test]
fn it_sends_a_signal_to_a_thread_that_has_ended() {
    fails_in_every_search("signals/signals_too_late");
}

#[test]
fn it_finds_the_word_of_a_futex_changed() {
    fails_in_every_search("synchronisation/futex_by_hand");
}

#[test]
fn it_starts_another_program() {
    clean(&explore("processes/spawns", &[]), "processes");
}

#[test]
fn it_starts_another_program_and_goes_on() {
    let outcome = explore("processes/spawns_first", &[]);
    found(&outcome, "assertion");
    noted(&outcome, "processes");
}

#[test]
fn it_reads_what_another_program_writes() {
    explore_all("processes/popen", |outcome| clean(outcome, "processes"));
}

#[test]
fn it_talks_with_a_child() {
    explore_all("processes/pipe_to_child", |outcome| not_seen(outcome, "task"));
}

#[test]
fn it_waits_for_a_time_by_reading_the_clock() {
    explore_all("timing/waits_for_time", |outcome| {
        assert_eq!(outcome.code, 0, "{}", outcome.transcript());
        assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
    });
}

#[test]
fn it_asks_for_what_is_refused_at_once() {
    for program in
        ["synchronisation/unlock_fails", "synchronisation/refused_locks", "input_output/refused_calls"]
    {
        explore_all(program, |outcome| {
            assert_eq!(outcome.code, 0, "{}", outcome.transcript());
            assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
        });
    }
}

#[test]
fn it_needs_what_it_is_told_not_to_have() {
    explore_all("input_output/needs_uring", |outcome| {
        assert_eq!(outcome.code, 1, "{}", outcome.transcript());
        noted(outcome, "asks the kernel for io_uring");
    });
}

#[test]
fn it_tries_for_mutexes_for_ever() {
    explore_all("waiting/try_locks", |outcome| {
        found(outcome, "livelock");
        let message = outcome.finding()["message"].as_str().unwrap();
        assert!(message.contains("T1 spins until `right` changes"), "{}", outcome.transcript());
    });
}

#[test]
fn it_becomes_another_program() {
    let outcome = explore("processes/execs", &[]);
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "inconclusive", "{}", outcome.transcript());
    assert!(outcome.says("exec"), "{}", outcome.transcript());
}

#[test]
fn it_floods_its_output() {
    clean(&explore("input_output/floods", &[]), "output");
}

/// Calls on standard streams do not stop, wherever they lead.
#[test]
fn it_waits_for_its_own_output() {
    for (file, covered) in [("-DPIPE", 2), ("-DCOUNTER", 0)] {
        for level in levels(file) {
            for (flags, code) in [(&[file][..], 1), (&[file, "-DTRY"], covered)] {
                let build = Build::new("input_output/reads_own_output.c", level);
                let program = flags.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap();
                let folder = tempfile::tempdir().unwrap();
                let options = ["--output".as_ref(), folder.path().as_os_str()];
                let outcome = Tool::explore(options, &program).run().unwrap();
                assert_eq!(outcome.code, code, "{flags:?} {level:?}: {}", outcome.transcript());
            }
        }
    }
}

#[test]
fn it_writes_much_and_looks_whether_it_could() {
    for arguments in [&[][..], &["large.txt"]] {
        let program = Build::new("input_output/writes_much.c", Optimisation::O0).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tool =
            Tool::new(["explore", "--format", "json", "--cwd"]).and([folder.path(), "--output".as_ref()]);
        let outcome = tool.and([folder.path(), "--".as_ref(), &program]).and(arguments).run().unwrap();
        clean(&outcome, if arguments.is_empty() { "output" } else { "" });
    }
}

#[test]
fn it_allocates_without_end() {
    let outcome = explore("limits/allocates", &[]);
    found(&outcome, "always-fails");
    let stderr = outcome.finding()["output"]["stderr"].as_str().unwrap_or_default();
    assert!(stderr.contains("out of memory"), "the program's output is expected: {}", outcome.transcript());
    noted(&outcome, "memory");
}

#[test]
fn it_kills_itself() {
    let outcome = explore("signals/kills_itself", &[]);
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert!(outcome.says("SIGKILL"), "{}", outcome.transcript());
}

#[test]
fn it_sends_signals() {
    let outcome = explore("signals/signals", &[]);
    left_open(&outcome);
    noted(&outcome, "signal");
}

#[test]
fn it_waits_for_signals() {
    let outcome = explore("signals/waits_for_signals", &[]);
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

#[test]
fn it_pauses_after_the_signal_has_come() {
    let outcome = explore("signals/pauses_too_late", &[]);
    found(&outcome, "deadlock");
    assert!(outcome.says("a signal"), "{}", outcome.transcript());
}

#[test]
fn it_sends_a_deadly_signal_to_a_thread_that_waits() {
    let outcome = explore("signals/kills_waiting_thread", &[]);
    found(&outcome, "always-fails");
    assert!(outcome.says("SIGTERM"), "{}", outcome.transcript());
}

#[test]
fn it_moves_waiters_from_futex_to_futex() {
    let outcome = explore("synchronisation/requeue", &["--max-preemptions", "1"]);
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

#[test]
fn it_waits_with_a_robust_mutex_that_inherits_priorities() {
    let outcome = explore("synchronisation/condition_with_heirs", &[]);
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

#[test]
fn it_cancels_threads() {
    clean(&explore("endings/cancels", &[]), "cancel");
}

#[test]
fn it_uses_a_mutex_with_priority_inheritance() {
    clean_or_refused(&explore("synchronisation/priority_inheritance", &[]), "priority");
}

#[test]
fn it_uses_timers() {
    let outcome = explore("timers/timer", &[]);
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert!(outcome.says("a timer of the program sends it signals"), "{}", outcome.transcript());
}

#[test]
fn it_waits_for_input_from_a_terminal() {
    let outcome = explore("input_output/terminal", &["--run-timeout", "500ms", "--max-schedules", "20"]);
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert!(outcome.says("read"), "{}", outcome.transcript());
}

#[test]
fn it_reads_its_standard_input() {
    let empty = explore("input_output/stdin", &[]);
    assert_eq!(empty.code, 0, "without --stdin there is nothing to read: {}", empty.transcript());

    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, "one\ntwo\nthree\n").unwrap();
    let given = explore("input_output/stdin", &["--stdin", &input.to_string_lossy()]);
    assert_eq!(given.code, 1, "{}", given.transcript());
    let message = given.finding()["message"].to_string();
    assert!(message.contains('3'), "each execution reads all three lines: {}", given.transcript());

    let ignored = explore("input_output/stdin", &["--stdin", &input.to_string_lossy(), "--ignore-exit-code"]);
    assert_eq!(ignored.code, 0, "{}", ignored.transcript());
}

#[test]
fn it_runs_for_ever_without_a_key_point() {
    for level in Optimisation::ALL {
        let program = Build::new("limits/never_ends.c", level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--run-timeout", "10m", "--output"].iter().map(AsRef::as_ref);
        let outcome = Tool::explain(options.chain([folder.path().as_os_str()]), &program).run().unwrap();
        found(&outcome, "livelock");
        assert_eq!(outcome.finding()["preemptions"], 1, "{level:?}: {}", outcome.transcript());
        // Unoptimised code has what it computes with on the stack, and another thread might have the address of that.
        let is_known = level != Optimisation::O0;
        let why =
            if is_known { "order violation: T2 reads `table_size`" } else { "livelock: T2 spins until" };
        let told = outcome.finding()["explanation"]["sentence"].as_str();
        assert!(told.is_some_and(|told| told.starts_with(why)), "{level:?}: {}", outcome.transcript());
    }
}

#[test]
fn it_takes_longer_than_the_limit_of_the_time_to_a_key_point() {
    let outcome = explore("limits/takes_long", &["--run-timeout", "50ms", "--max-preemptions", "0"]);
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    let seconds = outcome.report["elapsed_seconds"].as_f64().unwrap();
    assert!(seconds > 0.15, "the program is to take longer than the limit: {}", outcome.transcript());
}

#[test]
fn it_leaves_a_file_behind_in_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let outcome =
        explore("input_output/leaves_file", &["--fresh-dir", "--cwd", &folder.path().to_string_lossy()]);
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "the working directory itself stays as it was"
    );
}

#[test]
fn it_is_run_by_one_worker_where_two_would_meet() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = explore("input_output/meets_itself", &["--cwd", &folder.path().to_string_lossy()]);
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    // More than enough for others to begin.
    assert!(outcome.report["schedules"].as_u64().unwrap() > 200, "{}", outcome.transcript());
}

#[test]
fn a_step_limit_is_no_finding() {
    let program = Build::new("c/mutex_counter.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--step-limit".as_ref(), "5".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    let outcome = Tool::explore(options, &program).run().unwrap();
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert!(outcome.says("longer than 5 events (--step-limit)"), "{}", outcome.transcript());
    assert_eq!(outcome.report["covered"], serde_json::json!({}), "{}", outcome.transcript());
}

#[test]
fn a_program_that_always_fails_may_say_why() {
    let explore = |arguments: &[&str]| {
        let program = Build::new("startup/says_why.c", Optimisation::O0).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = ["--output".as_ref(), folder.path().as_os_str()];
        Tool::explore(options, &program).and(arguments).run().unwrap()
    };
    for words in ["early", "late"] {
        let outcome = explore(&["77", words]);
        assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        assert!(outcome.stderr.contains("the test was skipped"), "{}", outcome.transcript());
    }
    assert_eq!(explore(&["4", "ok 1 # SKIP"]).code, 3);
    for (arguments, hint) in
        [(&["4", "late"][..], None), (&["1", "file"], Some("missing-file")), (&[], Some("usage"))]
    {
        let outcome = explore(arguments);
        let finding = outcome.finding();
        assert_eq!((outcome.code, &finding["kind"]), (1, &"always-fails".into()), "{}", outcome.transcript());
        assert_eq!(finding["hint"].as_str(), hint, "{}", outcome.transcript());
    }
}
