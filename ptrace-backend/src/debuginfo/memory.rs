//! Reading memory that stands still, a page at a time.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

/// The memory of something that stands still.
pub trait Memory {
    /// Fills `buffer` from `address`; false if not all of it can be read.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;
}

pub(super) fn word(memory: &dyn Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}

/// Memory that can be read at a page's start can be read throughout the page.
const PAGE: usize = 4096;
/// 16 MiB: more than a user looks at while a thread stands still.
const MOST_PAGES: usize = 4096;

/// Reads each page once: every read of another process is a system call.
pub(super) struct Pages<'a> {
    memory: &'a dyn Memory,
    /// By page number; none for what cannot be read as a whole.
    known: RefCell<FxHashMap<u64, Option<Box<[u8; PAGE]>>>>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(memory: &'a dyn Memory) -> Self {
        Self { memory, known: RefCell::default() }
    }

    /// Reads from within one page.
    fn read_page(&self, address: u64, buffer: &mut [u8]) -> bool {
        let (number, offset) = (address / PAGE as u64, (address % PAGE as u64) as usize);
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST_PAGES && !known.contains_key(&number) {
            known.clear();
        }
        let page = known.entry(number).or_insert_with(|| {
            let mut page = Box::new([0; PAGE]);
            self.memory.read(number * PAGE as u64, &mut page[..]).then_some(page)
        });
        match page {
            Some(page) => buffer.copy_from_slice(&page[offset..offset + buffer.len()]),
            None => return self.memory.read(address, buffer),
        }
        true
    }
}

impl Memory for Pages<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let mut rest = buffer;
        let mut at = address;
        while !rest.is_empty() {
            let size = rest.len().min(PAGE - (at % PAGE as u64) as usize);
            let (first, others) = std::mem::take(&mut rest).split_at_mut(size);
            if !self.read_page(at, first) {
                return false;
            }
            let Some(next) = at.checked_add(size as u64) else { return others.is_empty() };
            (rest, at) = (others, next);
        }
        true
    }
}
