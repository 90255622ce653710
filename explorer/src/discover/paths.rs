//! Names of source files as debug information has them, and the files that they mean.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Resolves each name once, and keeps each file once however many programs list it.
#[derive(Clone, Default, Debug)]
pub(super) struct Paths(HashMap<PathBuf, Arc<Path>>);

impl Paths {
    /// The file behind a name in the debug information of a program: without symbolic links if it is there, else as it is
    /// written. A relative name (`-ffile-prefix-map`, `--remap-path-prefix`) is looked for in the folders given.
    pub(super) fn file(&mut self, name: &Path, folders: &[&Path]) -> Arc<Path> {
        if name.is_absolute() {
            if let Some(file) = self.0.get(name) {
                return Arc::clone(file);
            }
            let file = self.kept(name.canonicalize().unwrap_or_else(|_| name.to_owned()));
            self.0.insert(name.to_owned(), Arc::clone(&file));
            return file;
        }
        let there = folders.iter().find_map(|folder| folder.join(name).canonicalize().ok());
        self.kept(there.unwrap_or_else(|| name.to_owned()))
    }

    fn kept(&mut self, file: PathBuf) -> Arc<Path> {
        Arc::clone(self.0.entry(file).or_insert_with_key(|file| file.as_path().into()))
    }
}
