//! The owner of a function, told by its name alone.

use crate::debuginfo::demangle::demangle;

/// The libraries that every Rust program is linked with. Not those by which the standard library reads debug information for a backtrace
/// (`object`, `gimli`, `memchr`): programs have crates of the same names.
const RUNTIME: [&str; 9] = [
    "std::",
    "core::",
    "alloc::",
    "panic_unwind::",
    "panic_abort::",
    "compiler_builtins::",
    "hashbrown::",
    "__rustc::",
    "__rust",
];

/// The part of that that is compiled without lines.
const WITHOUT_LINES: [&str; 1] = ["compiler_builtins::"];

/// Code that runs in every program, or is long, and is not generic.
const NOT_GENERIC: [&str; 20] = [
    "alloc::alloc::",
    "core::panic::",
    "core::panicking::panic",
    "std::alloc::",
    "std::backtrace_rs::",
    "std::io::error::",
    "std::io::stdio::",
    "std::panicking::begin_panic_handler",
    "std::panicking::default_hook",
    "std::panicking::panic_count::",
    "std::panicking::rust_panic",
    "std::rt::lang_start_internal",
    "std::sys::args::",
    "std::sys::pal::",
    "std::sys::stdio::",
    "std::sys::thread::",
    "std::sys::unix::stack_overflow::",
    "std::sys::unix::thread::",
    "std::sys_common::thread_info::",
    "std::thread::current",
];

/// Functions of locks and of other ways in which threads wait for one another, as against those that merely use locks for the
/// library's own ends (standard output, thread handles, panics). What a harness captures of the output of its test is a buffer like
/// any other, behind a mutex.
pub(crate) const SYNCHRONISATION: [&str; 9] = [
    "std::io::stdio::print_to_buffer_if_capture_used",
    "std::sync::",
    "std::sys::sync::",
    "core::sync::",
    "std::thread::functions::park",
    // The same in older versions.
    "std::thread::park",
    "std::thread::scoped::",
    "std::thread::thread::Thread::park",
    "std::thread::thread::Thread::unpark",
];

/// Whether a program with these symbols has guards of the locks of the standard streams (`Stdout::lock`), under which its own code runs: the
/// linker leaves functions out that nothing calls, and what prints takes the lock without them.
pub(crate) fn holds_streams<'s>(mut symbols: impl Iterator<Item = &'s str>) -> bool {
    const PARTS: [&str; 2] = ["5stdio", "4lock"];
    const FUNCTIONS: [&str; 3] = ["Stdin", "Stdout", "Stderr"];
    let is_one = |symbol: &str| {
        let name = demangle(symbol);
        let name = name.trim_start_matches('<').strip_prefix(STREAMS).unwrap_or_default();
        FUNCTIONS.iter().any(|stream| {
            name.strip_prefix(stream).is_some_and(|rest| rest.trim_start_matches('>') == "::lock")
        })
    };
    symbols.any(|symbol| PARTS.iter().all(|part| symbol.contains(part)) && is_one(symbol))
}

/// Whether a function of Rust's library may take or give back the lock of a standard stream. Where a test harness captures what is printed, it
/// goes to a buffer with a lock of its own.
pub(crate) fn works_on_streams(name: &str) -> bool {
    name.contains(STREAMS) && !name.contains("_capture")
}

/// The module of the standard streams.
const STREAMS: &str = "std::io::stdio::";

/// The mark of the functions that came with Rust's own library, compiled in advance: a copy of the library's generic code that
/// does not have it was made in another crate, and an optimiser may have put the user's code into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LibraryMark {
    /// Symbols that name the crate that made the function.
    Crate,
    /// Lines, but for those of the crates that the library itself uses.
    Lines,
    /// None: the library was compiled with symbols of the legacy form, and its debug information was removed.
    None,
}

