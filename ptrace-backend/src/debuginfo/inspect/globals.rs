//! Static variables by name.

use rustc_hash::FxHashMap;

use super::index::{Info, Ref, last_segment};
use super::stack::FrameId;
use super::thread::Thread;
use super::typed::Typed;
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
            if let Some(name) = info.name(entry) {
                names.entry(name).or_default().push(entry);
            }
        }
    }
    names
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
                candidates.iter().copied().filter(|&entry| self.is_meant(info, entry, path)).collect();
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

    fn is_meant(&self, info: Info<'_>, entry: Ref, path: &str) -> bool {
        let Some(name) = self.global_name(info, entry) else { return false };
        name == path || name.strip_suffix(path).is_some_and(|rest| rest.ends_with("::"))
    }
}
