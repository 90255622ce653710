//! Compiles target programs, each only when its source or its command line has changed.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::manifest::Language;
use crate::paths::{self, Output};

/// The compiler's level of optimisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimisation {
    /// `-O0`; a debug build for Rust.
    O0,
    /// `-O2`; a release build with debug information for Rust.
    O2,
}

impl Optimisation {
    /// Both levels.
    pub const ALL: [Self; 2] = [Self::O0, Self::O2];

    /// The name of the level, and of the folder that its programs go to.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O0 => "O0",
            Self::O2 => "O2",
        }
    }
}

/// A target program could not be built.
#[derive(thiserror::Error)]
pub enum BuildError {
    /// The compiler said no.
    #[error("{command} failed:\n{stderr}")]
    Compiler {
        /// The whole command line.
        command: String,
        /// Its error output.
        stderr: String,
    },
    /// The source's extension is that of no language known here.
    #[error("`{}` is in no language known here", .0.display())]
    Language(PathBuf),
    /// Two sources would be built to the same program.
    #[error("`{}` and `{}` would be the same program: give one of them another name", .0.display(), .1.display())]
    SameStem(PathBuf, PathBuf),
    /// A file could not be read or written, or the compiler could not be started.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
}

/// A test that fails shows it as it is meant to be read.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A build of one target program.
#[derive(Clone, Debug)]
pub struct Build {
    source: PathBuf,
    optimisation: Optimisation,
    flags: Vec<String>,
}

impl Build {
    /// The program whose source is `source`, relative to the targets' folder.
    #[must_use]
    pub fn new(source: impl AsRef<Path>, optimisation: Optimisation) -> Self {
        Self { source: source.as_ref().to_owned(), optimisation, flags: Vec::new() }
    }

    /// The same with one more compiler flag; it is another program, beside the first.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// The path of the program, once it has been built.
    ///
    /// # Errors
    /// When it does not compile, with what the compiler printed.
    pub fn program(&self) -> Result<PathBuf, BuildError> {
        let source = paths::targets().join(&self.source);
        is_alone(&source)?;
        let program = self.place()?;
        let text = fs::read_to_string(&source).map_err(at(&source))?;
        let command = self.command(&source, &text)?;
        make(&program, command, &text)?;
        Ok(program)
    }

    /// The same program at a place of its own: whether it is running can be asked there, whatever other tests run meanwhile.
    ///
    /// # Errors
    /// As [`Build::program`].
    pub fn program_for(&self, test: &str) -> Result<PathBuf, BuildError> {
        let program = self.program()?;
        let folder = Output::find().map_err(at(&self.source))?.folder.join("targets/alone").join(test);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let own = folder.join(format!("{}-{}", self.optimisation.name(), self.name()));
        let unfinished = unfinished(&own);
        fs::hard_link(&program, &unfinished)
            .and_then(|()| fs::rename(&unfinished, &own))
            .map_err(at(&own))?;
        Ok(own)
    }

    fn place(&self) -> Result<PathBuf, BuildError> {
        let output = Output::find().map_err(at(&self.source))?;
        let group = self.source.parent().unwrap_or(Path::new(""));
        let folder = output.folder.join("targets").join(self.optimisation.name()).join(group);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(folder.join(self.name()))
    }

    fn name(&self) -> String {
        let stem = self.source.file_stem().unwrap_or_default().to_string_lossy();
        let letters = |flag: &String| flag.replace(|letter: char| !letter.is_alphanumeric(), "");
        [stem.into_owned()].into_iter().chain(self.flags.iter().map(letters)).collect::<Vec<_>>().join("-")
    }

