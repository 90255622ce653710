//! Programs that are not ours: a folder of executables.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The executables of a folder, by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn executables(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))? {
        let path = entry?.path().canonicalize()?;
        let metadata = path.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The arguments of the program `NAME`: the words of the file `NAME.args` beside it, if there is one.
#[must_use]
pub fn arguments(program: &Path) -> Vec<String> {
    let words = fs::read_to_string(program.with_extension("args")).unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}
