//! The open documents, as their editors have them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use crate::text::{PositionEncoding, replace};

/// An open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) text: String,
    pub(crate) version: i32,
}

/// All open documents, by the files that they are: whatever symbolic links a URI leads through, one file is one document.
#[derive(Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// Folders that the client names by way of symbolic links: the folder, and the client's name for it.
    linked: Vec<(PathBuf, PathBuf)>,
}

impl Documents {
    pub(crate) fn open(&mut self, item: TextDocumentItem) {
        let Some(path) = path(&item.uri) else { return };
        let document = Document { uri: item.uri, text: item.text, version: item.version };
        self.open.insert(path, document);
    }

    /// Says whether the document is open at all.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) -> bool {
        let Some(document) = path(uri).and_then(|path| self.open.get_mut(&path)) else { return false };
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
            self.open.remove(&path);
        }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// The text of a file as the user sees it: in the editor if it is open there.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        match self.open.get(path) {
            Some(document) => Some(document.text.clone()),
            None => files::read_text(path, files::Kind::Text).ok(),
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.open.keys().map(PathBuf::as_path)
    }

    /// From now on these are the folders, as the client names them.
    pub(crate) fn name_folders<'a>(&mut self, folders: impl Iterator<Item = &'a Path>) {
        let linked = folders.map(|named| (file(named), named.to_owned()));
        self.linked = linked.filter(|(folder, named)| folder != named).collect();
    }

    /// The URI of a file, as its editor writes it if it is open, else by way of the folder that it lies in.
    pub(crate) fn uri(&self, path: &Path) -> Option<Uri> {
        if let Some(document) = self.open.get(path) {
            return Some(document.uri.clone());
        }
        let inside = |(folder, named): &(PathBuf, PathBuf)| Some(named.join(path.strip_prefix(folder).ok()?));
        Uri::from_file_path(self.linked.iter().find_map(inside).as_deref().unwrap_or(path))
    }
}

/// The file that a URI names, if it names one: without symbolic links, if it is there.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    named_path(uri).map(|path| file(&path))
}

/// The path that a URI names, as it is written.
pub(crate) fn named_path(uri: &Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str() == "file";
    is_file.then(|| uri.to_file_path().map(std::borrow::Cow::into_owned))?
}

/// A path without symbolic links. A file that does not exist yet is named by the folder that it would lie in.
pub(crate) fn file(path: &Path) -> PathBuf {
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}
