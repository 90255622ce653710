//! A copy of the working directory that is as new before every execution.
//!
//! The folder itself stays, and only what is in it is replaced: processes that are forked from one template share its
//! working directory, and the path that the program can see is the same in every execution.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};

use checker::failure::Failure;
use checker::limit::Limit;
use checker::names::Obj;
use checker::object_description::ObjectDescription;
use checker::program::{BackendError, Epoch, ExecutionSummary, Program, Scope, StartError};
use checker::search::StopRequest;
use checker::trace::Trace;
use delegate::delegate;

use crate::input::project_root::STORE;

/// More than this is not copied for each execution.
const MAX_BYTES: u64 = 1 << 30;

/// The working directory could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum FreshDirError {
    /// It is too large.
    #[error("`{}` holds more than 1 GiB, which is too much to copy for each execution: name a smaller folder with --cwd", .0.display())]
    TooLarge(PathBuf),
    /// Something in it could not be copied.
    #[error("failed to copy `{}` for an execution: {error}", .folder.display())]
    Copy {
        /// The folder or file that was to be copied.
        folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The user wants to stop.
    #[error("cancelled")]
    Cancelled,
    /// The time for everything is up.
    #[error("out of time")]
    OutOfTime,
}

/// A folder that can be made as it was.
#[derive(Debug)]
pub struct FreshDir {
    original: PathBuf,
    copy: tempfile::TempDir,
    limit: Limit,
}

impl FreshDir {
    /// Makes a copy of `original`, which goes away with this value.
    ///
    /// # Errors
    /// When it is too large or cannot be copied, or not within the limit.
    pub fn of(original: &Path, limit: &Limit) -> Result<Self, FreshDirError> {
        let wrong = |error| why(original, limit, error);
        if size(original, MAX_BYTES, limit).map_err(wrong)? > MAX_BYTES {
            return Err(FreshDirError::TooLarge(original.to_owned()));
        }
        let copy = tempfile::Builder::new().prefix("interleaver-").tempdir().map_err(wrong)?;
        let fresh = Self { original: original.to_owned(), copy, limit: limit.clone() };
        fresh.restore()?;
        Ok(fresh)
    }

    /// Path of the copy.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.copy.path()
    }

    /// Makes the copy equal to the original again.
    ///
    /// # Errors
    /// When something cannot be removed or copied, or not within the limit.
    pub fn restore(&self) -> Result<(), FreshDirError> {
        let restore = || {
            for entry in fs::read_dir(self.path())? {
                go_on(&self.limit)?;
                remove(&entry?)?;
            }
            copy_inside(&self.original, self.path(), &self.limit)
        };
        restore().map_err(|error| why(&self.original, &self.limit, error))
    }
}

/// An error where it is time to end: a folder may hold any number of files.
fn go_on(limit: &Limit) -> io::Result<()> {
    if limit.is_over() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}

fn why(folder: &Path, limit: &Limit, error: io::Error) -> FreshDirError {
    match limit.look() {
        StopRequest::Cancelled => FreshDirError::Cancelled,
        StopRequest::BudgetSpent => FreshDirError::OutOfTime,
        StopRequest::Continue | StopRequest::HalfSpent => {
            FreshDirError::Copy { folder: folder.to_owned(), error }
        }
    }
}

fn remove(entry: &fs::DirEntry) -> io::Result<()> {
    if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }
}

/// The entries of a folder that are copied: all but the tool's own store.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let is_store =
        |entry: &io::Result<fs::DirEntry>| entry.as_ref().is_ok_and(|entry| entry.file_name() == STORE);
    Ok(fs::read_dir(folder)?.filter(move |entry| !is_store(entry)))
}

/// The bytes below a folder; counting ends once it is past `enough`.
fn size(folder: &Path, enough: u64, limit: &Limit) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        go_on(limit)?;
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path(), enough - bytes, limit)? } else { metadata.len() };
        if bytes > enough {
            break;
        }
    }
    Ok(bytes)
}

