//! The memory touched by a call whose pointers name structures and buffers of known sizes.

use super::arguments::{Pointee, PointeeSize};
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

/// The bytes that a call touches if it is made in this state.
pub(super) fn accesses(pointees: &[Pointee], machine: &impl Machine) -> Accesses {
    let regs = machine.registers();
    let argument = |n: u8| [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9][usize::from(n)];
    let string = |unit, at| StringScanner { machine, unit }.string(at);
    let access = |pointee: &Pointee| {
        let addr = argument(pointee.nth);
        let len = match pointee.len {
            PointeeSize::Bytes(len) => len,
            PointeeSize::Each(count, size) => argument(count).saturating_mul(size),
            PointeeSize::SizeAt(at) => machine.word(argument(at)),
            PointeeSize::Text => string(1, addr),
            PointeeSize::WideText => string(4, addr),
            PointeeSize::Texts => return list(machine, addr),
            PointeeSize::CxxString => return cxx_string(machine, addr, pointee),
        };
        std::iter::once(MemoryAccess { addr, len, read: pointee.read, write: pointee.write }).collect()
    };
    // Other numbers than addresses stand for a state (`FE_DFL_ENV`).
    let is_there = |access: &MemoryAccess| (1..ADDRESSES).contains(&access.addr) && access.len > 0;
    pointees.iter().flat_map(access).filter(is_there).collect()
}

/// A `std::string` of GNU's library: a pointer, a length, and characters that are in the object or elsewhere.
fn cxx_string(machine: &impl Machine, addr: u64, pointee: &Pointee) -> Accesses {
    const OBJECT: u64 = 32;
    const WORD: usize = 8;
    let mut words = [0; 2 * WORD];
    let is_there = machine.read(addr, &mut words);
    let word = |at: usize| words[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (characters, len) = (word(0), word(WORD));
    let is_outside = is_there && !(addr..addr.saturating_add(OBJECT)).contains(&characters);
    let access = |addr, len| MemoryAccess { addr, len, read: pointee.read, write: pointee.write };
    let elsewhere = is_outside.then(|| access(characters, len));
    std::iter::once(access(addr, OBJECT)).chain(elsewhere).collect()
}

/// The end of a program's addresses.
const ADDRESSES: u64 = 1 << 47;

/// Pointers to strings, up to one that is null, and the strings.
fn list(machine: &impl Machine, addr: u64) -> Accesses {
    const POINTER: u64 = 8;
    /// A longer list is looked at so far.
    const MOST: u64 = 1024;
    let pointer = |nth: u64| {
        let mut bytes = [0; POINTER as usize];
        let is_there = machine.read(addr.wrapping_add(nth * POINTER), &mut bytes);
        Some(u64::from_le_bytes(bytes)).filter(|at| is_there && *at != 0)
    };
    let text = StringScanner { machine, unit: 1 };
    let strings: Vec<u64> = (0..MOST).map_while(pointer).collect();
    let read = |addr, len| MemoryAccess { addr, len, read: true, write: false };
    let pointers = read(addr, (strings.len() as u64 + 1) * POINTER);
    std::iter::once(pointers).chain(strings.into_iter().map(|at| read(at, text.string(at)))).collect()
}
