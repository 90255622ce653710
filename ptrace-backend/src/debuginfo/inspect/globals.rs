//! The static variables that a name may mean in a frame.

use super::scopes::{function_of, variable};
use super::stopped::stack::FrameId;
use super::stopped::thread::StoppedThread;
use super::values::typed::TypedValue;
use crate::debuginfo::entries::entry::Ref;
use crate::debuginfo::entries::info::Info;
use crate::debuginfo::entries::names::last_segment;

/// The static variables that a name, perhaps with some of its namespaces, may mean in a frame: those of its own
/// compilation unit if there are any, else those of its module, else any.
pub(super) fn globals_named(thread: &StoppedThread<'_>, frame: FrameId, path: &str) -> Vec<TypedValue> {
    let own = function_of(thread, frame);
    let own_module = own.map(|(module, ..)| module);
    let others = (0..thread.modules.iter().count()).filter(|&module| Some(module) != own_module);
    for module in own_module.into_iter().chain(others) {
        let Some(info) = thread.info(module) else { continue };
        let candidates = info.global_names().get(last_segment(path)).map(Vec::as_slice).unwrap_or_default();
        let matching: Vec<Ref> =
            candidates.iter().copied().filter(|&entry| is_meant(info, entry, path)).collect();
        let unit = own.filter(|_| Some(module) == own_module).map(|(_, function, _)| function.unit);
        let nearest: Vec<Ref> = matching.iter().copied().filter(|entry| Some(entry.unit) == unit).collect();
        let entries = if nearest.is_empty() { matching } else { nearest };
        let mut found: Vec<TypedValue> =
            entries.into_iter().filter_map(|entry| variable(thread, module, entry, frame.frame)).collect();
        // Templates and inline variables are told by every unit that uses them.
        found.sort_by_key(|value| value.location.address());
        found.dedup_by_key(|value| value.location.address());
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Whether a path, perhaps without its first parts, is a variable's.
fn is_meant(info: Info<'_>, entry: Ref, path: &str) -> bool {
    let Some(name) = info.global_name(entry) else { return false };
    name == path || name.strip_suffix(path).is_some_and(|rest| rest.ends_with("::"))
}
