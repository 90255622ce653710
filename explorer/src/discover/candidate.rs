//! One executable of a workspace: its parts, the targets in it, and the reason for which it is left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ptrace_backend::attention;
use ptrace_backend::debuginfo::{Image, is_user_file};
use ptrace_backend::preflight::{self, Refusal};

use super::functions::Functions;
use super::kind::Kind;
use super::paths::Paths;
use super::source_line::SourceLine;
use super::test::{self, Test};
use super::threads;
use super::walk::Stamp;

/// An executable in the workspace.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Its absolute path.
    pub path: PathBuf,
    /// Build ID, by which this build differs from every other; empty where the file could not be read.
    pub build_id: String,
    /// The build system that built it.
    pub kind: Kind,
    /// The user's own files that its line tables list, sorted.
    pub sources: Vec<Arc<Path>>,
    /// Time at which it was built.
    pub modified: SystemTime,
    /// Whether lines are known for some of the user's own code.
    pub has_debug_lines: bool,
    /// The names, without folders, of the files that it was made of, where a symbol table says so.
    pub file_symbols: Vec<String>,
    /// The file names of the shared libraries that it asks for.
    pub libraries: Vec<String>,
    /// Whether its symbol table was stripped.
    pub is_stripped: bool,
    /// The sanitizer that it is built with.
    pub sanitizer: Option<&'static str>,
    /// Whether it can create threads.
    pub creates_threads: bool,
    /// The tests in it.
    pub tests: Vec<Test>,
    /// Place of its `main`, if it is the user's own.
    pub main: Option<SourceLine>,
    /// The reason for which it cannot be explored, in one sentence with what to do.
    pub left_out: Option<String>,
}

impl Candidate {
    /// Reads an executable. `None` for what is no native program at all, such as a script. `folders` are where relative
    /// names of sources start.
    pub(super) fn read(
        path: &Path,
        stamp: Stamp,
        kind: Kind,
        paths: &mut Paths,
        folders: &[&Path],
    ) -> Option<Self> {
        let mut candidate = Self::unread(path, stamp, kind);
        match preflight::inspect(path) {
            Ok(executable) => candidate.look_into(&executable.image, paths, folders),
            Err(
                Refusal::Script { .. }
                | Refusal::NotElf(_)
                | Refusal::NotExecutable { .. }
                | Refusal::Relocatable(_)
                | Refusal::Core(_)
                | Refusal::Missing(_)
                | Refusal::Directory(_)
                | Refusal::Special(_),
            ) => return None,
            Err(refusal) => {
                if let Refusal::Sanitizer { sanitizer, .. } = refusal {
                    candidate.sanitizer = Some(sanitizer);
                }
                candidate.left_out = Some(refusal.to_string());
                // The sources that it is made of are known all the same, so that its files can say why they have no lens.
                let is_readable = !matches!(refusal, Refusal::Bits32(_) | Refusal::Machine { .. });
                if let Some(image) = is_readable.then(|| Image::open(path).ok()).flatten() {
                    candidate.look_into(&image, paths, folders);
                }
            }
        }
        Some(candidate)
    }

    /// One of which nothing is known but that it is there.
    pub(super) fn unread(path: &Path, stamp: Stamp, kind: Kind) -> Self {
        Self {
            path: path.to_owned(),
            build_id: String::new(),
            kind,
            sources: Vec::new(),
            modified: stamp.modified,
            has_debug_lines: false,
            file_symbols: Vec::new(),
            libraries: Vec::new(),
            is_stripped: false,
            sanitizer: None,
            creates_threads: false,
            tests: Vec::new(),
            main: None,
            left_out: None,
        }
    }

    fn look_into(&mut self, image: &Image, paths: &mut Paths, folders: &[&Path]) {
        let own = self.path.parent();
        let folders: Vec<&Path> = folders.iter().copied().chain(own).collect();
        self.build_id = image.build_id().to_owned();
        self.has_debug_lines = image.has_debug_lines();
        self.file_symbols = image.file_symbols();
        (self.libraries, _) = image.libraries();
        self.is_stripped = !image.has_symbol_table();
        let listed = image.source_files();
        let listed = listed.iter().inspect(|_| attention::round());
        self.sources = listed.filter(|file| is_own(file)).map(|file| paths.file(file, &folders)).collect();
        self.sources.sort();
        self.sources.dedup();
        let functions = Functions::of(image, &mut |file| paths.file(file, &folders).to_path_buf());
        self.creates_threads = threads::creates_threads(image, &functions);
        self.tests = test::tests(image, &functions);
        self.main = functions.main(image);
    }

    /// Whether its line tables list a file.
    #[must_use]
    pub fn lists(&self, file: &Path) -> bool {
        self.sources.binary_search_by(|source| source.as_ref().cmp(file)).is_ok()
    }

    /// Whether its `main`, or a test of it, stands in a file.
    #[must_use]
    pub fn declares_in(&self, file: &Path) -> bool {
        let mut places = self.main.iter().chain(self.tests.iter().map(|test| &test.at));
        places.any(|at| at.file == file)
    }

    /// The first of its sources that was changed after it was built, or is no longer there.
    #[must_use]
    pub fn newer_source(&self) -> Option<&Path> {
        self.sources.iter().map(AsRef::as_ref).find(|source| {
            attention::round();
            let modified = source.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|modified| modified > self.modified)
        })
    }

    /// Whether it can be explored.
    #[must_use]
    pub fn can_be_explored(&self) -> bool {
        self.left_out.is_none()
    }
}

/// Whether a file in a line table is one of the user's; compilers list some that are none, such as `<built-in>`.
fn is_own(file: &Path) -> bool {
    let is_file = file.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('<'));
    is_file && is_user_file(file)
}
