//! The bytes that a call of a memory function touches, given the registers of the thread that stands before it.

use super::argument_accesses;
use super::function::{MemoryFunction, Signature};
use super::text::StringScanner;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

impl MemoryFunction {
    /// Functions of which the first three arguments alone tell the accesses, whatever is in memory.
    pub(crate) fn touches_what_arguments_say(self) -> bool {
        use Signature::{Clear, Compare, Copy, CopyFrom, Fill};
        matches!(self.signature, Copy | CopyFrom | Fill | Clear | Compare)
    }

    /// The bytes that a call touches if it is made in this state.
    pub(crate) fn accesses(self, machine: &impl Machine) -> Accesses {
        let regs = machine.registers();
        let (a, b, c, d) = (regs.rdi, regs.rsi, regs.rdx, regs.rcx);
        let text = StringScanner { machine, unit: self.unit };
        let bytes = |n: u64| n.saturating_mul(self.unit);
        let ranges: &[MemoryAccess] = &match self.signature {
            Signature::Copy => [read(b, bytes(c)), write(a, bytes(c))],
            Signature::CopySlice if b == d => copy(a, c, d),
            // It panics.
            Signature::CopySlice => [NOTHING, NOTHING],
            Signature::CopyFrom => [read(a, bytes(c)), write(b, bytes(c))],
            Signature::CopyUpTo => copy(a, b, text.through(b, c, d)),
            Signature::Fill => [write(a, bytes(c)), NOTHING],
            Signature::Clear => [write(a, bytes(b)), NOTHING],
            Signature::Compare => [read(a, bytes(c)), read(b, bytes(c))],
            Signature::Find => [read(a, text.through(a, b, c)), NOTHING],
            Signature::FindForSure => [read(a, text.through(a, b, u64::MAX)), NOTHING],
            Signature::FindLast => {
                let (from, len) = text.last_on(a, b, c);
                [read(from, len), NOTHING]
            }
            Signature::FindInString => [read(a, text.through_or_end(a, b)), NOTHING],
            Signature::ReadString => [read(a, text.string(a)), NOTHING],
            Signature::ReadAtMost => [read(a, text.at_most(a, b)), NOTHING],
            Signature::ReadBoth => [read(a, text.string(a)), read(b, text.string(b))],
            Signature::ReadBothAtMost => [read(a, text.at_most(a, c)), read(b, text.at_most(b, c))],
            Signature::WriteBoth(size) => [write(a, size), write(b, size)],
            Signature::AtomicLoad => [read(a, ATOMIC), NOTHING],
            Signature::AtomicStore => [write(a, ATOMIC), NOTHING],
            Signature::AtomicUpdate => [update(a, ATOMIC), NOTHING],
            Signature::AtomicExchange => [update(a, ATOMIC), update(b, ATOMIC)],
            Signature::CopyString => copy(a, b, text.string(b)),
            Signature::CopyPadded => [read(b, text.at_most(b, c)), write(a, bytes(c))],
            Signature::Append => return appends(a, &text, b, u64::MAX),
            Signature::AppendAtMost => return appends(a, &text, b, c),
            Signature::CompareStrings => both(a, b, text.common(a, b, u64::MAX)),
            Signature::CompareAtMost => both(a, b, text.common(a, b, c)),
            Signature::ReadNumber => [read(a, text.string(a)), write(b, if b == 0 { 0 } else { POINTER })],
            Signature::Put => [read(a, b.saturating_mul(c)), NOTHING],
            Signature::Get => [write(a, b.saturating_mul(c)), NOTHING],
            Signature::GetLine => [write(a, b & u64::from(u32::MAX)), NOTHING],
            Signature::GetDelimited => return replaces(machine, a, b),
            Signature::Insert => [read(b, c), NOTHING],
            Signature::Sort => [update(a, b.saturating_mul(c)), NOTHING],
            Signature::Print(formatted) => return formatted.accesses(machine),
            Signature::Scan(scanned) => return scanned.accesses(machine),
            Signature::Pointees(pointees) => return argument_accesses::accesses(pointees, machine),
        };
        ranges.iter().copied().filter(|range| range.len > 0).collect()
    }
}

/// The library of GCC's atomics works on so many bytes in one step where the compiler leaves them to it.
const ATOMIC: u64 = 16;

const NOTHING: MemoryAccess = read(0, 0);

const fn read(addr: u64, len: u64) -> MemoryAccess {
    MemoryAccess { addr, len, read: true, write: false }
}

const fn write(addr: u64, len: u64) -> MemoryAccess {
    MemoryAccess { addr, len, read: false, write: true }
}

/// The size of a pointer in bytes.
const POINTER: u64 = 8;

const fn update(addr: u64, len: u64) -> MemoryAccess {
    MemoryAccess { addr, len, read: true, write: true }
}

const fn copy(to: u64, from: u64, len: u64) -> [MemoryAccess; 2] {
    [read(from, len), write(to, len)]
}

const fn both(a: u64, b: u64, len: u64) -> [MemoryAccess; 2] {
    [read(a, len), read(b, len)]
}

/// The block behind one pointer, of the size behind another, is written, and both are changed.
fn replaces(machine: &impl Machine, block: u64, size: u64) -> Accesses {
    let at = machine.word(block);
    let len = if at == 0 { 0 } else { machine.word(size) };
    let ranges = [update(block, POINTER), update(size, POINTER), write(at, len)];
    ranges.into_iter().filter(|range| range.len > 0).collect()
}

/// At most `limit` characters of a string go behind another one, the first in the place of its terminator, and then
/// a terminator.
fn appends(to: u64, text: &StringScanner<'_, impl Machine>, from: u64, limit: u64) -> Accesses {
    let old = text.string(to);
    let end = to.wrapping_add(old.saturating_sub(text.unit));
    let written = text.length(from, limit).saturating_add(text.unit);
    let ranges = [read(to, old), read(from, text.at_most(from, limit)), write(end, written)];
    ranges.into_iter().filter(|range| range.len > 0).collect()
}