/// Whether a function of Rust's library works on values that it gets by reference, which are the program's: it formats, parses, compares,
/// copies or hands them to the system. Whatever the library does for itself is not among these: it starts threads, panics and unwinds,
/// allocates, keeps the arguments of the program, and has buffers and locks for the standard streams.
pub(crate) fn works_on_values(name: &str) -> bool {
    const FOR_ITSELF: [&str; 25] = [
        "alloc::alloc::",
        // The ends of the threads' stacks, in a tree behind a lock.
        "alloc::collections::",
        "alloc::raw_vec::",
        "alloc::rc::",
        "alloc::sync::",
        "core::cell::",
        "core::mem::",
        "core::ops::",
        "core::panic",
        "core::ptr::",
        "core::sync::",
        "std::alloc::",
        "std::backtrace",
        "std::io::",
        "std::panic",
        "std::rt::",
        "std::sync::",
        "std::sys::args::",
        "std::sys::backtrace",
        "std::sys::pal::",
        "std::sys::stdio::",
        "std::sys::sync::",
        "std::sys::thread",
        "std::sys_common::",
        "std::thread::",
    ];
    const LIBRARY: [&str; 3] = ["core::", "alloc::", "std::"];
    let is_of_primitive = || {
        let path = name.trim_start_matches(['<', '&', '[', '*']).trim_start_matches("mut ");
        let end = path.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(path.len());
        PRIMITIVES.contains(&&path[..end])
    };
    name.contains("core::fmt::")
        || is_below(name, &LIBRARY) && !is_below(name, &FOR_ITSELF)
        || is_of_primitive()
}

/// A Rust function is the user's if its type or the trait that it implements is, or one of the user's crates made this copy of
/// the library's generic code.
pub(crate) fn is_user_rust_name(name: &str, symbol: &str, mark: LibraryMark) -> bool {
    const SHARING: [&str; 3] = ["core::cell::", "core::ptr::", "core::mem::"];
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
    if works_on_values(name) && !is_drop_glue(name) {
        return true;
    }
    let is_made_by_runtime = made_by(symbol).map(is_runtime);
    if is_below(name, &SYNCHRONISATION)
        || is_below(name, &SHARING)
        || is_below(name, &COLLECTIONS) && is_made_by_runtime != Some(true)
    {
        // Drop glue, into which an optimiser puts the destructors of the type.
        return !is_drop_glue(name) || names_user_type(name);
    }
    runs_closures(name)
        || !is_library_name(name)
        || match (is_made_by_runtime, mark) {
            _ if name.starts_with("__rust") => false,
            (Some(is_library), _) => !is_library,
            (None, LibraryMark::Crate) => true,
            (None, LibraryMark::Lines) => !is_below(name, &WITHOUT_LINES),
            (None, LibraryMark::None) => !is_below(name, &WITHOUT_LINES) && !is_below(name, &NOT_GENERIC),
        }
}

/// A function has the name of one of the library's, whichever crate made this copy of it.
fn is_library_name(name: &str) -> bool {
    match name.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((of, implemented)) => {
            let is_plain = !of.contains("::");
            (is_plain || is_below(of, &RUNTIME)) && is_below(implemented, &RUNTIME)
        }
        None => {
            is_below(name, &RUNTIME) || name.starts_with('<') || PRIMITIVES.contains(&first_segment(name))
        }
    }
}

fn is_drop_glue(name: &str) -> bool {
    name.contains("drop_in_place") || name.contains("drop_glue")
}

/// Whether a type of the user's own crates is among the arguments of a generic function.
fn names_user_type(name: &str) -> bool {
    let (_, arguments) = name.split_once('<').unwrap_or_default();
    let paths = arguments.split(['<', '>', '(', ')', '[', ']', ',', '&', '*', ' ', ';', '+', '=']);
    paths.filter(|path| path.contains("::")).any(|path| !is_below(path, &RUNTIME))
}

/// The mark of the library's functions in an executable with these symbols, if `has_lines` tells whether functions of the
/// library have lines.
pub(crate) fn library_mark<'s>(mut symbols: impl Iterator<Item = &'s str>, has_lines: bool) -> LibraryMark {
    if symbols.any(|symbol| made_by(symbol) == Some("std")) {
        LibraryMark::Crate
    } else if has_lines {
        LibraryMark::Lines
    } else {
        LibraryMark::None
    }
}

