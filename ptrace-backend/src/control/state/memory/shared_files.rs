//! Files that a process has mapped to share them with others: memory that is there at several addresses is one and the same, and calls
//! on the file come upon it.
//!
//! While a file is in memory, loads and stores there touch its content. A call that begins or ends this touches the content as
//! well: so it is ordered with calls on the file, and with other mappings that are there at other times.
//!
//! Of bytes that are mapped several times, the mapping that came first has the *original* addresses, which stand for all of them.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// A file, by its device and inode.
pub(crate) type FileNumber = (u64, u64);

/// Bytes of a file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedView {
    pub(crate) memory: Range<u64>,
    pub(crate) file: FileNumber,
    /// The offset in the file at which the bytes begin.
    pub(crate) offset: u64,
}

impl SharedView {
    /// The bytes of the file.
    fn bytes(&self) -> Range<u64> {
        self.offset..self.offset + (self.memory.end - self.memory.start)
    }

    /// Whether both are parts of one mapping: the kernel splits and joins them.
    fn is_of(&self, other: &Self) -> bool {
        self.file == other.file
            && self.memory.start.wrapping_sub(self.offset) == other.memory.start.wrapping_sub(other.offset)
    }
}

/// The shared mappings of files in one process.
#[derive(Debug, Default)]
pub(crate) struct SharedFiles {
    /// The program may have changed its mappings since they were read.
    pub(crate) are_stale: bool,
    /// Those with original addresses.
    originals: Vec<SharedView>,
    /// Memory that shows what is at original addresses as well, and where these begin.
    aliases: Vec<(Range<u64>, u64)>,
    /// The files that have been mapped.
    files: FxHashMap<FileNumber, MappedFile>,
}

/// A file that has been mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedFile {
    /// The words for it.
    pub(crate) name: String,
    /// Whether it may have been mapped to be written.
    pub(crate) may_be_written: bool,
}

impl SharedFiles {
    /// Of a process of which it is known that there are none, or not (`are_stale`).
    pub(crate) fn new(are_stale: bool) -> Self {
        Self { are_stale, ..Self::default() }
    }

    /// Takes note of all shared mappings of files that there are. `false`: of some memory it is not known any more, or never was, which
    /// address is the original one.
    #[must_use]
    pub(crate) fn update(&mut self, all: &[SharedView]) -> bool {
        self.are_stale = false;
        let gone =
            |view: &SharedView| !all.iter().any(|now| now.is_of(view) && meets(&now.memory, &view.memory));
        let lost = self.originals.iter().filter(|view| gone(view));
        let mut is_known = lost
            .into_iter()
            .all(|view| self.aliases.iter().all(|(_, original)| !view.memory.contains(original)));
        self.originals.retain(|view| !gone(view));
        self.aliases.clear();
        for view in all {
            if let Some(known) = self.originals.iter_mut().find(|known| known.is_of(view)) {
                let start = known.memory.start.min(view.memory.start);
                known.offset -= known.memory.start - start;
                known.memory = start..known.memory.end.max(view.memory.end);
                continue;
            }
            let bytes = view.bytes();
            let mut shown = self.originals.iter().filter(|known| known.file == view.file);
            match shown.find(|known| meets(&known.bytes(), &bytes)) {
                Some(known) if known.bytes().start <= bytes.start && bytes.end <= known.bytes().end => {
                    let original = known.memory.start + (bytes.start - known.offset);
                    self.aliases.push((view.memory.clone(), original));
                }
                Some(_) => is_known = false,
                None => self.originals.push(view.clone()),
            }
        }
        is_known
    }

    /// Takes note of a file that is about to be mapped.
    pub(crate) fn note_file(&mut self, number: FileNumber, file: MappedFile) {
        let may_be_written = file.may_be_written;
        self.files.entry(number).or_insert(file).may_be_written |= may_be_written;
    }

    /// A file that has been mapped.
    pub(crate) fn file(&self, number: FileNumber) -> Option<&MappedFile> {
        self.files.get(&number)
    }

