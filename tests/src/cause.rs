//! The one of the patterns ranked by an explanation that its sentence tells.

use serde_json::Value;

/// The sentences that tell a pattern of accesses.
const KINDS: [&str; 3] = ["lost update: ", "atomicity violation: ", "order violation: "];

/// Whether a sentence tells a pattern of accesses; others tell what threads wait for.
#[must_use]
pub fn tells_pattern(sentence: &str) -> bool {
    KINDS.iter().any(|kind| sentence.starts_with(kind))
}

/// The pattern of an explanation whose accesses a sentence names.
#[must_use]
pub fn told_pattern<'e>(explanation: &'e Value, sentence: &str) -> Option<&'e Value> {
    // The words behind that tell how the threads came there.
    let told = accesses(sentence.split("; both came past").next().unwrap_or_default());
    let is_told = |pattern: &&Value| {
        let of_pattern = pattern["accesses"].as_array().into_iter().flatten();
        let of_pattern: Vec<_> = of_pattern.map(|access| (text(&access["access"]), line(access))).collect();
        // Of a lost update, the stale read may be no part of the pattern.
        !of_pattern.is_empty() && told.ends_with(&of_pattern)
    };
    explanation["patterns"].as_array()?.iter().find(is_told)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn line(access: &Value) -> u64 {
    access["line"].as_u64().unwrap_or_default()
}

/// The accesses that a sentence names: of `reads … (counter.c:9)`, `read` and 9.
fn accesses(sentence: &str) -> Vec<(&str, u64)> {
    let mut accesses = Vec::new();
    let mut verb = None;
    for part in sentence.split_whitespace() {
        let line = part.strip_prefix('(').and_then(|place| place.split(':').nth(1));
        let line = line.map(|line| line.trim_end_matches(|letter: char| !letter.is_ascii_digit()));
        match (part, line.and_then(|line| line.parse().ok())) {
            ("reads" | "writes", _) => verb = part.strip_suffix('s'),
            (_, Some(line)) => accesses.extend(verb.take().map(|verb| (verb, line))),
            _ => {}
        }
    }
    accesses
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accesses_of_a_sentence_are_found() {
        let sentence = "lost update: T3 reads `a[(1)]` (x.c:1), T2 writes it (x.c:22), and then T3 writes it (x.c:3), which";
        assert_eq!(accesses(sentence), [("read", 1), ("write", 22), ("write", 3)]);
        assert_eq!(accesses("lock-order cycle: T2 waits for `m` (x.c:1)"), []);
    }

    #[test]
    fn the_pattern_of_two_writes_is_that_of_the_lost_update() {
        let access = |access: &str, line: u64| json!({ "access": access, "line": line });
        let explanation = json!({ "patterns": [
            { "rank": 1, "accesses": [access("read", 1), access("write", 9)] },
            { "rank": 2, "accesses": [access("write", 22), access("write", 3)] },
        ]});
        let told = |sentence| told_pattern(&explanation, sentence).map(|pattern| pattern["rank"].clone());
        let sentence =
            "lost update: T3 reads `x` (x.c:1), T2 writes it (x.c:22), and then T3 writes it (x.c:3)";
        assert_eq!(told(sentence), Some(json!(2)));
        let longer = format!("{sentence}; both came past what threads spin on: T2 reads `f` (x.c:7)");
        assert_eq!(told(&longer), Some(json!(2)));
        assert_eq!(told("order violation: T3 reads `x` (x.c:2) before T2 writes it (x.c:9)"), None);
    }
}
