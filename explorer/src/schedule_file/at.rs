//! Places as schedule files have them: `function, file:line`, or as much of it as is known. See `docs/formats.md`.

use crate::report::Location;

/// A place, from its text in a schedule file.
pub(crate) fn place(text: &str) -> Location {
    let (function, place) = match text.rsplit_once(", ") {
        Some((function, place)) => (Some(function.to_owned()), place),
        None => (None, text),
    };
    match place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Location { function, file: Some(file.to_owned()), line: Some(line) },
        None => Location { function: Some(text.to_owned()), ..Location::default() },
    }
}

/// The function of a place, from its text in a schedule file; all of it where there is no line.
pub(crate) fn function(text: &str) -> &str {
    text.rsplit_once(", ").map_or(text, |(function, _)| function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_back_from_their_words() {
        for words in
            ["worker, src/a.c:7", "<T as core::fmt::Debug>::fmt, src/x, y.rs:12", "main+0x12", "a.c:3"]
        {
            assert_eq!(place(words).words(), words);
        }
        assert_eq!(place("worker, a.c:7").line, Some(7));
        assert_eq!([function("worker, a.c:7"), function("main+0x12")], ["worker", "main+0x12"]);
    }
}
