//! Clues of an explanation about single lines: the order that decides, and the accesses to blame.

use std::path::Path;

use explorer::narrate::sentences::third_person::third_person;
use explorer::report::explanation::{AccessLine, Compared, Explanation, PatternLine, Side};

use super::spot::Spot;

/// So many orders are told, where it takes several to pass.
const MOST_ORDERS: usize = 2;

/// A sentence about a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RelatedLine {
    pub(crate) text: String,
    pub(crate) at: Spot,
}

/// The critical pair: the event that comes first where it fails, and the one that comes first where it passes.
pub(super) fn critical_pair(why: &Explanation, root: &Path) -> Vec<RelatedLine> {
    let swaps = why.pair.as_ref().map(|pair| pair.swaps.as_slice()).unwrap_or_default();
    let of = swaps.len();
    let told = swaps.iter().zip(1..).take(MOST_ORDERS);
    let related_lines = told.flat_map(|([first, second], number)| {
        let which = match of {
            1 => String::new(),
            _ => format!("{number} of {of} orders that decide together: "),
        };
        [
            (format!("{which}it fails where this comes first: {} {}", first.thread, doing(first)), first),
            (format!("{which}it passes where {}", comes_first(second)), second),
        ]
    });
    let related_lines =
        related_lines.map(|(text, side)| Some(RelatedLine { text, at: Spot::of(&side.place, root)? }));
    // One half alone would mislead.
    related_lines.collect::<Option<_>>().unwrap_or_default()
}

/// Of an operation that never ran, the text is what its thread waits for, not what it would do.
fn comes_first(side: &Side) -> String {
    match side.number {
        Some(_) => format!("this comes first: {} {}", side.thread, doing(side)),
        None => format!("{} gets here first, which {}", side.thread, side.text),
    }
}

fn doing(side: &Side) -> String {
    third_person(&side.text)
}

/// The accesses of the most suspicious pattern, if more of the executions have it that fail than of those that pass.
pub(super) fn pattern(why: &Explanation, root: &Path) -> Vec<RelatedLine> {
    let Some(pattern) = why.patterns.first().filter(|pattern| tells(pattern, why.compared)) else {
        return Vec::new();
    };
    let of = pattern.accesses.len();
    let related_lines = pattern.accesses.iter().zip(1..).map(|(access, number)| {
        let AccessLine { thread, access, object, place, .. } = access;
        let evidence = if number == 1 { evidence(pattern, why.compared) } else { String::new() };
        let text = format!("pattern {number}/{of}{evidence}: {thread} {access}s {object}");
        Some(RelatedLine { text, at: Spot::of(place, root)? })
    });
    related_lines.collect::<Option<_>>().unwrap_or_default()
}

/// Whether the share is larger among the executions that fail.
fn tells(pattern: &PatternLine, compared: Compared) -> bool {
    let share = |having: u32, of: u32| u64::from(having) * u64::from(of);
    share(pattern.failing, compared.passing) > share(pattern.passing, compared.failing)
}

fn evidence(pattern: &PatternLine, compared: Compared) -> String {
    format!(
        " (in {} of {} failing schedules, and in {} of {} that pass)",
        pattern.failing, compared.failing, pattern.passing, compared.passing
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// An explanation with these orders, as they are written in reports, and no pattern.
    fn why(swaps: &Value) -> Explanation {
        let pair = json!({ "swaps": swaps, "failed": 0, "infeasible": 0, "lanes": [], "passing": [], "schedule_file": null });
        let why = json!({ "switches": 1, "depth": null, "pair": pair, "executions": 1 });
        serde_json::from_value(why).unwrap()
    }

    fn side(number: Option<u32>, text: &str, file: Option<&str>) -> Value {
        json!({ "number": number, "thread": "T2", "text": text, "file": file, "line": 7, "function": "f" })
    }

    fn texts(why: &Explanation) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.c"), "").unwrap();
        let related_lines = critical_pair(why, root.path());
        assert!(related_lines.iter().all(|clue| clue.at.line == 6), "{related_lines:?}");
        related_lines.into_iter().map(|clue| clue.text).collect()
    }

    #[test]
    fn the_order_that_decides_is_told() {
        let [write, read, lock] =
            [(Some(3), "write `x`"), (Some(5), "read `x`"), (None, "waits for mutex `m`, held by T1")]
                .map(|(number, text)| side(number, text, Some("a.c")));
        let fails = "it fails where this comes first: T2 writes `x`";
        let passes = "it passes where this comes first: T2 reads `x`";
        let gets = "it passes where T2 gets here first, which waits for mutex `m`, held by T1";
        assert_eq!(texts(&why(&json!([[write, read]]))), [fails, passes]);
        assert_eq!(texts(&why(&json!([[write, lock]]))), [fails, gets]);
        let [one, two] = ["1", "2"].map(|number| format!("{number} of 3 orders that decide together: "));
        assert_eq!(
            texts(&why(&json!([[write, read], [write, lock], [read, write]]))),
            [
                format!("{one}{fails}"),
                format!("{one}{passes}"),
                format!("{two}{fails}"),
                format!("{two}{gets}")
            ]
        );
    }

    #[test]
    fn a_pattern_is_told_where_it_tells_executions_apart() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.c"), "").unwrap();
        let access = |thread: &str, access: &str, line: u32| json!({ "thread": thread, "access": access, "object": "`x`", "file": "a.c", "line": line, "function": "f" });
        for (having, compared, is_told) in [
            ([2, 1], [3, 9], true),
            ([3, 9], [3, 9], false),
            ([3, 0], [3, 0], false),
            ([1, 1], [2, 2], false),
        ] {
            let pattern = json!({
                "rank": 1, "tied": 1, "score": 0.5, "failing": having[0], "passing": having[1],
                "accesses": [access("T1", "read", 3), access("T2", "write", 5)],
            });
            let why: Explanation = serde_json::from_value(json!({
                "switches": 1, "depth": null, "executions": 1, "patterns": [pattern],
                "compared": { "failing": compared[0], "passing": compared[1] },
            }))
            .unwrap();
            let told: Vec<(u32, String)> =
                super::pattern(&why, root.path()).into_iter().map(|clue| (clue.at.line, clue.text)).collect();
            let first = "pattern 1/2 (in 2 of 3 failing schedules, and in 1 of 9 that pass): T1 reads `x`";
            let expected = [(2, first.to_owned()), (4, "pattern 2/2: T2 writes `x`".to_owned())];
            assert_eq!(told, if is_told { &expected[..] } else { &[] });
        }
    }

    #[test]
    fn what_has_no_line_is_not_told() {
        let [nowhere, gone] = [None, Some("gone.c")].map(|file| side(Some(1), "write `x`", file));
        assert_eq!(texts(&why(&json!([[nowhere, gone]]))), [""; 0]);
        let older = json!({ "switches": 1, "depth": null, "executions": 1 });
        let older: Explanation = serde_json::from_value(older).unwrap();
        assert_eq!(texts(&older), [""; 0]);
        assert_eq!(pattern(&older, Path::new("/")), []);
    }
}
