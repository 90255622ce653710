//! Static variables by name.

use gimli::{AttributeValue, Operation};

use super::entry::Ref;
use super::index::GlobalNames;
use super::info::Info;
use super::names::last_segment;
use crate::debuginfo::demangle::without_crate;
use crate::debuginfo::dwarf::source_unit::Language;
use crate::debuginfo::user::files::is_user_file;

fn global_names(info: Info<'_>) -> GlobalNames {
    let mut names = GlobalNames::default();
    for unit in 0..info.dwarf.units().len() {
        if !info.source(unit).is_some_and(|source| is_user_file(&source.file)) {
            continue;
        }
        let Some(index) = info.unit_index(unit) else { continue };
        for &offset in index.globals() {
            let entry = Ref { unit, offset };
            if let Some(name) = info.global_name(entry).filter(|_| info.is_kept(entry)) {
                names.entry(last_segment(&name).to_owned()).or_default().push(entry);
            }
        }
    }
    names
}

impl<'a> Info<'a> {
    /// The static variables of the user's code by name.
    pub(crate) fn global_names(self) -> &'a GlobalNames {
        self.index.globals.get_or_init(|| global_names(self))
    }

    /// A static variable's name with its namespaces; Rust's crate says nothing to its programmer.
    pub(crate) fn global_name(self, entry: Ref) -> Option<String> {
        // A definition may stand outside of the class that declares it.
        let (owner, value) = self.inherited(entry, gimli::DW_AT_name)?;
        let name = self.text(owner.unit, value)?;
        let full = self.qualified(owner, &name);
        if self.language(entry.unit) != Language::Rust {
            return Some(full);
        }
        let name = without_crate(&full);
        // The form that the macro for thread-local variables gives to their names.
        let is_thread_local = name.ends_with("::__RUST_STD_INTERNAL_VAL");
        let own = name.split_once("::{constant#").map(|(own, _)| own);
        Some(own.filter(|_| is_thread_local).unwrap_or(name).to_owned())
    }

    /// Whether the linker kept a variable: it leaves the entries of what it drops.
    pub(crate) fn is_kept(self, entry: Ref) -> bool {
        let Some(AttributeValue::Exprloc(expression)) =
            self.die(entry).and_then(|die| die.attr_value(gimli::DW_AT_location))
        else {
            return true;
        };
        let Some(unit) = self.unit(entry) else { return false };
        let mut operations = expression.operations(unit.encoding());
        let mut all = std::iter::from_fn(|| operations.next().ok().flatten());
        match all.next() {
            Some(Operation::Address { address }) => address != 0,
            // Every dropped thread-local variable seems to be the first one.
            Some(Operation::UnsignedConstant { value: 0 }) if all.any(|one| one == Operation::TLS) => {
                let name = self.inherited(entry, gimli::DW_AT_linkage_name);
                let name = name.and_then(|(owner, value)| self.text(owner.unit, value));
                name.is_none_or(|name| self.files.has_thread_local(&name))
            }
            _ => true,
        }
    }
}
