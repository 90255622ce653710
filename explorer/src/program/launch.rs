//! The real backend as a source of words, and how a request becomes a launched program.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checker::limit::Limit;
use checker::names::{Obj, Site, ThreadName};
use checker::object_description::ObjectDescription;
use checker::program::Program;
use files::Kind;
use ptrace_backend::{
    ClientSpec, KnowledgeSnapshot, LaunchError, LaunchSpec, Lessons, Opening, PtraceProgram, Stalls, Stepping,
};

use crate::discover::ProgramIdentity;
use crate::error::Error;
use crate::input::environment::Variables;
use crate::program::fresh_dir::{FreshDir, FreshDirError};
use crate::program::run_note_words::of_machine;
use crate::program::source::{Frame, Source};
use crate::program::worker_pool::Replicable;

impl Source for PtraceProgram {
    fn locate(&self, site: Site) -> Vec<Frame> {
        Self::locate(self, site)
    }

    fn is_own_code(&self, site: Site) -> bool {
        // In a program with lines of the user's code, the compiler and the libraries added the code without lines.
        !self.executable().has_debug_lines && self.is_user_code(site)
    }

    fn describe(&self, obj: Obj) -> Option<ObjectDescription> {
        Program::describe(self, obj)
    }

    fn place_in_file(&self, obj: Obj) -> Option<String> {
        Self::place_in_file(self, obj)
    }

    fn shared_parts(&self, obj: Obj) -> Vec<Obj> {
        Self::shared_parts(self, obj)
    }

    fn unordered_only(&self) -> bool {
        Self::unordered_only(self)
    }

    fn harness(&self) -> Option<ThreadName> {
        Self::harness(self)
    }

    fn source_named(&self, file: &Path) -> Option<PathBuf> {
        self.read(|| {
            let sources = self.executable().image.source_files();
            let mut named = sources.iter().filter(|source| source.ends_with(file) && source.is_file());
            let found = named.next()?.canonicalize().ok()?;
            named.all(|other| other.canonicalize().is_ok_and(|other| other == found)).then_some(found)
        })
    }

    fn build_id(&self) -> String {
        self.executable().build_id.clone()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.restrictions().into_iter().map(of_machine).collect();
        if !self.executable().has_debug_lines {
            notes.push(
                "the program has no debug information: places are symbols and addresses (-g gives lines)"
                    .to_owned(),
            );
        }
        notes
    }

    fn is_read_in_part(&self) -> bool {
        Self::is_read_in_part(self)
    }

    fn assumptions(&self) -> Vec<String> {
        let (disarmed, all) = self.disarmed();
        if disarmed == 0 {
            return Vec::new();
        }
        vec![format!(
            "{disarmed} of {all} instructions that touch memory were no longer watched, because they had touched private \
             memory only"
        )]
    }
}

impl Replicable for PtraceProgram {
    type Copy = Self;
    type Known = KnowledgeSnapshot;
    type Learnt = Lessons;

    /// A launch takes as long as a good many executions.
    const WORTH_WHILE: u32 = 100;

    fn again(&self, nth: usize, limit: &Limit) -> Option<Self> {
        Self::again(self, nth, limit)
    }

    fn at_once(&self) -> usize {
        Self::at_once(self)
    }

    fn has_external_effects(&self) -> bool {
        Self::has_external_effects(self)
    }

    fn copy_has_external_effects(copy: &Self) -> bool {
        copy.has_external_effects()
    }

    fn known(&self) -> KnowledgeSnapshot {
        Self::known(self)
    }

    fn has_outgrown(&self, copy: &Self) -> bool {
        Self::has_outgrown(self, copy)
    }

    fn adopt(copy: &Self, known: &KnowledgeSnapshot) -> bool {
        copy.adopt(known)
    }

    fn learnt(copy: &Self) -> Option<Lessons> {
        copy.learnt()
    }

    fn learn(&self, learnt: Lessons, events: u32) {
        Self::learn(self, learnt, events);
    }
}

