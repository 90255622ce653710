//! What the kernel tells of another process.

use super::Tid;

/// Whether address randomisation was on when a process executed its program. `false` where that cannot be read.
pub(crate) fn addresses_vary(tid: Tid) -> bool {
    let flags = std::fs::read_to_string(format!("/proc/{tid}/personality"));
    let flags = flags.ok().and_then(|text| u32::from_str_radix(text.trim(), 16).ok());
    flags.is_some_and(|flags| flags & libc::ADDR_NO_RANDOMIZE as u32 == 0)
}
