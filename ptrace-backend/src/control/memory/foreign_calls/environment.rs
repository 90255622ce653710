//! The environment: the list of strings in which the C library looks variables up, wherever the program has put them.

use std::ops::Range;

use crate::control::memory::sharing::TouchKind;
use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::{Accesses, MemoryAccess};
use crate::os::memory::BlockReader;

/// More variables than these are not looked at.
const MOST: usize = 4096;

/// Of a longer name the rest is not looked at.
const LONGEST_NAME: u64 = 4096;

const POINTER: u64 = 8;

/// A thread is about to call a function that looks a variable up, and leaves its result here: the memory that it uses, as far as other
/// threads are known to use it as well.
pub(super) fn used(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    results: &[Range<u64>],
) -> Accesses {
    let written = |bytes: &Range<u64>| MemoryAccess {
        addr: bytes.start,
        len: bytes.end - bytes.start,
        read: false,
        write: true,
    };
    let mut all = reads_of_lookup(tracee);
    all.extend(results.iter().map(written));
    for access in &all {
        let bytes = access.addr..access.addr.saturating_add(access.len);
        let kind = if access.write { TouchKind::Writes } else { TouchKind::Reads };
        let conflict = memory.sharing.touch_in(index, None, bytes, kind);
        memory.learn_conflict(&conflict, None);
    }
    memory.shared_among(&all)
}

/// The memory that a look-up may read: the pointer to the list, the list, and of each string the name of the variable.
fn reads_of_lookup(tracee: &Tracee) -> Accesses {
    let read = |addr, len| MemoryAccess { addr, len, read: true, write: false };
    let Some(variable) = tracee.layout.environment else { return Accesses::new() };
    let list = tracee.number(variable, POINTER as usize);
    let mut pointers = BlockReader::new(tracee.leader);
    let mut pointer = [0; POINTER as usize];
    let mut strings = Vec::new();
    while strings.len() < MOST
        && pointers.read(list.wrapping_add(strings.len() as u64 * POINTER), &mut pointer)
    {
        match u64::from_le_bytes(pointer) {
            0 => break,
            string => strings.push(string),
        }
    }
    let whole = [read(variable, POINTER), read(list, (strings.len() as u64 + 1) * POINTER)];
    // Most of them lie in one block, one behind the other.
    let mut texts = BlockReader::new(tracee.leader);
    let names = strings.into_iter().map(|string| read(string, length_of_name(&mut texts, string)));
    whole.into_iter().chain(names).collect()
}

/// The number of bytes of a string up to the end of its variable's name, which a look-up compares.
fn length_of_name(texts: &mut BlockReader, string: u64) -> u64 {
    let mut byte = [0];
    let ends = |at: &u64| !texts.read(string.wrapping_add(*at), &mut byte) || matches!(byte[0], b'=' | 0);
    (0..LONGEST_NAME).find(ends).unwrap_or(LONGEST_NAME) + 1
}
