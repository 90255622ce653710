//! Commands by their names.

use std::path::{Path, PathBuf};

/// The absolute path of a symbolic link that a program is named by.
pub(crate) fn link(program: &Path) -> Option<PathBuf> {
    let name = program.file_name().filter(|_| program.is_symlink())?;
    let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(name))
}

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
