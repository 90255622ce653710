//! Modules of the target: the executable and the libraries that are mapped into it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::control::state::memory::shared_files::SharedView;
use crate::debuginfo::Image;
use crate::layout::module::{Mapped, Module, is_system};
use crate::layout::names::block_name;
use crate::libraries::task_schedulers;
use crate::os::Tid;
use crate::preflight::Executable;

/// Whether a file is one of the C library's, whose calls are not the program's: by its whole name, for a program or a library of the program's
/// may have one that begins in the same way (`libc-test`).
fn is_of_libc(file: &str) -> bool {
    const NOW: [&str; 3] = ["libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"];
    /// Up to version 2.33, with the version behind it.
    const FORMERLY: [&str; 3] = ["libc-2.", "libpthread-2.", "ld-2."];
    let is_version = |rest: &str| {
        rest.strip_suffix(".so").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    NOW.contains(&file) || FORMERLY.iter().any(|name| file.strip_prefix(name).is_some_and(is_version))
}

/// The text of `/proc/PID/maps`. The kernel writes as much of it at once as there is room for: it is asked for few large parts.
fn maps(tid: Tid) -> io::Result<Vec<u8>> {
    const ROOM: usize = 1 << 14;
    let mut text = Vec::with_capacity(ROOM);
    File::open(format!("/proc/{tid}/maps"))?.read_to_end(&mut text)?;
    Ok(text)
}

/// The start address of each file that the process executes code of.
pub(crate) fn starts(tid: Tid) -> io::Result<Vec<(PathBuf, u64)>> {
    Ok(starts_in(&maps(tid)?))
}

/// The same by the text of `/proc/PID/maps`. A file may be mapped a second time, as data: its code belongs to the beginning before it.
fn starts_in(text: &[u8]) -> Vec<(PathBuf, u64)> {
    let mut starts: Vec<(PathBuf, u64)> = Vec::new();
    let mut begins: Option<FileMap<'_>> = None;
    for map in text.split(|&byte| byte == b'\n').filter_map(FileMap::parse) {
        let is_code = map.is_code;
        if map.offset == 0 {
            begins = Some(map);
        } else if begins.as_ref().is_some_and(|begins| begins.path != map.path) {
            begins = None;
        }
        if let Some(begins) = begins.as_ref().filter(|_| is_code)
            && starts.iter().all(|(known, _)| known != begins.path)
        {
            starts.push((begins.path.to_owned(), begins.start));
        }
    }
    starts
}

/// Whether a process has mapped memory that is shared with its children, writable, and no file of a name (anonymous, of
/// `memfd_create`, or of a file that has been removed).
pub(crate) fn maps_unnamed_memory_shared(tid: Tid) -> io::Result<bool> {
    const REMOVED: &[u8] = b" (deleted)";
    let text = maps(tid)?;
    Ok(text.split(|&byte| byte == b'\n').any(|line| {
        let permissions = line.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
        let is_shared = permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b's');
        is_shared && line.ends_with(REMOVED)
    }))
}

/// An address is in memory of a process that is shared with others: its children, or any process that has mapped the
/// same file.
pub(crate) fn is_mapped_shared(tid: Tid, address: u64) -> bool {
    let Ok(text) = maps(tid) else { return false };
    String::from_utf8_lossy(&text).lines().any(|line| {
        let mut words = line.split(' ');
        let bounds = words.next().and_then(|range| range.split_once('-'));
        let number = |hexadecimal| u64::from_str_radix(hexadecimal, 16).ok();
        let range = bounds.and_then(|(start, end)| Some(number(start)?..number(end)?));
        range.is_some_and(|range| range.contains(&address))
            && words.next().is_some_and(|permissions| permissions.ends_with('s'))
    })
}

/// The bytes of files that a process has mapped to share them with others.
pub(crate) fn shared_files(tid: Tid) -> io::Result<Vec<SharedView>> {
    let text = maps(tid)?;
    Ok(text.split(|&byte| byte == b'\n').filter_map(shared_file).collect())
}

/// The same of a line of `/proc/PID/maps`.
fn shared_file(line: &[u8]) -> Option<SharedView> {
    let mut fields = line.split(|&byte| byte == b' ').map(std::str::from_utf8);
    let mut field = || fields.next()?.ok();
    let number = |hexadecimal| u64::from_str_radix(hexadecimal, 16).ok();
    let (start, end) = field()?.split_once('-')?;
    let is_shared = field()?.ends_with('s');
    let offset = number(field()?)?;
    let (major, minor) = field()?.split_once(':')?;
    let inode = field()?.parse().ok()?;
    let device = libc::makedev(number(major)? as u32, number(minor)? as u32);
    (is_shared && inode != 0).then_some(SharedView {
        memory: number(start)?..number(end)?,
        file: (device, inode),
        offset,
    })
}

