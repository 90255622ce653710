//! Compilation units as the compiler was asked for them: language, file, producer.

use std::path::PathBuf;

use gimli::{AttributeValue, DwLang, constants};

use super::reader::{Reader, Unit};
use super::sections::Dwarf;
use crate::debuginfo::source_path::normalised;

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
    /// The folder in which the compiler ran.
    pub folder: PathBuf,
    /// The language.
    pub language: Language,
    /// The compiler, as it calls itself.
    pub producer: String,
}

impl SourceUnit {
    pub(crate) fn new(dwarf: &Dwarf, unit: &Unit) -> Self {
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
