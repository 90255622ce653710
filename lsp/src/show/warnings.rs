//! Potential deadlocks as warnings, one each. Once a source that one names is edited it is not shown any more: nothing is kept by
//! which its lines could be found again.

use std::path::Path;

use explorer::escaping::escaped_line;
use explorer::report::{LockOrder, LockUse};
use explorer::store::findings::KeptPotentialDeadlock;
use tower_lsp::ls_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};

use crate::findings::Spot;
use crate::known::Known;
use crate::show::diagnostics::SOURCE;
use crate::text::range_of_line;

/// The code of these diagnostics.
const CODE: &str = "potential-deadlock";

/// Those of the last run of each target.
pub(crate) fn all(known: &Known) -> impl Iterator<Item = (Uri, Diagnostic)> {
    let all = known.findings.potential_deadlocks();
    let current = all.filter(|(root, kept)| known.texts.are(root, &kept.sources, &known.documents));
    current.filter_map(|(root, kept)| one(known, root, kept))
}

/// At the line at which the first thread would wait; beside it stand the other lines.
fn one(
    known: &Known,
    root: &Path,
    KeptPotentialDeadlock { told, .. }: &KeptPotentialDeadlock,
) -> Option<(Uri, Diagnostic)> {
    let places = told.threads.iter().flat_map(|order| of_thread(known, root, order));
    let mut places = places.collect::<Option<Vec<(Location, String)>>>()?.into_iter();
    let (Location { uri, range }, _) = places.next()?;
    let related = places.map(|(location, message)| DiagnosticRelatedInformation { location, message });
    let diagnostic = Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::WARNING),
        code: Some(NumberOrString::String(CODE.to_owned())),
        source: Some(SOURCE.to_owned()),
        message: escaped_line(&told.message).into_owned(),
        related_information: Some(related.collect()),
        ..Diagnostic::default()
    };
    Some((uri, diagnostic))
}

/// The place at which a thread takes its second lock, and that at which it took its first one.
fn of_thread(known: &Known, root: &Path, order: &LockOrder) -> [Option<(Location, String)>; 2] {
    [&order.takes, &order.holds].map(|taken @ LockUse { lock, place, .. }| {
        let Spot { file, line } = Spot::of(place, root)?;
        let (uri, text) = (known.documents.uri(&file)?, known.documents.text(&file));
        let range = range_of_line(text.as_deref(), line, known.encoding);
        let what = if std::ptr::eq(taken, &order.holds) { "locks" } else { "then locks" };
        let message = escaped_line(&format!("{} {what} `{lock}`", order.thread)).into_owned();
        Some((Location { uri, range }, message))
    })
}
