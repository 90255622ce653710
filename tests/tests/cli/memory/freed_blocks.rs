//! Uses of freed memory are seen in ordinary builds, and told with the threads that allocated and freed it.

use std::time::Duration;

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool, is_full, levels, sample};

/// The longest search, and what comes after it.
const LIMIT: Duration = Duration::from_secs(200);

fn explore(source: &str, level: Optimisation, options: &[&str]) -> Outcome {
    explore_with(source, level, options, &[])
}

/// The same for a program that is given arguments.
fn explore_with(source: &str, level: Optimisation, options: &[&str], arguments: &[String]) -> Outcome {
    let program = Build::new(source, level).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = ["--output".as_ref(), folder.path().as_os_str()];
    let options = output.into_iter().chain(options.iter().map(AsRef::as_ref));
    Tool::explore(options, &program).and(arguments).within(LIMIT).run().unwrap()
}

/// The action of each thread that takes part, with the innermost line of its stack.
fn parties(outcome: &Outcome) -> Vec<Value> {
    let parties = outcome.finding()["parties"].as_array().unwrap().iter();
    let parties = parties.filter(|party| !party["doing"].as_str().unwrap().starts_with("was preempted"));
    let words = |party: &Value| json!([party["thread"], party["doing"], party["stack"][0]["line"]]);
    parties.map(words).collect()
}

#[test]
fn the_use_the_freeing_and_the_allocation_are_told_with_their_lines() {
    for (source, lines) in [
        ("c/use_after_free.c", [("T2", 38), ("T1", 53), ("T1", 23)]),
        ("rust/use_after_free.rs", [("T2", 24), ("T3", 29), ("T1", 19)]),
    ] {
        for level in levels(source) {
            let outcome = explore(source, level, &[]);
            let expected = ["failed", "freed it", "allocated it"].iter().zip(lines);
            let expected: Vec<Value> =
                expected.map(|(doing, (thread, line))| json!([thread, doing, line])).collect();
            assert_eq!(parties(&outcome), expected, "{}", outcome.transcript());
        }
    }
}

#[test]
fn a_mutex_in_a_freed_block_is_used_after_it_was_freed() {
    for level in levels("locks_freed") {
        let outcome = explore("memory/locks_freed.c", level, &[]);
        assert_eq!(outcome.finding()["kind"], "use-after-free", "{}", outcome.transcript());
        assert_eq!(outcome.finding()["line"], 19, "{}", outcome.transcript());
        assert_eq!(outcome.finding()["reproduced"], "2/2");
    }
}

/// Nothing of the program's own touches the block but the calls.
#[test]
fn system_calls_that_use_a_freed_block_fail() {
    for call in ["-DWRITES", "-DREADS"] {
        for level in levels(call) {
            let build = Build::new("memory/kernel_uses_freed.c", level).flag(call);
            for (build, kind) in [(build.clone(), Some("use-after-free")), (build.flag("-DTRY"), None)] {
                let program = build.program().unwrap();
                let folder = tempfile::tempdir().unwrap();
                let output = ["--output".as_ref(), folder.path().as_os_str()];
                let outcome = Tool::explore(output, &program).run().unwrap();
                let found = outcome.report["findings"][0]["kind"].as_str();
                assert_eq!(found, kind, "{call} {level:?}: {}", outcome.transcript());
            }
        }
    }
}

#[test]
fn blocks_from_before_main_are_known() {
    for obtained in ["-DVARIABLE", "-DCONSTRUCTOR", "-DVECTOR", "-DSTRING"] {
        for level in levels(obtained) {
            let explore = |also: &[&str]| {
                let build = Build::new("memory/frees_early_block.cpp", level).flag(obtained);
                let program = also.iter().fold(build, |build, flag| build.flag(flag)).program().unwrap();
                let folder = tempfile::tempdir().unwrap();
                Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program).run().unwrap()
            };
            let outcome = explore(&[]);
            assert_eq!(outcome.finding()["kind"], "use-after-free", "{obtained} {}", outcome.transcript());
            assert!(outcome.says("from before `main`"), "{}", outcome.transcript());
            let outcome = explore(&["-DTRY"]);
            assert_eq!(outcome.code, 0, "{obtained} {level:?}: {}", outcome.transcript());
        }
    }
}

/// The allocator might have let the list grow where it is.
#[test]
fn a_block_that_grows_is_another_one() {
    for level in levels("grows_shared") {
        let outcome = explore("memory/grows_shared.c", level, &[]);
        assert_eq!(outcome.finding()["kind"], "use-after-free", "{}", outcome.transcript());
        assert_eq!(outcome.finding()["line"], 21, "{}", outcome.transcript());
    }
}

