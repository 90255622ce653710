//! Where a thread has its own copies of variables.

use super::thread::Thread;
use crate::debuginfo::expression::Missing;

/// The address of the variable that stands `offset` bytes into a module's thread-local storage.
pub(super) fn address(thread: &Thread<'_>, module: usize, offset: u64) -> Result<u64, Missing> {
    const UNKNOWN: Missing = Missing::Unsupported("thread-local storage of this library");
    let pointer = thread.thread_pointer().ok_or(Missing::Unsupported("thread-local storage without fs"))?;
    let image = &thread.modules.get(module).ok_or(UNKNOWN)?.image;
    // The program's own storage ends where the thread pointer points: the x86-64 ABI's variant II.
    let storage = image.thread_local_storage().filter(|_| image.is_program()).ok_or(UNKNOWN)?;
    let size = storage.size.checked_next_multiple_of(storage.alignment.max(1)).ok_or(UNKNOWN)?;
    Ok(pointer.wrapping_sub(size).wrapping_add(offset))
}
