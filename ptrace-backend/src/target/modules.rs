//! What is mapped into the target: executable and libraries.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use crate::control::naming::block_name;
use crate::debuginfo::Image;
use crate::layout::Module;
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

/// Files of the C library, whose calls are not the program's.
const LIBC: [&str; 4] = ["libc.so", "libpthread.so", "ld-linux", "libc-"];

/// Where each file begins that the process executes code of.
pub(crate) fn starts(tid: Tid) -> io::Result<Vec<(PathBuf, u64)>> {
    let maps = Process::new(tid).and_then(|p| p.maps()).map_err(io::Error::other)?;
    let file = |map: &MemoryMap| match &map.pathname {
        MMapPath::Path(path) => Some(path.clone()),
        _ => None,
    };
    let code = maps.iter().filter(|map| map.perms.contains(MMPermissions::EXECUTE));
    let executed: Vec<PathBuf> = code.filter_map(file).collect();
    let mut starts: Vec<(PathBuf, u64)> = Vec::new();
    for map in maps.iter().filter(|map| map.offset == 0) {
        let Some(path) = file(map).filter(|path| executed.contains(path)) else { continue };
        if starts.iter().all(|(known, _)| *known != path) {
            starts.push((path, map.address.0));
        }
    }
    Ok(starts)
}

/// Every ELF file among these, the executable first, then in order of address.
pub(crate) fn loaded(starts: &[(PathBuf, u64)], executable: &Path) -> Vec<Module> {
    let mut modules: Vec<Module> = starts.iter().filter_map(|(path, start)| module(path, *start)).collect();
    modules.sort_by_key(|m| (m.mapped.path != executable, m.mapped.range.start));
    modules
}

/// `None`: it is code, but no ELF file.
fn module(path: &Path, start: u64) -> Option<Module> {
    const PAGE: u64 = 0x1000;
    let image = Image::open(path).ok()?;
    let extent = image.extent();
    let bias = start.wrapping_sub(extent.start & !(PAGE - 1));
    let range = start..extent.end.wrapping_add(bias);
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_libc = LIBC.iter().any(|name| file.starts_with(name));
    let name = block_name(&format!("module {file}"));
    Some(Module { mapped: Mapped { path: path.to_owned(), bias, range }, image, name, is_libc })
}
