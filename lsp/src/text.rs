//! Positions in a text, in the units that the client counts.

use tower_lsp::ls_types::{Position, PositionEncodingKind, Range};

/// The unit of characters in a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// The unit that every client understands.
    #[default]
    Utf16,
}

impl PositionEncoding {
    /// Bytes if the client can count them.
    pub(crate) fn of_client(offered: Option<&[PositionEncodingKind]>) -> Self {
        let bytes = offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
        if bytes { Self::Utf8 } else { Self::Utf16 }
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    /// Length of a text.
    pub(crate) fn length(self, text: &str) -> u32 {
        let length = match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        };
        u32::try_from(length).unwrap_or(u32::MAX)
    }

    /// The byte of a line that a character begins at; the line's end if it has fewer.
    pub(crate) fn byte(self, line: &str, character: u32) -> usize {
        let mut left = character;
        for (at, letter) in line.char_indices() {
            let width = match self {
                Self::Utf8 => letter.len_utf8(),
                Self::Utf16 => letter.len_utf16(),
            };
            let width = u32::try_from(width).unwrap_or(1);
            if left < width {
                return at;
            }
            left -= width;
        }
        line.len()
    }
}

/// A line of a text, from 0, without its end.
pub(crate) fn line(text: &str, number: u32) -> Option<&str> {
    let start = line_start(text, number)?;
    let rest = &text[start..];
    let line = rest.split('\n').next().unwrap_or(rest);
    Some(line.strip_suffix('\r').unwrap_or(line))
}

/// The byte that a line begins at.
fn line_start(text: &str, number: u32) -> Option<usize> {
    let Some(before) = number.checked_sub(1) else { return Some(0) };
    text.match_indices('\n').nth(before as usize).map(|(at, _)| at + 1)
}

/// The byte of a position; the end of its line, or of the text, if there is no such position.
pub(crate) fn byte(text: &str, position: Position, encoding: PositionEncoding) -> usize {
    match (line_start(text, position.line), line(text, position.line)) {
        (Some(start), Some(line)) => start + encoding.byte(line, position.character),
        _ => text.len(),
    }
}

/// The position of a byte; that of the end if there is no such byte.
pub(crate) fn position(text: &str, byte: usize, encoding: PositionEncoding) -> Position {
    let byte = (0..=byte.min(text.len())).rev().find(|byte| text.is_char_boundary(*byte)).unwrap_or(0);
    let before = &text[..byte];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Position::new(u32::try_from(line).unwrap_or(u32::MAX), encoding.length(&before[start..]))
}

/// Replaces a part of a text.
pub(crate) fn replace(text: &mut String, range: Range, with: &str, encoding: PositionEncoding) {
    let start = byte(text, range.start, encoding);
    let end = byte(text, range.end, encoding).max(start);
    text.replace_range(start..end, with);
}

/// The part of a line that has letters; the whole line where the text is not known.
pub(crate) fn range_of_line(text: Option<&str>, number: u32, encoding: PositionEncoding) -> Range {
    let Some(content) = text.and_then(|text| line(text, number)) else {
        return Range::new(Position::new(number, 0), Position::new(number + 1, 0));
    };
    let indent = content.len() - content.trim_start().len();
    let start = encoding.length(&content[..indent]);
    let end = encoding.length(content.trim_end()).max(start);
    Range::new(Position::new(number, start), Position::new(number, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: (u32, u32), end: (u32, u32)) -> Range {
        Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1))
    }

    #[track_caller]
    fn check(text: &str, range: Range, with: &str, encoding: PositionEncoding, expected: &str) {
        let mut text = text.to_owned();
        replace(&mut text, range, with, encoding);
        assert_eq!(text, expected);
    }

    #[test]
    fn edits_count_what_the_client_counts() {
        check("a🙂b\nc", range((0, 3), (0, 4)), "x", PositionEncoding::Utf16, "a🙂x\nc");
        check("a🙂b\nc", range((0, 5), (0, 6)), "x", PositionEncoding::Utf8, "a🙂x\nc");
        check("ä\nc", range((0, 1), (1, 0)), "", PositionEncoding::Utf16, "äc");
    }

    #[test]
    fn positions_that_are_not_there_are_the_nearest_ones() {
        check("ab\ncd", range((0, 9), (0, 9)), "x", PositionEncoding::Utf16, "abx\ncd");
        check("ab\ncd", range((7, 0), (9, 9)), "x", PositionEncoding::Utf16, "ab\ncdx");
        check("a🙂b", range((0, 2), (0, 2)), "x", PositionEncoding::Utf16, "ax🙂b");
        check("ab", range((0, 2), (0, 1)), "x", PositionEncoding::Utf16, "abx");
        check("a\r\nb", range((0, 9), (0, 9)), "x", PositionEncoding::Utf16, "ax\r\nb");
    }

    #[test]
    fn bytes_have_positions() {
        for (byte, expected) in
            [(0, (0, 0)), (1, (0, 1)), (5, (0, 3)), (3, (0, 1)), (7, (1, 0)), (99, (1, 1))]
        {
            let expected = Position::new(expected.0, expected.1);
            assert_eq!(position("a🙂b\nc", byte, PositionEncoding::Utf16), expected, "{byte}");
        }
    }

    #[test]
    fn a_lines_range_leaves_its_margins_out() {
        let of = |text: &str, number| range_of_line(Some(text), number, PositionEncoding::Utf16);
        assert_eq!(of("x\n\t ab  \r\n", 1), range((1, 2), (1, 4)));
        assert_eq!(of("x\n   \n", 1), range((1, 3), (1, 3)));
        assert_eq!(of("x", 3), range((3, 0), (4, 0)));
        assert_eq!(range_of_line(None, 3, PositionEncoding::Utf16), range((3, 0), (4, 0)));
    }
}
