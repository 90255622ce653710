//! From a result to the finding that it stands for: its failing line.

use explorer::escaping::escaped_line;
use tower_lsp::Client;
use tower_lsp::ls_types::{Location, ShowDocumentParams};

use crate::known::Known;
use crate::refusals::no_finding;
use crate::show::diagnostics::Diagnosing;

/// The failing line of a finding, with its message.
///
/// # Errors
/// When there is no such finding, or no line of it is known.
pub(super) fn failing_line(known: &Known, id: &str) -> Result<(Location, String), String> {
    let finding = known.findings.get(id).ok_or_else(|| no_finding(id))?;
    let message = escaped_line(&finding.kept.finding.message).into_owned();
    let diagnosing =
        Diagnosing { documents: &known.documents, texts: &known.texts, encoding: known.encoding };
    let at = finding.at.as_ref().and_then(|spot| diagnosing.location(finding, spot));
    match at {
        Some(location) => Ok((location, message)),
        None => Err(format!("no source line is known of: {message}")),
    }
}

/// Has an editor open a document at a place. One that opens nothing has said why.
pub(super) async fn open(client: Client, Location { uri, range }: Location) {
    let show = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: Some(range) };
    let _ = client.show_document(show).await;
}
