//! GoogleTest: `TEST(Suite, Name)` makes a class `Suite_Name_Test` with a member `TestBody`.

use ptrace_backend::debuginfo::Image;

use super::super::functions::{Function, Functions};
use super::{Framework, Sources, Test};

const MACROS: [&str; 8] =
    ["TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P", "GTEST_TEST", "FRIEND_TEST", "GTEST_TEST_F"];

/// The shape that a filter must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    /// `TEST_P`: `Prefix/Suite.Name/0`.
    Parameterised,
    /// `TYPED_TEST`: `Suite/0.Name`.
    Typed,
    /// `TYPED_TEST_P`: `Prefix/Suite/0.Name`.
    TypedParameterised,
}

pub(super) fn tests(image: &Image, functions: &Functions, sources: &mut Sources) -> Vec<Test> {
    let bodies = functions.all.iter().filter(|function| function.name == "TestBody");
    bodies.filter_map(|body| test(image, functions, body, sources)).collect()
}

fn test(image: &Image, functions: &Functions, body: &Function, sources: &mut Sources) -> Option<Test> {
    let (scope, _) = body.path.rsplit_once("::")?;
    let (outer, class) = split_scope(scope);
    let is_template = class.ends_with('>');
    let class = class.split('<').next().unwrap_or(class);
    let written = sources.macro_at(&body.at, &MACROS);
    let typed_suite = outer.rsplit("::").next().and_then(|last| last.strip_prefix("gtest_suite_"));
    if let Some(suite) = typed_suite.and_then(|suite| suite.strip_suffix('_')) {
        return Some(made(body, suite, class, Shape::TypedParameterised));
    }
    let joined = class.strip_suffix("_Test")?;
    let (suite, name) = written
        .as_ref()
        .and_then(|(_, arguments)| Some((arguments.first()?.words()?, arguments.get(1)?.words()?)))
        .filter(|(suite, name)| format!("{suite}_{name}") == joined)
        .or_else(|| split_by_constants(image, joined))?;
    let is_parameterised = functions
        .all
        .iter()
        .any(|f| f.name.starts_with("gtest_") && f.name.ends_with(&format!("{suite}_EvalGenerator_")))
        || written.as_ref().is_some_and(|(name, _)| name == "TEST_P");
    let shape = match (is_template, is_parameterised) {
        (true, _) => Shape::Typed,
        (false, true) => Shape::Parameterised,
        (false, false) => Shape::Plain,
    };
    Some(made(body, suite, name, shape))
}

/// The class of a member's scope, and what the class is in; the arguments of templates may hold `::` too.
fn split_scope(scope: &str) -> (&str, &str) {
    let mut depth = 0_i32;
    let mut at = scope.len();
    for (index, c) in scope.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            ':' if depth == 0 => return (scope[..index].trim_end_matches(':'), &scope[at..]),
            _ => {}
        }
        at = index;
    }
    ("", scope)
}

/// Both names are constants of the program: where an underscore could be the one between them or part of a name, that
/// decides.
fn split_by_constants<'a>(image: &Image, joined: &'a str) -> Option<(&'a str, &'a str)> {
    let splits = joined.match_indices('_').map(|(at, _)| (&joined[..at], &joined[at + 1..]));
    let mut splits = splits.filter(|(suite, name)| !suite.is_empty() && !name.is_empty());
    let first = splits.clone().next();
    splits.find(|(suite, name)| image.holds_c_text(suite) && image.holds_c_text(name)).or(first)
}

fn made(body: &Function, suite: &str, name: &str, shape: Shape) -> Test {
    let (name, filter) = match shape {
        Shape::Plain => (format!("{suite}.{name}"), format!("{suite}.{name}")),
        // The prefix is empty where INSTANTIATE_TEST_SUITE_P gives none.
        Shape::Parameterised => (format!("{suite}.{name}/*"), format!("{suite}.{name}/*:*/{suite}.{name}/*")),
        Shape::Typed => (format!("{suite}/*.{name}"), format!("{suite}/*.{name}")),
        Shape::TypedParameterised => {
            (format!("{suite}/*.{name}"), format!("{suite}/*.{name}:*/{suite}/*.{name}"))
        }
    };
    let mut arguments = vec![format!("--gtest_filter={filter}")];
    if filter.contains("DISABLED_") {
        arguments.push("--gtest_also_run_disabled_tests".to_owned());
    }
    let (listed, at) = (name.clone(), body.at.clone());
    let framework = Framework::GoogleTest;
    Test { framework, name, at, arguments, ambiguity: None, listed, is_template: shape != Shape::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_split_before_the_class() {
        for (scope, expected) in [
            ("A_b_Test", ("", "A_b_Test")),
            ("(anonymous namespace)::A_b_Test", ("(anonymous namespace)", "A_b_Test")),
            ("x::A_b_Test<std::vector<int> >", ("x", "A_b_Test<std::vector<int> >")),
        ] {
            assert_eq!(split_scope(scope), expected, "{scope}");
        }
    }
}
