//! Hovers: the state of every thread when a line of a finding was reached.

use std::path::Path;

use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::findings::{Finding, ThreadState};
use crate::known::Known;
use crate::show::markdown::text;
use crate::show::terms::PREEMPTION;
use crate::show::words;
use crate::text::range_of_line;

/// Hover about a line.
pub(crate) fn hover(known: &Known, file: &Path, position: Position) -> Option<Hover> {
    let finding = known.hinted().filter(|finding| known.has_hints(finding))?;
    let parts = parts(known, finding, file, position.line);
    if parts.is_empty() {
        return None;
    }
    let content = known.documents.text(file);
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n---\n\n"),
        }),
        range: Some(range_of_line(content.as_deref(), position.line, known.encoding)),
    })
}

fn parts(known: &Known, finding: &Finding, file: &Path, line: u32) -> Vec<String> {
    let is_here = |spot: &crate::findings::Spot| spot.file == file && spot.line == line;
    let of = finding.preemptions.len();
    let here = finding.preemptions.iter().filter(|preemption| preemption.at.as_ref().is_some_and(is_here));
    let mut parts: Vec<String> = here
        .map(|preemption| {
            let headline =
                format!("**Preemption {} of {of}**: {}.", preemption.number, text(&preemption.reason));
            format!("{headline}\n\n{}\n\n{PREEMPTION}", lines(known, &preemption.states))
        })
        .collect();
    if finding.at.as_ref().is_some_and(is_here) {
        // The failure is named by the diagnostic, which stands in the same box.
        let depth = words::depth(&finding.kept.finding, usize::MAX).map(|depth| format!("{depth}\n\n"));
        parts.push(depth.unwrap_or_default() + &lines(known, &finding.end));
    }
    parts
}

/// A line for each thread: boxes of editors are low, and the lines of a table high.
fn lines(known: &Known, states: &[ThreadState]) -> String {
    let line = |ThreadState { thread, doing, at }: &ThreadState| {
        let place =
            at.as_ref().map(|spot| format!(" · {}:{}", text(&known.shown(&spot.file)), spot.line + 1));
        format!("**{}** {}{}", text(thread), text(doing), place.unwrap_or_default())
    };
    // Two spaces break a line.
    states.iter().map(line).collect::<Vec<_>>().join("  \n")
}
