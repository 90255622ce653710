//! Small programs, compiled into a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ptrace_backend::debuginfo::{Image, SourceFrame, user_code};
use tempfile::TempDir;

/// A folder with a source file in it that can be compiled in several ways.
pub(crate) struct Project {
    folder: TempDir,
    source: &'static str,
    text: &'static str,
}

impl Project {
    pub(crate) fn new(source: &'static str, text: &'static str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(source), text).unwrap();
        Self { folder, source, text }
    }

    /// The folder of the files, without symbolic links.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.folder().join(self.source)
    }

    /// Compiles the source into `name`.
    pub(crate) fn compile(&self, name: &str, flags: &[&str]) -> PathBuf {
        let compiler = match Path::new(self.source).extension().and_then(|extension| extension.to_str()) {
            Some("c") => "gcc",
            Some("cpp") => "g++",
            _ => "rustc",
        };
        // Libraries come after what uses them.
        let (libraries, flags): (Vec<&str>, Vec<&str>) = flags.iter().partition(|flag| flag.ends_with(".so"));
        let mut command = Command::new(compiler);
        command.args(flags).arg(self.source()).args(libraries).arg("-o").arg(name);
        self.run(&mut command);
        self.folder().join(name)
    }

    pub(crate) fn open(&self, name: &str, flags: &[&str]) -> Arc<Image> {
        Image::open(&self.compile(name, flags)).unwrap()
    }

    pub(crate) fn run(&self, command: &mut Command) {
        let output = command.current_dir(self.folder()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The number of the line with this text.
    pub(crate) fn line(&self, marker: &str) -> u32 {
        let index = self.text.lines().position(|line| line.contains(marker)).unwrap();
        u32::try_from(index + 1).unwrap()
    }
}

/// The instructions that a symbol covers.
pub(crate) fn range(image: &Image, symbol: &str) -> std::ops::Range<u64> {
    let found = image.symbols_where(|name| name == symbol);
    found.first().unwrap_or_else(|| panic!("no symbol {symbol}")).range()
}

/// The frames at every address of the user's code that some wanted frame is among.
pub(crate) fn frames_with(image: &Image, wanted: impl Fn(&SourceFrame) -> bool) -> Vec<Vec<SourceFrame>> {
    let code = user_code(image);
    let frames = code.into_iter().flatten().map(|address| image.frames(address));
    frames.filter(|frames| frames.iter().any(&wanted)).collect()
}
