//! Whose function it is, told by its name alone.

/// A Rust function is the user's if its type or the trait that it implements is.
pub(super) fn is_user_rust_name(name: &str) -> bool {
    const RUNTIME: [&str; 15] = [
        "std::",
        "core::",
        "alloc::",
        "panic_unwind::",
        "panic_abort::",
        "rustc_demangle::",
        "compiler_builtins::",
        "hashbrown::",
        "gimli::",
        "addr2line::",
        "object::",
        "miniz_oxide::",
        "memchr::",
        "adler2::",
        "__rust",
    ];
    // About sharing memory, or about collections of the user's values.
    const WATCHED: [&str; 12] = [
        "std::sync::",
        "std::sys::sync::",
        "core::sync::",
        "core::cell::",
        "core::ptr::",
        "core::mem::",
        "alloc::collections::",
        "alloc::raw_vec::",
        "alloc::string::",
        "alloc::vec::",
        "hashbrown::",
        "std::collections::",
    ];
    if is_below(name, &WATCHED) {
        return !name.contains("drop_in_place");
    }
    if runs_closures(name) {
        return true;
    }
    match name.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((of, implemented)) => {
            let is_plain = !of.contains("::");
            !((is_plain || is_below(of, &RUNTIME)) && is_below(implemented, &RUNTIME))
        }
        None => {
            !is_below(name, &RUNTIME) && !name.starts_with('<') && !PRIMITIVES.contains(&first_segment(name))
        }
    }
}

/// Whether it is one of the library's functions that run a closure, which an optimiser makes part of them: the body of a
/// thread has no other name then.
fn runs_closures(name: &str) -> bool {
    const GIVEN_ONE: [&str; 5] = [
        "std::sys::backtrace::__rust_begin_short_backtrace",
        "core::ops::function::",
        "core::iter::",
        "std::panicking::catch_unwind",
        "std::panicking::try",
    ];
    let is_started = is_below(name, &["std::thread::"]) && name.contains("closure");
    is_started || is_below(name, &GIVEN_ONE) || name.contains("::spec_from_iter::")
}

/// Types whose methods are always the library's.
const PRIMITIVES: [&str; 17] = [
    "str", "char", "bool", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
    "isize", "f32", "f64",
];

fn first_segment(name: &str) -> &str {
    name.split_once("::").map_or("", |(first, _)| first)
}

/// Whether a name, or the type that it is about, is in one of the namespaces.
pub(super) fn is_below(name: &str, spaces: &[&str]) -> bool {
    let path = name.trim_start_matches(['<', '&', '(', '[', '*']);
    let path = path.trim_start_matches("mut ").trim_start_matches("dyn ");
    spaces.iter().any(|space| path.starts_with(space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_functions_are_told_apart_by_type_and_trait() {
        for (name, expected) in [
            ("app::work", true),
            ("main", true),
            ("<app::Queue as core::ops::drop::Drop>::drop", true),
            ("<u32 as app::Count>::count", true),
            ("std::sync::poison::mutex::Mutex<T>::lock", true),
            ("core::ptr::drop_in_place<app::Queue>", false),
            ("alloc::collections::btree::map::BTreeMap<K,V,A>::insert", true),
            ("hashbrown::map::HashMap<K,V,S,A>::insert", true),
            ("<&[u8] as core::fmt::Debug>::fmt", false),
            ("<&mut std::io::Error as core::fmt::Debug>::fmt", false),
            ("str::trim_start_matches", false),
            ("<[u8]>::copy_within", false),
            ("strange::name", true),
            ("std::sys::backtrace::__rust_begin_short_backtrace", true),
            ("core::ops::function::FnOnce::call_once{{vtable.shim}}", true),
            ("<core::iter::adapters::map::Map<I,F> as core::iter::traits::iterator::Iterator>::fold", true),
            ("std::thread::lifecycle::spawn_unchecked::{{closure}}", true),
            ("std::thread::current::set_current", false),
            ("std::io::stdio::_print", false),
            ("__rust_try", false),
        ] {
            assert_eq!(is_user_rust_name(name), expected, "{name}");
        }
    }
}