/// Of programs with so many bytes of code, to decode all of it takes longer than to launch them twice.
const LARGE: u64 = 2 << 20;

/// A launch: the program with everything that it is given. Paths are absolute.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    /// The name that it is called by, if that is not its path.
    pub(crate) name: Option<OsString>,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Variables,
    pub(crate) stdin: Option<PathBuf>,
    pub(crate) client: Option<ClientSpec>,
    pub(crate) fresh_directory: bool,
    pub(crate) ignore_exit_code: bool,
    pub(crate) run_timeout: Duration,
    /// The longest time for which threads may be stalled.
    pub(crate) stalls: Arc<Stalls>,
}

/// A program that has been launched, and the copy of the working directory that it runs in, if it has one.
pub(crate) struct Launched {
    pub(crate) program: PtraceProgram,
    pub(crate) fresh: Option<FreshDir>,
}

impl Launch {
    /// Starts it. Only the calling thread can run executions of it.
    pub(crate) fn start(&self, limit: &Limit) -> Result<Launched, Error> {
        self.launch(limit, Opening::AtOnce)
    }

    /// The same for a search, which can begin anew where an execution comes to code that none has come to before.
    pub(crate) fn start_search(&self, limit: &Limit) -> Result<Launched, Error> {
        self.launch(limit, Opening::AsReached { least: LARGE })
    }

    fn launch(&self, limit: &Limit, opening: Opening) -> Result<Launched, Error> {
        let fresh = match self.fresh_directory {
            true => Some(FreshDir::of(&self.directory, limit).map_err(|error| match error {
                FreshDirError::Cancelled => LaunchError::Cancelled.into(),
                FreshDirError::OutOfTime => LaunchError::OutOfTime.into(),
                error => Error::from(error),
            })?),
            false => None,
        };
        let directory = fresh.as_ref().map_or(self.directory.as_path(), FreshDir::path);
        let spec = LaunchSpec {
            program: self.program.clone(),
            name: self.name.clone(),
            args: self.arguments.clone(),
            cwd: directory.to_owned(),
            env: self.environment.clone(),
            stdin: self.stdin.clone(),
            run_timeout: self.run_timeout,
            exit_code_fails: !self.ignore_exit_code,
            stepping: Stepping::default(),
            stalls: Arc::clone(&self.stalls),
            limit: limit.clone(),
            client: self.client.clone(),
            opening,
        };
        Ok(Launched { program: PtraceProgram::launch(spec)?, fresh })
    }
}

/// Makes the working directory what it was before the first execution.
pub(crate) fn restore(fresh: Option<&FreshDir>) -> Option<()> {
    fresh.map_or(Some(()), |fresh| fresh.restore().ok())
}

/// The frame that stands for a failing line where nothing else does: the beginning of the test that the arguments select,
/// or of `main`.
pub(crate) fn entry(identity: &ProgramIdentity) -> Option<Frame> {
    let at = identity.at.clone()?;
    Some(Frame { function: identity.name.clone(), file: Some(at.file), line: Some(at.line), column: None })
}

/// The absolute path of a folder that the user named, without symbolic links.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, Error> {
    let unusable = |error| Error::Path { what: "the working directory", path: path.to_owned(), error };
    let found = path.canonicalize().map_err(unusable)?;
    if found.is_dir() { Ok(found) } else { Err(unusable(io::ErrorKind::NotADirectory.into())) }
}

/// The absolute path of a file that the program is to read.
pub(crate) fn input(path: &Path) -> Result<PathBuf, Error> {
    let unusable = |error| Error::Path { what: "the standard input", path: path.to_owned(), error };
    if path != Path::new("/dev/null") {
        if !path.metadata().map_err(unusable)?.is_file() {
            let what = "it is not a regular file, which every execution could read from its beginning";
            return Err(unusable(io::Error::other(what)));
        }
        files::open(path, Kind::Input).map_err(unusable)?;
    }
    path.canonicalize().map_err(unusable)
}
