//! Output of test frameworks: it says when no test has run, or others than the chosen one, since exploring that would be a
//! pass that means nothing; and it tells the place of an expectation that failed.

use std::path::PathBuf;

use crate::report::Hint;

/// Output of a test framework when no test has run: every mark has to begin a line of it.
struct NoTestsMessage {
    marks: &'static [&'static str],
    /// A beginning that no line has then.
    never: Option<&'static str>,
    missed: TestNotRun,
}

const NO_TESTS: [NoTestsMessage; 6] = [
    NoTestsMessage {
        // It may have passed over the test, since it is to be ignored.
        marks: &["running ", "test result: ok. 0 passed; 0 failed;"],
        never: None,
        missed: TestNotRun::None("Rust's test harness"),
    },
    NoTestsMessage {
        marks: &["[==========] Running 0 tests from 0 test ", "[  PASSED  ] 0 tests."],
        never: None,
        missed: TestNotRun::None("GoogleTest"),
    },
    NoTestsMessage {
        marks: &["[  SKIPPED ] ", "[  PASSED  ] 0 tests."],
        never: Some("[  FAILED  ] "),
        missed: TestNotRun::Skipped("GoogleTest"),
    },
    NoTestsMessage { marks: &["No test cases matched '"], never: None, missed: TestNotRun::None("Catch2") },
    NoTestsMessage {
        marks: &["test cases: 1 | 1 skipped"],
        never: None,
        missed: TestNotRun::Skipped("Catch2"),
    },
    NoTestsMessage {
        marks: &["[doctest] test cases: 0 |"],
        never: None,
        missed: TestNotRun::None("doctest"),
    },
];

