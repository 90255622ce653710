//! Reads the arguments of a macro's call in the text of a C++ file.

/// An argument of a macro.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::discover) enum Argument {
    /// One or several string literals side by side.
    Text(String),
    /// Anything else, without spaces at its ends.
    Words(String),
}

impl Argument {
    pub(in crate::discover) fn words(&self) -> Option<&str> {
        match self {
            Self::Words(words) => Some(words),
            Self::Text(_) => None,
        }
    }

    pub(in crate::discover) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Words(_) => None,
        }
    }
}

/// The first call of one of `macros` that begins in the line (from 1): which one, and its arguments.
pub(in crate::discover) fn arguments_in(
    text: &str,
    line: u32,
    macros: &[&str],
) -> Option<(String, Vec<Argument>)> {
    let index = usize::try_from(line.checked_sub(1)?).ok()?;
    let start: usize = text.split_inclusive('\n').take(index).map(str::len).sum();
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = start;
    while at < end {
        let from = at + text[at..end].find(is_name)?;
        let length = text[from..].find(|c| !is_name(c)).unwrap_or(text.len() - from);
        let word = &text[from..from + length];
        at = from + length;
        let rest = text[at..].trim_start();
        if let Some(inside) = rest.strip_prefix('(').filter(|_| macros.contains(&word)) {
            return Some((word.to_owned(), arguments(inside)));
        }
    }
    None
}

/// Up to the parenthesis that closes the call.
fn arguments(text: &str) -> Vec<Argument> {
    let mut reader = MacroReader { rest: text };
    let mut all = Vec::new();
    let (mut words, mut literal, mut depth) = (String::new(), None::<String>, 0);
    while let Some(token) = reader.token() {
        match token {
            Token::Literal(part) => literal.get_or_insert_default().push_str(&part),
            Token::Char(c @ (',' | ')')) if depth == 0 => {
                all.push(finished(&mut words, &mut literal));
                if c == ')' {
                    break;
                }
            }
            Token::Char(c) => {
                depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
                words.push(c);
            }
        }
    }
    all
}

fn finished(words: &mut String, literal: &mut Option<String>) -> Argument {
    let words = std::mem::take(words);
    match (words.trim(), literal.take()) {
        ("", Some(text)) => Argument::Text(text),
        (words, _) => Argument::Words(words.to_owned()),
    }
}

enum Token {
    Literal(String),
    Char(char),
}

struct MacroReader<'a> {
    rest: &'a str,
}

impl MacroReader<'_> {
    fn token(&mut self) -> Option<Token> {
        loop {
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                break;
            }
        }
        for prefix in ["R\"", "u8R\"", "LR\""] {
            if let Some(raw) = self.rest.strip_prefix(prefix) {
                return self.raw(raw);
            }
        }
        for prefix in ["\"", "u8\"", "L\"", "u\"", "U\""] {
            if let Some(inside) = self.rest.strip_prefix(prefix) {
                return Some(self.literal(inside));
            }
        }
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(Token::Char(c))
    }

    fn raw(&mut self, text: &str) -> Option<Token> {
        // `text` borrows from what `self.rest` borrows from.
        let (mark, inside) = text.split_once('(')?;
        let end = format!("){mark}\"");
        let (content, _) = inside.split_once(&end)?;
        let content = content.to_owned();
        let used = self.rest.len() - text.len() + mark.len() + 1 + content.len() + end.len();
        self.rest = &self.rest[used..];
        Some(Token::Literal(content))
    }

    fn literal(&mut self, inside: &str) -> Token {
        let mut content = String::new();
        let mut chars = inside.char_indices();
        let mut used = inside.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    used = at + 1;
                    break;
                }
                '\\' => match chars.next().map(|(_, escaped)| escaped) {
                    Some('n') => content.push('\n'),
                    Some('t') => content.push('\t'),
                    Some('\n') | None => {}
                    Some(other) => content.push(other),
                },
                other => content.push(other),
            }
        }
        let skipped = self.rest.len() - inside.len() + used;
        self.rest = &self.rest[skipped..];
        Token::Literal(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_a_compiler_would() {
        let text = |text: &str| Argument::Text(text.to_owned());
        let words = |text: &str| Argument::Words(text.to_owned());
        for (source, expected) in [
            ("TEST(Suite, Name) {", vec![words("Suite"), words("Name")]),
            ("  TEST (\n  Suite , /* a, b */ Name\n)", vec![words("Suite"), words("Name")]),
            (r#"TEST_CASE("a \"b\", c", "[tag]") {"#, vec![text("a \"b\", c"), text("[tag]")]),
            ("TEST_CASE(\"one \"\n  \"two\")", vec![text("one two")]),
            (r#"TEST_CASE(R"x(a)b")x")"#, vec![text(r#"a)b""#)]),
            ("TEST(f(a, b), c<d>())", vec![words("f(a, b)"), words("c<d>()")]),
        ] {
            let found = arguments_in(source, 1, &["TEST", "TEST_CASE"]).map(|(_, arguments)| arguments);
            assert_eq!(found, Some(expected), "{source}");
        }
    }

    #[test]
    fn what_is_no_call_is_none() {
        for (source, line) in
            [("MY_TEST(a, b)", 1), ("TEST", 1), ("\nTEST(a)", 1), ("TEST(a)", 0), ("TEST(a)", 9), ("", 1)]
        {
            assert_eq!(arguments_in(source, line, &["TEST"]), None, "{source}");
        }
    }

    #[test]
    fn an_unfinished_call_ends_with_the_text() {
        assert_eq!(arguments_in("TEST(\"a", 1, &["TEST"]).map(|(_, arguments)| arguments.len()), Some(0));
    }
}