/// Two threads use blocks that were obtained in so many ways. A block that is freed by the thread that is done with it
/// last is no finding; with the number of a way as argument, the thread that is done with it first frees it, which is
/// one. It is used at this line. Of the ways, one in three is in the sample, and of the schedules those with so many
/// preemptions: each of Rust's takes fifty times as long.
#[track_caller]
fn every_way(source: &str, ways: usize, preemptions: u32, line: u64) {
    // Operations of the libraries on blocks of their own are not the subject here.
    let assumed = ["libc.so", "libstdc++.so", "file"].map(|name| ["--assume", name]).concat();
    for level in sample(Optimisation::ALL, 2) {
        let bound = if is_full() { 1 } else { preemptions };
        let options = ["--max-preemptions", &bound.to_string(), "--time-limit", "3m"];
        let outcome = explore(source, level, &[&options[..], &assumed].concat());
        assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
        assert_eq!(outcome.report["covered"]["preemptions"], bound, "{}", outcome.transcript());
    }
    let builds = Optimisation::ALL.into_iter().flat_map(|level| (0..ways).map(move |way| (level, way)));
    for (level, way) in sample(builds, 3) {
        let outcome = explore_with(source, level, &[], &[way.to_string()]);
        let found = outcome.finding();
        let found = json!([found["kind"], found["line"], found["reproduced"]]);
        assert_eq!(found, json!(["use-after-free", line, "2/2"]), "{}", outcome.transcript());
    }
}

#[test]
fn blocks_of_the_c_library_are_freed_in_every_way() {
    every_way("memory/frees_every_way.c", 12, 1, 83);
}

#[test]
fn blocks_of_cpp_owners_are_freed_in_every_way() {
    every_way("memory/frees_every_owner.cpp", 11, 1, 105);
}

#[test]
fn blocks_of_rust_owners_are_freed_in_every_way() {
    every_way("memory/frees_every_box.rs", 9, 0, 117);
}

#[test]
fn what_does_not_fit_into_the_quarantine_is_freed_and_said() {
    let outcome = explore("memory/frees_much.c", Optimisation::O0, &["--max-preemptions", "0"]);
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert!(outcome.says("the program frees more than is kept"), "{}", outcome.transcript());
}

/// The failures of the listing in section 2 of the PERIOD paper: kind, line, and how many executions had been started by
/// the first that showed it.
fn failures_of_the_papers_listing(level: Optimisation, options: &[&str]) -> Vec<Value> {
    let options = [&["--keep-going"], options].concat();
    let outcome = explore("memory/last_one_frees.c", level, &options);
    let findings = outcome.report["findings"].as_array().unwrap().iter();
    findings
        .map(|found| {
            assert_eq!(found["reproduced"], "2/2", "{}", outcome.transcript());
            json!([found["kind"], found["line"], found["executions"]])
        })
        .collect()
}

/// The numbers are those of the table in docs/searches.md.
#[test]
fn one_search_shows_all_failures_of_the_papers_listing() {
    for level in levels("last_one_frees") {
        let of_icb =
            [json!(["crash", 16, 32]), json!(["use-after-free", 16, 48]), json!(["double-free", 21, 51])];
        assert_eq!(failures_of_the_papers_listing(level, &["--strategy", "icb"]), of_icb);
        let periods = ["--strategy", "period", "--max-periods", "6", "--max-schedules", "500"];
        let of_period =
            [json!(["crash", 16, 41]), json!(["double-free", 21, 162]), json!(["use-after-free", 16, 484])];
        assert_eq!(failures_of_the_papers_listing(level, &periods), of_period);
    }
}

#[test]
fn auto_shows_all_failures_of_the_papers_listing() {
    for level in levels("last_one_frees_auto") {
        let found = failures_of_the_papers_listing(level, &["--strategy", "auto"]);
        let mut kinds: Vec<Value> = found.iter().map(|found| json!([found[0], found[1]])).collect();
        kinds.sort_by_key(Value::to_string);
        let expected = [
            json!(["crash", 16]),
            json!(["double-free", 21]),
            // No schedule with two preemptions shows what happens in line 19.
            json!(["unlock-not-held", 19]),
            json!(["use-after-free", 16]),
            json!(["use-after-free", 19]),
        ];
        assert_eq!(kinds, expected);
    }
}
