//! Store of reports and schedules: a folder for each target, beside the root's marker or where the user says.
//!
//! A store can have come with the workspace that it lies in. So the folders in it are opened one within another, and
//! nothing is read, written or removed by way of a symbolic link in it ([`files::Folder`]).

pub mod findings;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use files::Folder;

use crate::input::project_root::STORE;

/// Permissions of new files, before the user's mask.
const NEW_FILE: u32 = 0o666;

/// The folder of one target. Files appear in it whole or not at all, also while other processes write there.
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
        if made.open().is_ok_and(|folder| folder.state(".gitignore").is_err()) {
            made.write(".gitignore", b"# Written by interleaver. What is kept here can be made again.\n*\n")?;
        }
        Self::at(&store.join(folder_name(target)))
    }

    /// A folder of the user's choice, which is made if needed.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn at(folder: &Path) -> Result<Self, StoreError> {
        let store = Self::existing(folder);
        let made = || -> io::Result<()> {
            let folder = store.make()?;
            // Making a file is the only honest test of whether one can be made.
            let name = format!(".new-{:x}", std::process::id());
            folder.write_with(&name, NEW_FILE, |_| Ok(()))?;
            folder.remove(&name)
        };
        made().map_err(|why| store.error(why))?;
        Ok(store)
    }

    /// The same of a folder that is not made.
    pub(crate) fn existing(folder: &Path) -> Self {
        // Reports name what is kept to their readers, wherever these are.
        Self { folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) }
    }

    /// Its path.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the folder.
    pub(crate) fn open(&self) -> io::Result<Folder> {
        let (outside, inside) = split(&self.folder);
        Folder::open(outside)?.inner(inside)
    }

    fn make(&self) -> io::Result<Folder> {
        let (outside, inside) = split(&self.folder);
        Folder::make(outside)?.make_inner(inside)
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
        let written = self.make().and_then(|folder| folder.write_with(name, NEW_FILE, content));
        written.map_err(|why| self.error(why))?;
        Ok(self.folder.join(name))
    }

    /// Takes a file away; one that is not there is as good.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.open().and_then(|folder| folder.remove(name)).map_err(|why| self.error(why))
    }

    /// Waits until no other process changes several files of the folder; others wait until the result is dropped, or its
    /// process has ended.
    ///
    /// # Errors
    /// When the file that stands for this cannot be made.
    pub fn lock(&self) -> Result<File, StoreError> {
        self.make().and_then(|folder| folder.lock(".lock")).map_err(|why| self.error(why))
    }

    fn error(&self, why: io::Error) -> StoreError {
        StoreError { folder: self.folder.clone(), why }
    }
}

/// A folder as what its user has named, and what lies in a store there: `/p` and `.interleaver/x` of `/p/.interleaver/x`.
fn split(folder: &Path) -> (&Path, &Path) {
    let store = folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == STORE));
    let outside = store.and_then(Path::parent).unwrap_or(folder);
    (outside, folder.strip_prefix(outside).unwrap_or(Path::new("")))
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
    use std::fs;
    use std::os::unix::fs::symlink;

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

    #[test]
    fn a_linked_store_is_refused_and_nothing_is_written_behind_it() {
        let root = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        symlink(other.path(), root.path().join(STORE)).unwrap();
        let error = Store::of_target(root.path(), "a/x").unwrap_err().to_string();
        assert!(error.contains("`.interleaver` is a symbolic link"), "{error}");
        fs::remove_file(root.path().join(STORE)).unwrap();
        fs::create_dir(root.path().join(STORE)).unwrap();
        symlink(other.path(), root.path().join(STORE).join(folder_name("a/x"))).unwrap();
        let error = Store::of_target(root.path(), "a/x").unwrap_err().to_string();
        assert!(error.contains("is a symbolic link"), "{error}");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_linked_lock_is_refused_and_what_it_leads_to_stays() {
        let root = tempfile::tempdir().unwrap();
        let mine = root.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        let store = Store::of_target(root.path(), "a/x").unwrap();
        symlink(&mine, store.folder().join(".lock")).unwrap();
        let error = store.lock().unwrap_err().to_string();
        assert!(error.contains("`.lock` is a symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }

    #[test]
    fn a_folder_of_the_users_choice_may_be_a_link() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join("there")).unwrap();
        symlink(top.path().join("there"), top.path().join("here")).unwrap();
        let store = Store::at(&top.path().join("here")).unwrap();
        store.write("report.txt", b"text").unwrap();
        assert!(top.path().join("there/report.txt").is_file());
    }
}
