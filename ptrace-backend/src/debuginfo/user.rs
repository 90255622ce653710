//! Which instructions are the user's own: where shared memory accesses are looked for.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::demangle::demangle;
use super::dwarf::{Dwarf, Unit};
use super::functions::Function;
use super::image::Image;
use super::lines::{self, Language, SourceUnit};
use super::symbols::SymbolKind;

/// Whether a source file is one of the user's: everything outside of the folders where systems keep installed code.
#[must_use]
pub fn is_user_file(file: &Path) -> bool {
    const SYSTEM: [&str; 8] = [
        "/usr/include",
        "/usr/lib",
        "/usr/lib32",
        "/usr/src",
        "/usr/local/include",
        "/usr/local/lib",
        "/rustc",
        "/rust/deps",
    ];
    let text = file.to_string_lossy();
    let installed =
        ["/.cargo/registry/", "/.cargo/git/", "/cargo/registry/", "/.rustup/", "/lib/rustlib/", "/sysdeps/"];
    !file.as_os_str().is_empty()
        && !SYSTEM.iter().any(|folder| file.starts_with(folder))
        && !installed.iter().any(|part| text.contains(part))
}

/// The ranges of the user's own instructions in `image`, sorted and disjoint.
pub(super) fn user_code(image: &Image, is_user_file: &dyn Fn(&Path) -> bool) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let mut covered = Vec::new();
    if let Some(dwarf) = image.dwarf() {
        for unit in dwarf.units() {
            from_lines(image, dwarf, unit, is_user_file, &mut found, &mut covered);
        }
    }
    merge(&mut covered);
    let (startup, rest): (Vec<_>, Vec<_>) =
        image.functions().partition(|function| is_startup(image, function));
    let without_lines = rest.into_iter().filter(|function| !overlaps(&covered, &function.range));
    found.extend(
        without_lines.filter(|function| is_user_name(image, function)).map(|function| function.range),
    );
    merge(&mut found);
    startup.iter().fold(found, |found, function| subtract(found, &function.range))
}

/// Whose code a compilation unit is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    /// Rust's own library, compiled in advance.
    RustLibrary,
    Other,
}

impl Owner {
    fn of(source: &SourceUnit, is_user_file: &dyn Fn(&Path) -> bool) -> Self {
        let is_precompiled = rust_library(&source.file).is_some() || source.file.starts_with("/rust/deps");
        if source.language == Language::Rust && is_precompiled {
            Self::RustLibrary
        } else if is_user_file(&source.file) && !is_test_framework(&source.file) {
            Self::User
        } else {
            Self::Other
        }
    }
}

fn from_lines(
    image: &Image,
    dwarf: &Dwarf,
    unit: &Unit,
    is_user_file: &dyn Fn(&Path) -> bool,
    found: &mut Vec<Range<u64>>,
    covered: &mut Vec<Range<u64>>,
) {
    let source = SourceUnit::new(dwarf, unit);
    let owner = Owner::of(&source, is_user_file);
    let is_own = |path: &Path| {
        if is_test_framework(path) {
            return false;
        }
        match (source.language, rust_library(path)) {
            (_, Some(file)) => is_about_sharing(&file, owner),
            (Language::Rust, None) => is_user_file(path),
            _ => owner == Owner::User || is_user_file(path),
        }
    };
    let mut known: Vec<Option<bool>> = Vec::new();
    lines::for_each_row(dwarf, unit, &|address| image.is_code(address), &mut |row| {
        known.resize(known.len().max(row.file + 1), None);
        let own = *known[row.file].get_or_insert_with(|| is_own(row.path));
        push(covered, row.range.clone());
        if own && (owner != Owner::RustLibrary || is_in_synchronisation(image, row.range.start)) {
            push(found, row.range);
        }
    });
}