    /// The compiler's command line, but for where the program goes.
    fn command(&self, source: &Path, text: &str) -> Result<Command, BuildError> {
        let language = Language::of_source(source).ok_or_else(|| BuildError::Language(source.to_owned()))?;
        let (compiler, level) = match (language, self.optimisation) {
            (Language::C, Optimisation::O0) => ("cc", "-O0"),
            (Language::C, Optimisation::O2) => ("cc", "-O2"),
            (Language::Cpp, Optimisation::O0) => ("c++", "-O0"),
            (Language::Cpp, Optimisation::O2) => ("c++", "-O2"),
            (Language::Rust, Optimisation::O0) => ("rustc", "-Copt-level=0"),
            (Language::Rust, Optimisation::O2) => ("rustc", "-Copt-level=3"),
        };
        let mut command = Command::new(compiler);
        command.args([language.standard(text), level, "-g"]);
        if language != Language::Rust {
            command.args(["-pthread", "-Wall", "-Wextra"]);
        }
        command.args(&self.flags).arg(source);
        Ok(command)
    }
}

/// Programs are called after their sources without the ending: no other source beside it may have the same name.
fn is_alone(source: &Path) -> Result<(), BuildError> {
    let folder = source.parent().unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let other = entry.map_err(at(folder))?.path();
        let is_same = other.file_stem() == source.file_stem() && Language::of_source(&other).is_some();
        if is_same && other != source {
            return Err(BuildError::SameStem(source.to_owned(), other));
        }
    }
    Ok(())
}

/// The program of `tests/stepper`, which runs others instruction by instruction.
///
/// # Errors
/// When it does not compile, with what the compiler printed.
pub fn stepper() -> Result<PathBuf, BuildError> {
    let folder = paths::stepper();
    let output = Output::find().map_err(at(&folder))?.folder.join("stepper");
    fs::create_dir_all(&output).map_err(at(&output))?;
    let entries =
        fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(at(&folder))?;
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.sort();
    let texts: Result<Vec<_>, _> =
        files.iter().map(|file| fs::read_to_string(file).map_err(at(file))).collect();
    let mut command = Command::new("gcc");
    command.args(["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra"]);
    command.args(files.iter().filter(|file| Language::of_source(file) == Some(Language::C)));
    let program = output.join("stepper");
    make(&program, command, &texts?.concat())?;
    Ok(program)
}

/// Compiles a program, unless the one that is there has come from this command line and these sources.
fn make(program: &Path, command: Command, sources: &str) -> Result<(), BuildError> {
    let stamp = format!("{}\n{sources}", words(&command));
    let beside = |suffix: &str| {
        let mut name = program.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        program.with_file_name(name)
    };
    // Of two builds at a time the later one would be in vain, and would replace a program that another test is exploring.
    let lock = beside(".lock");
    let lock = fs::File::create(&lock).map_err(at(&lock))?;
    lock.lock().map_err(at(program))?;
    let stamp_file = beside(".stamp");
    let is_current = program.exists() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp);
    if !is_current {
        compile(command, program)?;
        write_whole(&stamp_file, &stamp)?;
    }
    Ok(())
}

/// No test finds half a program: it is written to a file of its own, and put in place in one step.
fn compile(mut command: Command, program: &Path) -> Result<(), BuildError> {
    let unfinished = unfinished(program);
    let output = command.arg("-o").arg(&unfinished).output().map_err(at(Path::new(command.get_program())))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(BuildError::Compiler { command: words(&command), stderr });
    }
    fs::rename(&unfinished, program).map_err(at(program))
}

fn write_whole(file: &Path, text: &str) -> Result<(), BuildError> {
    let unfinished = unfinished(file);
    fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, file)).map_err(at(file))
}

/// The distinguishing part of the names stands in front: rustc names its own files beside them by the part before the
/// first dot.
fn unfinished(file: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = OsString::from(format!("{}-{}-", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    name.push(file.file_name().unwrap_or_default());
    file.with_file_name(name)
}

fn words(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    let path = path.to_owned();
    move |error| BuildError::Io { path, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sources_that_would_be_one_program_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            path
        };
        let source = file("queue.c");
        file("queue.h");
        file("queue_ok.c");
        assert!(is_alone(&source).is_ok());
        let other = file("queue.cpp");
        let error = is_alone(&source).unwrap_err().to_string();
        assert!(
            error.contains(source.to_str().unwrap()) && error.contains(other.to_str().unwrap()),
            "{error}"
        );
    }
}
