//! Strings in the target's memory: how far a function of the C library reads in them.

use crate::instructions::machine::Machine;
use crate::instructions::registers;

/// Memory that is read as characters of so many bytes.
pub(crate) struct StringScanner<'a, M> {
    pub(crate) machine: &'a M,
    pub(crate) unit: u64,
}

/// So many bytes are read from the target at a time, at most.
const CHUNK: usize = 256;

const PAGE: u64 = 4096;

impl<M: Machine> StringScanner<'_, M> {
    /// The size of a string with its terminator, in bytes, as all lengths here. If memory ends before the string does,
    /// it is counted as far as memory goes.
    pub(super) fn string(&self, addr: u64) -> u64 {
        self.until(self.characters(addr).map(|c| c == 0))
    }

    /// The same of at most `limit` characters.
    pub(super) fn at_most(&self, addr: u64, limit: u64) -> u64 {
        self.until(limited(self.characters(addr), limit).map(|c| c == 0))
    }

    /// The size of at most `limit` characters of a string, without its terminator.
    pub(super) fn length(&self, addr: u64, limit: u64) -> u64 {
        limited(self.characters(addr), limit).take_while(|&c| c != 0).count() as u64 * self.unit
    }

    /// The characters through the first `wanted`, at most `limit`.
    pub(super) fn through(&self, addr: u64, wanted: u64, limit: u64) -> u64 {
        let wanted = self.character(wanted);
        self.until(limited(self.characters(addr), limit).map(|c| c == wanted))
    }

    /// The characters through the first `wanted`, or the whole string.
    pub(super) fn through_or_end(&self, addr: u64, wanted: u64) -> u64 {
        let wanted = self.character(wanted);
        self.until(self.characters(addr).map(|c| c == wanted || c == 0))
    }

    /// The characters from the last `wanted` among `limit` on, or all of them.
    pub(super) fn last_on(&self, addr: u64, wanted: u64, limit: u64) -> (u64, u64) {
        let wanted = self.character(wanted);
        let mut last = 0;
        for (at, character) in (0..).zip(limited(self.characters(addr), limit)) {
            last = if character == wanted { at } else { last };
        }
        (addr.wrapping_add(last * self.unit), (limit - last).saturating_mul(self.unit))
    }

    /// The characters that two strings have to be compared in, at most `limit` of each.
    pub(super) fn common(&self, a: u64, b: u64, limit: u64) -> u64 {
        let pairs = self.characters(a).zip(self.characters(b));
        self.until(limited(pairs, limit).map(|(a, b)| a != b || a == 0))
    }

    /// The characters through the first that is `wanted`, or is not, at most `limit`.
    pub(crate) fn searched(&self, addr: u64, wanted: u64, limit: u64, until_equal: bool) -> u64 {
        let wanted = self.character(wanted);
        self.until(limited(self.characters(addr), limit).map(|c| (c == wanted) == until_equal))
    }

    /// The characters of each of two texts through the first that is the same in both, or is not, at most `limit`.
    pub(crate) fn compared(&self, a: u64, b: u64, limit: u64, until_equal: bool) -> u64 {
        let pairs = self.characters(a).zip(self.characters(b));
        self.until(limited(pairs, limit).map(|(a, b)| (a == b) == until_equal))
    }

    fn until(&self, ends: impl Iterator<Item = bool>) -> u64 {
        let mut count = 0;
        for end in ends {
            count += 1;
            if end {
                break;
            }
        }
        count * self.unit
    }

    fn character(&self, argument: u64) -> u64 {
        argument & registers::mask(self.unit as usize)
    }

    fn characters(&self, addr: u64) -> Characters<'_, M> {
        Characters {
            machine: self.machine,
            unit: self.unit as usize,
            next: addr,
            chunk: [0; CHUNK],
            unread: 0..0,
        }
    }
}

fn limited<T>(characters: impl Iterator<Item = T>, limit: u64) -> impl Iterator<Item = T> {
    characters.take(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Characters from an address on, as far as memory can be read.
struct Characters<'a, M> {
    machine: &'a M,
    unit: usize,
    /// The address behind the chunk.
    next: u64,
    chunk: [u8; CHUNK],
    unread: std::ops::Range<usize>,
}

impl<M: Machine> Characters<'_, M> {
    /// Reads the next chunk, which ends where its page does unless a character does not.
    fn refill(&mut self) -> bool {
        let rest = (PAGE - self.next % PAGE) as usize;
        let len = rest.min(CHUNK) / self.unit * self.unit;
        let len = len.max(self.unit);
        let filled = self.machine.read(self.next, &mut self.chunk[..len]);
        if filled {
            self.unread = 0..len;
            self.next = self.next.wrapping_add(len as u64);
        }
        filled
    }
}

impl<M: Machine> Iterator for Characters<'_, M> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.unread.is_empty() && !self.refill() {
            return None;
        }
        let mut bytes = [0; 8];
        let start = self.unread.start;
        bytes[..self.unit].copy_from_slice(&self.chunk[start..start + self.unit]);
        self.unread.start += self.unit;
        Some(u64::from_le_bytes(bytes))
    }
}
