//! The log of detours ([`super`]), and what their copies look up beside it.

/// The widest access, in bytes, that the table of private addresses can tell of.
pub(crate) const WIDEST: u32 = 64;

/// The memory of the copies, below 2 GiB, where every instruction can name it: the log, then the table of private addresses, then
/// that of private chunks of memory, then a byte for each candidate. Its state is in the page of hand-offs below it ([`HandOff`]): how far the
/// log is, two registers that are saved, and the address that is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Log {
    /// The lowest address.
    pub(crate) start: u32,
    /// Number of accesses that the log has room for.
    pub(crate) entries: u32,
}

impl Log {
    /// Length of an entry in bytes: the address, and the number of the candidate, eight bytes each.
    pub(crate) const ENTRY: u32 = 16;
    /// The same in words.
    pub(crate) const WORDS: usize = Self::ENTRY as usize / size_of::<u64>();
    /// Number of private addresses that can be known: one for each value of an address's lower 16 bits.
    pub(crate) const PRIVATE: u32 = 1 << 16;
    /// Number of private chunks that can be known: one for each value of the lower 16 bits of a chunk's number.
    pub(crate) const CHUNKS: u32 = 1 << 16;
    /// The length of a chunk in bytes. Its number is the address without the lowest byte.
    pub(crate) const CHUNK: u64 = 256;

    /// The state of an empty log.
    #[must_use]
    pub(crate) fn empty(&self) -> u64 {
        (-2 * i64::from(self.entries)).cast_unsigned()
    }

    /// The address behind the entries.
    #[must_use]
    pub(crate) fn end(&self) -> u32 {
        self.start + self.entries * Self::ENTRY
    }

    /// The place in the table for an address. It holds 0, or [`Log::private`] of an address with the same place.
    #[must_use]
    pub(crate) fn place(&self, address: u64) -> u32 {
        self.end() + (address as u32 % Self::PRIVATE) * 8
    }

    /// The table's value for so many private bytes at an address.
    #[must_use]
    pub(crate) fn private(address: u64, len: u32) -> u64 {
        address.wrapping_add(u64::from(len)).wrapping_neg()
    }

    /// The address of the table of chunks.
    pub(super) fn chunks(&self) -> u32 {
        self.end() + Self::PRIVATE * 8
    }

    /// The place in the table for the chunk of this number. It holds 0, or [`Log::private_chunk`] of a chunk with the
    /// same place.
    #[must_use]
    pub(crate) fn chunk_place(&self, chunk: u64) -> u32 {
        self.chunks() + (chunk as u32 % Self::CHUNKS) * 8
    }

    /// The table's value for a chunk in which every access of at most [`WIDEST`] bytes that begins there is private. It is 0 for none:
    /// the first chunk, at null, is one like others.
    #[must_use]
    pub(crate) fn private_chunk(chunk: u64) -> u64 {
        !chunk
    }

    /// The address of a candidate's byte. The byte is 0 unless the candidate stops where it does not touch an address
    /// of the tables.
    #[must_use]
    pub(crate) fn flag(&self, candidate: usize) -> u32 {
        self.chunks() + Self::CHUNKS * 8 + candidate as u32
    }

    /// The address behind the bytes of so many candidates, and that of the entry of `free`, which is the last one.
    #[must_use]
    pub(crate) fn end_of_flags(&self, candidates: usize) -> u32 {
        self.flag(candidates) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Log = Log { start: 0x7000_0000, entries: 16 };

    #[test]
    fn an_address_and_a_length_stand_for_nothing_else_in_their_place() {
        let place = LOG.place(0x1234_5678);
        assert_eq!(place, LOG.place(0x9999_5678));
        assert_ne!(Log::private(0x1234_5678, 4), Log::private(0x1234_5678, 8));
        assert_ne!(Log::private(0x1234_5678, 4), Log::private(0x9999_5678, 4));
    }

    #[test]
    fn an_empty_place_is_that_of_no_chunk() {
        assert!((0..=u64::MAX / Log::CHUNK).step_by(1 << 50).all(|chunk| Log::private_chunk(chunk) != 0));
    }
}
