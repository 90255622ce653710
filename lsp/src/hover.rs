//! Hovers: what every thread was doing when a line of a finding was reached.

use std::path::Path;

use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::findings::{Finding, State as ThreadState};
use crate::markdown::text;
use crate::state::State;
use crate::text::range_of_line;
use crate::words;

/// What the number on a failing line is.
pub(crate) const DEPTH: &str = "*Bug depth*: where threads run by strict priority, one more than the number of times that a priority has to change for the failure. After ≤, fewer may do.";

/// What a preemption is.
pub(crate) const PREEMPTION: &str = "*Preemption*: a switch away from a thread that could have gone on. Switches at a wait or at a thread's end are none.";

impl State {
    /// What there is to say about a line.
    pub(crate) fn hover(&self, file: &Path, position: Position) -> Option<Hover> {
        let finding = self.hinted().filter(|finding| self.has_hints(finding))?;
        let parts = self.parts(finding, file, position.line);
        if parts.is_empty() {
            return None;
        }
        let content = self.documents.text(file);
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value: parts.join("\n\n---\n\n"),
            }),
            range: Some(range_of_line(content.as_deref(), position.line, self.encoding())),
        })
    }

    fn parts(&self, finding: &Finding, file: &Path, line: u32) -> Vec<String> {
        let is_here = |spot: &crate::findings::Spot| spot.file == file && spot.line == line;
        let of = finding.preemptions.len();
        let here =
            finding.preemptions.iter().filter(|preemption| preemption.at.as_ref().is_some_and(is_here));
        let mut parts: Vec<String> = here
            .map(|preemption| {
                let headline =
                    format!("**Preemption {} of {of}**: {}.", preemption.number, text(&preemption.reason));
                format!("{headline}\n\n{}\n\n{PREEMPTION}", self.lines(&preemption.states))
            })
            .collect();
        if finding.at.as_ref().is_some_and(is_here) {
            // What failed is said by the diagnostic, which stands in the same box.
            let depth = words::depth(&finding.kept.finding, usize::MAX).map(|depth| {
                format!(
                    "{depth}

"
                )
            });
            parts.push(depth.unwrap_or_default() + &self.lines(&finding.end));
        }
        parts
    }

    /// A line for each thread: boxes of editors are low, and the lines of a table high.
    fn lines(&self, states: &[ThreadState]) -> String {
        let line = |ThreadState { thread, doing, at }: &ThreadState| {
            let place =
                at.as_ref().map(|spot| format!(" · {}:{}", text(&self.shown(&spot.file)), spot.line + 1));
            format!("**{}** {}{}", text(thread), text(doing), place.unwrap_or_default())
        };
        // Two spaces break a line.
        states.iter().map(line).collect::<Vec<_>>().join("  \n")
    }
}
