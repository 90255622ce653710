//! The environment: the list of strings in which the C library looks variables up, wherever the program has put them.

use std::ops::Range;

use crate::control::memory::sharing::TouchKind;
use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::{Accesses, MemoryAccess};
use crate::os::memory as target_memory;

/// More variables than these are not looked at.
const MOST: usize = 4096;

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
        if !conflict.bytes.is_empty() {
            let shared = conflict.bytes.iter().map(|b| memory.stretch(b.start, b.end - b.start));
            let shared: Vec<_> = shared.collect();
            memory.promoted |= memory.knowledge.promote(&conflict.candidates, None, &shared);
        }
    }
    memory.shared_among(&all)
}

/// The memory that a look-up may read: the pointer to the list, the list, and of each string the name of the variable.
fn reads_of_lookup(tracee: &Tracee) -> Accesses {
    let read = |addr, len| MemoryAccess { addr, len, read: true, write: false };
    let Some(variable) = tracee.layout.environment else { return Accesses::new() };
    let list = tracee.number(variable, POINTER as usize);
    let strings: Vec<u64> = (0..MOST as u64)
        .map(|nth| tracee.number(list.wrapping_add(nth * POINTER), POINTER as usize))
        .take_while(|string| *string != 0)
        .collect();
    let whole = [read(variable, POINTER), read(list, (strings.len() as u64 + 1) * POINTER)];
    let names = strings.into_iter().map(|string| {
        let text = target_memory::string(tracee.leader, string);
        let name = text.find('=').unwrap_or(text.len());
        read(string, name as u64 + 1)
    });
    whole.into_iter().chain(names).collect()
}
