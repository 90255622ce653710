//! Findings as diagnostics, one each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;

use explorer::escaping::{escaped, escaped_line};
use explorer::render::{always, stalls};
use explorer::report::{FailureKind, Party, Role, Why};
use serde_json::json;
use tower_lsp::ls_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};

use crate::documents::Documents;
use crate::explore::compile_errors::CompileError;
use crate::findings::{Finding, RelatedLine, Spot, Step, Texts};
use crate::known::Known;
use crate::text::{PositionEncoding, range_of_line};

/// Editors show no more of them.
const MOST_RELATED: usize = 8;

/// Number of lines of a program's output that are part of a message.
const MOST_OUTPUT: usize = 10;

/// The source of all diagnostics.
pub(crate) const SOURCE: &str = "interleaver";

/// The data that diagnostics are made with.
pub(crate) struct Diagnosing<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) texts: &'a Texts,
    pub(crate) encoding: PositionEncoding,
}

impl Diagnosing<'_> {
    /// The diagnostics of all these findings, by file.
    pub(crate) fn all<'f>(
        &self,
        findings: impl Iterator<Item = &'f Finding>,
    ) -> HashMap<Uri, Vec<Diagnostic>> {
        let mut all: HashMap<Uri, Vec<Diagnostic>> = HashMap::new();
        for (uri, diagnostic) in findings.filter_map(|finding| self.one(finding)) {
            all.entry(uri).or_default().push(diagnostic);
        }
        all
    }

    fn one(&self, finding: &Finding) -> Option<(Uri, Diagnostic)> {
        let Location { uri, range } = self.location(finding, finding.at.as_ref()?)?;
        let is_stale = self.texts.is_stale(finding, self.documents);
        let (severity, prefix) = match is_stale {
            true => (DiagnosticSeverity::INFORMATION, "before your edit: "),
            false if finding.is_timing() => (DiagnosticSeverity::WARNING, ""),
            false => (DiagnosticSeverity::ERROR, ""),
        };
        let diagnostic = Diagnostic {
            range,
            severity: Some(severity),
            code: Some(NumberOrString::String(finding.kind())),
            source: Some(SOURCE.to_owned()),
            message: format!("{prefix}{}", escaped(&message(finding))),
            related_information: Some(self.related(finding)),
            data: Some(json!({ "finding": finding.id })),
            ..Diagnostic::default()
        };
        Some((uri, diagnostic))
    }

    /// At a test whose failing line is in another file: file and line of the test, and what it is called.
    pub(crate) fn of_test(
        &self,
        finding: &Finding,
        (file, line, label): (PathBuf, u32, String),
    ) -> Option<(Uri, Diagnostic)> {
        let (of_failure, mut diagnostic) = self.one(finding)?;
        let failing = Location { uri: of_failure, range: diagnostic.range };
        let told = escaped_line(&finding.kept.finding.message).into_owned();
        diagnostic.message = format!("`{}` fails elsewhere: {told}", escaped_line(&label));
        diagnostic.related_information =
            Some(vec![DiagnosticRelatedInformation { location: failing, message: told }]);
        let text = self.documents.text(&file);
        diagnostic.range = range_of_line(text.as_deref(), line, self.encoding);
        Some((self.documents.uri(&file)?, diagnostic))
    }

    /// The order that decides and the accesses to blame, then the switches on the way, then the other threads that take part.
    fn related(&self, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
        if !finding.is_concurrency_bug() {
            return Vec::new();
        }
        let others: Vec<(String, Spot)> =
            waiting(finding).filter_map(|party| Some((words(party), spot(party, finding)?))).collect();
        let mut room = MOST_RELATED.saturating_sub(others.len());
        // A part of either would mislead.
        let mut whole = |related_lines: &[RelatedLine]| {
            let related_lines = if related_lines.len() <= room { related_lines } else { &[] };
            room -= related_lines.len();
            related_lines.to_vec()
        };
        let related_lines = [whole(&finding.critical_pair), whole(&finding.pattern)].concat();
        let related_lines = related_lines.into_iter().map(|clue| (clue.text, clue.at));
        let of = finding.switches.len() + others.len();
        let switches = most_telling(&finding.switches, room);
        let switches =
            switches.into_iter().filter_map(|step| Some((step.number, step.text.clone(), step.at.clone()?)));
        let others = others.into_iter().zip(finding.switches.len() + 1..);
        let others = others.map(|((text, spot), number)| (number, text, spot));
        let story =
            switches.chain(others).map(|(number, text, spot)| (format!("{number}/{of} {text}"), spot));
        related_lines
            .chain(story)
            .take(MOST_RELATED)
            .filter_map(|(message, spot)| {
                let location = self.location(finding, &spot)?;
                Some(DiagnosticRelatedInformation { location, message: escaped_line(&message).into_owned() })
            })
            .collect()
    }

    pub(crate) fn location(&self, finding: &Finding, spot: &Spot) -> Option<Location> {
        let line = self.texts.now(finding, spot, self.documents);
        let (uri, text) = (self.documents.uri(&spot.file)?, self.documents.text(&spot.file));
        Some(Location { uri, range: range_of_line(text.as_deref(), line, self.encoding) })
    }
}

