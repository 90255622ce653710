//! The open documents, as their editors have them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use crate::text::{Encoding, replace};

/// An open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) text: String,
    pub(crate) version: i32,
}

/// All open documents. One file may be open under one URI only.
#[derive(Default)]
pub(crate) struct Documents(HashMap<PathBuf, Document>);

impl Documents {
    pub(crate) fn open(&mut self, item: TextDocumentItem) {
        let Some(path) = path(&item.uri) else { return };
        let document = Document { uri: item.uri, text: item.text, version: item.version };
        self.0.insert(path, document);
    }

    /// Says whether the document is open at all.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> bool {
        let Some(document) = path(uri).and_then(|path| self.0.get_mut(&path)) else { return false };
        document.version = version;
        for change in changes {
            match change.range {
                Some(range) => replace(&mut document.text, range, &change.text, encoding),
                None => document.text = change.text,
            }
        }
        true
    }

    pub(crate) fn close(&mut self, uri: &Uri) {
        if let Some(path) = path(uri) {
            self.0.remove(&path);
        }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    /// The text of a file as the user sees it: in the editor if it is open there.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        match self.0.get(path) {
            Some(document) => Some(document.text.clone()),
            None => std::fs::read_to_string(path).ok(),
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }
}

/// The file that a URI names, if it names one.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str() == "file";
    is_file.then(|| uri.to_file_path().map(std::borrow::Cow::into_owned))?
}

/// The URI of a file, as its editor writes it if it is open.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    Uri::from_file_path(path)
}
