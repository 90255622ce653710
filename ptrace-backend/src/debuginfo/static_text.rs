//! Texts that a program's data refers to, and what can be known of a file without debug information.

use object::read::elf::{Rela, SectionHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, elf};
use rustc_hash::FxHashMap;

use super::elf::file::{ElfBytes, File};
use super::image::Image;
use crate::attention;

/// Longer texts are not names.
const LONGEST: u64 = 1024;

/// A text that a pointer and a length in the program's data refer to, as Rust keeps its `&'static str`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaticText<'a> {
    /// The static address of the pointer; the length follows it.
    pub at: u64,
    /// The text.
    pub text: &'a str,
}

impl Image {
    /// The texts that constant data refers to by pointer and length, by address. Data that looks like one by chance is
    /// among them.
    #[must_use]
    pub fn static_texts(&self) -> Vec<StaticText<'_>> {
        static_texts(self.elf())
    }

    /// Whether a text stands in the constants, ended as C ends it.
    #[must_use]
    pub fn holds_c_text(&self, text: &str) -> bool {
        let (_, constants) = self.elf().section(".rodata");
        let ended = [text.as_bytes(), &[0]].concat();
        constants.windows(ended.len()).any(|window| window == ended)
    }

    /// The names of the source files that the symbol table lists: without folders, and there without debug information.
    #[must_use]
    pub fn file_symbols(&self) -> Vec<String> {
        let symbols = self.elf().file().symbols();
        let files = symbols.filter(|symbol| symbol.elf_symbol().st_type() == elf::STT_FILE);
        let mut names: Vec<String> =
            files.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect();
        names.retain(|name| !name.is_empty());
        names.sort();
        names.dedup();
        names
    }

    /// Whether it has a symbol table, beside the names that it shares with other images.
    #[must_use]
    pub fn has_symbol_table(&self) -> bool {
        self.elf().file().symbols().next().is_some()
    }

    /// The names that it expects other images to define.
    #[must_use]
    pub fn imported_names(&self) -> Vec<&str> {
        let symbols = self.elf().file().dynamic_symbols();
        symbols.filter(ObjectSymbol::is_undefined).filter_map(|symbol| symbol.name().ok()).collect()
    }

    /// The shared libraries that it asks for, and the folders that it wants them looked for in first.
    #[must_use]
    pub fn libraries(&self) -> (Vec<String>, Vec<String>) {
        let file = self.elf().file();
        let Ok(table) = file.elf_dynamic_table() else { return Default::default() };
        let texts = |tags: &[elf::DynamicTag]| {
            let entries = table.iter().filter(|entry| tags.contains(&entry.tag));
            let texts = entries.filter_map(|entry| table.string(entry).ok());
            texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect::<Vec<_>>()
        };
        let folders = texts(&[elf::DT_RUNPATH, elf::DT_RPATH]);
        let folders = folders.iter().flat_map(|list| list.split(':')).map(str::to_owned).collect();
        (texts(&[elf::DT_NEEDED]), folders)
    }
}

fn static_texts(image: &ElfBytes) -> Vec<StaticText<'_>> {
    let file = image.file();
    let (start, constants) = image.section(".rodata");
    let pointers = relocated(file);
    let mut found = Vec::new();
    for (base, data) in data_sections(file) {
        let word = |offset: usize| {
            let bytes = data.get(offset..offset + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        for offset in (0..data.len()).step_by(8) {
            attention::round();
            let at = base + offset as u64;
            let Some(pointer) = pointers.get(&at).copied().or_else(|| word(offset)) else { continue };
            let Some(from) = pointer.checked_sub(start) else { continue };
            let Some(length) = word(offset + 8).filter(|length| (1..=LONGEST).contains(length)) else {
                continue;
            };
            let bytes = constants.get(from as usize..from.saturating_add(length) as usize);
            if let Some(text) = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
                found.push(StaticText { at, text });
            }
        }
    }
    found
}

/// The sections of constants that hold addresses: they are written once, when the image is loaded.
fn data_sections(file: &File) -> Vec<(u64, &'static [u8])> {
    let sections = file.sections().filter(|section| {
        let flags = section.elf_section_header().sh_flags(LittleEndian);
        section.name().is_ok_and(|name| name.starts_with(".data.rel.ro") || name == ".rodata")
            && flags.contains(elf::SHF_ALLOC)
    });
    sections.filter_map(|section| Some((section.address(), section.data().ok()?))).collect()
}

/// The addresses that the dynamic linker writes into an image that can be loaded anywhere, by their place.
fn relocated(file: &File) -> FxHashMap<u64, u64> {
    let mut found = FxHashMap::default();
    for header in file.elf_section_table().iter() {
        let Ok(Some((relocations, _))) = header.rela(LittleEndian, file.data()) else { continue };
        let relative = relocations
            .iter()
            .inspect(|_| attention::round())
            .filter(|r| r.r_type(LittleEndian, false) == elf::R_X86_64_RELATIVE);
        found.extend(relative.map(|r| (r.r_offset(LittleEndian), r.r_addend(LittleEndian) as u64)));
    }
    found
}