/// The reason for which an execution says nothing of the test that was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TestNotRun {
    /// The framework ran no test.
    None(&'static str),
    /// The test said that it is to be skipped.
    Skipped(&'static str),
    /// The program has ended with this exit code, by which a harness knows that.
    SkippedByCode(i32, &'static str),
    /// The framework ran so many where one was chosen.
    Several(&'static str, u32),
}

impl TestNotRun {
    /// As a sentence; `arguments` are those of the program.
    fn words(self, arguments: &str) -> String {
        match self {
            Self::None(framework) => {
                format!(
                    "{framework} ran no test with the arguments `{arguments}`: name a test that the program has"
                )
            }
            Self::Skipped(framework) => {
                format!("the test was skipped: {framework} ran nothing else with the arguments `{arguments}`")
            }
            Self::SkippedByCode(code, harness) => format!(
                "the test was skipped: the program ended with exit code {code}, which says so to {harness}"
            ),
            Self::Several(framework, count) => format!(
                "{framework} ran {count} tests with the arguments `{arguments}`, which are to select one: rename the one that is meant"
            ),
        }
    }
}

/// The chosen test did not run, or did not run alone, with these arguments of the program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .reason.words(.arguments))]
pub(crate) struct TestMissed {
    pub(crate) reason: TestNotRun,
    pub(crate) arguments: String,
}

/// The reason for which the chosen test did not run, or did not run alone, as the framework that wrote this output says, if
/// one did. `is_one`: one test was chosen.
pub(crate) fn missed(stdout: &[u8], is_one: bool) -> Option<TestNotRun> {
    let text = String::from_utf8_lossy(stdout);
    // doctest aligns its numbers.
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let has = |mark: &&str| {
        let mark = mark.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.iter().any(|line| line.starts_with(&mark))
    };
    let is_so =
        |message: &&NoTestsMessage| message.marks.iter().all(has) && !message.never.as_ref().is_some_and(has);
    if let Some(message) = NO_TESTS.iter().find(is_so) {
        return Some(message.missed);
    }
    let counted = lines.iter().filter(|_| is_one).find_map(|line| counted(line));
    counted.filter(|(_, count)| *count > 1).map(|(framework, count)| TestNotRun::Several(framework, count))
}

/// The verdict on a program that has ended with this exit code, and written this, if that says to a harness that its test is
/// to be skipped.
pub(crate) fn skipped(code: i32, stdout: &[u8]) -> Option<TestNotRun> {
    let says_so = || String::from_utf8_lossy(stdout).contains("SKIP");
    match code {
        77 => Some(TestNotRun::SkippedByCode(code, "Automake and Meson")),
        // Others end with it as well.
        4 if says_so() => Some(TestNotRun::SkippedByCode(code, "the kernel's selftests")),
        _ => None,
    }
}

/// The reason that a program gives in its output, where it has ended with an exit code.
pub(crate) fn hint(stdout: &[u8], stderr: &[u8]) -> Option<Hint> {
    let text = [stdout, stderr].map(|text| String::from_utf8_lossy(text).to_lowercase());
    let mut lines = text.iter().flat_map(|text| text.lines()).map(str::trim);
    if lines.clone().any(|line| line.starts_with("usage:")) {
        return Some(Hint::Usage);
    }
    lines.any(|line| line.contains("no such file or directory")).then_some(Hint::MissingFile)
}

/// Whether a target is one test, and not all instances of a template or of a parameterised test.
pub(crate) fn is_one_test<S: AsRef<str>>(target: &str, mut arguments: impl Iterator<Item = S>) -> bool {
    let is_pattern = |argument: &str| match argument.strip_prefix('-') {
        Some(option) => option.contains('*'),
        None => argument.starts_with('*') || argument.ends_with('*'),
    };
    target.contains('#') && !arguments.any(|argument| is_pattern(argument.as_ref()))
}

/// Number of tests that a framework says that it ran.
fn counted(line: &str) -> Option<(&'static str, u32)> {
    let number = |text: &str| text.split(' ').next()?.parse().ok();
    if let Some(rest) = line.strip_prefix("[doctest] test cases: ") {
        return Some(("doctest", number(rest)?));
    }
    let rest = match line.strip_prefix("All tests passed (") {
        Some(rest) => rest.split_once(" in ")?.1,
        None => line.strip_prefix("test cases: ")?,
    };
    Some(("Catch2", number(rest)?))
}

/// A failed expectation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expectation {
    /// As the compiler was given it.
    pub(crate) file: PathBuf,
    pub(crate) line: u32,
    /// The expected value, and the actual one.
    pub(crate) words: String,
}

impl Expectation {
    /// As a report says it.
    pub(crate) fn message(&self) -> String {
        format!("an expectation of the test failed: {}", self.words)
    }
}

/// The text after the place in a report of GoogleTest, Catch2 and doctest.
const FAILED: [&str; 4] = ["Failure", "FAILED:", "ERROR:", "FATAL ERROR:"];

/// The first failed expectation that a framework reports.
pub(crate) fn failed_expectation(stdout: &[u8]) -> Option<Expectation> {
    const LONGEST: usize = 300;
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((file, number, said)) = place(line) else { continue };
        let Some(rest) = FAILED.iter().find_map(|mark| said.strip_prefix(mark)) else { continue };
        let details = lines.take_while(|line| !line.trim().is_empty() && !line.starts_with('['));
        let words = std::iter::once(rest).chain(details).map(str::trim).filter(|word| !word.is_empty());
        let words: String = joined(words).chars().take(LONGEST).collect();
        return Some(Expectation { file: file.into(), line: number, words });
    }
    None
}

/// GoogleTest's words about an exception that came out of a test: it has no place.
pub(crate) fn thrown_by_test(stdout: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines().skip_while(|line| *line != "unknown file: Failure").skip(1);
    let said = lines.next()?.trim_end_matches('.');
    said.contains(" exception ").then(|| format!("the test failed: {said}"))
}

/// Lines as one sentence: a line that ends with a colon introduces the next one, and a value belongs to the expression
/// before it.
fn joined<'a>(mut lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        match line.strip_prefix("Which is: ") {
            Some(value) => text.push_str(&format!(" (which is {value})")),
            None => {
                text.push_str(if text.ends_with(':') { " " } else { ", " });
                text.push_str(line);
            }
        }
    }
    text
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
                Some(("a/b.cpp", 12, "Expected equality of these values: n (which is 1), 2")),
            ),
            (
                "b.cpp:12: Failure\nExpected equality of these values:\n  a()\n    Which is: 1\n  b()\n    Which is: 2\nlost\n\n",
                Some((
                    "b.cpp",
                    12,
                    "Expected equality of these values: a() (which is 1), b() (which is 2), lost",
                )),
            ),
            (
                "b.cpp:8\n.......\n\nb.cpp:12: FAILED:\n  CHECK( n == 2 )\nwith expansion:\n  1 == 2\n\n=====\n",
                Some(("b.cpp", 12, "CHECK( n == 2 ), with expansion: 1 == 2")),
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
    fn exceptions_that_come_out_of_a_test_are_told() {
        let output = "[ RUN      ] A.B\nunknown file: Failure\nC++ exception with description \"boom\" thrown in the test \
                      body.\n\n[  FAILED  ] A.B (0 ms)\n";
        let said = "the test failed: C++ exception with description \"boom\" thrown in the test body";
        assert_eq!(thrown_by_test(output.as_bytes()), Some(said.to_owned()));
        assert_eq!(thrown_by_test(b"a.cpp:3: Failure\nValue of: n\n"), None);
    }

    #[test]
    fn frameworks_say_it_in_their_own_ways() {
        for (output, expected) in [
            (
                "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
                Some(TestNotRun::None("Rust's test harness")),
            ),
            (
                "\nrunning 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured\n",
                Some(TestNotRun::None("Rust's test harness")),
            ),
            (
                "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
                None,
            ),
            (
                "Note: Google Test filter = x\n[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test \
                 suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n",
                Some(TestNotRun::None("GoogleTest")),
            ),
            ("Filters: x\nNo test cases matched 'x'\n", Some(TestNotRun::None("Catch2"))),
            (
                "[doctest] test cases:  0 |  0 passed | 0 failed | 2 skipped\n",
                Some(TestNotRun::None("doctest")),
            ),
            ("[doctest] test cases:  1 |  1 passed | 0 failed | 9 skipped\n", None),
            ("[doctest] test cases: 10 | 10 passed | 0 failed |\n", Some(TestNotRun::Several("doctest", 10))),
            ("All tests passed (3 assertions in 1 test case)\n", None),
            ("All tests passed (3 assertions in 2 test cases)\n", Some(TestNotRun::Several("Catch2", 2))),
            (
                "test cases: 3 | 2 passed | 1 failed\nassertions: 3 | 2 passed | 1 failed\n",
                Some(TestNotRun::Several("Catch2", 3)),
            ),
            ("test cases: 1 | 1 skipped\nassertions: - none -\n", Some(TestNotRun::Skipped("Catch2"))),
            (
                "[  SKIPPED ] A.B (0 ms)\n[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test, listed below:\n",
                Some(TestNotRun::Skipped("GoogleTest")),
            ),
            // Of several instances, some were.
            ("[  SKIPPED ] A.B/0 (0 ms)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n", None),
            ("[  SKIPPED ] A.B/0 (0 ms)\n[  PASSED  ] 0 tests.\n[  FAILED  ] 1 test, listed below:\n", None),
            ("an ordinary program, running 0 tests\n", None),
            ("", None),
        ] {
            assert_eq!(missed(output.as_bytes(), true), expected, "{output}");
        }
        let several = "All tests passed (3 assertions in 2 test cases)\n";
        assert_eq!(missed(several.as_bytes(), false), None);
    }

    #[test]
    fn one_test_is_chosen_by_a_name_without_wildcards() {
        for (target, arguments, expected) in [
            ("build/tests#a", vec!["a"], true),
            ("build/tests#a * b", vec!["a * b"], true),
            ("build/tests#a", vec!["a - *"], false),
            ("build/tests#a", vec!["--test-case=a"], true),
            ("build/tests#a", vec!["--test-case=a<*"], false),
            ("build/tests#a", vec!["--test-case=a?b"], true),
            ("build/tests", vec!["a"], false),
            ("toml:own", vec!["a"], false),
        ] {
            assert_eq!(is_one_test(target, arguments.iter()), expected, "{target} {arguments:?}");
        }
    }
}
