//! Offsets in an ELF file, for tests that damage one.

use std::ops::Range;

/// The sections of a 64-bit little-endian ELF file.
pub struct Sections<'a> {
    bytes: &'a [u8],
}

impl<'a> Sections<'a> {
    /// Those of a file that a linker wrote.
    #[must_use]
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn number(&self, at: usize, size: usize) -> usize {
        self.bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn header(&self, index: usize) -> usize {
        self.number(40, 8) + index * self.number(58, 2)
    }

    fn count(&self) -> usize {
        self.number(60, 2)
    }

    fn range(&self, index: usize) -> Range<usize> {
        let start = self.number(self.header(index) + 24, 8);
        // A section that is zeroed at run time takes no room in the file.
        let is_empty = self.number(self.header(index) + 4, 4) == 8;
        start..start + if is_empty { 0 } else { self.number(self.header(index) + 32, 8) }
    }

    fn name(&self, index: usize) -> &'a str {
        let names = self.range(self.number(62, 2));
        let name = &self.bytes[names.start + self.number(self.header(index), 4)..names.end];
        std::str::from_utf8(name.split(|byte| *byte == 0).next().unwrap_or_default()).unwrap_or_default()
    }

    /// The range of a section in the file.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Range<usize>> {
        (0..self.count()).find(|index| self.name(*index) == name).map(|index| self.range(index))
    }

    /// All that is worth damaging: the headers, and every section that is no code.
    #[must_use]
    pub fn parts(&self) -> Vec<Range<usize>> {
        let headers = [0..64, 64..64 + self.number(56, 2) * 56, self.header(0)..self.header(self.count())];
        let data = (1..self.count()).filter(|index| self.number(self.header(*index) + 8, 8) & 4 == 0);
        headers
            .into_iter()
            .chain(data.map(|index| self.range(index)).filter(|part| !part.is_empty()))
            .collect()
    }
}
