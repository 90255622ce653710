//! Static variables by name.

use gimli::{AttributeValue, Operation};
use rustc_hash::FxHashMap;

use super::index::{Info, Ref, last_segment};
use super::stack::FrameId;
use super::thread::Thread;
use super::typed::Typed;
use crate::debuginfo::data::without_crate;
use crate::debuginfo::lines::Language;
use crate::debuginfo::user::is_user_file;

/// The static variables of the user's compilation units by the last part of their names.
pub(super) type GlobalNames = FxHashMap<String, Vec<Ref>>;

pub(super) fn global_names(info: Info<'_>) -> GlobalNames {
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

impl Info<'_> {
    /// A static variable's name with its namespaces; Rust's crate says nothing to its programmer.
    pub(super) fn global_name(self, entry: Ref) -> Option<String> {
        // A definition may stand outside of the class that declares it.
        let (owner, value) = self.inherited(entry, gimli::DW_AT_name)?;
        let name = self.text(owner.unit, value)?;
        let full = self.qualified(owner, &name);
        if self.language(entry.unit) != Language::Rust {
            return Some(full);
        }
        let name = without_crate(&full);
        // What the macro for thread-local variables makes of their names.
        let is_thread_local = name.ends_with("::__RUST_STD_INTERNAL_VAL");
        let own = name.split_once("::{constant#").map(|(own, _)| own);
        Some(own.filter(|_| is_thread_local).unwrap_or(name).to_owned())
    }

    /// Whether the linker kept a variable: it leaves the entries of what it drops.
    pub(super) fn is_kept(self, entry: Ref) -> bool {
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
                name.is_none_or(|name| self.image.has_thread_local(&name))
            }
            _ => true,
        }
    }
}

impl Thread<'_> {
    /// The static variables that a name, perhaps with some of its namespaces, may mean in a frame: those of its own
    /// compilation unit if there are any, else those of its module, else any.
    pub(super) fn globals_named(&self, frame: FrameId, path: &str) -> Vec<Typed> {
        let own = self.function_of(frame);
        let own_module = own.map(|(module, ..)| module);
        let others = (0..self.modules.iter().count()).filter(|&module| Some(module) != own_module);
        for module in own_module.into_iter().chain(others) {
            let Some(info) = self.info(module) else { continue };
            let candidates =
                info.global_names().get(last_segment(path)).map(Vec::as_slice).unwrap_or_default();
            let matching: Vec<Ref> =
                candidates.iter().copied().filter(|&entry| is_meant(info, entry, path)).collect();
            let unit = own.filter(|_| Some(module) == own_module).map(|(_, function, _)| function.unit);
            let nearest: Vec<Ref> =
                matching.iter().copied().filter(|entry| Some(entry.unit) == unit).collect();
            let entries = if nearest.is_empty() { matching } else { nearest };
            let mut found: Vec<Typed> =
                entries.into_iter().filter_map(|entry| self.variable(module, entry, frame.frame)).collect();
            // Templates and inline variables are told by every unit that uses them.
            found.sort_by_key(|value| value.contents.address());
            found.dedup_by_key(|value| value.contents.address());
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

/// Whether a path, perhaps without its first parts, is a variable's.
fn is_meant(info: Info<'_>, entry: Ref, path: &str) -> bool {
    let Some(name) = info.global_name(entry) else { return false };
    name == path || name.strip_suffix(path).is_some_and(|rest| rest.ends_with("::"))
}
