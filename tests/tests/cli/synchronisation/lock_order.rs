//! Potential deadlocks of real programs: locks that threads take in opposite orders are a warning where no execution
//! deadlocked, and none where one did or none can.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Build, Optimisation, Outcome, Tool, levels};

/// Without preemptions each thread has both locks or none.
const APART: [&str; 4] = ["--strategy", "icb", "--max-preemptions", "0"];

fn explore(program: &Path, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let place = ["--output".as_ref(), folder.path().as_os_str()];
    let options = place.into_iter().chain(options.iter().map(AsRef::as_ref));
    Tool::explore(options, program).run().unwrap()
}

fn build(source: &str, level: Optimisation) -> std::path::PathBuf {
    Build::new(source, level).program().unwrap()
}

fn potential(outcome: &Outcome) -> &[Value] {
    let all = outcome.report["potential_deadlocks"].as_array();
    all.unwrap_or_else(|| panic!("{}", outcome.transcript()))
}

/// The lines at which a thread takes its two locks.
fn lines(order: &Value) -> [u64; 2] {
    ["holds", "takes"].map(|taken| {
        let taken = &order[taken];
        assert_eq!(
            (&taken["stack"][0]["line"], taken["lock"].is_string()),
            (&taken["line"], true),
            "{order}"
        );
        taken["line"].as_u64().unwrap()
    })
}

fn expect(source: &str, locks: [&str; 2], expected: [[u64; 2]; 2]) {
    for level in levels(source) {
        let program = build(source, level);
        let apart = explore(&program, &APART);
        let [told] = potential(&apart) else { panic!("{source} {level:?}: {}", apart.transcript()) };
        assert_eq!(told["locks"], json!(locks), "{source} {level:?}");
        assert_eq!([0, 1].map(|nth| lines(&told["threads"][nth])), expected, "{source} {level:?}");
        for (nth, other) in [(0, 1), (1, 0)] {
            let order = &told["threads"][nth];
            assert_eq!([&order["holds"]["lock"], &order["takes"]["lock"]], [locks[nth], locks[other]]);
        }
        // It changes nothing else.
        let without = explore(&program, &[&APART[..], &["--no-lock-order"]].concat());
        assert_eq!(potential(&without), [] as [Value; 0]);
        let rest = |outcome: &Outcome| {
            let report = &outcome.report;
            (outcome.code, report["verdict"].clone(), report["schedules"].clone(), report["covered"].clone())
        };
        assert_eq!(rest(&apart), rest(&without), "{source} {level:?}");
        assert_eq!(apart.code, 0, "{source} {level:?}: {}", apart.transcript());
        // A deadlock that is found is no potential one.
        let found = explore(&program, &["--strategy", "dfs"]);
        assert_eq!(found.finding()["kind"], "deadlock", "{source} {level:?}");
        assert_eq!(potential(&found), [] as [Value; 0], "{source} {level:?}");
    }
}

#[test]
fn opposite_orders_in_c_are_told_where_no_execution_deadlocks() {
    expect("c/lock_order.c", ["savings.lock", "current.lock"], [[22, 23], [22, 23]]);
}

#[test]
fn opposite_orders_in_cpp_are_told_where_no_execution_deadlocks() {
    expect("cpp/lock_order.cpp", ["circle.mutex", "square.mutex"], [[23, 24], [23, 24]]);
}

#[test]
fn opposite_orders_in_rust_are_told_where_no_execution_deadlocks() {
    expect("rust/lock_order.rs", ["INPUT", "OUTPUT"], [[15, 16], [21, 22]]);
}

#[test]
fn correct_programs_are_told_nothing() {
    let variants = ["-DGATE", "-DJOINED", "-DHANDED", "-DREADERS", "-DTRIES"];
    let sources = [
        "c/lock_order_ok.c",
        "correct/synchronisation/scoped_locks.cpp",
        "correct/synchronisation/gated_locks.rs",
    ];
    for level in levels("ordered_locks") {
        let of_c = variants
            .map(|variant| Build::new("correct/synchronisation/ordered_locks.c", level).flag(variant));
        for build in of_c.into_iter().chain(sources.map(|source| Build::new(source, level))) {
            for bound in ["0", "1"] {
                let options = ["--strategy", "icb", "--max-preemptions", bound];
                let outcome = explore(&build.program().unwrap(), &options);
                assert_eq!(outcome.report["findings"], json!([]), "{build:?}: {}", outcome.transcript());
                assert_eq!(potential(&outcome), [] as [Value; 0], "{build:?}");
            }
        }
    }
}

#[test]
fn the_report_in_words_has_both_stacks_of_each_thread() {
    let folder = tempfile::tempdir().unwrap();
    let program = build("rust/lock_order.rs", Optimisation::O0);
    let place = [Path::new("--output"), folder.path()];
    let text = Tool::new(["explore"]).and(place).and(APART).and([Path::new("--"), &program]).run().unwrap();
    let shown = &text.stdout;
    let stack = |lines: &[u32]| {
        let words = |line: &u32| shown.contains(&format!("lock_order.rs:{line}\n"));
        lines.iter().all(words)
    };
    assert!(shown.starts_with("Potential deadlock: `INPUT`, `OUTPUT`\n  T2 locks `INPUT`\n"), "{shown}");
    assert!(shown.contains("\n  T3 then locks `INPUT`\n") && stack(&[15, 16, 21, 22]), "{shown}");
    assert!(shown.contains("\n  no execution of the search deadlocked there\n"), "{shown}");
    assert!(shown.contains("\n  locks     1 potential deadlock\n"), "{shown}");
}

#[test]
fn a_file_says_that_a_potential_deadlock_may_stay_or_that_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("copies");
    std::fs::copy(build("rust/lock_order.rs", Optimisation::O0), &program).unwrap();
    let explored = |config: &str| {
        std::fs::write(folder.path().join("interleaver.toml"), config).unwrap();
        let outcome = explore(&program, &APART);
        let suppressed = outcome.report["suppressed_potential_deadlocks"].as_u64();
        (potential(&outcome).len(), suppressed, outcome.report["notes"].to_string())
    };
    let suppress = |what: &str| explored(&format!("[[suppress]]\nreason = 'never at once'\n{what}\n"));
    let (told, suppressed, _) =
        suppress("variable = 'OUTPUT'\nfunctions = ['lock_order::copy', 'lock_order::clear']");
    assert_eq!((told, suppressed), (0, Some(1)));
    let (told, suppressed, notes) = suppress("variable = 'QUEUE'");
    assert_eq!((told, suppressed), (1, None));
    assert!(notes.contains("matches no data race that was seen, and no potential deadlock"), "{notes}");
    assert_eq!(explored("lock-order = false\n").0, 0);
}
