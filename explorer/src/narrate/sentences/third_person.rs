//! Events as what their threads do.

/// The sentence of an event about its thread: `write x` becomes `writes x`.
#[must_use]
pub fn third_person(text: &str) -> String {
    let (verb, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let verb = match verb {
        "input" => "does input".to_owned(),
        _ if verb.ends_with("sh") || verb.ends_with("ss") => format!("{verb}es"),
        _ => match verb.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
            _ => format!("{verb}s"),
        },
    };
    format!("{verb}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_things() {
        for (text, expected) in [
            ("write `head`", "writes `head`"),
            ("try to lock `m`: not free", "tries to lock `m`: not free"),
            ("finish once `o`", "finishes once `o`"),
            ("destroy `m`", "destroys `m`"),
            ("compare-and-swap `x`", "compare-and-swaps `x`"),
            ("input or output on `f`", "does input or output on `f`"),
            ("exit", "exits"),
        ] {
            assert_eq!(third_person(text), expected);
        }
    }
}
