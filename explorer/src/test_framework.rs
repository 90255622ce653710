//! Recognises that a test binary ran no test: exploring that would be a pass that means nothing.

/// What a test framework says when its filter matches nothing: every mark has to begin a line of the output.
struct Framework {
    name: &'static str,
    marks: &'static [&'static str],
}

const FRAMEWORKS: [Framework; 4] = [
    Framework {
        name: "Rust's test harness",
        marks: &["running 0 tests", "test result: ok. 0 passed; 0 failed; 0 ignored;"],
    },
    Framework {
        name: "GoogleTest",
        marks: &["[==========] Running 0 tests from 0 test ", "[  PASSED  ] 0 tests."],
    },
    Framework { name: "Catch2", marks: &["No test cases matched '"] },
    Framework { name: "doctest", marks: &["[doctest] test cases: 0 |"] },
];

/// The framework that wrote this output, if it says that no test ran.
pub(crate) fn that_ran_nothing(stdout: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(stdout);
    // doctest aligns its numbers.
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let has = |mark: &&str| {
        let mark = mark.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.iter().any(|line| line.starts_with(&mark))
    };
    FRAMEWORKS.iter().find(|framework| framework.marks.iter().all(has)).map(|framework| framework.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frameworks_say_it_in_their_own_ways() {
        for (output, expected) in [
            (
                "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
                Some("Rust's test harness"),
            ),
            (
                "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
                None,
            ),
            (
                "Note: Google Test filter = x\n[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test \
                 suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n",
                Some("GoogleTest"),
            ),
            ("Filters: x\nNo test cases matched 'x'\n", Some("Catch2")),
            ("[doctest] test cases:  0 |  0 passed | 0 failed | 2 skipped\n", Some("doctest")),
            ("[doctest] test cases: 10 | 10 passed | 0 failed |\n", None),
            ("an ordinary program, running 0 tests\n", None),
            ("", None),
        ] {
            assert_eq!(that_ran_nothing(output.as_bytes()), expected, "{output}");
        }
    }
}
