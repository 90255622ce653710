//! Parsers of bytes that somebody else may have made: what the fuzzers run, that of the tests and those in `fuzz`.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use explorer::config::{Config, FILE};
use explorer::schedule_file::ScheduleFile;
use ptrace_backend::debuginfo::{Image, user_code};
use tempfile::TempDir;

thread_local! {
    static SCRATCH: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Has something read a file with these bytes. The name is the same for all inputs of a thread, so that no folder fills.
fn in_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    let written: io::Result<PathBuf> = SCRATCH.with(|scratch| {
        if scratch.get().is_none() {
            let _ = scratch.set(tempfile::tempdir()?);
        }
        let file = scratch.get().map(|folder| folder.path().join(name)).unwrap_or_default();
        fs::write(&file, bytes)?;
        Ok(file)
    });
    match written {
        Ok(file) => read(&file),
        Err(error) => panic!("no scratch file: {error}"),
    }
}

/// Reads an executable.
pub fn elf(bytes: &[u8]) {
    in_file("program", bytes, executable);
}

/// Reads a schedule file.
pub fn schedule(bytes: &[u8]) {
    in_file("schedule.json", bytes, |file| {
        let _ = ScheduleFile::read(file);
    });
}

/// Reads an `interleaver.toml`.
pub fn config(bytes: &[u8]) {
    in_file(FILE, bytes, |file| {
        let _ = file.parent().map(Config::read);
    });
}

/// Reads of a program what a search and a debugger ask of one.
pub fn executable(program: &Path) {
    let Ok(image) = Image::open(program) else { return };
    let _ = user_code(&image);
    let _ = image.statements(&|_| true);
    let _ = image.inlined(&["handle_request"], &|name| name == "handle_request");
    let _ = image.import_slots().count();
    for function in image.functions().take(50) {
        let _ = (image.frames(function.range.start), image.function_parts(function.range.start));
        let _ = image.plt_target(function.range.start);
    }
    for symbol in image.symbols().take(100) {
        let _ = (image.data_at(symbol.address), image.is_atomic_data(symbol.address));
    }
}

/// The seeds of a fuzzer, by file name.
///
/// # Errors
/// When they cannot be read.
pub fn corpus(fuzzer: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = crate::workspace().join("fuzz/corpus").join(fuzzer);
    let mut seeds = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        seeds.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    seeds.sort();
    Ok(seeds)
}