fn is_runtime(maker: &str) -> bool {
    RUNTIME.iter().any(|name| name.strip_suffix("::") == Some(maker))
}

/// The crate that made this copy of generic code, or else the one that the function is of; `None` for symbols that are not of the v0
/// form (RFC 2603).
fn made_by(symbol: &str) -> Option<&str> {
    let path = symbol.split('.').next().unwrap_or_default().strip_prefix("_R")?;
    let crates = || path.match_indices('C').filter_map(|(at, _)| crate_at(&path[at..]));
    let maker = referred(path).or_else(|| crates().find(|found| found.rest.is_empty()));
    maker.or_else(|| crates().next()).map(|found| found.name)
}

/// A crate as symbols have it.
struct Crate<'s> {
    name: &'s str,
    rest: &'s str,
}

/// The crate that is written here: `Cs`, what tells crates of one name apart, `_`, the length of the name, the name.
fn crate_at(text: &str) -> Option<Crate<'_>> {
    let (told_apart, rest) = text.strip_prefix("Cs")?.split_once('_')?;
    let length = rest.len() - rest.trim_start_matches(|byte: char| byte.is_ascii_digit()).len();
    let (length, rest) = rest.split_at(length);
    // A name that begins with a digit or `_` has `_` before it.
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
    told_apart.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(Crate { name, rest })
}

/// The crate that the end of a symbol refers back to.
fn referred(path: &str) -> Option<Crate<'_>> {
    let before = path.strip_suffix('_')?;
    let numbers = before.rmatch_indices('B').map(|(at, _)| &before[at + 1..]);
    let at = |number: &str| base_62(number)?.checked_add(usize::from(!number.is_empty()));
    // The digits of the number may be `B` as well.
    numbers.map_while(at).find_map(|at| crate_at(path.get(at..)?))
}

fn base_62(number: &str) -> Option<usize> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(usize::from(byte - b'0')),
        b'a'..=b'z' => Some(usize::from(byte - b'a') + 10),
        b'A'..=b'Z' => Some(usize::from(byte - b'A') + 36),
        _ => None,
    };
    number.bytes().try_fold(0_usize, |value, byte| value.checked_mul(62)?.checked_add(digit(byte)?))
}