    /// The files that are shown in a range of memory; `None` for one that was mapped before anything was known.
    pub(crate) fn files_in(&self, range: &Range<u64>) -> Vec<Option<&MappedFile>> {
        let originals = self.originals.iter().filter(|view| meets(&view.memory, range));
        let aliases = self.aliases.iter().filter(|(memory, _)| meets(memory, range));
        let aliases = aliases.flat_map(|(_, original)| {
            self.originals.iter().filter(move |view| view.memory.contains(original))
        });
        let mut numbers: Vec<FileNumber> = originals.chain(aliases).map(|view| view.file).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| self.files.get(&number)).collect()
    }

    /// The file whose content an address shows, in words, and the offset in it; `None` as well where two files that were mapped
    /// have the same words.
    pub(crate) fn content_at(&self, address: u64) -> Option<(&str, u64)> {
        if self.is_empty() {
            return None;
        }
        let original = self.original(address);
        let view = self.originals.iter().find(|view| view.memory.contains(&original))?;
        let MappedFile { name, .. } = self.files.get(&view.file)?;
        let is_another =
            |(number, other): (&FileNumber, &MappedFile)| *number != view.file && other.name == *name;
        let is_only = !self.files.iter().any(is_another);
        is_only.then(|| (name.as_str(), original - view.memory.start + view.offset))
    }

    /// All memory that shows files.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.originals.iter().map(|view| &view.memory).chain(self.aliases.iter().map(|(memory, _)| memory))
    }

    /// Whether there is such memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.originals.is_empty()
    }

    /// The original address of memory.
    pub(crate) fn original(&self, address: u64) -> u64 {
        let alias = self.aliases.iter().find(|(memory, _)| memory.contains(&address));
        alias.map_or(address, |(memory, original)| original + (address - memory.start))
    }

    /// The original addresses of the bytes of a file.
    pub(crate) fn memory_of(&self, file: FileNumber) -> impl Iterator<Item = Range<u64>> {
        self.originals.iter().filter(move |view| view.file == file).map(|view| view.memory.clone())
    }
}

fn meets(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(memory: Range<u64>, offset: u64) -> SharedView {
        SharedView { memory, file: (1, 7), offset }
    }

    #[test]
    fn what_was_mapped_first_has_the_original_addresses() {
        let mut files = SharedFiles::default();
        let first = view(0x9000..0xb000, 0x1000);
        assert!(files.update(std::slice::from_ref(&first)));
        assert_eq!(files.original(0x9008), 0x9008);
        let second = view(0x4000..0x5000, 0x2000);
        assert!(files.update(&[second.clone(), first.clone()]));
        assert_eq!((files.original(0x4010), files.original(0x9008)), (0xa010, 0x9008));
        assert!(files.memory_of((1, 7)).eq(std::iter::once(0x9000..0xb000)));
        // A part of it has another protection now.
        let parts = [view(0x9000..0xa000, 0x1000), view(0xa000..0xb000, 0x2000)];
        assert!(files.update(&[&[second.clone()][..], &parts].concat()));
        assert_eq!(files.original(0x4010), 0xa010);
        // The addresses that stood for it are gone.
        assert!(!files.update(&[second]));
    }

    #[test]
    fn files_are_known_at_original_addresses_and_at_others() {
        let mut files = SharedFiles::default();
        let file = |may_be_written| MappedFile { name: "file `x`".to_owned(), may_be_written };
        assert!(files.update(&[view(0x9000..0xa000, 0)]));
        assert_eq!(files.files_in(&(0x9000..0x9001)), [None]);
        files.note_file((1, 7), file(false));
        files.note_file((1, 7), file(true));
        files.note_file((1, 7), file(false));
        assert!(files.update(&[view(0x4000..0x5000, 0), view(0x9000..0xa000, 0)]));
        for range in [0x9fff..0xb000, 0x4000..0x4001, 0x4000..0xb000] {
            assert_eq!(files.files_in(&range), [Some(&file(true))]);
        }
        assert_eq!(files.files_in(&(0x5000..0x9000)), []);
    }

    #[test]
    fn a_mapping_that_shows_more_than_the_one_before_is_not_known() {
        let mut files = SharedFiles::default();
        assert!(files.update(&[view(0x9000..0xa000, 0)]));
        assert!(!files.update(&[view(0x4000..0x6000, 0), view(0x9000..0xa000, 0)]));
    }
}