fn copy_inside(from: &Path, to: &Path, limit: &Limit) -> io::Result<()> {
    for entry in entries(from)? {
        go_on(limit)?;
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_inside(&source, &target, limit)?;
            // After the content: a folder may be read-only.
            fs::set_permissions(&target, entry.metadata()?.permissions())?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
            keep_times(&entry, &target)?;
        }
        // Sockets, pipes and devices stand for something outside the folder: a copy would not be the same thing.
    }
    Ok(())
}

/// A program that looks at the age of its files must see the same in every execution.
fn keep_times(entry: &fs::DirEntry, target: &Path) -> io::Result<()> {
    let metadata = entry.metadata()?;
    let times = FileTimes::new().set_modified(metadata.modified()?).set_accessed(metadata.accessed()?);
    // Times can be set through a handle that only reads, which a read-only file allows.
    File::open(target)?.set_times(times)
}

/// A program whose working directory is as new before every execution.
pub struct Fresh<'a, P> {
    program: &'a P,
    folder: Option<&'a FreshDir>,
}

impl<'a, P> Fresh<'a, P> {
    /// `program`, with `folder` restored before each execution, if there is one.
    pub fn new(program: &'a P, folder: Option<&'a FreshDir>) -> Self {
        Self { program, folder }
    }
}

impl<P: Program> Program for Fresh<'_, P> {
    type Run = P::Run;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        self.folder.map_or(Ok(()), FreshDir::restore).map_err(|error| match error {
            FreshDirError::Cancelled => StartError::Cancelled,
            FreshDirError::OutOfTime => StartError::OutOfTime,
            error => StartError::Failed(BackendError::new(error)),
        })?;
        self.program.start(scope)
    }

    delegate! {
        to self.program {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_execution_left_behind_is_gone() {
        let original = tempfile::tempdir().unwrap();
        fs::create_dir_all(original.path().join("data/deep")).unwrap();
        fs::write(original.path().join("data/deep/file"), "as it was").unwrap();
        std::os::unix::fs::symlink("data/deep/file", original.path().join("link")).unwrap();
        fs::create_dir(original.path().join(STORE)).unwrap();

        let fresh = FreshDir::of(original.path(), &Limit::default()).unwrap();
        let inside = |name: &str| fresh.path().join(name);
        fs::write(inside("data/deep/file"), "changed").unwrap();
        fs::write(inside("new"), "left behind").unwrap();
        fs::create_dir(inside("folder")).unwrap();
        fresh.restore().unwrap();

        assert_eq!(fs::read_to_string(inside("link")).unwrap(), "as it was");
        let age = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(age(inside("data/deep/file")), age(original.path().join("data/deep/file")));
        for gone in ["new", "folder", STORE] {
            assert!(!inside(gone).exists(), "{gone}");
        }
    }

    #[test]
    fn the_original_is_never_touched_and_the_copy_goes_away() {
        let original = tempfile::tempdir().unwrap();
        fs::write(original.path().join("file"), "mine").unwrap();
        let fresh = FreshDir::of(original.path(), &Limit::default()).unwrap();
        let copy = fresh.path().to_owned();
        fs::remove_file(copy.join("file")).unwrap();
        drop(fresh);
        assert!(!copy.exists());
        assert_eq!(fs::read_to_string(original.path().join("file")).unwrap(), "mine");
    }

    #[test]
    fn copying_looks_at_the_limit() {
        let original = tempfile::tempdir().unwrap();
        (0..100).for_each(|n| fs::write(original.path().join(format!("{n}")), "x").unwrap());
        for go in [StopRequest::Cancelled, StopRequest::BudgetSpent] {
            let looks = std::sync::atomic::AtomicU32::new(0);
            let looked = move || looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let limit = Limit::new(move || if looked() < 150 { StopRequest::Continue } else { go });
            let error = FreshDir::of(original.path(), &limit).unwrap_err();
            let is_told = match go {
                StopRequest::Cancelled => matches!(error, FreshDirError::Cancelled),
                _ => matches!(error, FreshDirError::OutOfTime),
            };
            assert!(is_told, "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_too_large_is_refused() {
        let original = tempfile::tempdir().unwrap();
        // A file with a hole: it has the size and takes no room.
        File::create(original.path().join("hole")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let error = FreshDir::of(original.path(), &Limit::default()).unwrap_err().to_string();
        assert!(error.contains("more than 1 GiB"), "{error}");
    }
}
