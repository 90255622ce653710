//! Finds the files of a workspace that matter, bounded in depth, entries and time. Nothing is opened here.

use std::collections::VecDeque;
use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use checker::limit::{Limit, StopRequest};
use ptrace_backend::attention;

use super::TextLanguage;
use crate::report::plural::plural;

/// Limits of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Folders within folders.
    pub depth: usize,
    /// Files and folders.
    pub entries: usize,
    /// Time for walking through folders.
    pub time: Duration,
    /// Time for all of it, with what is read of the executables that were found.
    pub reading: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 12, entries: 100_000, time: Duration::from_secs(5), reading: Duration::from_secs(20) }
    }
}

/// Identity of a file, by which it differs from what stood at its path before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: SystemTime,
    /// Device and inode: equal for two names of one file.
    pub(super) inode: (u64, u64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            inode: (metadata.dev(), metadata.ino()),
        }
    }
}

/// Files that a walk has found.
#[derive(Clone, Default, Debug)]
pub(super) struct Found {
    /// Regular files that may be executed.
    pub(super) executables: Vec<(PathBuf, Stamp)>,
    /// `Cargo.toml`s.
    pub(super) manifests: Vec<PathBuf>,
    /// Notes of CMake for CTest.
    pub(super) ctest_files: Vec<PathBuf>,
    /// C, C++ and Rust files.
    pub(super) sources: Vec<(PathBuf, Stamp)>,
    /// Folders that CMake was run in.
    pub(super) cmake_folders: Vec<PathBuf>,
    pub(super) files: usize,
    pub(super) folders: usize,
    /// The place at which a limit ended the walk, in words.
    pub(super) cut: Option<String>,
}

/// Folders that hold no program of the user's, whatever lies in them.
const IGNORED: [&str; 5] = [".git", "node_modules", ".interleaver", "CMakeFiles", "__pycache__"];

/// Folders of cargo's target directory that hold parts of programs.
const IGNORED_OF_CARGO: [&str; 5] = ["build", "incremental", ".fingerprint", "doc", "package"];

/// The part of the limits of one look that is used up.
#[derive(Debug)]
pub(super) struct ScanBudget {
    limits: Limits,
    start: Instant,
    entries: usize,
}

impl ScanBudget {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, start: Instant::now(), entries: 0 }
    }

    /// Says what ends a walk before a folder.
    fn ends_at(&self, folder: &Path) -> Option<String> {
        let time = self.limits.time;
        let words = || format!("the time of {} s was over at `{}`", time.as_secs(), folder.display());
        (self.start.elapsed() > time).then(words).or_else(|| self.is_full_at(folder))
    }

    /// Says that there were more entries, up to those of a folder, than are looked at.
    fn is_full_at(&self, folder: &Path) -> Option<String> {
        let most = self.limits.entries;
        (self.entries > most).then(|| format!("{most} entries were reached at `{}`", folder.display()))
    }

    /// Does something for each of these, one after the other, until the time for all is over: then it says which one is the
    /// first for which it is not done.
    pub(super) fn each<'a, T>(&self, all: &'a [T], mut work: impl FnMut(&'a T)) -> Option<usize> {
        all.iter().position(|one| self.within(|| work(one)).is_none())
    }

    /// Does something that takes its time; `None` where the time for all is over before it is done.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let (start, time) = (self.start, self.limits.reading);
        let look =
            move || if start.elapsed() > time { StopRequest::BudgetSpent } else { StopRequest::Continue };
        attention::within(&Limit::new(look), work).ok()
    }

    /// Says that something is not done with so many things.
    pub(super) fn is_over_before(&self, rest: usize, what: &str, done: &str) -> String {
        let (time, were) = (self.limits.reading.as_secs(), if rest == 1 { "was" } else { "were" });
        format!("the time of {time} s was over before {} {were} {done}", plural(rest as u64, what))
    }
}

/// Walks through `root` and all that is below, the outermost first, `depth` folders deep.
pub(super) fn walk(root: &Path, depth_limit: usize, budget: &mut ScanBudget) -> Found {
    let mut found = Found::default();
    let mut folders = VecDeque::from([(root.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        if let Some(cut) = budget.ends_at(&folder) {
            found.cut = Some(cut);
            break;
        }
        found.folders += 1;
        budget.entries += 1;
        // A folder that cannot be read holds nothing that could be explored.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        // One more than there is room for shows that there are more.
        let room = (budget.limits.entries + 1).saturating_sub(budget.entries);
        let has_time = |_: &_| budget.start.elapsed() <= budget.limits.time;
        let mut entries: Vec<DirEntry> = entries.flatten().take(room).take_while(has_time).collect();
        budget.entries += entries.len();
        entries.sort_by_key(DirEntry::file_name);
        let is_cargos = entries.iter().any(|entry| entry.file_name() == "CACHEDIR.TAG")
            || entries.iter().any(|entry| entry.file_name() == ".fingerprint");
        for entry in entries {
            if budget.start.elapsed() > budget.limits.time {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                found.file(&entry);
            } else if kind.is_dir() && !is_ignored(&entry, is_cargos) {
                if depth < depth_limit {
                    folders.push_back((entry.path(), depth + 1));
                } else {
                    let deepest =
                        format!("`{}` lies deeper than {depth_limit} folders", entry.path().display());
                    found.cut.get_or_insert(deepest);
                }
            }
        }
        if let Some(cut) = budget.ends_at(&folder) {
            found.cut = Some(cut);
            break;
        }
    }
    found
}

fn is_ignored(folder: &DirEntry, in_cargos: bool) -> bool {
    let name = folder.file_name();
    let name = name.to_string_lossy();
    IGNORED.contains(&&*name) || (in_cargos && IGNORED_OF_CARGO.contains(&&*name))
}

impl Found {
    fn file(&mut self, entry: &DirEntry) {
        self.files += 1;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "Cargo.toml" {
            self.manifests.push(entry.path());
        } else if name == "CMakeCache.txt" {
            self.cmake_folders.extend(entry.path().parent().map(Path::to_owned));
        } else if name.ends_with(".cmake") {
            if name == "CTestTestfile.cmake" || name.contains("_tests") {
                self.ctest_files.push(entry.path());
            }
        } else if TextLanguage::of(&entry.path()).is_some() {
            let metadata = entry.metadata().ok();
            self.sources.extend(metadata.map(|metadata| (entry.path(), Stamp::of(&metadata))));
        } else if !is_no_program(&name)
            && !is_plugin(entry, &name)
            && let Ok(metadata) = entry.metadata()
            && metadata.mode() & 0o111 != 0
        {
            self.executables.push((entry.path(), Stamp::of(&metadata)));
        }
    }
}

/// Whether a file is one that cargo builds for the compiler to load.
fn is_plugin(entry: &DirEntry, name: &str) -> bool {
    name.ends_with(".so") && entry.path().parent().is_some_and(|folder| folder.ends_with("deps"))
}

/// By name alone: saves a system call for most files.
fn is_no_program(name: &str) -> bool {
    const ENDINGS: [&str; 25] = [
        "c", "h", "cc", "cpp", "cxx", "hpp", "hxx", "rs", "o", "a", "d", "rlib", "rmeta", "toml", "json",
        "md", "txt", "lock", "py", "sh", "js", "ts", "yml", "yaml", "html",
    ];
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}
