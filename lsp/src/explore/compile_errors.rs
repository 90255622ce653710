//! Errors in the output of a build, with the places that compilers give them.

use std::path::{Path, PathBuf};

/// Between place and message, in the output of GCC and Clang.
const MARKS: [&str; 2] = [": error: ", ": fatal error: "];

/// Before a folder, in the output of make.
const ENTERING: &str = ": Entering directory ";

/// Editors show no more of them.
const MOST: usize = 100;

/// An error that a compiler has printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CompileError {
    pub(crate) file: PathBuf,
    /// From 0.
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The errors in what a build has printed, each once; `directory` is where it ran.
pub(crate) fn compile_errors(output: &str, directory: &Path) -> Vec<CompileError> {
    let mut found: Vec<CompileError> = Vec::new();
    let mut folders = vec![directory.to_owned()];
    let mut rustc = None;
    for line in output.lines() {
        folders.extend(entered(line));
        let error = match line.trim_start().strip_prefix("--> ") {
            Some(place) => rustc.take().zip(rustc_place(place)).map(|(message, place)| (place, message)),
            None => gcc(line),
        };
        rustc = rustc_message(line).or(rustc);
        let Some(((file, line), message)) = error else { continue };
        let Some(file) = existing(&file, &folders) else { continue };
        let error = CompileError { file, line: line.saturating_sub(1), message };
        if found.len() < MOST && !found.contains(&error) {
            found.push(error);
        }
    }
    found
}

/// `FILE:LINE:COLUMN: error: MESSAGE`, of GCC and Clang; the column may be missing.
fn gcc(line: &str) -> Option<((String, u32), String)> {
    let (place, message) = MARKS.iter().find_map(|mark| line.split_once(mark))?;
    let (rest, last) = place.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let with_column = rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let (file, line) = with_column.unwrap_or((rest, last));
    Some(((file.to_owned(), line), message.to_owned()))
}

/// `error: MESSAGE`, `error[E0308]: MESSAGE`, of rustc.
fn rustc_message(line: &str) -> Option<String> {
    let (head, message) = line.split_once(": ")?;
    let is_error = head == "error" || (head.starts_with("error[") && head.ends_with(']'));
    is_error.then(|| message.to_owned())
}

/// `FILE:LINE:COLUMN`, below it.
fn rustc_place(place: &str) -> Option<(String, u32)> {
    let mut parts = place.trim().rsplitn(3, ':');
    let (_, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file.to_owned(), line.parse().ok()?))
}

/// `make[1]: Entering directory '/FOLDER'`
fn entered(line: &str) -> Option<PathBuf> {
    let folder = line.split_once(ENTERING)?.1.trim_matches(['\'', '`', '"']);
    Some(PathBuf::from(folder))
}

/// The file of a name: in the folder that was entered last, or in one around it, as cargo names those of a workspace.
fn existing(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let around = || folders.iter().rev().flat_map(|folder| folder.ancestors());
    let found = around().map(|folder| folder.join(name)).find(|file| file.is_file())?;
    found.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_as_compilers_print_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for file in ["a.c", "sub/b.c", "sub/lib.rs"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let sub = root.join("sub");
        let output = format!(
            "a.c:3:5: error: unknown type name 'x'\na.c:3:5: error: unknown type name 'x'\na.c:4:1: warning: y\n\
             a.c:9: error: no column\ngone.c:1:1: error: z\nmake[1]: Entering directory '{}'\n\
             b.c:1:10: fatal error: x.h: No such file or directory\nerror[E0308]: mismatched types\n --> lib.rs:7:4\n  |\n\
             error: aborting due to 1 previous error\nld: error: nothing\n",
            sub.display()
        );
        let found = compile_errors(&output, &root);
        let told: Vec<(&Path, u32, &str)> = found
            .iter()
            .map(|error| (error.file.strip_prefix(&root).unwrap(), error.line, error.message.as_str()))
            .collect();
        let at = |file: &'static str| Path::new(file);
        assert_eq!(
            told,
            [
                (at("a.c"), 2, "unknown type name 'x'"),
                (at("a.c"), 8, "no column"),
                (at("sub/b.c"), 0, "x.h: No such file or directory"),
                (at("sub/lib.rs"), 6, "mismatched types"),
            ]
        );
    }
}
