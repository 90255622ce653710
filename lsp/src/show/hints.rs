//! Inlay hints: the depth of the bug, and the preemptions of threads. They belong to one finding at a time.

use std::collections::BTreeMap;
use std::path::Path;

use explorer::report::plural::grouped;
use tower_lsp::ls_types::{
    InlayHint, InlayHintLabel, InlayHintTooltip, MarkupContent, MarkupKind, Position, Range,
};

use crate::findings::{Finding, Preemption};
use crate::known::Known;
use crate::show::markdown::text as escaped;
use crate::show::terms::{DEPTH, PREEMPTION};
use crate::show::words;
use crate::text;

/// The longest label.
const LONGEST: usize = 28;

/// A hint before it has a place in the text.
struct Hint {
    label: String,
    tooltip: String,
}

/// The hints in a part of a file.
pub(crate) fn hints(known: &Known, file: &Path, range: Range) -> Vec<InlayHint> {
    let Some(finding) = known.hinted().filter(|finding| known.has_hints(finding)) else {
        return Vec::new();
    };
    let Some(document) = known.documents.get(file) else { return Vec::new() };
    let lines = range.start.line..=range.end.line;
    let hints = all_hints(known, finding, file).into_iter().filter(|(line, _)| lines.contains(line));
    let placed = hints.filter_map(|(line, hint)| {
        let character = known.encoding.length(text::line(&document.text, line)?);
        Some(placed(Position::new(line, character), hint))
    });
    placed.collect()
}

fn all_hints(known: &Known, finding: &Finding, file: &Path) -> Vec<(u32, Hint)> {
    let depth_line = finding.at.as_ref().filter(|spot| spot.file == file).map(|spot| spot.line);
    let depth_line = depth_line.filter(|_| known.settings.hints);
    let depth = depth_line.and_then(|line| Some((line, depth(finding)?)));
    let mut by_line: BTreeMap<u32, Vec<&Preemption>> = BTreeMap::new();
    if known.settings.switch_hints {
        for preemption in &finding.preemptions {
            if let Some(spot) = preemption.at.as_ref().filter(|spot| spot.file == file) {
                by_line.entry(spot.line).or_default().push(preemption);
            }
        }
    }
    let of = finding.preemptions.len();
    let switches = by_line.into_iter().map(|(line, preemptions)| {
        // Editors cut what is too long for one line together.
        let is_short = depth_line == Some(line);
        (line, switches(&preemptions, of, is_short))
    });
    depth.into_iter().chain(switches).collect()
}

fn depth(finding: &Finding) -> Option<Hint> {
    let told = &finding.kept.finding;
    let label = words::depth(told, LONGEST)?;
    let exact = match told.fewest {
        true => "No schedule with fewer preemptions fails like this.",
        false => "Schedules with fewer preemptions were not all run.",
    };
    let tooltip = format!(
        "Schedule {}, reproduced {}. {exact}\n\n{DEPTH}\n\n{PREEMPTION}",
        grouped(told.schedule_number),
        escaped(&told.reproduced)
    );
    Some(Hint { label, tooltip })
}

/// The preemptions of one line.
fn switches(preemptions: &[&Preemption], of: usize, is_short: bool) -> Hint {
    let label = match preemptions {
        [one] if is_short => format!("⇄ {} runs here", one.thread),
        [one] => format!("⇄ {} runs here ({} of {of})", one.thread, one.number),
        several => {
            let threads: Vec<&str> = several.iter().map(|one| one.thread.as_str()).collect();
            let numbers: Vec<String> = several.iter().map(|one| one.number.to_string()).collect();
            format!("⇄ {} run here ({})", threads.join(", "), numbers.join(", "))
        }
    };
    let too_long = label.chars().count() > LONGEST || (is_short && preemptions.len() > 1);
    let label = if too_long { format!("⇄ {} times", preemptions.len()) } else { label };
    let reasons: Vec<String> =
        preemptions.iter().map(|one| format!("{} of {of}: {}.", one.number, escaped(&one.reason))).collect();
    Hint { label, tooltip: format!("{}\n\n{PREEMPTION}", reasons.join("\n\n")) }
}

fn placed(position: Position, hint: Hint) -> InlayHint {
    InlayHint {
        position,
        label: InlayHintLabel::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: hint.tooltip,
        })),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(threads: &[&str], first: usize, of: usize, is_short: bool) -> String {
        let preemption = |(number, thread): (usize, &&str)| Preemption {
            number,
            thread: (*thread).to_owned(),
            reason: String::new(),
            at: None,
            states: Vec::new(),
        };
        let preemptions: Vec<Preemption> = (first..).zip(threads).map(preemption).collect();
        switches(&preemptions.iter().collect::<Vec<_>>(), of, is_short).label
    }

    #[test]
    fn labels_are_short_enough() {
        for (label, expected) in [
            (label(&["T2"], 1, 1, false), "⇄ T2 runs here (1 of 1)"),
            (label(&["T12"], 10, 12, false), "⇄ T12 runs here (10 of 12)"),
            (label(&["T2"], 1, 1, true), "⇄ T2 runs here"),
            (label(&["T2", "T3"], 1, 2, false), "⇄ T2, T3 run here (1, 2)"),
            (label(&["T2", "T3", "T4", "T5"], 1, 4, false), "⇄ 4 times"),
            (label(&["T2", "T3"], 1, 2, true), "⇄ 2 times"),
        ] {
            assert_eq!(label, expected);
            assert!(label.chars().count() <= LONGEST);
        }
    }
}
