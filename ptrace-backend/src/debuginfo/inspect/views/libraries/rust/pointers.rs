//! References to slices, texts and trait objects, and pointers that count.

use rustc_hash::FxHashMap;

use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::info::Info;
use crate::debuginfo::entries::shape::Form;
use crate::debuginfo::inspect::stopped::thread::StoppedThread;
use crate::debuginfo::inspect::stopped::value_location::ValueLocation;
use crate::debuginfo::inspect::values::typed::TypedValue;
use crate::debuginfo::inspect::views::libraries::subject::{
    Subject, UnrecognisedType, ViewResult, elements_at, list_of, member_at, number_in, unsigned_at,
};
use crate::debuginfo::inspect::views::view::{Field, Pointer, Shown, View};

/// `&str`, `&[T]`, `Box<[T]>` …: an address and a length.
pub(super) fn fat_pointer(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let length = unsigned_at(thread, subject.value, &["length"])?;
    let data = member_at(thread, subject.value, &["data_ptr"])?;
    let target = thread.target(&data)?;
    let address = target.location.address().ok_or(UnrecognisedType::Layout)?;
    let name = subject.shape.name.as_deref().unwrap_or_default();
    if is_text(name) {
        return Ok(View::Text(thread.text_at(address, length)?));
    }
    // A pointer to a structure that ends with a slice is none to a slice.
    let is_slice = name.contains('[') && !name.contains("Inner<");
    if !is_slice {
        return Err(UnrecognisedType::Layout);
    }
    Ok(list_of(elements_at(thread, subject.value, target.kind, address, length)?))
}

/// `&dyn Trait`, `Box<dyn Trait>` …: what is behind it can be shown if the table's type is known.
pub(super) fn trait_object(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let pointer = member_at(thread, subject.value, &["pointer"])?;
    let address = thread.raw(&pointer)?.0 as u64;
    let table = thread.raw(&member_at(thread, subject.value, &["vtable"])?)?.0 as u64;
    let target = behind_table(thread, table).map(|(module, kind)| TypedValue {
        module,
        ..subject.value.with(Some(kind), ValueLocation::Memory(address))
    });
    Ok(View::Pointer(Pointer { address: Some(address), target, note: None, facts: Vec::new() }))
}

/// The type whose methods a table of methods has.
fn behind_table(thread: &StoppedThread<'_>, table: u64) -> Option<(usize, Ref)> {
    let place = thread.modules.find(table)?;
    let info = thread.info(place.module)?;
    let entry = *method_tables(info).get(&place.address)?;
    let table_type = info.kind(entry)?;
    let value = info.die(table_type)?.attr_value(gimli::DW_AT_containing_type)?;
    Some((place.module, info.target(table_type.unit, value)?))
}

/// `Rc` and `Arc`: two counts and a value.
pub(super) fn counted(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let (block, address) = counted_block(thread, subject)?;
    let strong = unsigned_at(thread, &block, &["strong"])?;
    // All strong pointers together hold one weak one.
    let weak = unsigned_at(thread, &block, &["weak"])?.saturating_sub(1);
    let value = member_at(thread, &block, &["data"]).or_else(|_| member_at(thread, &block, &["value"]))?;
    let name = subject.shape.name.as_deref().unwrap_or_default();
    let facts = vec![
        Field::words("strong", "usize", strong.to_string()),
        Field::words("weak", "usize", weak.to_string()),
    ];
    let length = member_at(thread, subject.value, &["ptr", "pointer", "length"]);
    let address = value.location.address().unwrap_or(address);
    let mut pointer = Pointer { address: Some(address), target: None, note: None, facts };
    match length {
        Err(_) => pointer.target = Some(value),
        Ok(length) if is_text(name.split('<').nth(1).unwrap_or_default()) => {
            let length = u64::try_from(number_in(thread, &length)?).map_err(|_| UnrecognisedType::Layout)?;
            pointer.note = Some(thread.text_at(address, length)?.quoted());
        }
        Ok(_) => return Err(UnrecognisedType::Layout),
    }
    Ok(View::Pointer(pointer))
}

pub(super) fn weak(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult {
    let pointer = member_at(thread, subject.value, &["ptr", "pointer"])?;
    let address = thread.raw(&pointer)?.0 as u64;
    if address == u64::MAX {
        return Ok(View::Leaf("(Weak)".to_owned()));
    }
    match counted(thread, subject)? {
        View::Pointer(pointer) if is_zero(&pointer.facts) => Ok(View::Leaf("(Weak, dropped)".to_owned())),
        other => Ok(other),
    }
}

/// The target of a counting pointer: the structure with the counts.
fn counted_block(thread: &StoppedThread<'_>, subject: Subject<'_>) -> ViewResult<(TypedValue, u64)> {
    let pointer = member_at(thread, subject.value, &["ptr", "pointer"])?;
    let is_thin =
        matches!(thread.shape(&pointer).ok_or(UnrecognisedType::Layout)?.form, Form::Pointer { .. });
    let pointer = if is_thin { pointer } else { member_at(thread, &pointer, &["data_ptr"])? };
    let block = thread.target(&pointer)?;
    let address = block.location.address().ok_or(UnrecognisedType::Layout)?;
    Ok((block, address))
}

fn is_zero(facts: &[Field]) -> bool {
    facts.first().is_some_and(|fact| matches!(&fact.shown, Shown::Words { words, .. } if words == "0"))
}

/// Whether a pointer's target is a text, by the pointer's name: `&str`, `Box<str, …>`, `*const std::path::Path`.
fn is_text(name: &str) -> bool {
    let inner = name
        .trim_start_matches("alloc::boxed::")
        .trim_start_matches("Box<")
        .trim_start_matches(['&', '*'])
        .trim_start_matches("mut ")
        .trim_start_matches("const ");
    let target = inner.split([',', '>']).next().unwrap_or(inner);
    matches!(target, "str" | "std::path::Path" | "std::ffi::os_str::OsStr")
}

/// The tables of methods of an image, by static address.
fn method_tables<'a>(info: Info<'a>) -> &'a FxHashMap<u64, Ref> {
    info.index.method_tables.get_or_init(|| find_method_tables(info))
}

fn find_method_tables(info: Info<'_>) -> FxHashMap<u64, Ref> {
    let mut tables = FxHashMap::default();
    for unit in 0..info.dwarf.units().len() {
        let Some(index) = info.unit_index(unit) else { continue };
        for &offset in index.globals() {
            let entry = Ref { unit, offset };
            let address = info.fixed_address(entry);
            if let Some(address) = address
                && info.name(entry).is_some_and(|name| name.ends_with("::{vtable}"))
            {
                tables.insert(address, entry);
            }
        }
    }
    tables
}
