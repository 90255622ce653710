//! The variables that can be named in a frame.

use std::path::PathBuf;

use gimli::AttributeValue;

use super::blocks::{self, Declared};
use super::index::{Info, Ref};
use super::stack::FrameId;
use super::thread::Thread;
use super::typed::Typed;
use super::unit_index::UnitIndex;
use crate::debuginfo::lines;
use crate::debuginfo::user::is_user_file;

/// A variable, with its name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) value: Typed,
    pub(super) is_parameter: bool,
    /// Whether a variable of a block further in has the same name.
    pub(super) is_shadowed: bool,
}

impl Thread<'_> {
    /// Parameters and local variables, those of the innermost block first.
    pub(super) fn locals(&self, frame: FrameId) -> Vec<Named> {
        let Some((module, function, address)) = self.function_of(frame) else { return Vec::new() };
        let Some(info) = self.info(module) else { return Vec::new() };
        let calls = blocks::calls(info, function, address);
        // The line table and the entries may disagree on inlined calls where the file is damaged.
        let Some(call) = calls.get(frame.inlined).or(calls.last()) else { return Vec::new() };
        let mut found: Vec<Named> = Vec::new();
        for block in call.iter().rev() {
            for declared in blocks::declared(info, *block) {
                let named = self.named(info, module, frame.frame, declared);
                found.extend(named.map(|named| Named {
                    is_shadowed: found.iter().any(|inner| inner.name == named.name),
                    ..named
                }));
            }
        }
        found
    }

    fn named(&self, info: Info<'_>, module: usize, frame: usize, declared: Declared) -> Option<Named> {
        let name = declared.name(info)?;
        let is_artificial = info.inherited(declared.entry, gimli::DW_AT_artificial).is_some();
        if is_artificial && !matches!(name.as_str(), "this" | "__closure") {
            return None;
        }
        let value = self.variable(module, declared.entry, frame)?;
        Some(Named { name, value, is_parameter: declared.is_parameter, is_shadowed: false })
    }

    /// The value of a variable's entry.
    pub(super) fn variable(&self, module: usize, entry: Ref, frame: usize) -> Option<Typed> {
        let around = self.surrounding(module, entry.unit, frame)?;
        Some(Typed {
            module,
            kind: around.info.kind(entry),
            contents: around.contents(entry),
            bits: None,
            indices: 0,
            frame,
            is_raw: false,
        })
    }

    /// The module of a frame's code, its function, inlined ones aside, and the static address to look up.
    pub(super) fn function_of(&self, frame: FrameId) -> Option<(usize, Ref, u64)> {
        let place = self.frames.get(frame.frame)?.frame.place?;
        Some((place.module, self.info(place.module)?.function_at(place.address)?, place.address))
    }

    pub(super) fn has_globals(&self, frame: FrameId) -> bool {
        self.global_entries(frame).is_some_and(|(_, _, mut entries)| entries.next().is_some())
    }

    /// The static variables of the user's code in a frame's compilation unit; for Rust, of its crate.
    pub(super) fn globals(&self, frame: FrameId) -> Vec<Named> {
        let Some((module, info, entries)) = self.global_entries(frame) else { return Vec::new() };
        let mut found: Vec<Named> =
            entries.filter_map(|entry| self.global(info, module, entry, frame.frame)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn global_entries(&self, frame: FrameId) -> Option<(usize, Info<'_>, impl Iterator<Item = Ref>)> {
        let (module, function, _) = self.function_of(frame)?;
        let info = self.info(module)?;
        let own = info.source(function.unit).filter(|own| is_user_file(&own.file))?;
        // A crate is compiled in several units.
        let units = (0..info.dwarf.units().len()).filter(move |&unit| {
            unit == function.unit || info.source(unit).is_some_and(|other| other == own)
        });
        let entries = units.flat_map(move |unit| {
            let globals = info.unit_index(unit).map(UnitIndex::globals).unwrap_or_default();
            globals.iter().map(move |&offset| Ref { unit, offset })
        });
        let is_users = move |entry: &Ref| {
            file_of(info, *entry).is_some_and(|file| is_user_file(&file)) && info.is_kept(*entry)
        };
        Some((module, info, entries.filter(is_users)))
    }

    fn global(&self, info: Info<'_>, module: usize, entry: Ref, frame: usize) -> Option<Named> {
        let name = info.global_name(entry)?;
        let value = self.variable(module, entry, frame)?;
        Some(Named { name, value, is_parameter: false, is_shadowed: false })
    }
}

/// The file that declares a variable or function; none for what the compiler made up.
pub(super) fn file_of(info: Info<'_>, entry: Ref) -> Option<PathBuf> {
    let (owner, value) = info.inherited(entry, gimli::DW_AT_decl_file)?;
    let index = match value {
        AttributeValue::FileIndex(index) => index,
        other => other.udata_value()?,
    };
    let unit = info.dwarf.units().get(owner.unit)?;
    let header = unit.line_program.as_ref()?.header();
    Some(lines::file_path(info.dwarf, unit, header, index))
}
