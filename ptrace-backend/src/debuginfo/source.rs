//! From an address to functions and lines, inlined calls included.

use std::path::{Path, PathBuf};

use super::demangle::demangle;
use super::dwarf::sections::Dwarf;
use super::source_path::normalised;
use super::user::files::is_user_file;

/// A call, inlined or not, as the source shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFrame {
    /// The function as a person wrote its name; `name+0x12` or `libfoo.so+0x1234` where only that is known.
    pub function: String,
    /// The file, absolute unless the compiler was not told where it ran.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
}

impl SourceFrame {
    /// Whether it is in a file of the user's own.
    #[must_use]
    pub fn is_users(&self) -> bool {
        self.file.as_deref().is_some_and(is_user_file)
    }
}

/// The frames that DWARF knows at an address, innermost first; `unnamed` supplies a name where DWARF has none,
/// given whether a line is known.
pub(super) fn frames(dwarf: &Dwarf, address: u64, unnamed: &dyn Fn(bool) -> String) -> Vec<SourceFrame> {
    let found = dwarf.with_context(|context| {
        let mut frames = Vec::new();
        let mut iter = context.find_frames(address).skip_all_loads().ok()?;
        while let Ok(Some(frame)) = iter.next() {
            let raw = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let location = frame.location.as_ref();
            frames.push(SourceFrame {
                function: raw
                    .map_or_else(|| unnamed(location.is_some_and(|at| has_line(&at))), |raw| demangle(&raw)),
                file: location
                    .filter(has_line)
                    .and_then(|at| at.file)
                    .map(|file| normalised(Path::new(file))),
                line: location.filter(has_line).and_then(|at| at.line),
                column: location.and_then(|at| at.column).filter(|&column| column > 0),
            });
        }
        Some(frames)
    });
    found.flatten().unwrap_or_default()
}

/// Compilers put line 0, and any file, on code that comes from no line.
fn has_line(location: &&addr2line::Location<'_>) -> bool {
    location.line.is_some_and(|line| line > 0)
}
