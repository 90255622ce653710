//! Accesses of memory that the source calls atomic. Instructions do not show it, debug information mostly
//! does: through the type of a static variable, or because the instruction is in a function of the library's atomics,
//! inlined or not. C's atomics in other memory leave no trace.

use std::ops::Range;

use checker::names::Obj;

use crate::layout::Layout;
use crate::layout::module::Module;

/// The code of the functions of atomics in the libraries of C++ and Rust, wherever it was inlined, and that of task schedulers, whose
/// threads share what is meant for that; sorted.
pub(crate) fn atomic_functions(modules: &[Module]) -> Vec<Range<u64>> {
    // Elsewhere no access is a key point; and debug information of the system's libraries takes long to read.
    let own = modules.iter().filter(|module| !module.is_system);
    let mut found: Vec<Range<u64>> = own
        .flat_map(|module| {
            let bias = module.mapped.bias;
            let copies = module.image.inlined(&["atomic"], &is_atomic_function);
            let ranges = copies.into_iter().flat_map(|copy| copy.ranges);
            ranges.map(move |range| range.start + bias..range.end + bias)
        })
        .collect();
    let schedulers = modules.iter().filter(|module| module.schedules_tasks);
    found.extend(schedulers.map(|module| module.mapped.range.clone()));
    found.sort_unstable_by_key(|range| (range.start, range.end));
    // Only nested ones overlap: the outer one stands first, and is enough.
    found.dedup_by(|inner, outer| inner.end <= outer.end);
    found
}

fn is_atomic_function(name: &str) -> bool {
    const LIBRARIES: [&str; 6] = [
        "core::sync::atomic::",
        "std::atomic",
        "std::__atomic_",
        "std::__1::atomic",
        "std::__1::__atomic",
        "std::__1::__cxx_atomic",
    ];
    let path = name.trim_start_matches('<');
    LIBRARIES.iter().any(|start| path.starts_with(start))
}

impl Layout {
    /// Whether the variable at an object is of an atomic type; `None` if that is no static variable with a known type.
    pub(crate) fn is_atomic_data(&self, obj: Obj) -> Option<bool> {
        let module = self.modules.iter().find(|module| module.name == obj.name)?;
        self.grace.read(|| module.image.is_atomic_data(u64::from(obj.offset)))
    }

    pub(crate) fn is_in_atomic_function(&self, address: u64) -> bool {
        let functions = &self.survey.atomic_functions;
        let after = functions.partition_point(|range| range.start <= address);
        after.checked_sub(1).is_some_and(|last| functions[last].contains(&address))
    }

    /// Whether the source of the code at an address may have atomic accesses that nothing tells of.
    pub(crate) fn hides_atomics(&self, address: u64) -> bool {
        let module = self.module_at(address).map(|(_, module)| &module.image);
        module.is_none_or(|image| !image.has_debug_lines() || image.has_atomic_types())
    }
}

#[cfg(test)]
mod tests {
    use super::is_atomic_function;

    #[test]
    fn functions_of_atomics_are_known_by_name() {
        for name in [
            "core::sync::atomic::atomic_load::<usize>",
            "<core::sync::atomic::AtomicUsize>::load",
            "std::atomic<int>::operator++",
            "std::__atomic_base<long>::load",
            "std::atomic_flag::test_and_set",
        ] {
            assert!(is_atomic_function(name), "{name}");
        }
        for name in
            ["my::core::sync::atomic::x", "atomic_load", "std::mutex::lock", "core::sync::Exclusive::get"]
        {
            assert!(!is_atomic_function(name), "{name}");
        }
    }
}
