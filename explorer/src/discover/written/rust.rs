//! Rust.

use super::blank::blanked;
use super::{DeclarationKind, SourceDeclaration};

pub(super) fn written(text: &str) -> Vec<SourceDeclaration> {
    let plain = blanked(text, true);
    let mut reader = RustReader::default();
    for (number, line) in (1..).zip(plain.split('\n')) {
        reader.line(line, number);
    }
    reader.found
}

#[derive(Default)]
struct RustReader {
    /// For each open brace, the module that it belongs to.
    open: Vec<Option<String>>,
    /// The name after `mod`, until its brace.
    module: Option<String>,
    /// Whether an attribute made the next function a test.
    is_test: bool,
    last: String,
    found: Vec<SourceDeclaration>,
}

impl RustReader {
    fn line(&mut self, line: &str, number: u32) {
        if is_test_attribute(line) {
            self.is_test = true;
        }
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            if is_word(c) {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                self.word(&rest[..end], number);
                rest = &rest[end..];
            } else {
                self.sign(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    fn word(&mut self, word: &str, line: u32) {
        match self.last.as_str() {
            "mod" => self.module = Some(word.to_owned()),
            "fn" => self.function(word, line),
            _ => {}
        }
        word.clone_into(&mut self.last);
    }

    fn function(&mut self, name: &str, line: u32) {
        if std::mem::take(&mut self.is_test) {
            let path = self.open.iter().flatten().map(String::as_str).chain([name]);
            let path = path.collect::<Vec<_>>().join("::");
            self.found.push(SourceDeclaration { what: DeclarationKind::Test(path), line });
        } else if name == "main" && self.open.is_empty() {
            self.found.push(SourceDeclaration { what: DeclarationKind::Main, line });
        }
    }

    fn sign(&mut self, sign: char) {
        match sign {
            '{' => self.open.push(self.module.take()),
            '}' => {
                self.open.pop();
            }
            ';' => self.module = None,
            _ => {}
        }
        if !sign.is_whitespace() {
            self.last.clear();
        }
    }
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`, with others beside them.
fn is_test_attribute(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find("#[") {
        rest = &rest[at + 2..];
        let path = rest.trim_start();
        let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(path.len());
        let last = path[..end].rsplit("::").next().unwrap_or_default();
        if matches!(last, "test" | "rstest" | "test_case" | "proptest") {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_the_path_of_their_modules() {
        let text = r#"
fn main() { let s = "fn main() {"; }
mod helpers;
#[cfg(test)]
mod tests {
    use super::*;
    fn helper() { struct X { a: u32 } }
    #[test] fn one() {}
    mod inner {
        #[tokio::test(flavor = "multi_thread")]
        #[should_panic]
        async fn two<'a>() { fn main() {} }
    }
}
#[test]
fn outer() -> Result<(), String> { Ok(()) }
// #[test]
fn no_test() {}
"#;
        let test = |path: &str| DeclarationKind::Test(path.to_owned());
        let expected = [
            (2, DeclarationKind::Main),
            (8, test("tests::one")),
            (12, test("tests::inner::two")),
            (16, test("outer")),
        ];
        let found: Vec<_> = written(text).into_iter().map(|w| (w.line, w.what)).collect();
        assert_eq!(found, expected);
    }
}
