//! The instructions that are the program's own: shared memory accesses are looked for in them.
//!
//! With lines: all that was compiled for the program, whatever folder its source lies in (a dependency in the registry of crates, a test
//! framework, a container's `/usr/src`), with what it got from libraries because it is instantiated there (headers of C and
//! C++, generic functions of Rust), except the parts of Rust's own library that start threads and panic. Of code that is
//! compiled in advance, the functions of Rust's locks, and those that work on values of the program's; of the standard streams, the code of their locks
//! where the program's own code runs under one.
//! Functions without lines: all of them, except those that start and end every program, and those that came with Rust's or C++'s own
//! library.

use std::ops::Range;
use std::path::Path;

use super::names::{
    LibraryMark, SYNCHRONISATION, holds_streams, is_below, is_user_rust_name, library_mark, works_on_streams,
    works_on_values,
};
use crate::attention;
use crate::debuginfo::demangle::demangle;
use crate::debuginfo::dwarf::lines;
use crate::debuginfo::dwarf::reader::Unit;
use crate::debuginfo::dwarf::sections::Dwarf;
use crate::debuginfo::dwarf::source_unit::{Language, SourceUnit};
use crate::debuginfo::elf::functions::Function;
use crate::debuginfo::elf::gaps::is_filler;
use crate::debuginfo::image::Image;
use crate::debuginfo::ranges::{merge, overlaps, push, subtract};
use crate::instructions::reached;

/// The ranges of the program's own code in `image`, sorted and disjoint: what was compiled for it, what was instantiated there from
/// headers and from libraries that work on its values, and functions without lines.
pub fn user_code(image: &Image) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let mut covered = Vec::new();
    let mut library_has_lines = false;
    let names = || image.symbols().inspect(|_| attention::round()).map(|symbol| symbol.name);
    let holds_streams = image.is_rust() && holds_streams(names());
    if let Some(dwarf) = image.dwarf() {
        for unit in dwarf.units() {
            let mut library = LibraryFunctions { image, holds_streams, last: None };
            let owner = from_lines(&mut library, dwarf, unit, &mut found, &mut covered);
            library_has_lines |= owner == Some(UnitOwner::RustLibrary);
        }
    }
    let mark = library_mark(names(), library_has_lines);
    merge(&mut covered);
    let (startup, rest): (Vec<_>, Vec<_>) =
        image.functions().inspect(|_| attention::round()).partition(|function| is_startup(image, function));
    let without_lines = rest
        .into_iter()
        .inspect(|_| attention::round())
        .filter(|function| !overlaps(&covered, &function.range));
    found.extend(
        without_lines
            .filter(|function| {
                let is_of_streams = || {
                    holds_streams && function.symbol.is_some_and(|symbol| works_on_streams(&demangle(symbol)))
                };
                is_user_name(image, function, mark) || is_of_streams()
            })
            .map(|function| function.range),
    );
    found.extend(image.gaps().iter().filter(|gap| !overlaps(&covered, gap)).cloned());
    // If no size of start-up code is told, the code behind it may belong to any author.
    let pieces: Vec<Range<u64>> = startup
        .into_iter()
        .map(|Function { range, is_open, .. }| {
            let end = if is_open { end_of_reached(image, &range) } else { range.end };
            found.extend(Some(end..range.end).filter(|rest| !rest.is_empty()));
            range.start..end
        })
        .collect();
    merge(&mut found);
    pieces.iter().fold(found, subtract)
}

/// The ranges of all that was compiled for the program, sorted and disjoint: [`user_code`], and whatever of the libraries was
/// instantiated with it.
pub(crate) fn unit_code(image: &Image, user_code: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut found = user_code.to_vec();
    let Some(dwarf) = image.dwarf() else { return found };
    for unit in dwarf.units() {
        if UnitOwner::of(&SourceUnit::new(dwarf, unit)) == UnitOwner::Program {
            lines::for_each_row(dwarf, unit, &|address| image.is_code(address), &mut |row| {
                push(&mut found, row.range);
            });
        }
    }
    merge(&mut found);
    found
}

/// The owner of a compilation unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnitOwner {
    /// The program, whatever author and folder its parts come from.
    Program,
    /// Rust's own library, compiled in advance.
    RustLibrary,
}

impl UnitOwner {
    fn of(source: &SourceUnit) -> Self {
        let is_precompiled = rust_library(&source.file).is_some() || source.file.starts_with("/rust/deps");
        if source.language == Language::Rust && is_precompiled { Self::RustLibrary } else { Self::Program }
    }
}

/// Adds what the lines of a unit tell, and returns whose it is if it has any.
fn from_lines(
    library: &mut LibraryFunctions<'_>,
    dwarf: &Dwarf,
    unit: &Unit,
    found: &mut Vec<Range<u64>>,
    covered: &mut Vec<Range<u64>>,
) -> Option<UnitOwner> {
    let source = SourceUnit::new(dwarf, unit);
    let owner = UnitOwner::of(&source);
    let is_own = |path: &Path| match rust_library(path) {
        Some(file) => is_watched_library(&file, owner),
        None => owner == UnitOwner::Program,
    };
    let mut known: Vec<Option<bool>> = Vec::new();
    let image = library.image;
    lines::for_each_row(dwarf, unit, &|address| image.is_code(address), &mut |row| {
        known.resize(known.len().max(row.file + 1), None);
        let own = *known[row.file].get_or_insert_with(|| is_own(row.path));
        push(covered, row.range.clone());
        let is_watched = match owner {
            UnitOwner::Program => own,
            UnitOwner::RustLibrary => library.is_watched(row.range.start, own),
        };
        if is_watched {
            push(found, row.range);
        }
    });
    (!known.is_empty()).then_some(owner)
}

