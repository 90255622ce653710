//! Commands by their names.

use std::path::{Path, PathBuf};

/// A bare name that is no file here is a command, as in a shell.
pub(crate) fn find(name: &Path) -> PathBuf {
    let is_bare = name.parent().is_some_and(|parent| parent.as_os_str().is_empty());
    if is_bare && !name.exists() {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
        return found.unwrap_or_else(|| name.to_owned());
    }
    name.to_owned()
}
