//! Where reports and schedules are kept: a folder for each target, beside the root's marker or where the user says.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::root::STORE;

/// The folder of one target. Files appear in it whole or not at all, whoever else writes there at the same time.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to `{}`: {why}; use --output to name another folder", .folder.display())]
pub struct StoreError {
    folder: PathBuf,
    why: io::Error,
}

impl Store {
    /// The folder of the target of this name in the store of the checkout at `root`, which is made if needed.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn of_target(root: &Path, target: &str) -> Result<Self, StoreError> {
        let store = root.join(STORE);
        let made = Self::at(&store)?;
        if !store.join(".gitignore").exists() {
            made.write(".gitignore", b"# Written by interleaver. What is kept here can be made again.\n*\n")?;
        }
        Self::at(&store.join(folder_name(target)))
    }

    /// A folder of the user's choice, which is made if needed.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn at(folder: &Path) -> Result<Self, StoreError> {
        // Reports name what is kept to whoever reads them, wherever that is.
        let folder = &std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let store = Self { folder: folder.clone() };
        // Making a file is the only honest test of whether one can be made.
        fs::create_dir_all(folder)
            .and_then(|()| tempfile::NamedTempFile::new_in(folder))
            .map_err(|why| store.error(why))?;
        Ok(store)
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts a file there, replacing an older one, and says where it is. `name` may contain folders.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, StoreError> {
        self.write_with(name, |to| to.write_all(content))
    }

    /// The same, for what is better not in memory as a whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_with(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, StoreError> {
        let path = self.folder.join(name);
        let folder = path.parent().unwrap_or(&self.folder);
        let write = || -> io::Result<()> {
            fs::create_dir_all(folder)?;
            let file = tempfile::Builder::new()
                .prefix(".new-")
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder)?;
            let mut to = BufWriter::new(file);
            content(&mut to)?;
            let file = to.into_inner()?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|why| self.error(why))?;
        Ok(path)
    }

    /// Takes a file away; one that is not there is as good.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        match fs::remove_file(self.folder.join(name)) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(self.error(why)),
            _ => Ok(()),
        }
    }

    /// Waits until nobody else changes several files of the folder; others wait until the result is dropped, or its
    /// process has ended.
    ///
    /// # Errors
    /// When the file that stands for this cannot be made.
    pub fn lock(&self) -> Result<File, StoreError> {
        let lock = || {
            let file = File::create(self.folder.join(".lock"))?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|why| self.error(why))
    }

    fn error(&self, why: io::Error) -> StoreError {
        StoreError { folder: self.folder.clone(), why }
    }
}

/// A name that a person recognises, and that no two targets share.
fn folder_name(target: &str) -> String {
    let last = target.rsplit('/').next().unwrap_or_default();
    let plain: String = last
        .chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
        .collect();
    format!("{}-{}", plain.trim_start_matches('.'), short_hash(target.as_bytes()))
}

/// Eight hexadecimal digits that stand for `bytes`.
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_hides_itself_from_git() {
        let root = tempfile::tempdir().unwrap();
        Store::of_target(root.path(), "a/x").unwrap();
        let ignored = fs::read_to_string(root.path().join(".interleaver/.gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == "*"));
    }

    #[test]
    fn targets_of_one_name_have_folders_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let one = Store::of_target(root.path(), "a/x").unwrap();
        let other = Store::of_target(root.path(), "b/x").unwrap();
        assert_ne!(one.folder(), other.folder());
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        store.write("schedules/s.json", b"a longer old content").unwrap();
        let path = store.write("schedules/s.json", b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn readers_never_see_half_a_file_while_others_write() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let contents = [vec![b'a'; 100_000], vec![b'b'; 50_000]];
        let path = store.write("report", &contents[0]).unwrap();
        std::thread::scope(|threads| {
            for content in &contents {
                let store = &store;
                threads.spawn(move || (0..50).for_each(|_| drop(store.write("report", content).unwrap())));
            }
            for _ in 0..200 {
                assert!(contents.contains(&fs::read(&path).unwrap()));
            }
        });
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_one_sentence() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Store::at(&file.path().join("x")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write to `") && error.contains("--output"), "{error}");
    }
}
