//! Which bytes a call of a memory function touches, given the registers of the thread that stands before it.

use super::argument_accesses;
use super::function::{MemoryFunction, Shape};
use super::text::Text;
use crate::instructions::machine::Machine;
use crate::instructions::memory_access::{Accesses, MemoryAccess};

impl MemoryFunction {
    /// The bytes that a call touches if it is made in this state.
    pub(crate) fn accesses(self, machine: &impl Machine) -> Accesses {
        let regs = machine.registers();
        let (a, b, c, d) = (regs.rdi, regs.rsi, regs.rdx, regs.rcx);
        let text = Text { machine, unit: self.unit };
        let bytes = |n: u64| n.saturating_mul(self.unit);
        let ranges: &[MemoryAccess] = &match self.shape {
            Shape::Copy => [read(b, bytes(c)), write(a, bytes(c))],
            Shape::CopySlice if b == d => copy(a, c, d),
            // It panics.
            Shape::CopySlice => [NOTHING, NOTHING],
            Shape::CopyFrom => [read(a, bytes(c)), write(b, bytes(c))],
            Shape::CopyUpTo => copy(a, b, text.through(b, c, d)),
            Shape::Fill => [write(a, bytes(c)), NOTHING],
            Shape::Clear => [write(a, bytes(b)), NOTHING],
            Shape::Compare => [read(a, bytes(c)), read(b, bytes(c))],
            Shape::Find => [read(a, text.through(a, b, c)), NOTHING],
            Shape::FindForSure => [read(a, text.through(a, b, u64::MAX)), NOTHING],
            Shape::FindLast => {
                let (from, len) = text.last_on(a, b, c);
                [read(from, len), NOTHING]
            }
            Shape::FindInString => [read(a, text.through_or_end(a, b)), NOTHING],
            Shape::ReadString => [read(a, text.string(a)), NOTHING],
            Shape::ReadAtMost => [read(a, text.at_most(a, b)), NOTHING],
            Shape::ReadBoth => [read(a, text.string(a)), read(b, text.string(b))],
            Shape::ReadBothAtMost => [read(a, text.at_most(a, c)), read(b, text.at_most(b, c))],
            Shape::WriteBoth(size) => [write(a, size), write(b, size)],
            Shape::AtomicLoad => [read(a, ATOMIC), NOTHING],
            Shape::AtomicStore => [write(a, ATOMIC), NOTHING],
            Shape::AtomicUpdate => [update(a, ATOMIC), NOTHING],
            Shape::AtomicExchange => [update(a, ATOMIC), update(b, ATOMIC)],
            Shape::CopyString => copy(a, b, text.string(b)),
            Shape::CopyPadded => [read(b, text.at_most(b, c)), write(a, bytes(c))],
            Shape::Append => return appends(a, &text, b, u64::MAX),
            Shape::AppendAtMost => return appends(a, &text, b, c),
            Shape::CompareStrings => both(a, b, text.common(a, b, u64::MAX)),
            Shape::CompareAtMost => both(a, b, text.common(a, b, c)),
            Shape::ReadNumber => [read(a, text.string(a)), write(b, if b == 0 { 0 } else { POINTER })],
            Shape::Put => [read(a, b.saturating_mul(c)), NOTHING],
            Shape::Get => [write(a, b.saturating_mul(c)), NOTHING],
            Shape::GetLine => [write(a, b & u64::from(u32::MAX)), NOTHING],
            Shape::GetDelimited => return replaces(machine, a, b),
            Shape::Insert => [read(b, c), NOTHING],
            Shape::Sort => [update(a, b.saturating_mul(c)), NOTHING],
            Shape::Print(formatted) => return formatted.accesses(machine),
            Shape::Scan(scanned) => return scanned.accesses(machine),
            Shape::Pointees(pointees) => return argument_accesses::accesses(pointees, machine),
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

/// What a pointer takes.
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
    let word = |at| {
        let mut bytes = [0; POINTER as usize];
        if machine.read(at, &mut bytes) { u64::from_le_bytes(bytes) } else { 0 }
    };
    let at = word(block);
    let len = if at == 0 { 0 } else { word(size) };
    let ranges = [update(block, POINTER), update(size, POINTER), write(at, len)];
    ranges.into_iter().filter(|range| range.len > 0).collect()
}

/// At most `limit` characters of a string go behind another one, the first in the place of its terminator, and then
/// a terminator.
fn appends(to: u64, text: &Text<'_, impl Machine>, from: u64, limit: u64) -> Accesses {
    let old = text.string(to);
    let end = to.wrapping_add(old.saturating_sub(text.unit));
    let written = text.length(from, limit).saturating_add(text.unit);
    let ranges = [read(to, old), read(from, text.at_most(from, limit)), write(end, written)];
    ranges.into_iter().filter(|range| range.len > 0).collect()
}
