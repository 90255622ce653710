//! Line tables: which source files made which instructions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gimli::{AttributeValue, DwLang, constants};

use super::dwarf::{Dwarf, Reader, Unit};
use super::source::normalised;
use crate::attention;

/// The language of a compilation unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// Anything else, assembly included.
    Other,
}

impl Language {
    fn of(tag: DwLang) -> Self {
        match tag {
            constants::DW_LANG_C
            | constants::DW_LANG_C89
            | constants::DW_LANG_C99
            | constants::DW_LANG_C11
            | constants::DW_LANG_C17 => Self::C,
            constants::DW_LANG_C_plus_plus
            | constants::DW_LANG_C_plus_plus_03
            | constants::DW_LANG_C_plus_plus_11
            | constants::DW_LANG_C_plus_plus_14
            | constants::DW_LANG_C_plus_plus_17
            | constants::DW_LANG_C_plus_plus_20 => Self::Cpp,
            constants::DW_LANG_Rust => Self::Rust,
            _ => Self::Other,
        }
    }
}

/// A compilation unit: what one run of a compiler made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceUnit {
    /// The file that the compiler was given; for Rust the root of the crate.
    pub file: PathBuf,
    /// Where the compiler ran.
    pub folder: PathBuf,
    /// The language.
    pub language: Language,
    /// The compiler, as it calls itself.
    pub producer: String,
}

impl SourceUnit {
    pub(super) fn new(dwarf: &Dwarf, unit: &Unit) -> Self {
        let text =
            |value: Option<Reader>| value.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        let root = unit.entry(unit.header.root_offset()).ok();
        let attribute = |name| root.as_ref().and_then(|root| root.attr_value(name));
        let producer =
            attribute(gimli::DW_AT_producer).and_then(|value| dwarf.sections().attr_string(unit, value).ok());
        let language = match attribute(gimli::DW_AT_language) {
            Some(AttributeValue::Language(tag)) => Language::of(tag),
            _ => Language::Other,
        };
        let folder = PathBuf::from(text(unit.comp_dir));
        let name = text(unit.name);
        // rustc appends the name of the codegen unit to the root file's.
        let name = name.split_once("/@/").map_or(name.as_str(), |(file, _)| file);
        Self { file: normalised(&folder.join(name)), folder, language, producer: text(producer) }
    }
}

/// The instructions between two rows of a line table.
pub(super) struct Row<'a> {
    pub(super) range: Range<u64>,
    /// The file's index in the table: equal for equal files.
    pub(super) file: usize,
    pub(super) path: &'a Path,
}

/// Gives every row of a unit's line table, without those of code that the linker threw away.
pub(super) fn for_each_row(
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
pub(super) fn files(dwarf: &Dwarf, unit: &Unit) -> Vec<PathBuf> {
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
pub(super) fn file_path(
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
