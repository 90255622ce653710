//! Linkage stubs, and the slots that the dynamic linker fills: calls into other images go through them.

use std::ops::Range;

use object::read::elf::{Rela, SectionHeader};
use object::{LittleEndian, Object, ObjectSection, elf};
use rustc_hash::{FxHashMap, FxHashSet};

use super::file::{ElfBytes, File};
use super::symbols::Symbols;
use crate::attention;

/// The imported names by slot, and by stub.
pub(crate) struct Imports {
    slots: FxHashMap<u64, &'static str>,
    /// The slots that are the program's own data: pointers that it was made with.
    pointers: FxHashSet<u64>,
    /// By address.
    stubs: Vec<(Range<u64>, &'static str)>,
}

impl Imports {
    pub(crate) fn new(image: &ElfBytes, symbols: &Symbols) -> Self {
        let (slots, pointers) = slots(image.file(), symbols);
        let mut stubs = Vec::new();
        for section in
            image.file().sections().filter(|section| section.name().is_ok_and(|n| n.starts_with(".plt")))
        {
            let entry = section.elf_section_header().sh_entsize(LittleEndian);
            let size = if matches!(entry, 8 | 16) { entry } else { 16 };
            let bytes = section.data().unwrap_or_default();
            stubs.extend(stubs_in(section.address(), bytes, size, &slots));
        }
        stubs.sort_by_key(|(range, _)| range.start);
        Self { slots, pointers, stubs }
    }

    /// The name behind a stub's or a slot's address.
    pub(crate) fn at(&self, address: u64) -> Option<&'static str> {
        if let Some(name) = self.slots.get(&address) {
            return Some(name);
        }
        let after = self.stubs.partition_point(|(range, _)| range.start <= address);
        let (range, name) = self.stubs.get(after.checked_sub(1)?)?;
        range.contains(&address).then_some(*name)
    }

    /// Whether a slot is data of the program.
    pub(crate) fn is_pointer(&self, slot: u64) -> bool {
        self.pointers.contains(&slot)
    }

    /// The stubs of a name.
    pub(crate) fn stubs_of(&self, name: &str) -> impl Iterator<Item = u64> {
        self.stubs.iter().filter(move |(_, known)| *known == name).map(|(range, _)| range.start)
    }

    /// Every slot with the name behind it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u64, &'static str)> {
        self.slots.iter().map(|(&slot, &name)| (slot, name))
    }
}

fn slots(file: &File, symbols: &Symbols) -> (FxHashMap<u64, &'static str>, FxHashSet<u64>) {
    let (mut slots, mut pointers) = (FxHashMap::default(), FxHashSet::default());
    let table = file.elf_dynamic_symbol_table();
    for header in file.elf_section_table().iter() {
        let Ok(Some((relocations, _))) = header.rela(LittleEndian, file.data()) else { continue };
        for relocation in relocations {
            attention::round();
            let imported = || {
                let symbol = table.symbol(relocation.symbol(LittleEndian, false)?).ok()?;
                std::str::from_utf8(table.symbol_name(LittleEndian, symbol).ok()?).ok()
            };
            let name = match relocation.r_type(LittleEndian, false) {
                elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_64 => imported(),
                elf::R_X86_64_IRELATIVE => chooser(symbols, relocation.r_addend(LittleEndian)),
                _ => None,
            };
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                if relocation.r_type(LittleEndian, false) == elf::R_X86_64_64 {
                    pointers.insert(relocation.r_offset(LittleEndian));
                }
                slots.insert(relocation.r_offset(LittleEndian), name);
            }
        }
    }
    (slots, pointers)
}

/// A slot for a function of this very image that is chosen at load time names its chooser by address only.
fn chooser(symbols: &Symbols, address: i64) -> Option<&'static str> {
    let address = u64::try_from(address).ok()?;
    let at = symbols.all().partition_point(|symbol| symbol.address < address);
    symbols
        .all()
        .get(at)
        .filter(|symbol| symbol.address == address && symbol.is_function())
        .map(|symbol| symbol.name)
}

/// A stub is an entry that jumps through a named slot: `jmp [rip + disp32]`, perhaps after `endbr64` or `bnd`.
fn stubs_in(
    start: u64,
    bytes: &[u8],
    size: u64,
    slots: &FxHashMap<u64, &'static str>,
) -> Vec<(Range<u64>, &'static str)> {
    let entries = (start..).step_by(size as usize).zip(bytes.chunks(size as usize));
    let named = entries.filter_map(|(address, entry)| {
        attention::round();
        let jump = entry.windows(6).position(|window| window[..2] == [0xff, 0x25])?;
        let displacement = i32::from_le_bytes(entry[jump + 2..jump + 6].try_into().ok()?);
        let after = address + jump as u64 + 6;
        let name = slots.get(&after.wrapping_add_signed(displacement.into()))?;
        Some((address..address + entry.len() as u64, *name))
    });
    named.collect()
}
