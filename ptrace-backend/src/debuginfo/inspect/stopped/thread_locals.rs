//! Addresses of a thread's own copies of variables.

use super::thread::StoppedThread;
use crate::debuginfo::dwarf::missing::Missing;
use crate::debuginfo::memory::word;

/// More libraries than a program loads; a damaged list has no end.
const MOST_LIBRARIES: usize = 4096;

/// The address of the variable that stands `offset` bytes into a module's thread-local storage.
pub(crate) fn address(thread: &StoppedThread<'_>, module: usize, offset: u64) -> Result<u64, Missing> {
    const UNKNOWN: Missing = Missing::Unsupported("where the thread has this library's variables");
    let pointer =
        thread.thread_pointer().ok_or(Missing::Unsupported("where the thread has its own variables"))?;
    let image = &thread.modules.get(module).ok_or(UNKNOWN)?.image;
    if !image.is_program() {
        let start = of_library(thread, module, pointer).ok_or(UNKNOWN)?;
        let is_allocated = start != 0 && start != u64::MAX;
        return if is_allocated {
            Ok(start.wrapping_add(offset))
        } else {
            Err(Missing::Unsupported("the thread has not used this library's variables yet"))
        };
    }
    // The program's own storage ends where the thread pointer points: the x86-64 ABI's variant II.
    let storage = image.thread_local_storage().ok_or(UNKNOWN)?;
    let size = storage.size.checked_next_multiple_of(storage.alignment.max(1)).ok_or(UNKNOWN)?;
    Ok(pointer.wrapping_sub(size).wrapping_add(offset))
}

/// Address at which a library's storage begins: the C library has a table of them in each thread, and describes its
/// structures to debuggers by symbols.
fn of_library(thread: &StoppedThread<'_>, module: usize, pointer: u64) -> Option<u64> {
    let bias = thread.modules.get(module)?.bias;
    let number = word(
        thread.memory(),
        link_map(thread, bias)?.checked_add(told(thread, "link_map_l_tls_modid")?.offset)?,
    )?;
    let table = word(thread.memory(), pointer.checked_add(told(thread, "pthread_dtvp")?.offset)?)?;
    let entries = told(thread, "dtv_dtv")?;
    let entry = table.checked_add(entries.offset)?.checked_add(number.checked_mul(entries.size)?)?;
    word(thread.memory(), entry.checked_add(told(thread, "dtv_t_pointer_val")?.offset)?)
}

/// A member of one of the C library's structures.
struct StructMember {
    /// In bytes.
    size: u64,
    offset: u64,
}

/// The C library's description of a member for debuggers: its bits, its number of elements, its offset.
fn told(thread: &StoppedThread<'_>, member: &str) -> Option<StructMember> {
    let mut words = [0; 12];
    let address = thread.modules.symbol(&format!("_thread_db_{member}"))?;
    thread.memory().read(address, &mut words).then_some(())?;
    let number = |at: usize| Some(u64::from(u32::from_le_bytes(words.get(at..at + 4)?.try_into().ok()?)));
    Some(StructMember { size: number(0)? / 8, offset: number(8)? })
}

/// The dynamic linker's entry of the library that was loaded with this bias: `<link.h>` says what it looks like.
fn link_map(thread: &StoppedThread<'_>, bias: u64) -> Option<u64> {
    let read = |address: u64| word(thread.memory(), address);
    let mut entry = read(thread.modules.symbol("_r_debug")?.checked_add(8)?)?;
    for _ in 0..MOST_LIBRARIES {
        if entry == 0 || read(entry)? == bias {
            break;
        }
        entry = read(entry.checked_add(24)?)?;
    }
    (entry != 0).then_some(entry)
}
