//! Words of command lines as shells take them.

use std::borrow::Cow;

/// A word as a shell takes it.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    // Only what holds NUL is refused, and nothing that comes from a command line or a file's name does.
    shlex::try_quote(text).unwrap_or_else(|_| text.replace('\0', "").into())
}

/// The same for people: characters that a terminal would obey are written as in `$'…'`.
pub(crate) fn shown_word(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return word(text);
    }
    let escaped = text.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("$'{}'", escaped.collect::<String>()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_a_shell_takes_them() {
        for text in ["-c", "", "rm -rf ~", "it's", "a\nb", "$HOME", "a\\b!", "数 量", "--x=1,2", "^[1]*"] {
            assert_eq!(shlex::split(&word(text)), Some(vec![text.to_owned()]), "{text}");
            if !text.contains('\n') {
                assert_eq!(shown_word(text), word(text));
            }
        }
        assert_eq!((word("build/app"), word("rm -rf ~")), ("build/app".into(), "'rm -rf ~'".into()));
        assert_eq!(shown_word("it's\nb"), r"$'it\'s\u000ab'");
    }
}