/// The functions of Rust's library that is compiled in advance.
struct LibraryFunctions<'i> {
    image: &'i Image,
    /// Code of the program's own runs under the locks of standard streams.
    holds_streams: bool,
    /// The function that was asked for last, which most rows of lines ask for again.
    last: Option<LibraryFunction>,
}

struct LibraryFunction {
    range: Range<u64>,
    works_on_values: bool,
    is_synchronisation: bool,
}

impl LibraryFunctions<'_> {
    /// Whether an address is in a function that is watched: one that works on the program's values, or one by which threads
    /// wait for one another, where the file is one of those (`is_own`).
    fn is_watched(&mut self, address: u64, is_own: bool) -> bool {
        let last = self.last.take().filter(|last| last.range.contains(&address));
        let Some(function) = last.or_else(|| self.at(address)) else { return false };
        let is_watched = function.works_on_values || is_own && function.is_synchronisation;
        self.last = Some(function);
        is_watched
    }

    fn at(&self, address: u64) -> Option<LibraryFunction> {
        let function = self.image.function_at(address)?;
        let name = function.name()?;
        Some(LibraryFunction {
            works_on_values: works_on_values(&name),
            is_synchronisation: is_below(&name, &SYNCHRONISATION)
                || self.holds_streams && works_on_streams(&name),
            range: function.range,
        })
    }
}

/// The path below `library/` of a file of Rust's standard library.
fn rust_library(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_library = text.starts_with("/rustc/") || text.contains("/rustlib/src/rust/");
    let (_, below) = text.split_once("/library/").filter(|_| is_library)?;
    Some(below.to_owned())
}

/// Whether code from a file of Rust's standard library is watched: its atomics and locks wherever they are; what works on the
/// program's values (a `Vec::push`, an `Option::is_none`, an `io::Cursor::set_position`) where it was instantiated in the program's
/// crates, but for formatting and panics. Other code of `std` that is instantiated there starts threads. Code that a crate
/// instantiates for the library itself, and takes from there (`Vec<u8>`), is not watched.
fn is_watched_library(file: &str, owner: UnitOwner) -> bool {
    const ALWAYS: [&str; 4] =
        ["core/src/sync/", "std/src/sync/", "std/src/sys/sync/", "std/src/thread/scoped.rs"];
    const INSTANTIATED: [&str; 12] = [
        "core/src/",
        "alloc/src/",
        "std/src/collections/",
        "std/src/env",
        "std/src/ffi/",
        "std/src/fs",
        "std/src/hash/",
        "std/src/io/",
        "std/src/net/",
        "std/src/os/",
        "std/src/path",
        "std/src/time",
    ];
    const NOT: [&str; 3] = ["core/src/fmt/", "core/src/panic", "alloc/src/fmt"];
    let is_below = |folders: &[&str]| folders.iter().any(|folder| file.starts_with(folder));
    is_below(&ALWAYS) || (owner == UnitOwner::Program && is_below(&INSTANTIATED) && !is_below(&NOT))
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

/// The address behind what control reaches from the beginning of some code, and what fills the space behind that.
fn end_of_reached(image: &Image, range: &Range<u64>) -> u64 {
    let text = image.text();
    let code = text.iter().find_map(|section| section.part(range)).unwrap_or_default();
    let parts = reached(code, range.start, [range.start]).parts;
    let end = parts.iter().map(|part| part.end).max().unwrap_or_default();
    let is_last = code.get(end..).is_none_or(is_filler);
    if is_last { range.end } else { range.start + end as u64 }
}

/// Without lines, the name tells whether a function is the program's. Functions in the namespaces of the C++ library are
/// as well, if that library is linked dynamically: they were instantiated in its files, and an optimiser may
/// have made the body of a lambda part of one. If it is linked statically, the library's own functions are those that
/// are neither weak, as instantiations are, nor local, as instantiations for local types are.
fn is_user_name(image: &Image, function: &Function<'_>, mark: LibraryMark) -> bool {
    let Some(raw) = function.symbol else { return true };
    let name = demangle(raw);
    if image.is_rust() {
        return is_user_rust_name(&name, raw, mark);
    }
    let is_library = is_below(&name, &["std::", "__gnu_cxx::", "__cxxabiv1::"]);
    /// A function of the library that all of its other parts need.
    const OF_LIBRARY: &str = "_ZSt9terminatev";
    !is_library || image.symbol(OF_LIBRARY).is_none() || image.is_weak_or_local_symbol(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_in_the_standard_library_is_recognised() {
        let file = rust_library(Path::new("/rustc/59807616/library/core/src/sync/atomic.rs")).unwrap();
        assert!(is_watched_library(&file, UnitOwner::RustLibrary));
        assert!(
            is_watched_library("core/src/cell.rs", UnitOwner::Program)
                && !is_watched_library("core/src/cell.rs", UnitOwner::RustLibrary)
        );
        assert!(is_watched_library("alloc/src/vec/mod.rs", UnitOwner::Program));
        assert!(!is_watched_library("core/src/fmt/mod.rs", UnitOwner::Program));
        assert_eq!(rust_library(Path::new("/home/me/library/core/src/cell.rs")), None);
    }
}
