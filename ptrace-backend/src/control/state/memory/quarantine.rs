//! Freed blocks that the allocator still has as allocated.

use std::collections::VecDeque;

use checker::names::ObjName;
use checker::names::Site;
use checker::names::ThreadName;
use rustc_hash::FxHashMap;

/// The most that a quarantine holds, in blocks and in bytes.
const MOST_BLOCKS: usize = 4096;

const MOST_BYTES: u64 = 32 << 20;

/// The thread that freed a block, and its stack then.
#[derive(Debug)]
pub(crate) struct FreedBy {
    pub(crate) by: ThreadName,
    pub(crate) stack: Vec<Site>,
}

/// A block that its owner has freed, and the allocator still has as allocated.
#[derive(Debug)]
pub(crate) struct QuarantinedBlock {
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) name: ObjName,
    /// A block has been allocated since to which the allocator could have given this address.
    pub(crate) reusable: bool,
}

/// The freed blocks of one execution.
#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    /// The oldest first.
    pub(crate) kept: VecDeque<QuarantinedBlock>,
    pub(crate) bytes: u64,
    pub(crate) freed: FxHashMap<ObjName, FreedBy>,
}

/// The size of the chunk that the C library takes for a block of so many bytes: it gives chunks of one size out again.
const fn room(size: u64) -> u64 {
    const HEADER: u64 = 8;
    const UNIT: u64 = 16;
    const LEAST: u64 = 32;
    let room = size.saturating_add(HEADER).div_ceil(UNIT) * UNIT;
    if room < LEAST { LEAST } else { room }
}

impl Quarantine {
    /// A block of so many bytes is allocated.
    pub(crate) fn note_allocation(&mut self, size: u64) {
        let fitting = self.kept.iter_mut().filter(|kept| room(kept.size) == room(size));
        fitting.for_each(|kept| kept.reusable = true);
    }

    /// Whether another block could have got the address of this one, which was freed.
    pub(crate) fn is_reusable(&self, addr: u64) -> bool {
        self.kept.iter().any(|kept| kept.addr == addr && kept.reusable)
    }

    /// Takes in a block. Returns the one that has to leave for it, which is itself if it is too large.
    pub(crate) fn admit(&mut self, block: QuarantinedBlock) -> Option<QuarantinedBlock> {
        self.bytes += block.size;
        self.kept.push_back(block);
        if self.is_within_bounds() {
            return None;
        }
        let oldest = self.kept.pop_front()?;
        self.bytes -= oldest.size;
        if self.is_within_bounds() {
            return Some(oldest);
        }
        // Only one block can leave at a time.
        self.bytes += oldest.size;
        self.kept.push_front(oldest);
        let newest = self.kept.pop_back()?;
        self.bytes -= newest.size;
        Some(newest)
    }

    /// Whether nothing has to leave for so many bytes.
    pub(crate) fn has_room(&self, size: u64) -> bool {
        self.kept.len() < MOST_BLOCKS && self.bytes.saturating_add(size) <= MOST_BYTES
    }

    pub(crate) fn is_within_bounds(&self) -> bool {
        self.kept.len() <= MOST_BLOCKS && self.bytes <= MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_blocks_leave_and_what_is_too_large_never_enters() {
        let block =
            |addr: u64, size: u64| QuarantinedBlock { addr, size, name: ObjName(addr), reusable: false };
        let mut quarantine = Quarantine::default();
        let mut admit = |addr, size| quarantine.admit(block(addr, size)).map(|leaves| leaves.addr);
        assert_eq!(admit(1, 16), None);
        assert_eq!(admit(2, MOST_BYTES), Some(1));
        // Block 1 has left, and what is in it now fills it.
        assert_eq!(admit(3, 1), Some(2));
        assert_eq!(admit(4, MOST_BYTES + 1), Some(4));
        for addr in 5..5 + MOST_BLOCKS as u64 - 1 {
            assert_eq!(admit(addr, 1), None);
        }
        assert_eq!(admit(1 << 20, 1), Some(3));
        assert_eq!(quarantine.bytes, MOST_BLOCKS as u64);
    }
}
