//! C and C++.

use super::super::test::{Argument, arguments_in};
use super::blank::blanked;
use super::{DeclarationKind, SourceDeclaration};

const SUITE_AND_NAME: [&str; 6] = ["TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P", "GTEST_TEST"];
const NAMED_BY_TEXT: [&str; 12] = [
    "TEST_CASE",
    "SCENARIO",
    "TEST_CASE_METHOD",
    "TEST_CASE_FIXTURE",
    "TEMPLATE_TEST_CASE",
    "TEMPLATE_TEST_CASE_SIG",
    "TEMPLATE_PRODUCT_TEST_CASE",
    "TEST_CASE_TEMPLATE",
    "CATCH_TEST_CASE",
    "CATCH_SCENARIO",
    "DOCTEST_TEST_CASE",
    "DOCTEST_SCENARIO",
];

pub(super) fn written(text: &str) -> Vec<SourceDeclaration> {
    let plain = blanked(text, false);
    let mut found = Vec::new();
    let mut scope = Scope::default();
    for (number, line) in (1..).zip(plain.split('\n')) {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let mut words = line.match_indices(|c: char| c.is_alphanumeric() || c == '_').peekable();
        let mut passed = 0;
        while let Some((start, letter)) = words.next() {
            let mut end = start + letter.len();
            while let Some((next, letter)) = words.next_if(|(next, _)| *next == end) {
                end = next + letter.len();
            }
            scope.pass(&line[passed..start]);
            passed = end;
            let word = &line[start..passed];
            let what = if scope.is_outer() { what(word, line, passed, text, number) } else { None };
            found.extend(what.map(|what| SourceDeclaration { what, line: number }));
            scope.word(word);
        }
        scope.pass(&line[passed..]);
    }
    found
}

fn what(word: &str, line: &str, end: usize, text: &str, number: u32) -> Option<DeclarationKind> {
    if !line[end..].trim_start().starts_with('(') {
        return None;
    }
    if word == "main" {
        return Some(DeclarationKind::Main);
    }
    if SUITE_AND_NAME.contains(&word) {
        let (_, arguments) = arguments_in(text, number, &[word])?;
        let names: Vec<&str> = arguments.iter().filter_map(Argument::words).collect();
        return (names.len() == 2).then(|| DeclarationKind::Test(names.join(".")));
    }
    if NAMED_BY_TEXT.contains(&word) {
        let (_, arguments) = arguments_in(text, number, &[word])?;
        let text = arguments.iter().take(2).find_map(Argument::text)?;
        let is_scenario = word.ends_with("SCENARIO");
        return Some(DeclarationKind::Test(if is_scenario {
            format!("Scenario: {text}")
        } else {
            text.to_owned()
        }));
    }
    None
}

/// Depth of the text in braces; those of namespaces and of `extern "C"` do not count.
#[derive(Default)]
struct Scope {
    /// For each open brace, whether it counts.
    open: Vec<bool>,
    /// Whether the next brace is that of a namespace.
    is_namespace: bool,
}

impl Scope {
    fn word(&mut self, word: &str) {
        if matches!(word, "namespace" | "extern") {
            self.is_namespace = true;
        }
    }

    fn pass(&mut self, between: &str) {
        for c in between.chars() {
            match c {
                '{' => {
                    self.open.push(!self.is_namespace);
                    self.is_namespace = false;
                }
                '}' => {
                    self.open.pop();
                }
                ';' | '(' | '=' => self.is_namespace = false,
                _ => {}
            }
        }
    }

    fn is_outer(&self) -> bool {
        !self.open.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_and_calls_are_not() {
        let text = r#"
#define main other(
// int main()
extern "C" { int helper(void); }
namespace a::b { namespace {
TEST(Suite, Name) { main(1); TEST(Not, This); }
TEST_P(Suite,
       Other) {}
TEST_CASE("a (b)", "[x]") { if (x) { } }
SCENARIO("y") {}
} }
static int domain(int x) { return x; }
int main (int argc, char **argv)
{
}
"#;
        let expected = [
            (6, DeclarationKind::Test("Suite.Name".to_owned())),
            (7, DeclarationKind::Test("Suite.Other".to_owned())),
            (9, DeclarationKind::Test("a (b)".to_owned())),
            (10, DeclarationKind::Test("Scenario: y".to_owned())),
            (13, DeclarationKind::Main),
        ];
        let found: Vec<_> = written(text).into_iter().map(|w| (w.line, w.what)).collect();
        assert_eq!(found, expected);
    }
}
