//! What is mapped into the target: executable and libraries.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSegment, SectionKind};
use procfs::process::{MMapPath, Process};

use crate::os::Tid;

/// A file mapped into the target.
#[derive(Debug, Clone)]
pub(crate) struct Mapped {
    pub(crate) path: PathBuf,
    /// What to add to a static address to get the one at run time.
    pub(crate) bias: u64,
    /// Where its segments are at run time, its zero-initialised data included.
    pub(crate) range: Range<u64>,
}

fn io_error(error: procfs::ProcError) -> io::Error {
    io::Error::other(error)
}

/// The extent of a file's loadable segments in static addresses.
fn extent(path: &Path) -> io::Result<Range<u64>> {
    let bytes = std::fs::read(path)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let lowest = file.segments().map(|s| s.address()).min().unwrap_or(0);
    let highest = file.segments().map(|s| s.address() + s.size()).max().unwrap_or(0);
    Ok(lowest & !0xfff..highest)
}

/// Every ELF file that has executable pages in the process, the executable first, then in order of address.
pub(crate) fn mapped(tid: Tid, executable: &Path) -> io::Result<Vec<Mapped>> {
    let maps = Process::new(tid).and_then(|p| p.maps()).map_err(io_error)?;
    let mut found: Vec<Mapped> = Vec::new();
    for map in &maps {
        let MMapPath::Path(path) = &map.pathname else { continue };
        if map.offset != 0 || found.iter().any(|m| &m.path == path) {
            continue;
        }
        let Ok(extent) = extent(path) else { continue };
        let bias = map.address.0.wrapping_sub(extent.start);
        let range = map.address.0..extent.end.wrapping_add(bias);
        found.push(Mapped { path: path.clone(), bias, range });
    }
    found.sort_by_key(|m| (m.path != executable, m.range.start));
    Ok(found)
}

/// Where a file holds what never changes once the dynamic linker has run, in static addresses: code, read-only data, and
/// the tables of imported addresses.
pub(crate) fn constants(path: &Path) -> Vec<Range<u64>> {
    const TABLES: [&str; 3] = [".got", ".got.plt", ".data.rel.ro"];
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    file.sections()
        .filter(|section| {
            let table = section.name().is_ok_and(|name| TABLES.contains(&name));
            let read_only = matches!(
                section.kind(),
                SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
            );
            section.address() != 0 && (table || read_only)
        })
        .map(|section| section.address()..section.address() + section.size())
        .collect()
}

/// Where a file holds pointers that the dynamic linker fills in, in static addresses, whole words only.
pub(crate) fn data(path: &Path) -> Vec<Range<u64>> {
    const TABLES: [&str; 3] = [".data", ".data.rel.ro", ".bss"];
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    file.sections()
        .filter(|section| section.name().is_ok_and(|name| TABLES.contains(&name)))
        .map(|section| section.address().next_multiple_of(8)..(section.address() + section.size()) & !7)
        .filter(|range| range.start < range.end)
        .collect()
}
