//! The auxiliary vector that the kernel leaves on a new program's stack.

use crate::os::{Tid, memory};

/// The entries that were found there.
pub(crate) struct Auxv {
    /// Address at which the dynamic linker is mapped.
    pub(crate) linker: u64,
}

/// Bytes that the program takes for the kernel's randomness (stack protector, pointer mangling).
const RANDOM: [u8; 16] = *b"\0interleaver\x01\x02\x03\x04";

/// Reads the vector at the exec stop, hides the vDSO (so that reading the time is a system call) and fixes the random
/// bytes. `None` if the stack is not laid out as the kernel does it.
pub(crate) fn prepare(tid: Tid, stack: u64) -> Option<Auxv> {
    let argc = memory::word(tid, stack)?;
    let mut at = stack + 8 * (argc + 2);
    while memory::word(tid, at)? != 0 {
        at += 8;
    }
    at += 8;
    let mut linker = None;
    loop {
        let (tag, value) = (memory::word(tid, at)?, memory::word(tid, at + 8)?);
        match tag {
            libc::AT_NULL => return linker.map(|linker| Auxv { linker }),
            libc::AT_BASE => linker = Some(value),
            libc::AT_SYSINFO_EHDR => {
                memory::write(tid, at, &libc::AT_IGNORE.to_le_bytes()).then_some(())?;
            }
            libc::AT_RANDOM => memory::write(tid, value, &RANDOM).then_some(())?,
            _ => {}
        }
        at += 16;
    }
}
