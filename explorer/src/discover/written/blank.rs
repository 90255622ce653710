//! A text without its comments and literals, each letter of which is where it was.

/// Replaces comments, and what is in quotes, by spaces; line ends stay.
pub(super) fn blanked(text: &str, is_rust: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = comment(rest, is_rust).or_else(|| literal(rest, &plain, is_rust));
        match length {
            Some(length) => {
                let (skipped, after) = rest.split_at(length);
                plain.extend(skipped.chars().flat_map(|c| {
                    let filler = if c == '\n' { '\n' } else { ' ' };
                    std::iter::repeat_n(filler, c.len_utf8())
                }));
                rest = after;
            }
            None => {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    plain
}

/// The length of the comment that begins here.
fn comment(text: &str, nested: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (2, 1);
    while at < bytes.len() && depth > 0 {
        match (bytes[at], bytes.get(at + 1)) {
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
            }
            (b'/', Some(b'*')) if nested => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    Some(boundary(text, at))
}

/// The length of the literal that begins here, given the text before it.
fn literal(text: &str, before: &str, is_rust: bool) -> Option<usize> {
    let follows_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if !follows_word && let Some(length) = if is_rust { rust_raw(text) } else { cpp_raw(text) } {
        return Some(length);
    }
    match text.as_bytes().first()? {
        b'"' => Some(quoted(text, '"')),
        // In Rust also the beginning of a lifetime, in C++ a separator of digits.
        b'\'' if is_rust => rust_char(text),
        b'\'' if !follows_word => Some(quoted(text, '\'')),
        _ => None,
    }
}

fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

fn rust_char(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quoted(text, '\''));
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 1)
}

/// `r"…"`, `br##"…"##`
fn rust_raw(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let marks = inside.len() - inside.trim_start_matches('#').len();
    let content = inside[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(content.find(&end).map_or(text.len(), |at| text.len() - content.len() + at + end.len()))
}

/// `R"mark(…)mark"`
fn cpp_raw(text: &str) -> Option<usize> {
    let prefix =
        ["R\"", "u8R\"", "LR\"", "uR\"", "UR\""].into_iter().find(|prefix| text.starts_with(prefix))?;
    let (mark, content) = text[prefix.len()..].split_once('(')?;
    let end = format!("){mark}\"");
    Some(content.find(&end).map_or(text.len(), |at| text.len() - content.len() + at + end.len()))
}

/// The next place where a letter begins.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn what_is_no_code_becomes_space() {
        for (text, is_rust, expected) in [
            ("a // b\nc", false, "a     \nc"),
            ("a /* b\n */ c", false, "a     \n    c"),
            ("f(\"a\\\"{\") {", false, "f(      ) {"),
            ("x = '{'; 1'000", false, "x =    ; 1'000"),
            ("R\"x({)x\" a", false, "         a"),
            ("'{' &'a str /* /* */ */ b", true, "    &'a str             b"),
            ("r#\"{\"# br\"{\" c", true, "             c"),
            ("\"unfinished", true, "           "),
            ("/* unfinished é", false, "                "),
        ] {
            assert_eq!(blanked(text, is_rust), expected, "{text}");
        }
    }
}
