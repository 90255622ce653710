//! The words for several bytes at once: one variable, part of it, or bytes that begin in one part and end in another.

use std::ops::Range;

/// Wider operations are on blocks as a whole, and are called by their first bytes.
const WIDEST: u64 = 64;

/// The words for bytes, by the words that `words` has for single ones. Bytes that fill a structure or an array are
/// called by its name alone.
pub(super) fn extent(bytes: &Range<u64>, words: impl Fn(u64) -> Option<String>) -> Option<String> {
    let first = words(bytes.start)?;
    let last = bytes.end.checked_sub(1).filter(|&last| (1..WIDEST).contains(&(last - bytes.start)));
    let Some(last) = last.and_then(&words).filter(|last| *last != first && is_named(last)) else {
        return Some(first);
    };
    let Some(whole) = common(&first, &last).filter(|_| is_named(&first)) else { return Some(first) };
    let is_inside = |words: Option<String>| words.is_some_and(|words| is_part(&words, whole));
    let before = bytes.start.checked_sub(1).and_then(&words);
    let is_whole = !is_inside(before) && !is_inside(words(bytes.end));
    Some(if is_whole { whole.to_owned() } else { format!("{first} to {last}") })
}

/// Whether all of it has a name, so that no distance is told.
fn is_named(words: &str) -> bool {
    !words.contains("+0x")
}

/// The innermost whole that two parts belong to.
fn common<'w>(first: &'w str, last: &str) -> Option<&'w str> {
    let ends = first.match_indices(['.', '[']).map(|(end, _)| &first[..end]);
    ends.rev().find(|whole| is_part(last, whole))
}

fn is_part(words: &str, whole: &str) -> bool {
    words.strip_prefix(whole).is_some_and(|part| part.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two structures one behind the other, with an array in the second one, and a byte without a name behind it.
    fn words(byte: u64) -> Option<String> {
        let name = match byte {
            0..4 => "book.bid",
            4..8 => "book.ask",
            8 => "book.flag",
            9..11 => "row.cells[0]",
            11..13 => "row.cells[1]",
            13..17 => "row.sum",
            17 => "row+0x8",
            _ => return None,
        };
        Some(name.to_owned())
    }

    #[test]
    fn what_spans_parts_is_called_by_both_or_by_the_whole() {
        for (bytes, expected) in [
            (0..4, "book.bid"),
            (0..8, "book.bid to book.ask"),
            (9..13, "row.cells"),
            (9..17, "row"),
            (11..17, "row.cells[1] to row.sum"),
            (9..12, "row.cells[0] to row.cells[1]"),
            (0..9, "book"),
            (4..11, "book.ask"),
            (13..18, "row.sum"),
            (0..4_000_000_000, "book.bid"),
        ] {
            assert_eq!(extent(&bytes, words).unwrap(), expected, "{bytes:?}");
        }
        assert_eq!(extent(&(18..20), words), None);
    }
}