/// Whether an address of Rust's library is in a function of a lock, as against one that merely uses locks for the
/// library's own ends (standard output, thread handles, panics).
fn is_in_synchronisation(image: &Image, address: u64) -> bool {
    const FUNCTIONS: [&str; 6] = [
        "std::sync::",
        "std::sys::sync::",
        "core::sync::",
        "std::thread::scoped::",
        "std::thread::thread::Thread::park",
        "std::thread::thread::Thread::unpark",
    ];
    let name = image.function_at(address).and_then(|function| function.name()).unwrap_or_default();
    let path = name.trim_start_matches('<');
    FUNCTIONS.iter().any(|start| path.starts_with(start))
}

/// The path below `library/` of a file of Rust's standard library.
fn rust_library(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_library = text.starts_with("/rustc/") || text.contains("/rustlib/src/rust/");
    let (_, below) = text.split_once("/library/").filter(|_| is_library)?;
    Some(below.to_owned())
}

/// The parts of Rust's standard library whose memory accesses are those that its user shares between threads. Raw
/// pointers and cells are used everywhere: they count only where they were instantiated in the user's own crates.
fn is_about_sharing(file: &str, owner: Owner) -> bool {
    const ALWAYS: [&str; 4] =
        ["core/src/sync/", "std/src/sync/", "std/src/sys/sync/", "std/src/thread/scoped.rs"];
    const INSTANTIATED: [&str; 4] =
        ["core/src/ptr/", "core/src/cell", "core/src/mem/", "core/src/intrinsics"];
    let is_below = |folders: &[&str]| folders.iter().any(|folder| file.starts_with(folder));
    is_below(&ALWAYS) || (owner == Owner::User && is_below(&INSTANTIATED))
}

fn is_test_framework(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        matches!(
            &*part,
            "gtest"
                | "gmock"
                | "googletest"
                | "googlemock"
                | "catch2"
                | "doctest"
                | "doctest.h"
                | "catch.hpp"
        ) || part.starts_with("catch_amalgamated.")
    })
}

/// Code that every program gets from the C library and the compiler to start and end with.
fn is_startup(image: &Image, function: &Function<'_>) -> bool {
    const NAMES: [&str; 13] = [
        "_start",
        "_init",
        "_fini",
        "deregister_tm_clones",
        "register_tm_clones",
        "__do_global_dtors_aux",
        "frame_dummy",
        "__libc_csu_init",
        "__libc_csu_fini",
        "_dl_relocate_static_pie",
        "__libc_start_main",
        "atexit",
        "__stack_chk_fail_local",
    ];
    match function.symbol {
        Some(name) => NAMES.contains(&name),
        None => function.range.contains(&image.entry()),
    }
}

/// Without lines, the name tells whether a function is the user's. Templates of the C++ library are: they are made in
/// the user's own files, and are weak.
fn is_user_name(image: &Image, function: &Function<'_>) -> bool {
    let Some(raw) = function.symbol else { return true };
    let name = demangle(raw);
    if is_below(&name, &["testing::", "Catch::", "doctest::"]) {
        return false;
    }
    if image.is_rust() {
        return is_user_rust_name(&name);
    }
    let is_library = is_below(&name, &["std::", "__gnu_cxx::", "__cxxabiv1::"]);
    !is_library
        || image
            .symbols()
            .any(|symbol| symbol.name == raw && symbol.is_weak() && symbol.kind == SymbolKind::Function)
}

