//! Memory on the heap is named by the function that allocated it, and the place: also memory that main allocated before
//! there were threads.

use std::collections::BTreeSet;

use tests::{Build, Optimisation, Outcome, Tool, levels, sample};

fn explore(source: &str, optimisation: Optimisation) -> Outcome {
    explore_build(&Build::new(source, optimisation))
}

fn explore_build(build: &Build) -> Outcome {
    let program = build.program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let search = ["--strategy", "icb", "--keep-going", "--output"];
    let options = search.iter().map(AsRef::as_ref).chain([folder.path().as_os_str()]);
    Tool::explore(options, &program).run().unwrap()
}

/// The same with everything that is found out about the first failure.
fn explain(source: &str, optimisation: Optimisation) -> Outcome {
    let program = Build::new(source, optimisation).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy".as_ref(), "icb".as_ref(), "--output".as_ref(), folder.path().as_os_str()];
    Tool::explain(options, &program).run().unwrap()
}

/// Everything that a finding's events write, in words.
fn written(finding: &serde_json::Value) -> BTreeSet<&str> {
    let events = finding["events"].as_array().into_iter().flatten();
    let writes = events.filter(|event| event["operation"] == "write");
    writes.filter_map(|event| event["text"].as_str()).collect()
}

#[test]
fn blocks_that_main_allocated_before_the_first_thread_have_names() {
    for (optimisation, counter) in [
        // The first of two blocks from there was freed.
        (Optimisation::O0, "write `block 2 from make_counter (+0x4)`"),
        // Each copy of the function that was inlined is a place of its own.
        (Optimisation::O2, "write `block 1 from make_counter (+0x4)`"),
    ] {
        let outcome = explore("names/heap_names.c", optimisation);
        let findings = outcome.report["findings"].as_array().unwrap();
        let [later, earlier] = &findings[..] else { panic!("{}", outcome.transcript()) };
        assert_eq!(written(earlier), BTreeSet::from([counter]));
        assert_eq!(written(later), BTreeSet::from([counter, "write `block 1 from main (+0x4)`"]));
    }
}

/// The library's own calls in between make no difference.
#[test]
fn what_the_library_allocates_is_named_by_the_function_that_asked_for_it() {
    for optimisation in [Optimisation::O0, Optimisation::O2] {
        let outcome = explore("names/shared_by_count.rs", optimisation);
        assert!(
            outcome.says("update `AtomicU32 (block 1 from shared_by_count::make_counter)`"),
            "{}",
            outcome.transcript()
        );
    }
}

/// Of a library function that allocates, the type is known that it is an instance for.
#[test]
fn what_a_library_function_has_made_is_named_by_its_type() {
    for optimisation in levels("shared_pointer") {
        let outcome = explain("names/shared_pointer.cpp", optimisation);
        for words in ["lost update: T3 reads `Stats.parcels` (", "update `shared_ptr<Stats>.use_count`"] {
            assert!(outcome.says(words), "{words}: {}", outcome.transcript());
        }
    }
}

/// Of what the allocator itself is asked for, the types of pointers to it tell.
#[test]
fn what_a_pointer_leads_to_is_named_by_its_type() {
    for optimisation in levels("pointed") {
        let outcome = explain("names/pointed.c", optimisation);
        for words in ["lost update: T3 reads `port[1].drops` (", "lock `card.lock`", "`card.seen`"] {
            assert!(outcome.says(words), "{words}: {}", outcome.transcript());
        }
    }
}

/// Neither that the memory of a vector is shared was known when the one schedule was recorded, nor that of a counter when the
/// other one was.
#[test]
fn a_failure_from_before_all_shared_memory_was_known_is_explained() {
    let programs = [
        // Without optimisation, a part of the stack that the loop reads may have been shared before, and is told of as well.
        ("names/late_memory.cpp", "why: livelock: T1 spins until `desk.busy` "),
        ("names/counts_unseen.rs", "lost wake-up: T1 signals `WAKE_UP` ("),
    ];
    let builds = programs.into_iter().flat_map(|program| Optimisation::ALL.map(|level| (program, level)));
    let runs = builds.flat_map(|build| ["auto", "dpor"].map(|strategy| (build, strategy)));
    for (((source, why), level), strategy) in sample(runs, 6) {
        let program = Build::new(source, level).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(["explore", "--strategy", strategy, "--output"]);
        let outcome = tool.and([folder.path(), &program]).run().unwrap();
        assert!(outcome.says(why), "{}", outcome.transcript());
    }
}

#[test]
fn blocks_that_hold_the_same_type_are_told_apart() {
    for (optimisation, blocks) in [
        (Optimisation::O0, ["block 1 from two_accounts::open", "block 2 from two_accounts::open"]),
        // Each copy of the function that was inlined is a place of its own.
        (
            Optimisation::O2,
            [
                "block 1 from two_accounts::open, line 12, place 1",
                "block 1 from two_accounts::open, line 12, place 2",
            ],
        ),
    ] {
        let outcome = explore("names/two_accounts.rs", optimisation);
        let message = outcome.finding()["message"].as_str().unwrap_or_default();
        let is_told = |block| message.contains(&format!("`Account.balance ({block})`"));
        assert!(blocks.into_iter().all(is_told), "{}", outcome.transcript());
    }
}

/// The message of a deadlock names them as its explanation does.
#[test]
fn blocks_that_one_function_allocates_on_different_lines_are_told_apart() {
    for optimisation in levels("twin_blocks") {
        let outcome = explain("names/twin_blocks.c", optimisation);
        let [current, savings] =
            [30, 29].map(|line| format!("account.lock (block 1 from main, line {line})"));
        let finding = outcome.finding();
        assert_eq!(
            finding["explanation"]["sentence"],
            format!(
                "lock-order cycle: T2 waits for `{current}` (twin_blocks.c:17), which T3 holds since twin_blocks.c:16; \
                 T3 waits for `{savings}` (twin_blocks.c:17), which T2 holds since twin_blocks.c:16"
            ),
            "{}",
            outcome.transcript()
        );
        let message = finding["message"].as_str().unwrap_or_default();
        let waits = [(2, current, 3), (3, savings, 2)];
        let waits =
            waits.map(|(waits, block, has)| format!("T{waits} waits for mutex `{block}`, held by T{has}"));
        assert!(waits.iter().all(|waits| message.contains(waits)), "{message}");
    }
}

#[test]
fn blocks_that_one_line_allocates_are_numbered() {
    for optimisation in levels("twin_blocks") {
        let outcome = explore_build(&Build::new("names/twin_blocks.c", optimisation).flag("-DONE_LINE"));
        for place in [1, 2] {
            let block = format!("waits for mutex `account.lock (block 1 from main, line 27, place {place})`");
            assert!(outcome.says(&block), "{}", outcome.transcript());
        }
    }
}
