//! The variables that can be named in a frame.

use super::stopped::frame::Surrounding;
use super::stopped::stack::FrameId;
use super::stopped::thread::StoppedThread;
use super::values::typed::TypedValue;
use crate::debuginfo::entries::blocks::{self, Declared};
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::info::{Info, file_of};
use crate::debuginfo::entries::unit_index::UnitIndex;
use crate::debuginfo::user::files::is_user_file;

/// A variable, with its name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) value: TypedValue,
    pub(super) is_parameter: bool,
    /// Whether a variable of a block further in has the same name.
    pub(super) is_shadowed: bool,
}

/// Parameters and local variables, those of the innermost block first.
pub(super) fn locals(thread: &StoppedThread<'_>, frame: FrameId) -> Vec<Named> {
    let Some((module, function, address)) = function_of(thread, frame) else { return Vec::new() };
    let Some(info) = thread.info(module) else { return Vec::new() };
    let calls = blocks::calls(info, function, address);
    // The line table and the entries may disagree on inlined calls where the file is damaged.
    let Some(call) = calls.get(frame.inlined).or(calls.last()) else { return Vec::new() };
    let mut found: Vec<Named> = Vec::new();
    for block in call.iter().rev() {
        for declared in blocks::declared(info, *block) {
            let named = named(thread, info, module, frame.frame, declared);
            found.extend(named.map(|named| Named {
                is_shadowed: found.iter().any(|inner| inner.name == named.name),
                ..named
            }));
        }
    }
    found
}

fn named(
    thread: &StoppedThread<'_>,
    info: Info<'_>,
    module: usize,
    frame: usize,
    declared: Declared,
) -> Option<Named> {
    let name = declared.name(info)?;
    let is_artificial = info.inherited(declared.entry, gimli::DW_AT_artificial).is_some();
    if is_artificial && !matches!(name.as_str(), "this" | "__closure") {
        return None;
    }
    let value = variable(thread, module, declared.entry, frame)?;
    Some(Named { name, value, is_parameter: declared.is_parameter, is_shadowed: false })
}

/// The value of a variable's entry.
pub(super) fn variable(
    thread: &StoppedThread<'_>,
    module: usize,
    entry: Ref,
    frame: usize,
) -> Option<TypedValue> {
    let around = Surrounding::new(thread, module, entry.unit, frame)?;
    Some(TypedValue {
        module,
        kind: around.info.kind(entry),
        location: around.location(entry),
        bits: None,
        indices: 0,
        frame,
        is_raw: false,
    })
}

/// The module of a frame's code, its function, inlined ones aside, and the static address to look up.
pub(super) fn function_of(thread: &StoppedThread<'_>, frame: FrameId) -> Option<(usize, Ref, u64)> {
    let place = thread.frames.get(frame.frame)?.frame.place?;
    Some((place.module, thread.info(place.module)?.function_at(place.address)?, place.address))
}

pub(super) fn has_globals(thread: &StoppedThread<'_>, frame: FrameId) -> bool {
    global_entries(thread, frame).is_some_and(|(_, _, mut entries)| entries.next().is_some())
}

/// The static variables of the user's code in a frame's compilation unit; for Rust, of its crate.
pub(super) fn globals(thread: &StoppedThread<'_>, frame: FrameId) -> Vec<Named> {
    let Some((module, info, entries)) = global_entries(thread, frame) else { return Vec::new() };
    let mut found: Vec<Named> =
        entries.filter_map(|entry| global(thread, info, module, entry, frame.frame)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn global_entries<'a>(
    thread: &StoppedThread<'a>,
    frame: FrameId,
) -> Option<(usize, Info<'a>, impl Iterator<Item = Ref> + use<'a>)> {
    let (module, function, _) = function_of(thread, frame)?;
    let info = thread.info(module)?;
    let own = info.source(function.unit).filter(|own| is_user_file(&own.file))?;
    // A crate is compiled in several units.
    let units = (0..info.dwarf.units().len())
        .filter(move |&unit| unit == function.unit || info.source(unit).is_some_and(|other| other == own));
    let entries = units.flat_map(move |unit| {
        let globals = info.unit_index(unit).map(UnitIndex::globals).unwrap_or_default();
        globals.iter().map(move |&offset| Ref { unit, offset })
    });
    let is_users = move |entry: &Ref| {
        file_of(info, *entry).is_some_and(|file| is_user_file(&file)) && info.is_kept(*entry)
    };
    Some((module, info, entries.filter(is_users)))
}

fn global(
    thread: &StoppedThread<'_>,
    info: Info<'_>,
    module: usize,
    entry: Ref,
    frame: usize,
) -> Option<Named> {
    let name = info.global_name(entry)?;
    let value = variable(thread, module, entry, frame)?;
    Some(Named { name, value, is_parameter: false, is_shadowed: false })
}