/// The memory that a process has got by `brk`; where it has given all of it back, the empty range where it would be.
pub(crate) fn grown_data(tid: Tid) -> Option<Range<u64>> {
    /// The number of fields of `/proc/PID/stat` between the state and where such memory begins.
    const BEFORE: usize = 44;
    let start = || {
        let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
        let start: u64 = stat.rsplit_once(") ")?.1.split(' ').nth(BEFORE)?.parse().ok()?;
        Some(start..start)
    };
    heap(tid).or_else(start)
}

/// The memory that a process has got by `brk`, which is the heap of the C library.
pub(crate) fn heap(tid: Tid) -> Option<Range<u64>> {
    let text = maps(tid).ok()?;
    let line = text.split(|&byte| byte == b'\n').find(|line| line.ends_with(b" [heap]"))?;
    let (start, end) = std::str::from_utf8(line).ok()?.split(' ').next()?.split_once('-')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

/// The file of which a process has mapped a part at an address, and where it begins.
pub(crate) fn file_at(tid: Tid, address: u64) -> Option<(PathBuf, u64)> {
    file_in(&maps(tid).ok()?, address)
}

/// The same by the text of `/proc/PID/maps`.
fn file_in(text: &[u8], address: u64) -> Option<(PathBuf, u64)> {
    let mut begins: Option<FileMap<'_>> = None;
    for map in text.split(|&byte| byte == b'\n').filter_map(FileMap::parse) {
        let is_there = (map.start..map.end).contains(&address);
        if map.offset == 0 || begins.as_ref().is_none_or(|begins| begins.path != map.path) {
            begins = Some(map);
        }
        if let Some(begins) = begins.as_ref().filter(|_| is_there) {
            return Some((begins.path.to_owned(), begins.start));
        }
    }
    None
}

/// The pages with code of these modules that the process can write.
pub(crate) fn writable_code(tid: Tid, modules: &[Module]) -> io::Result<Vec<Range<u64>>> {
    let text = maps(tid)?;
    let maps = text.split(|&byte| byte == b'\n').filter_map(FileMap::parse);
    let has_code = |map: &FileMap<'_>| {
        let code = |module: &Module| {
            let bias = module.mapped.bias;
            let sections = module.image.text().into_iter().map(|section| section.range());
            sections.map(|code| code.start + bias..code.end + bias).collect::<Vec<_>>()
        };
        let is_there = |code: Range<u64>| code.start < map.end && map.start < code.end;
        modules.iter().any(|module| module.mapped.path == map.path && code(module).into_iter().any(is_there))
    };
    Ok(maps.filter(|map| map.is_writable && has_code(map)).map(|map| map.start..map.end).collect())
}

/// The mappings of a process, as far as code is concerned.
pub(crate) struct CodeMappings {
    /// The number of all its mappings.
    pub(crate) count: usize,
    /// The mappings of files that it can execute, by address.
    pub(crate) executable: Vec<Range<u64>>,
    /// Those of them that it can read, and not write.
    plain: Vec<Range<u64>>,
}

impl CodeMappings {
    /// Whether each of these ranges can be read and executed, and not written.
    pub(crate) fn cover(&self, ranges: &[Range<u64>]) -> bool {
        let covered = |range: &Range<u64>| -> u64 {
            let parts = self.plain.iter().map(|map| map.start.max(range.start)..map.end.min(range.end));
            parts.map(|part| part.end.saturating_sub(part.start)).sum()
        };
        ranges.iter().all(|range| covered(range) == range.end - range.start)
    }
}

/// The mappings of a process.
pub(crate) fn mappings_of_code(tid: Tid) -> io::Result<CodeMappings> {
    let text = maps(tid)?;
    let lines = || text.split(|&byte| byte == b'\n');
    let executable: Vec<FileMap<'_>> = lines().filter_map(FileMap::parse).filter(|map| map.is_code).collect();
    let range = |map: &FileMap<'_>| map.start..map.end;
    let plain = executable.iter().filter(|map| map.is_readable && !map.is_writable).map(range).collect();
    Ok(CodeMappings { count: lines().count(), plain, executable: executable.iter().map(range).collect() })
}

/// A part of a file in a process's memory.
#[derive(Debug, PartialEq, Eq)]
struct FileMap<'a> {
    start: u64,
    end: u64,
    is_readable: bool,
    is_writable: bool,
    is_code: bool,
    offset: u64,
    path: &'a Path,
}

impl<'a> FileMap<'a> {
    /// Parses a line of `/proc/PID/maps`, whose path need not be text. `None`: it maps no file.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let path = &line[line.iter().position(|&byte| byte == b'/')?..];
        let fields = std::str::from_utf8(&line[..line.len() - path.len()]).ok()?;
        let mut fields = fields.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let permissions = fields.next()?;
        Some(Self {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            is_readable: permissions.contains('r'),
            is_writable: permissions.contains('w'),
            is_code: permissions.contains('x'),
            offset: u64::from_str_radix(fields.next()?, 16).ok()?,
            path: Path::new(OsStr::from_bytes(path)),
        })
    }
}

