//! Whose function it is, told by its name alone.

/// What every Rust program is linked with.
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

/// A Rust function is the user's if its type or the trait that it implements is.
pub(crate) fn is_user_rust_name(name: &str, symbol: &str) -> bool {
    const SHARING: [&str; 6] =
        ["std::sync::", "std::sys::sync::", "core::sync::", "core::cell::", "core::ptr::", "core::mem::"];
    const COLLECTIONS: [&str; 8] = [
        "alloc::collections::",
        // The last owner of a value drops it here.
        "alloc::rc::",
        "alloc::sync::",
        "alloc::raw_vec::",
        "alloc::string::",
        "alloc::vec::",
        "hashbrown::",
        "std::collections::",
    ];
    if is_below(name, &SHARING) || is_below(name, &COLLECTIONS) && !is_made_by_runtime(symbol) {
        // Drop glue, into which an optimiser puts the destructors of the type.
        return !name.contains("drop_in_place") || names_user_type(name);
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

/// Whether a type of the user's own crates is among the arguments of a generic function.
fn names_user_type(name: &str) -> bool {
    let (_, arguments) = name.split_once('<').unwrap_or_default();
    let paths = arguments.split(['<', '>', '(', ')', '[', ']', ',', '&', '*', ' ', ';', '+', '=']);
    paths.filter(|path| path.contains("::")).any(|path| !is_below(path, &RUNTIME))
}

/// Whether one of Rust's own crates made this copy of generic code, for itself. They are compiled with symbols that end with
/// the crate that made a copy (RFC 2603).
fn is_made_by_runtime(symbol: &str) -> bool {
    let symbol = symbol.split('.').next().unwrap_or_default();
    let Some(path) = symbol.strip_prefix("_R") else { return false };
    // `Cs`, what tells crates of one name apart, `_`, the length of the name, the name.
    let encoded = |name: &str| format!("{}{name}", name.len());
    let mut names = RUNTIME.iter().map(|name| encoded(name.trim_end_matches(':')));
    match referred(path) {
        Some(maker) => {
            let name = maker.strip_prefix("Cs").and_then(|rest| rest.split_once('_')).map(|(_, name)| name);
            name.is_some_and(|name| names.any(|known| name.starts_with(&known)))
        }
        None => names.any(|known| path.ends_with(&format!("_{known}"))),
    }
}

/// Where in a symbol the crate is written that its end refers back to.
fn referred(path: &str) -> Option<&str> {
    let before = path.strip_suffix('_')?;
    let (_, number) = before.rsplit_once('B')?;
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(usize::from(byte - b'0')),
        b'a'..=b'z' => Some(usize::from(byte - b'a') + 10),
        b'A'..=b'Z' => Some(usize::from(byte - b'A') + 36),
        _ => None,
    };
    let value =
        number.bytes().try_fold(0_usize, |value, byte| value.checked_mul(62)?.checked_add(digit(byte)?))?;
    path.get(value + usize::from(!number.is_empty())..)
}

/// Whether it is one of the library's functions that run a closure, which an optimiser makes part of them: the body of a
/// thread has no other name then.
fn runs_closures(name: &str) -> bool {
    const GIVEN_ONE: [&str; 6] = [
        // What a thread-local variable holds is dropped here.
        "std::sys::thread_local::native::",
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
pub(crate) fn is_below(name: &str, spaces: &[&str]) -> bool {
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
            ("core::ptr::drop_in_place<app::Queue>", true),
            ("core::ptr::drop_in_place<alloc::boxed::Box<dyn app::Task>>", true),
            ("core::ptr::drop_in_place<alloc::boxed::Box<dyn core::any::Any+core::marker::Send>>", false),
            ("alloc::sync::Arc<T,A>::drop_slow", true),
            ("std::sys::thread_local::native::eager::destroy", true),
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
            assert_eq!(is_user_rust_name(name, ""), expected, "{name}");
        }
    }

    #[test]
    fn copies_that_the_standard_library_made_for_itself_are_not_the_users() {
        let of_std = "_RNvMs3_NtNtCslNYArtu3iFV_5alloc7raw_vecINtB5_6RawVecINtNtB7_3vec3VechEE8grow_oneCsjrHSEGnQ3l9_3std";
        let refers_to_std = "_RNvMs10_NtNtNtCslNYArtu3iFV_5alloc11collections5btree4nodeINtB6_16BalancingContext\
                             jNtNtNtNtNtNtCsjrHSEGnQ3l9_3std3sys3pal4unix14stack_overflow11thread_info10ThreadInfo\
                             E15bulk_steal_leftB1v_";
        let of_app = "_RNvMs3_NtNtCslNYArtu3iFV_5alloc7raw_vecINtB5_6RawVecINtNtB7_3vec3VechEE8grow_oneCsjrHSEGnQ3l9_3app";
        let legacy = "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$8grow_one17h430fdedaba58ec41E";
        for (symbol, expected) in [(of_std, true), (refers_to_std, true), (of_app, false), (legacy, false)] {
            assert_eq!(is_made_by_runtime(symbol), expected, "{symbol}");
            assert_eq!(
                is_user_rust_name("alloc::raw_vec::RawVec<T,A>::grow_one", symbol),
                !expected,
                "{symbol}"
            );
        }
    }
}
