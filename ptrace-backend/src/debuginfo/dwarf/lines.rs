//! Line tables: which source files made which instructions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::reader::{Reader, Unit};
use super::sections::Dwarf;
use crate::attention;
use crate::debuginfo::source_path::normalised;

/// The instructions between two rows of a line table.
pub(crate) struct Row<'a> {
    pub(crate) range: Range<u64>,
    /// The file's index in the table: equal for equal files.
    pub(crate) file: usize,
    pub(crate) path: &'a Path,
}

/// Gives every row of a unit's line table, without those of code that the linker threw away.
pub(crate) fn for_each_row(
    dwarf: &Dwarf,
    unit: &Unit,
    is_code: &dyn Fn(u64) -> bool,
    row: &mut dyn FnMut(Row<'_>),
) {
    let Some(program) = unit.line_program.clone() else { return };
    let mut files: Vec<Option<PathBuf>> = Vec::new();
    let mut rows = program.rows();
    let mut last: Option<(u64, usize)> = None;
    while let Ok(Some((header, current))) = rows.next_row() {
        attention::round();
        let here = current.address();
        let before = last.map(|(_, file)| file);
        if let Some((start, file)) = last.take()
            && start < here
            && is_code(start)
        {
            if files.len() <= file {
                files.resize(file + 1, None);
            }
            let path = files[file].get_or_insert_with(|| file_path(dwarf, unit, header, file as u64));
            row(Row { range: start..here, file, path });
        }
        let file = usize::try_from(current.file_index()).unwrap_or_default();
        // A broken table must not make us reserve memory for files that it does not list.
        let known = file <= header.file_names().len();
        // Code that comes from no line goes with what stands before it: its file says nothing.
        let file = current.line().map_or(before.unwrap_or(file), |_| file);
        last = (!current.end_sequence() && known).then_some((here, file));
    }
}

/// Every file that a unit's line table lists, whether it made code or not.
fn files(dwarf: &Dwarf, unit: &Unit) -> Vec<PathBuf> {
    let Some(program) = &unit.line_program else { return Vec::new() };
    let header = program.header();
    let count = header.file_names().len() as u64;
    let first = u64::from(header.version() <= 4);
    let path = |index| {
        attention::round();
        file_path(dwarf, unit, header, index)
    };
    (first..first + count).map(path).collect()
}

/// The file of an index into a unit's line table.
pub(crate) fn file_path(
    dwarf: &Dwarf,
    unit: &Unit,
    header: &gimli::LineProgramHeader<Reader>,
    index: u64,
) -> PathBuf {
    let Some(file) = header.file(index) else { return PathBuf::new() };
    let text = |value| match dwarf.sections().attr_string(unit, value) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::new(),
    };
    let folder = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let directory = file.directory(header).map(text).unwrap_or_default();
    normalised(&Path::new(&folder).join(directory).join(text(file.path_name())))
}

/// Every file that the line tables list, sorted, each once.
pub(crate) fn source_files(dwarf: &Dwarf) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = dwarf.units().iter().flat_map(|unit| files(dwarf, unit)).collect();
    files.sort();
    files.dedup();
    files
}