/// Every ELF file among these, the executable first, then in order of address.
pub(crate) fn loaded(starts: &[(PathBuf, u64)], executable: &Executable) -> Vec<Module> {
    let own_image = |path: &Path| (path == executable.path).then(|| Arc::clone(&executable.image));
    let module = |(path, start): &(PathBuf, u64)| module(path, *start, own_image(path));
    let mut modules: Vec<Module> = starts.iter().filter_map(module).collect();
    modules.sort_by_key(|m| (m.mapped.path != executable.path, m.mapped.range.start));
    for i in task_schedulers::among(&modules) {
        // A library that cannot be read a second time stays as it is.
        if let Ok(image) = Image::open(&modules[i].mapped.path) {
            modules[i].image = image;
            modules[i].is_system = false;
            modules[i].schedules_tasks = true;
        }
    }
    modules
}

/// The module of a file; `own_image`: that of the executable, if it is that. `None`: it is code, but no ELF file.
fn module(path: &Path, start: u64, own_image: Option<Arc<Image>>) -> Option<Module> {
    const PAGE: u64 = 0x1000;
    let is_executable = own_image.is_some();
    let is_system = !is_executable && is_system(path);
    let image = match own_image {
        Some(image) => image,
        None if is_system => Image::open_for_symbols(path).ok()?,
        None => Image::open(path).ok()?,
    };
    let extent = image.extent();
    let bias = start.wrapping_sub(extent.start & !(PAGE - 1));
    let range = start..extent.end.wrapping_add(bias);
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_libc = !is_executable && is_of_libc(&file);
    let name = block_name(&format!("module {file}"));
    let mapped = Mapped { path: path.to_owned(), bias, range };
    Some(Module { mapped, image, name, is_libc, is_system, schedules_tasks: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_known_by_its_whole_name() {
        for file in ["libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "ld-2.31.so", "libpthread-2.31.so"]
        {
            assert!(is_of_libc(file), "{file}");
        }
        for file in ["libc-test", "libc-locks.so", "libc.so", "ld-linux-x", "libc-2.locks.so", "libcurl.so.4"]
        {
            assert!(!is_of_libc(file), "{file}");
        }
    }

    #[test]
    fn a_file_that_is_mapped_as_data_too_begins_before_its_code() {
        let text = b"7000-8000 r--p 00000000 08:02 42 /lib/a.so\n\
            8000-9000 r--p 00000000 08:02 43 /lib/b.so\n\
            9000-a000 r-xp 00001000 08:02 43 /lib/b.so\n\
            a000-b000 r--p 00000000 08:02 42 /lib/a.so\n\
            b000-c000 r-xp 00001000 08:02 42 /lib/a.so\n\
            c000-d000 r--p 00000000 08:02 44 /data\n";
        let expected = [("/lib/b.so", 0x8000), ("/lib/a.so", 0xa000)];
        assert_eq!(starts_in(text), expected.map(|(path, start)| (PathBuf::from(path), start)));
    }

    #[test]
    fn an_address_is_of_the_file_that_is_mapped_there() {
        let text = b"7000-8000 r--p 00000000 08:02 42 /lib/a.so\n\
            8000-9000 r-xp 00001000 08:02 42 /lib/a.so\n\
            9000-a000 rw-p 00000000 00:00 0\n\
            a000-b000 r--p 00003000 08:02 43 /lib/b.so\n\
            b000-c000 r--p 00000000 08:02 42 /lib/a.so\n";
        let file = |path: &str, start| Some((PathBuf::from(path), start));
        assert_eq!(file_in(text, 0x8fff), file("/lib/a.so", 0x7000));
        assert_eq!(file_in(text, 0x9000), None);
        assert_eq!(file_in(text, 0xa123), file("/lib/b.so", 0xa000));
        assert_eq!(file_in(text, 0xb000), file("/lib/a.so", 0xb000));
    }

    #[test]
    fn a_path_need_not_be_text() {
        let line = b"55d0c000-55d0d000 r-xp 00001000 08:02 42        /tmp/b\xff d/lost";
        let path = Path::new(OsStr::from_bytes(b"/tmp/b\xff d/lost"));
        let expected = FileMap {
            start: 0x55d0_c000,
            end: 0x55d0_d000,
            is_readable: true,
            is_writable: false,
            is_code: true,
            offset: 0x1000,
            path,
        };
        assert_eq!(FileMap::parse(line), Some(expected));
        assert_eq!(FileMap::parse(b"7ffc0000-7ffc1000 rw-p 00000000 00:00 0        [stack]"), None);
    }
}