/// An error of a build, at its line; those in files outside of the workspace are left to the terminal.
pub(crate) fn of_build(known: &Known, error: &CompileError) -> Option<(Uri, Diagnostic)> {
    known.folder_of(&error.file)?;
    let text = known.documents.text(&error.file);
    let diagnostic = Diagnostic {
        range: range_of_line(text.as_deref(), error.line, known.encoding),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String("build".to_owned())),
        source: Some(SOURCE.to_owned()),
        message: escaped(&error.message).into_owned(),
        ..Diagnostic::default()
    };
    Some((known.documents.uri(&error.file)?, diagnostic))
}

/// The failure, and in a line of its own its cause, as far as that is known.
fn message(finding: &Finding) -> String {
    let told = &finding.kept.finding;
    let why = told.explanation.as_ref().map(|explanation| explanation.sentence.as_str());
    let why = why.filter(|why| !why.is_empty()).map(|why| format!("\n{why}")).unwrap_or_default();
    if finding.is_concurrency_bug() {
        let only_if = told.stall.as_ref().map(|stall| format!("\n{}", stalls::only_if(stall)));
        return format!("{}{}{why}", told.message, only_if.unwrap_or_default());
    }
    let message = &told.message;
    let mut text = format!("{}: {message}{why}", always::sentence(told));
    let written: Vec<&str> = told.output.stdout.lines().chain(told.output.stderr.lines()).collect();
    for line in &written[written.len().saturating_sub(MOST_OUTPUT)..] {
        text.push_str("\n| ");
        text.push_str(line);
    }
    text
}

/// The threads of a deadlock that are not at the place of the diagnostic; the one that freed and the one that allocated a
/// block that is used after it was freed.
fn waiting(finding: &Finding) -> impl Iterator<Item = &Party> {
    let told = &finding.kept.finding;
    let is_shared =
        told.thread.is_none() || matches!(told.kind, FailureKind::UseAfterFree | FailureKind::DoubleFree);
    let others = told.parties.iter().filter(move |party| is_shared && party.role != Role::Preempted);
    others.filter(move |party| spot(party, finding) != finding.at)
}

fn words(party: &Party) -> String {
    format!("{} {}", party.thread, party.doing)
}

fn spot(party: &Party, finding: &Finding) -> Option<Spot> {
    party.stack.iter().find_map(|place| Spot::of(place, &finding.root))
}

/// As many switches as an editor shows, in order: preemptions before others, late ones before early ones.
fn most_telling(switches: &[Step], most: usize) -> Vec<&Step> {
    let mut chosen: Vec<&Step> = switches.iter().collect();
    chosen.sort_by_key(|step| (step.why != Why::Preempted, Reverse(step.number)));
    chosen.truncate(most);
    chosen.sort_by_key(|step| step.number);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(whys: &str) -> Vec<Step> {
        let why = |letter| if letter == 'p' { Why::Preempted } else { Why::Blocked };
        let step = |(number, letter)| Step {
            number,
            thread: "T1".to_owned(),
            text: String::new(),
            at: None,
            why: why(letter),
        };
        (1..).zip(whys.chars()).map(step).collect()
    }

    #[track_caller]
    fn check(whys: &str, most: usize, expected: &[usize]) {
        let steps = switches(whys);
        let chosen: Vec<usize> = most_telling(&steps, most).iter().map(|step| step.number).collect();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn preemptions_are_never_left_out_for_others() {
        check("bpb", 8, &[1, 2, 3]);
        check("bpbbbb", 3, &[2, 5, 6]);
        check("pppp", 2, &[3, 4]);
        check("", 8, &[]);
    }
}
