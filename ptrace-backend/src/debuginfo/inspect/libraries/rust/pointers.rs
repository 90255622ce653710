//! References to slices, texts and trait objects, and pointers that count.

use super::{Seen, Subject, Unlike};
use crate::debuginfo::inspect::contents::Contents;
use crate::debuginfo::inspect::index::{Info, Ref};
use crate::debuginfo::inspect::shape::Form;
use crate::debuginfo::inspect::thread::Thread;
use crate::debuginfo::inspect::typed::Typed;
use crate::debuginfo::inspect::view::{Field, Pointer, View};

impl Thread<'_> {
    /// `&str`, `&[T]`, `Box<[T]>` …: an address and a length.
    pub(super) fn fat_pointer(&self, subject: Subject<'_>) -> Seen {
        let length = self.unsigned_at(subject.value, &["length"])?;
        let data = self.member_at(subject.value, &["data_ptr"])?;
        let target = self.target(&data)?;
        let address = target.contents.address().ok_or(Unlike::Layout)?;
        let name = subject.shape.name.as_deref().unwrap_or_default();
        if is_text(name) {
            return Ok(View::Text(self.text_at(address, length)?));
        }
        // A pointer to a structure that ends with a slice is none to a slice.
        let is_slice = name.contains('[') && !name.contains("Inner<");
        if !is_slice {
            return Err(Unlike::Layout);
        }
        Ok(super::super::list_of(self.elements_at(subject.value, target.kind, address, length)?))
    }

    /// `&dyn Trait`, `Box<dyn Trait>` …: what is behind it can be shown if the table's type is known.
    pub(super) fn trait_object(&self, subject: Subject<'_>) -> Seen {
        let pointer = self.member_at(subject.value, &["pointer"])?;
        let address = self.raw(&pointer)?.0 as u64;
        let table = self.raw(&self.member_at(subject.value, &["vtable"])?)?.0 as u64;
        let target = self.behind_table(table).map(|(module, kind)| Typed {
            module,
            ..subject.value.with(Some(kind), Contents::Memory(address))
        });
        Ok(View::Pointer(Pointer { address: Some(address), target, note: None, facts: Vec::new() }))
    }

    /// The type whose methods a table of methods has.
    fn behind_table(&self, table: u64) -> Option<(usize, Ref)> {
        let place = self.modules.find(table)?;
        let info = self.info(place.module)?;
        let entry = *info.method_tables().get(&place.address)?;
        let table_type = info.kind(entry)?;
        let value = info.die(table_type)?.attr_value(gimli::DW_AT_containing_type)?;
        Some((place.module, info.target(table_type.unit, value)?))
    }

    /// `Rc` and `Arc`: two counts and a value.
    pub(super) fn counted(&self, subject: Subject<'_>) -> Seen {
        let (block, address) = self.counted_block(subject)?;
        let strong = self.unsigned_at(&block, &["strong"])?;
        // All strong pointers together hold one weak one.
        let weak = self.unsigned_at(&block, &["weak"])?.saturating_sub(1);
        let value = self.member_at(&block, &["data"]).or_else(|_| self.member_at(&block, &["value"]))?;
        let name = subject.shape.name.as_deref().unwrap_or_default();
        let facts = vec![
            Field::words("strong", "usize", strong.to_string()),
            Field::words("weak", "usize", weak.to_string()),
        ];
        let length = self.member_at(subject.value, &["ptr", "pointer", "length"]);
        let address = value.contents.address().unwrap_or(address);
        let mut pointer = Pointer { address: Some(address), target: None, note: None, facts };
        match length {
            Err(_) => pointer.target = Some(value),
            Ok(length) if is_text(name.split('<').nth(1).unwrap_or_default()) => {
                let length = u64::try_from(self.number_in(&length)?).map_err(|_| Unlike::Layout)?;
                pointer.note = Some(self.text_at(address, length)?.quoted());
            }
            Ok(_) => return Err(Unlike::Layout),
        }
        Ok(View::Pointer(pointer))
    }

    pub(super) fn weak(&self, subject: Subject<'_>) -> Seen {
        let pointer = self.member_at(subject.value, &["ptr", "pointer"])?;
        let address = self.raw(&pointer)?.0 as u64;
        if address == u64::MAX {
            return Ok(View::Leaf("(Weak)".to_owned()));
        }
        match self.counted(subject)? {
            View::Pointer(pointer) if is_zero(&pointer.facts) => Ok(View::Leaf("(Weak, dropped)".to_owned())),
            other => Ok(other),
        }
    }

    /// What a counting pointer points to: the structure with the counts.
    fn counted_block(&self, subject: Subject<'_>) -> Seen<(Typed, u64)> {
        let pointer = self.member_at(subject.value, &["ptr", "pointer"])?;
        let is_thin = matches!(self.shape(&pointer).ok_or(Unlike::Layout)?.form, Form::Pointer { .. });
        let pointer = if is_thin { pointer } else { self.member_at(&pointer, &["data_ptr"])? };
        let block = self.target(&pointer)?;
        let address = block.contents.address().ok_or(Unlike::Layout)?;
        Ok((block, address))
    }
}

fn is_zero(facts: &[Field]) -> bool {
    use crate::debuginfo::inspect::view::Shown;
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
pub(in crate::debuginfo::inspect) fn method_tables(info: Info<'_>) -> rustc_hash::FxHashMap<u64, Ref> {
    let mut tables = rustc_hash::FxHashMap::default();
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
