//! From a result to the finding that it stands for: its failing line, with its hints.

use explorer::shown::escaped_line;
use tower_lsp::ls_types::{Location, MessageType, ShowDocumentParams};

use super::State;
use crate::refusals::no_finding;
use crate::show::diagnostics::Diagnosing;

impl State {
    /// Opens the failing line of a finding, and shows its hints.
    ///
    /// # Errors
    /// When there is no such finding, or no line of it is known.
    pub(super) fn reveal(&mut self, id: &str) -> Result<(), String> {
        self.select(id.to_owned())?;
        let finding = self.known.findings.get(id).ok_or_else(|| no_finding(id))?;
        let message = escaped_line(&finding.kept.finding.message).into_owned();
        let diagnosing = Diagnosing {
            documents: &self.known.documents,
            texts: &self.known.texts,
            encoding: self.known.encoding,
        };
        let at = finding.at.as_ref().and_then(|spot| diagnosing.location(finding, spot));
        let Location { uri, range } = at.ok_or_else(|| format!("no source line is known of: {message}"))?;
        if !self.shows_documents {
            let place = format!("{}:{}", uri.path().as_str(), range.start.line + 1);
            self.show(MessageType::INFO, format!("{place}: {message}"));
            return Ok(());
        }
        let client = self.context.client.clone();
        self.context.runtime.spawn(async move {
            let selection = Some(range);
            let show = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection };
            // An editor that opens nothing has said why.
            let _ = client.show_document(show).await;
        });
        Ok(())
    }
}