/// Whether it is one of the library's functions that run a closure, which an optimiser makes part of them: the body of a
/// thread has no other name then.
fn runs_closures(name: &str) -> bool {
    const GIVEN_ONE: [&str; 6] = [
        // The value of a thread-local variable is dropped here.
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
            ("<&[u8] as core::fmt::Debug>::fmt", true),
            ("core::fmt::num::imp::<impl core::fmt::Display for u32>::fmt", true),
            ("str::trim_start_matches", true),
            ("<[u8]>::copy_within", true),
            ("strange::name", true),
            ("std::sys::backtrace::__rust_begin_short_backtrace", true),
            ("core::ops::function::FnOnce::call_once{{vtable.shim}}", true),
            ("<core::iter::adapters::map::Map<I,F> as core::iter::traits::iterator::Iterator>::fold", true),
            ("std::thread::lifecycle::spawn_unchecked::{{closure}}", true),
            ("std::thread::current::set_current", false),
            ("std::thread::scoped::ScopeData::decrement_num_running_threads", true),
            ("std::thread::thread::Thread::unpark", true),
            ("std::thread::functions::park", true),
            ("std::thread::functions::yield_now", false),
            ("std::io::stdio::_print", false),
            ("__rust_try", false),
        ] {
            let symbol = if expected { "" } else { "_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print" };
            assert_eq!(is_user_rust_name(name, symbol, LibraryMark::Crate), expected, "{name}");
        }
    }

    #[test]
    fn copies_of_the_librarys_generic_code_without_its_mark_are_the_users() {
        use LibraryMark::{Crate, Lines, None};
        for (name, by_crate, by_lines, by_neither) in [
            ("<&T as core::fmt::Debug>::fmt", true, true, true),
            ("core::slice::sort::stable::driftsort", true, true, true),
            ("std::thread::scoped::scope", true, true, true),
            ("std::io::append_to_string", true, true, true),
            ("<std::io::buffered::bufwriter::BufWriter<W> as std::io::Write>::write_all", true, true, true),
            // The library has such a crate too, which reads debug information, and comes without lines.
            ("gimli::read::unit::parse_attribute", true, true, true),
            ("std::io::stdio::_print", true, true, false),
            ("core::fmt::Formatter::pad", true, true, true),
            ("__rust_probestack", false, false, false),
            ("core::ptr::drop_in_place<std::thread::join_handle::JoinHandle<()>>", false, false, false),
            ("core::ptr::drop_glue::<std::io::error::Error>", false, false, false),
            ("core::ptr::drop_glue::<app::Queue>", true, true, true),
        ] {
            for (mark, expected) in [(Crate, by_crate), (Lines, by_lines), (None, by_neither)] {
                assert_eq!(is_user_rust_name(name, "", mark), expected, "{name}, {mark:?}");
            }
        }
    }

    #[test]
    fn symbols_that_name_a_crate_tell_whose_a_copy_is() {
        let refers_to_app =
            "_RNvXs1g_NtCs8NwYtU1Mohg_4core3fmtRRNtCswAD1WauSyG_8counters1DNtB6_5Debug3fmtBz_";
        let by_app = "_RNvXs5_NtNtCsdV5q5G7H2nY_4core3fmt3fmtRhNtB5_5Debug3fmtCs2gG7ypWZsRx_3app";
        let by_std = "_RNvXs5_NtNtCsdV5q5G7H2nY_4core3fmt3fmtRhNtB5_5Debug3fmtCsjrHSEGnQ3l9_3std";
        let not_generic = "_RNvMsa_NtCsdV5q5G7H2nY_4core3fmtNtB5_9Formatter3pad";
        let vendor = "_RNvCs2gG7ypWZsRx_7___rustc12___rust_alloc.llvm.123";
        for (symbol, expected) in [
            (refers_to_app, Some("counters")),
            (by_app, Some("app")),
            (by_std, Some("std")),
            (not_generic, Some("core")),
            (vendor, Some("__rustc")),
            ("_RNvCs2gG7ypWZsRx_3app4main", Some("app")),
            ("_ZN3app4main17h430fdedaba58ec41E", None),
            ("main", None),
        ] {
            assert_eq!(made_by(symbol), expected, "{symbol}");
        }
        let name = "<&u8 as core::fmt::Debug>::fmt";
        assert!(is_user_rust_name(name, by_app, LibraryMark::Crate));
        assert_eq!(made_by(by_std), Some("std"));
    }

    #[test]
    fn guards_of_standard_streams_are_known_by_what_takes_them() {
        for (symbol, expected) in [
            ("_RNvMsa_NtNtCsjrHSEGnQ3l9_3std2io5stdioNtB5_6Stdout4lock", true),
            ("_ZN3std2io5stdio5Stdin4lock17h430fdedaba58ec41E", true),
            ("_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print", false),
            ("_ZN3app2io5stdio6Stdout4lock17h430fdedaba58ec41E", false),
        ] {
            assert_eq!(holds_streams([symbol].into_iter()), expected, "{symbol}");
        }
    }

    #[test]
    fn the_library_is_known_by_symbols_before_lines() {
        let of_std = "_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print";
        let of_app = "_RNvCs2gG7ypWZsRx_3app4main";
        assert_eq!(library_mark([of_app, of_std].into_iter(), true), LibraryMark::Crate);
        assert_eq!(library_mark([of_app].into_iter(), true), LibraryMark::Lines);
        assert_eq!(library_mark([of_app].into_iter(), false), LibraryMark::None);
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
            let name = "alloc::raw_vec::RawVec<T,A>::grow_one";
            assert_eq!(made_by(symbol).is_some_and(is_runtime), expected, "{symbol}");
            assert_eq!(is_user_rust_name(name, symbol, LibraryMark::Crate), !expected, "{symbol}");
        }
    }
}
