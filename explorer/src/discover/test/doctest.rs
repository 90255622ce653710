//! doctest: `TEST_CASE("name")` makes a function with a number of its own; the name is in the text.

use super::super::functions::{Function, Functions};
use super::{Framework, Sources, Test};

const MACROS: [&str; 10] = [
    "TEST_CASE",
    "DOCTEST_TEST_CASE",
    "SCENARIO",
    "DOCTEST_SCENARIO",
    "TEST_CASE_FIXTURE",
    "DOCTEST_TEST_CASE_FIXTURE",
    "TEST_CASE_TEMPLATE",
    "DOCTEST_TEST_CASE_TEMPLATE",
    "SCENARIO_TEMPLATE",
    "DOCTEST_SCENARIO_TEMPLATE",
];

pub(super) fn tests(functions: &Functions, sources: &mut Sources) -> Vec<Test> {
    functions.all.iter().filter(|f| is_test(f)).filter_map(|f| test(f, sources)).collect()
}

fn is_test(function: &Function) -> bool {
    let is_made = |name: &str| name.trim_start_matches('_').starts_with("DOCTEST_ANON_");
    // A test with a fixture is a member `f` of a class.
    let class = || function.path.rsplit("::").nth(1).unwrap_or_default();
    is_made(&function.name) || (function.name == "f" && is_made(class()))
}

fn test(function: &Function, sources: &mut Sources) -> Option<Test> {
    let (called, arguments) = sources.macro_at(&function.at, &MACROS)?;
    let text = arguments.iter().take(2).find_map(|argument| argument.text())?;
    let name = if called.contains("SCENARIO") { format!("  Scenario: {text}") } else { text.to_owned() };
    let is_template = called.ends_with("_TEMPLATE");
    let filter = if is_template { format!("{}<*", escaped(&name)) } else { escaped(&name) };
    Some(Test {
        framework: Framework::Doctest,
        name: name.trim_start().to_owned(),
        at: function.at.clone(),
        // Without that, doctest would notice that it is traced, and stop there instead of reporting what has failed.
        arguments: vec![format!("--test-case={filter}"), "--no-breaks=true".to_owned()],
        ambiguity: None,
        listed: if is_template { format!("{name}<") } else { name },
        is_template,
    })
}

/// Commas separate filters, and `*` stands for anything. It cannot be escaped, but `?` stands for any one character.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace(',', "\\,").replace('*', "?")
}
