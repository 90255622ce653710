//! The user's key: random bytes in a folder that only the user can read, which no workspace holds.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use files::{Folder, Kind};

/// The folder below that of all programs' states.
const FOLDER: &str = "interleaver";

const FILE: &str = "key";

/// Its length in bytes.
const LENGTH: usize = 32;

/// The user's key.
pub(super) struct SealKey([u8; LENGTH]);

/// The user's key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no place for it.
    #[error("there is no folder for it: neither XDG_STATE_HOME nor HOME names one")]
    NoFolder,
    /// It cannot be read or made.
    #[error("`{}` cannot be used: {why}", .folder.display())]
    Unusable {
        /// The folder of the key.
        folder: PathBuf,
        /// The obstacle.
        why: io::Error,
    },
    /// It is no key.
    #[error("`{}` is damaged: remove it, and a new one is made", .0.display())]
    Damaged(PathBuf),
}

impl SealKey {
    /// The key of the user that runs this process; it is made if there is none.
    pub(super) fn own() -> Result<Self, KeyError> {
        Self::in_folder(&folder(|name| env::var_os(name).map(PathBuf::from)).ok_or(KeyError::NoFolder)?)
    }

    /// The key in a folder, which is made with it if there is none.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, KeyError> {
        let unusable = |why| KeyError::Unusable { folder: folder.to_owned(), why };
        let open = Folder::make_private(folder).map_err(unusable)?;
        let bytes = match open.read_private(FILE, Kind::Settings) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::make(&open).map_err(unusable)?,
            bytes => bytes.map_err(unusable)?,
        };
        bytes.try_into().map(Self).map_err(|_| KeyError::Damaged(folder.join(FILE)))
    }

    /// Makes it, unless another process is faster.
    fn make(folder: &Folder) -> io::Result<Vec<u8>> {
        let _alone = folder.lock(".lock")?;
        match folder.read_private(FILE, Kind::Settings) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            bytes => return bytes,
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)?;
        folder.write_with(FILE, 0o600, |to| to.write_all(&bytes))?;
        Ok(bytes.to_vec())
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

/// Its folder, by the user's variables. A relative folder would be one of the workspace.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let states = variable("XDG_STATE_HOME").filter(absolute);
    let states = states.or_else(|| Some(variable("HOME").filter(absolute)?.join(".local/state")))?;
    Some(states.join(FOLDER))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_user_alone() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("state/interleaver");
        let key = SealKey::in_folder(&place).unwrap();
        assert_eq!(SealKey::in_folder(&place).unwrap().bytes(), key.bytes());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&place.join(FILE))), (0o700, 0o600));
    }

    #[test]
    fn what_others_may_read_is_no_key() {
        let home = tempfile::tempdir().unwrap();
        SealKey::in_folder(home.path()).unwrap();
        let file = home.path().join(FILE);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = SealKey::in_folder(home.path()).err().unwrap().to_string();
        assert!(error.contains("others"), "{error}");
        fs::remove_file(&file).unwrap();
        fs::write(&file, "short").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let error = SealKey::in_folder(home.path()).err().unwrap().to_string();
        assert!(error.ends_with("is damaged: remove it, and a new one is made"), "{error}");
    }

    #[test]
    fn its_folder_is_named_by_the_users_variables() {
        let named = |state: &str, home: &str| {
            let value = |value: &str| Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty());
            folder(|name| if name == "HOME" { value(home) } else { value(state) })
        };
        assert_eq!(named("/s", "/h"), Some("/s/interleaver".into()));
        assert_eq!(named("s", "/h"), Some("/h/.local/state/interleaver".into()));
        assert_eq!(named("", ""), None);
    }
}
