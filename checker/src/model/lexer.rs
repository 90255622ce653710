//! Splits a model program into words, numbers and signs.

const SIGNS: [&str; 18] =
    ["||", "&&", "==", "!=", "<", ">", "+", "-", "*", "=", "|", "{", "}", "(", ")", ":", ",", ";"];

/// The tokens; a line end is a `;`.
pub(super) fn tokens(text: &str) -> Result<Vec<&str>, ParseError> {
    let mut rest = text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = if first == '\n' {
            tokens.push(";");
            rest = &rest[1..];
            continue;
        } else if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            let sign = SIGNS.iter().find(|&&sign| rest.starts_with(sign));
            sign.ok_or_else(|| ParseError(format!("`{first}` means nothing here")))?.len()
        };
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text is not a model program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub(super) String);
