//! Text from elsewhere as a terminal may show it: nothing in it moves the cursor, changes colours, or turns lines around.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text with `\x1b`, `\u{202e}` and the like in place of characters that a terminal obeys. Ends of lines and tabs stay.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_obeyed(c) => shown.push(c),
            '\r' => shown.push_str("\\r"),
            c if u32::from(c) < 0x100 => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

/// The same in one line.
#[must_use]
pub fn escaped_line(text: &str) -> Cow<'_, str> {
    match escaped(text) {
        line if line.contains(['\n', '\t']) => Cow::Owned(line.replace('\n', "\\n").replace('\t', "\\t")),
        line => line,
    }
}

/// Whether a terminal would do something at a character other than to show it: control characters, and those that change the
/// direction of text.
const fn is_obeyed(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}') || turns(c)
}

const fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON on its way to somewhere, with `\u009b` and the like in place of such characters, which it would leave as they are.
/// The writer must be given whole JSON, be it in pieces.
pub struct Json<W> {
    to: W,
    /// The beginning of a character whose rest is still to come.
    begun: Vec<u8>,
}

impl<W: Write> Json<W> {
    /// On the way to `to`.
    pub const fn new(to: W) -> Self {
        Self { to, begun: Vec::new() }
    }
}

impl<W: Write> Write for Json<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let known = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        let rest = self.begun.split_off(known);
        let text = std::mem::replace(&mut self.begun, rest);
        let text =
            String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        // All others are between the members, or have been escaped already.
        let must_be_escaped = |c: char| matches!(c, '\x7f'..='\u{9f}') || turns(c);
        let mut rest = text.as_str();
        while let Some(at) = rest.find(must_be_escaped) {
            self.to.write_all(&rest.as_bytes()[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            write!(self.to, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.to.write_all(rest.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_and_all_else_stays() {
        for (text, shown) in [
            ("⇄ T3 runs:\tT1\nüber", "⇄ T3 runs:\tT1\nüber"),
            ("a\x1b]0;title\x07b", r"a\x1b]0;title\x07b"),
            ("a\rb", r"a\rb"),
            ("\u{9b}31m", r"\x9b31m"),
            ("\u{202e}txt.exe", r"\u{202e}txt.exe"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_line("a\nb"), r"a\nb");
    }

    #[test]
    fn json_means_the_same_and_holds_nothing_that_is_obeyed() {
        let value = serde_json::json!({ "a\u{9b}": ["\x1b[31m\x7f", "über \u{2028}\u{202e}"] });
        let text = value.to_string();
        for size in [1, 2, 3, text.len()] {
            let mut shown = Vec::new();
            let mut json = Json::new(&mut shown);
            text.as_bytes().chunks(size).for_each(|piece| json.write_all(piece).unwrap());
            let shown = String::from_utf8(shown).unwrap();
            assert!(!shown.chars().any(is_obeyed), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
