//! What a test framework says in its output: that it ran no test, since exploring that would be a pass that means nothing;
//! and where an expectation failed.

use std::path::PathBuf;

/// What a test framework says when its filter matches nothing: every mark has to begin a line of the output.
struct Framework {
    name: &'static str,
    marks: &'static [&'static str],
}

const FRAMEWORKS: [Framework; 4] = [
    Framework {
        name: "Rust's test harness",
        // It may have passed over the test, since it is to be ignored.
        marks: &["running ", "test result: ok. 0 passed; 0 failed;"],
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

/// A failed expectation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expectation {
    /// As the compiler was given it.
    pub(crate) file: PathBuf,
    pub(crate) line: u32,
    /// What was expected, and what was the case.
    pub(crate) words: String,
}

impl Expectation {
    /// As a report says it.
    pub(crate) fn message(&self) -> String {
        format!("an expectation of the test failed: {}", self.words)
    }
}

/// What follows the place in a report of GoogleTest, Catch2 and doctest.
const FAILED: [&str; 4] = ["Failure", "FAILED:", "ERROR:", "FATAL ERROR:"];

/// The first failed expectation that a framework reports.
pub(crate) fn failed_expectation(stdout: &[u8]) -> Option<Expectation> {
    const LONGEST: usize = 300;
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((file, number, said)) = place(line) else { continue };
        let Some(rest) = FAILED.iter().find_map(|mark| said.strip_prefix(mark)) else { continue };
        let details = lines.take_while(|line| !line.trim().is_empty() && !line.starts_with('[')).take(4);
        let words = std::iter::once(rest).chain(details).map(str::trim).filter(|word| !word.is_empty());
        let words: String = words.collect::<Vec<_>>().join(", ").chars().take(LONGEST).collect();
        return Some(Expectation { file: file.into(), line: number, words });
    }
    None
}

/// `FILE:LINE: REST`.
fn place(line: &str) -> Option<(&str, u32, &str)> {
    let (place, said) = line.split_once(": ")?;
    let (file, number) = place.rsplit_once(':')?;
    Some((file, number.parse().ok()?, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_expectations_have_a_place_and_words() {
        for (output, expected) in [
            (
                "[ RUN      ] A.B\na/b.cpp:12: Failure\nExpected equality of these values:\n  n\n    Which is: 1\n  2\n\n[  FAILED  ] A.B\n",
                Some(("a/b.cpp", 12, "Expected equality of these values:, n, Which is: 1, 2")),
            ),
            (
                "b.cpp:8\n.......\n\nb.cpp:12: FAILED:\n  CHECK( n == 2 )\nwith expansion:\n  1 == 2\n\n=====\n",
                Some(("b.cpp", 12, "CHECK( n == 2 ), with expansion:, 1 == 2")),
            ),
            (
                "b.cpp:8:\nTEST CASE:  x\n\nb.cpp:12: ERROR: CHECK( n == 2 ) is NOT correct!\n  values: CHECK( 1 == 2 )\n",
                Some(("b.cpp", 12, "CHECK( n == 2 ) is NOT correct!, values: CHECK( 1 == 2 )")),
            ),
            ("b.cpp:12: note: nothing failed\nerror: 3: ERROR\n", None),
            ("", None),
        ] {
            let found = failed_expectation(output.as_bytes());
            let expected = expected.map(|(file, line, words)| Expectation {
                file: file.into(),
                line,
                words: words.to_owned(),
            });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn frameworks_say_it_in_their_own_ways() {
        for (output, expected) in [
            (
                "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
                Some("Rust's test harness"),
            ),
            (
                "\nrunning 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured\n",
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
