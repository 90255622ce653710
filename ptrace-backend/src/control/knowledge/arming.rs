//! Code with traps planted, to be written over the code of a process.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::os::memory::MemoryFile;
use crate::os::{Tid, memory};

const PAGE: u64 = 4096;

/// Code with traps planted, to be written over the target's.
#[derive(Debug)]
pub(crate) enum Arming {
    /// Words with their addresses: cheaper where there are few.
    Words(Vec<(u64, u64)>),
    /// Pages with their addresses.
    Pages(Vec<(u64, Vec<u8>)>),
}

/// The same with detours.
#[derive(Debug)]
pub(crate) struct Detoured {
    pub(crate) code: Arming,
    /// Which detours are in it, by their places in the layout's.
    pub(crate) detours: Vec<usize>,
    /// The instructions that they take down.
    pub(crate) candidates: FxHashSet<usize>,
    /// Those that stop unless the address is known to be private.
    pub(crate) asking: Vec<usize>,
}

impl Arming {
    /// Up to so many words are written one by one.
    const FEW: usize = 24;

    pub(super) fn new(addresses: Vec<u64>, pages: Vec<(u64, Vec<u8>)>) -> Self {
        let mut words: Vec<u64> = addresses.iter().map(|address| address & !7).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > Self::FEW {
            return Self::Pages(pages);
        }
        let word_at = |at: u64| {
            let (page, bytes) = pages.iter().find(|(page, _)| (*page..page + PAGE).contains(&at))?;
            let offset = (at - page) as usize;
            Some((at, u64::from_le_bytes(bytes.get(offset..offset + 8)?.try_into().ok()?)))
        };
        Self::Words(words.into_iter().filter_map(word_at).collect())
    }
}

/// The code around these places with these bytes there, each given with its address.
pub(super) fn armed(bytes: &[(u64, u8)], template: Tid) -> Arming {
    let mut pages: FxHashMap<u64, Vec<u8>> = FxHashMap::default();
    for (address, byte) in bytes {
        let page = pages.entry(address & !(PAGE - 1)).or_insert_with_key(|&page| {
            let mut bytes = vec![0; PAGE as usize];
            if memory::read(template, page, &mut bytes) { bytes } else { Vec::new() }
        });
        if let Some(place) = page.get_mut((address % PAGE) as usize) {
            *place = *byte;
        }
    }
    let pages: Vec<_> = pages.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    Arming::new(bytes.iter().map(|(address, _)| *address).collect(), pages)
}

impl Arming {
    /// Writes it over the code of a process.
    pub(crate) fn plant(&self, process: crate::os::Tid) -> std::io::Result<()> {
        match self {
            Self::Words(words) => {
                words.iter().try_for_each(|(addr, word)| memory::poke(process, *addr, *word))
            }
            Self::Pages(pages) => {
                let file = MemoryFile::open(process)?;
                pages.iter().try_for_each(|(addr, bytes)| file.write(*addr, bytes))
            }
        }
    }
}
