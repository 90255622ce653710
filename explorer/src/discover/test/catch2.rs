//! Catch2, versions 2 and 3: `TEST_CASE("name")` makes a function with a number of its own; the name is in the text.

use super::super::functions::{Function, Functions};
use super::{Framework, Sources, Test};

const PLAIN: [&str; 2] = ["TEST_CASE", "SCENARIO"];
const OF_A_CLASS: [&str; 3] = ["TEST_CASE_METHOD", "SCENARIO_METHOD", "METHOD_AS_TEST_CASE"];
const TEMPLATES: [&str; 5] = [
    "TEMPLATE_TEST_CASE",
    "TEMPLATE_TEST_CASE_SIG",
    "TEMPLATE_PRODUCT_TEST_CASE",
    "TEMPLATE_LIST_TEST_CASE",
    "TEMPLATE_TEST_CASE_METHOD",
];

pub(super) fn tests(functions: &Functions, sources: &mut Sources) -> Vec<Test> {
    functions.all.iter().filter(|f| is_test(f)).filter_map(|f| test(f, sources)).collect()
}

fn is_test(function: &Function) -> bool {
    let is_made = |name: &str| {
        ["CATCH2_INTERNAL_TE", "____C_A_T_C_H____T_E", "C_A_T_C_H_T_E_"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let class = || function.path.rsplit("::").nth(1).unwrap_or_default();
    is_made(&function.name) || (function.name == "test" && is_made(class()))
}

fn test(function: &Function, sources: &mut Sources) -> Option<Test> {
    let macros: Vec<&str> = PLAIN.iter().chain(&OF_A_CLASS).chain(&TEMPLATES).copied().collect();
    let prefixed: Vec<String> = macros.iter().map(|name| format!("CATCH_{name}")).collect();
    let all: Vec<&str> = macros.into_iter().chain(prefixed.iter().map(String::as_str)).collect();
    let (called, arguments) = sources.macro_at(&function.at, &all)?;
    let called = called.strip_prefix("CATCH_").unwrap_or(&called);
    // The first text is the name, whatever class stands before it.
    let text = arguments.iter().take(2).find_map(|argument| argument.text())?;
    let name = if called.starts_with("SCENARIO") { format!("Scenario: {text}") } else { text.to_owned() };
    let is_template = TEMPLATES.contains(&called);
    let filter = if is_template { format!("{} - *", escaped(&name)) } else { escaped(&name) };
    let listed = if is_template { format!("{name} - ") } else { name.clone() };
    let (at, arguments) = (function.at.clone(), vec![filter]);
    Some(Test { framework: Framework::Catch2, name, at, arguments, ambiguity: None, listed, is_template })
}

/// In a test specification, commas separate, brackets are tags and `~` excludes; `-` begins an option. A `*` at either end
/// stands for anything whether it is escaped or not.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if matches!(c, ',' | '[' | ']' | '\\' | '"' | '~') || (c == '-' && at == 0) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_escaped_for_a_test_specification() {
        assert_eq!(escaped("a, [b] * c"), "a\\, \\[b\\] * c");
        assert_eq!(escaped("-a-b"), "\\-a-b");
    }
}
