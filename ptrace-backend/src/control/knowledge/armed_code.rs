//! Code with traps planted, to be written over the code of a process.

use std::io;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::layout::{LONGEST, Layout, Trap};
use crate::os::memory::MemoryFile;
use crate::os::{Tid, memory, ptrace};

const PAGE: u64 = 4096;

/// The breakpoint instruction.
const TRAP: u8 = 0xcc;

/// Code with traps planted, to be written over the target's.
#[derive(Debug)]
pub(crate) struct ArmedCode {
    code: CodePatch,
    /// The traps and jumps in it, with their addresses.
    bytes: Vec<(u64, u8)>,
}

#[derive(Debug)]
struct CodePatch {
    /// Words with their addresses, if there are few: cheaper for a process that the kernel has stopped.
    words: Vec<(u64, u64)>,
    /// Pages with their addresses.
    pages: Vec<(u64, Vec<u8>)>,
}

/// The same with detours.
#[derive(Debug)]
pub(crate) struct DetouredCode {
    pub(crate) code: ArmedCode,
    /// The detours that are in it, by their places among the layout's.
    pub(crate) detours: Vec<usize>,
    /// The instructions that they take down.
    pub(crate) candidates: FxHashSet<usize>,
    /// The first one whose flag is set ([`Log::flag`](crate::instructions::detour::log::Log::flag)), with the flags from there to the last one.
    pub(crate) flags: (usize, Vec<u8>),
    /// Blocks have names, and are kept when they are freed: threads stop at `free`.
    pub(crate) keeps_freed: bool,
}

impl CodePatch {
    /// Up to so many words are written one by one.
    const FEW: usize = 24;

    fn new(bytes: &[(u64, u8)], pages: Vec<(u64, Vec<u8>)>) -> Self {
        let mut words: Vec<u64> = bytes.iter().map(|(address, _)| address & !7).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > Self::FEW {
            words.clear();
        }
        let word_at = |at: u64| {
            let (page, bytes) = pages.iter().find(|(page, _)| (*page..page + PAGE).contains(&at))?;
            let offset = (at - page) as usize;
            Some((at, u64::from_le_bytes(bytes.get(offset..offset + 8)?.try_into().ok()?)))
        };
        Self { words: words.into_iter().filter_map(word_at).collect(), pages }
    }

    /// Writes what is in other pages than these over the code of a process.
    fn write(&self, process: Tid, is_left_out: impl Fn(u64) -> bool) -> io::Result<()> {
        if !self.words.is_empty() {
            let mut words = self.words.iter().filter(|(address, _)| !is_left_out(*address));
            match words.try_for_each(|(address, word)| ptrace::poke(process, *address, *word)) {
                // It is not the kernel that has stopped it.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                result => return result,
            }
        }
        if self.pages.is_empty() {
            return Ok(());
        }
        let file = MemoryFile::open(process)?;
        let mut pages = self.pages.iter().filter(|(address, _)| !is_left_out(*address));
        pages.try_for_each(|(address, bytes)| file.write(*address, bytes))
    }
}

/// The code around these places with these bytes there, each given with its address.
pub(super) fn armed(bytes: Vec<(u64, u8)>, pristine: Tid) -> ArmedCode {
    let mut pages: FxHashMap<u64, Vec<u8>> = FxHashMap::default();
    for (address, byte) in &bytes {
        let page = pages.entry(page(*address)).or_insert_with_key(|&page| {
            let mut bytes = vec![0; PAGE as usize];
            if memory::read(pristine, page, &mut bytes) { bytes } else { Vec::new() }
        });
        if let Some(place) = page.get_mut((address % PAGE) as usize) {
            *place = *byte;
        }
    }
    let pages: Vec<_> = pages.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    ArmedCode { code: CodePatch::new(&bytes, pages), bytes }
}

fn page(address: u64) -> u64 {
    address & !(PAGE - 1)
}

impl ArmedCode {
    /// Writes it over the code of a process.
    pub(crate) fn plant(&self, process: Tid) -> io::Result<()> {
        self.code.write(process, |_| false)
    }

    /// The same where the program may have written something into these pages.
    pub(crate) fn plant_beside(
        &self,
        process: Tid,
        layout: &Layout,
        written: &[Range<u64>],
    ) -> io::Result<()> {
        if written.is_empty() {
            return self.plant(process);
        }
        let is_written = |address| is_in_pages(written, address);
        self.code.write(process, is_written)?;
        let planted: FxHashMap<u64, u8> =
            self.bytes.iter().copied().filter(|(address, _)| is_written(*address)).collect();
        let file = MemoryFile::open(process)?;
        let traps = layout.traps.iter();
        let traps = traps.filter(|(address, trap)| is_written(**address) && !layout.holds_always(trap));
        for (&address, trap) in traps {
            let wanted = planted.get(&address).copied();
            set_trap(process, &file, layout, (address, trap), wanted)?;
        }
        Ok(())
    }
}

fn is_in_pages(ranges: &[Range<u64>], address: u64) -> bool {
    ranges.iter().any(|range| (page(range.start)..range.end.next_multiple_of(PAGE)).contains(&address))
}

/// Puts this byte in the place of an instruction's first one, or takes the trap there away. A change that the program has made
/// to the instruction stays.
fn set_trap(
    process: Tid,
    file: &MemoryFile,
    layout: &Layout,
    (address, trap): (u64, &Trap),
    wanted: Option<u8>,
) -> io::Result<()> {
    let length = layout.length(trap);
    let mut found = [0; LONGEST];
    if !memory::read(process, address, &mut found[..length]) {
        return Ok(());
    }
    let is_ours = [TRAP, trap.byte()].contains(&found[0]);
    let is_same = found[1..length] == trap.code[1..length];
    let byte = wanted.filter(|_| is_same).unwrap_or(trap.byte());
    if is_ours && byte != found[0] { file.write(address, &[byte]) } else { Ok(()) }
}
