//! Blocks that were allocated before `main`, by constructors and the initial values of variables: the heap of the C library tells of
//! them, whose blocks lie one behind the other, each behind a word with its size.

use std::ops::Range;

use crate::control::tracee::Tracee;
use crate::target::modules;

/// The largest heap that is looked through, in bytes, and the most blocks in it.
const LARGEST: u64 = 64 << 20;
const MOST: usize = 50_000;

/// A word of the heap, in bytes. Before each block are two: the first one may be the previous block's, the second one is the size
/// with flags.
const WORD: usize = 8;
const ALIGNMENT: usize = 2 * WORD;
/// The shortest distance from a block to the next one.
const SHORTEST: usize = 4 * WORD;

/// The previous block is in use; the block is mapped by itself, or of another heap than the first.
const PREVIOUS_IN_USE: u64 = 1;
const ELSEWHERE: u64 = 6;

/// The blocks in use, in order of address; none where the heap is not as the C library keeps it.
pub(crate) fn before_main(tracee: &Tracee) -> Vec<Range<u64>> {
    let heap = modules::heap(tracee.leader).filter(|heap| heap.end - heap.start <= LARGEST);
    let Some(heap) = heap else { return Vec::new() };
    let blocks = in_use(&tracee.read(heap.start, (heap.end - heap.start) as usize));
    let at = |offset: usize| heap.start + offset as u64;
    blocks.unwrap_or_default().into_iter().map(|block| at(block.start)..at(block.end)).collect()
}

/// The same by the bytes of the heap, as offsets. A block that the library keeps to give it out again counts as in use.
fn in_use(heap: &[u8]) -> Option<Vec<Range<usize>>> {
    let word = |at: usize| Some(u64::from_le_bytes(*heap.get(at..)?.first_chunk()?));
    let mut blocks = Vec::new();
    let mut at = 0;
    while blocks.len() < MOST {
        let tagged = word(at + WORD)?;
        let size = usize::try_from(tagged & !7).ok()?;
        if tagged & ELSEWHERE != 0 || size % ALIGNMENT != 0 || size < SHORTEST {
            return None;
        }
        let next = at.checked_add(size)?;
        if next >= heap.len() {
            // The rest of the heap, which has not been given out, ends with it.
            return (next == heap.len()).then_some(blocks);
        }
        if word(next + WORD)? & PREVIOUS_IN_USE != 0 {
            // The first word of the next one is the end of this one.
            blocks.push(at + 2 * WORD..next + WORD);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heap of blocks of these sizes with their flags.
    fn heap(tagged: &[u64]) -> Vec<u8> {
        let block = |&tagged: &u64| {
            let mut block = vec![0; (tagged & !7) as usize];
            block[WORD..2 * WORD].copy_from_slice(&tagged.to_le_bytes());
            block
        };
        tagged.iter().flat_map(block).collect()
    }

    #[test]
    fn blocks_in_use_are_those_whose_followers_say_so() {
        let heap = heap(&[0x21, 0x31, 0x40, 0x101]);
        assert_eq!(in_use(&heap), Some(vec![0x10..0x28, 0x60..0x98]));
    }

    #[test]
    fn what_is_no_heap_of_the_library_has_no_blocks() {
        assert_eq!(in_use(&[]), None);
        assert_eq!(in_use(&[0; 64]), None);
        assert_eq!(in_use(&heap(&[0x21, 0x25, 0x21])), None, "of another heap");
        assert_eq!(in_use(&heap(&[0x21, 0x31])[..0x48]), None, "the rest goes beyond the end");
    }
}