/// A Rust function is the user's if its type or the trait that it implements is.
fn is_user_rust_name(name: &str) -> bool {
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
    const SHARING: [&str; 6] =
        ["std::sync::", "std::sys::sync::", "core::sync::", "core::cell::", "core::ptr::", "core::mem::"];
    if is_below(name, &SHARING) {
        return !name.contains("drop_in_place");
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

/// Types whose methods are always the library's.
const PRIMITIVES: [&str; 17] = [
    "str", "char", "bool", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
    "isize", "f32", "f64",
];

fn first_segment(name: &str) -> &str {
    name.split_once("::").map_or("", |(first, _)| first)
}

/// Whether a name, or the type that it is about, is in one of the namespaces.
fn is_below(name: &str, spaces: &[&str]) -> bool {
    let path = name.trim_start_matches(['<', '&', '(', '[', '*']);
    let path = path.trim_start_matches("mut ").trim_start_matches("dyn ");
    spaces.iter().any(|space| path.starts_with(space))
}

/// Appends, joining with the last range where they touch.
fn push(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

fn merge(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|later, earlier| {
        let touches = later.start <= earlier.end;
        if touches {
            earlier.end = earlier.end.max(later.end);
        }
        touches
    });
}

/// Whether one of the sorted, disjoint `ranges` shares an address with `range`.
fn overlaps(ranges: &[Range<u64>], range: &Range<u64>) -> bool {
    let after = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(after).is_some_and(|other| other.start < range.end)
}

fn subtract(ranges: Vec<Range<u64>>, hole: &Range<u64>) -> Vec<Range<u64>> {
    let parts = ranges.into_iter().flat_map(|range| {
        let before = range.start..range.end.min(hole.start);
        let after = range.start.max(hole.end)..range.end;
        [before, after]
    });
    parts.filter(|range| range.start < range.end).collect()
}

/// Every file that the line tables list, sorted, each once.
pub(super) fn source_files(dwarf: &Dwarf) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = dwarf.units().iter().flat_map(|unit| lines::files(dwarf, unit)).collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_code_is_not_the_users() {
        for (file, expected) in [
            ("/home/me/project/src/main.rs", true),
            ("/tmp/a.c", true),
            ("/usr/include/c++/12/atomic", false),
            ("/rustc/59807616/library/core/src/cell.rs", false),
            ("/home/me/.cargo/registry/src/index/crossbeam-0.8.4/src/lib.rs", false),
            ("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/lib.rs", false),
            ("/usr/include-mine/a.h", true),
            ("", false),
        ] {
            assert_eq!(is_user_file(Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn sharing_in_the_standard_library_is_recognised() {
        let file = rust_library(Path::new("/rustc/59807616/library/core/src/sync/atomic.rs")).unwrap();
        assert!(is_about_sharing(&file, Owner::Other));
        assert!(
            is_about_sharing("core/src/cell.rs", Owner::User)
                && !is_about_sharing("core/src/cell.rs", Owner::Other)
        );
        assert!(!is_about_sharing("alloc/src/vec/mod.rs", Owner::User));
        assert_eq!(rust_library(Path::new("/home/me/library/core/src/cell.rs")), None);
    }

    #[test]
    fn rust_functions_are_told_apart_by_type_and_trait() {
        for (name, expected) in [
            ("app::work", true),
            ("main", true),
            ("<app::Queue as core::ops::drop::Drop>::drop", true),
            ("<u32 as app::Count>::count", true),
            ("std::sync::poison::mutex::Mutex<T>::lock", true),
            ("core::ptr::drop_in_place<app::Queue>", false),
            ("<&[u8] as core::fmt::Debug>::fmt", false),
            ("<&mut std::io::Error as core::fmt::Debug>::fmt", false),
            ("str::trim_start_matches", false),
            ("<[u8]>::copy_within", false),
            ("strange::name", true),
            ("std::io::stdio::_print", false),
            ("__rust_try", false),
        ] {
            assert_eq!(is_user_rust_name(name), expected, "{name}");
        }
    }

    #[test]
    fn ranges_are_merged_and_cut() {
        let mut ranges = vec![5..7, 0..3, 2..4, 7..9];
        merge(&mut ranges);
        assert_eq!(ranges, [0..4, 5..9]);
        assert_eq!(subtract(ranges.clone(), &(2..6)), [0..2, 6..9]);
        assert!(overlaps(&ranges, &(8..20)) && !overlaps(&ranges, &(4..5)));
    }
}
