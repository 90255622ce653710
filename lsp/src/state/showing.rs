//! What is shown of the findings: diagnostics, which one has hints, and why there may be no lens.

use std::collections::HashMap;
use std::path::Path;

use explorer::config::FILE;
use serde_json::{Value, json};
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::State;
use super::exploring::{NOT_TRUSTED, no_finding, no_target, shown};
use crate::commands::AtLine;
use crate::configuration;
use crate::diagnostics::Diagnosing;
use crate::documents;
use crate::findings::Finding;
use crate::outbox::{Changed, Message};

impl State {
    /// Tells the client about the diagnostics that have changed.
    pub(crate) fn publish(&mut self) {
        let diagnosing =
            Diagnosing { documents: &self.documents, texts: &self.texts, encoding: self.hello.encoding };
        let mut now: HashMap<Uri, Vec<Diagnostic>> = diagnosing.all(self.findings.open());
        now.extend(self.folders.iter().filter_map(|folder| self.configuration_problems(&folder.path)));
        let gone = self.published.keys().filter(|uri| !now.contains_key(uri));
        let gone = gone.map(|uri| (uri.clone(), Vec::new()));
        let changed = now.iter().filter(|(uri, diagnostics)| self.published.get(uri) != Some(diagnostics));
        let changed = changed.map(|(uri, diagnostics)| (uri.clone(), diagnostics.clone()));
        for (uri, diagnostics) in gone.chain(changed) {
            let version = documents::path(&uri).and_then(|path| Some(self.documents.get(&path)?.version));
            self.around.outbox.put(Message::Diagnostics { uri, diagnostics, version });
        }
        self.published = now;
    }

    fn configuration_problems(&self, folder: &Path) -> Option<(Uri, Vec<Diagnostic>)> {
        let path = folder.join(FILE);
        let found = configuration::diagnostics(&self.documents.text(&path)?, folder, self.hello.encoding);
        Some((self.documents.uri(&path)?, found)).filter(|(_, found)| !found.is_empty())
    }

    /// The finding that hints belong to.
    pub(crate) fn hinted(&self) -> Option<&Finding> {
        let selected = self.selected.as_ref().and_then(|id| self.findings.get(id));
        selected.filter(|finding| finding.is_open()).or_else(|| self.findings.first())
    }

    /// # Errors
    /// When there is no such finding.
    pub(super) fn select(&mut self, finding: String) -> Result<(), String> {
        self.findings.get(&finding).ok_or_else(|| no_finding(&finding))?;
        self.selected = Some(finding);
        self.changed(Changed { lenses: false, hints: true, tree: false });
        Ok(())
    }

    /// # Errors
    /// When the store cannot be written.
    pub(super) fn dismiss(&mut self, finding: &str) -> Result<(), String> {
        let found = self.findings.get(finding).ok_or_else(|| no_finding(finding))?;
        found.folder.dismiss(&found.kept.id).map_err(|error| error.to_string())?;
        self.look_at_stores();
        self.publish();
        self.changed(Changed::ALL);
        Ok(())
    }

    pub(super) fn why_no_lens(&self, place: &AtLine) -> String {
        let Some(file) = documents::path(&place.uri) else { return "only files can have lenses".to_owned() };
        if !self.settings.may_run() {
            return NOT_TRUSTED.to_owned();
        }
        if !self.settings.lenses {
            return "lenses are switched off in the settings (interleaver.lenses)".to_owned();
        }
        let Some(folder) = self.folder_of(&file) else {
            return format!("`{}` lies outside of the workspace", file.display());
        };
        let text = self.documents.get(&file).map(|document| document.text.as_str());
        match &folder.workspace {
            Some(workspace) => workspace.why_not(&file, text, place.line.map(|line| line + 1)),
            None => "the workspace is still being looked at: a lens appears when that is done".to_owned(),
        }
    }

    /// `interleaver.toml` with a place for the arguments of a target; nothing is written.
    ///
    /// # Errors
    /// When there is no such target.
    pub(super) fn configuration(&self, target: &str) -> Result<Value, String> {
        let (folder, target) = self.target(target, None).ok_or_else(|| no_target(target))?;
        let path = folder.join(FILE);
        let text = self.documents.text(&path).unwrap_or_default();
        let (text, line) = configuration::with_arguments(&text, &folder, &target);
        Ok(json!({ "path": path, "text": text, "line": line }))
    }

    /// A file as it is named to people.
    pub(crate) fn shown(&self, path: &Path) -> String {
        self.folder_of(path).map_or_else(|| path.display().to_string(), |folder| shown(path, &folder.path))
    }
}
