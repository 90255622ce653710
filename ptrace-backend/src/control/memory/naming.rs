//! Names for addresses of one execution, which hold in all executions.

use std::ops::Range;

use checker::names::{Obj, ObjName};

use crate::control::state::memory::MemoryState;
use crate::control::state::pending::Pending;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::debuginfo::AllocationType;
use crate::instructions::detour::log::{Log, WIDEST};

/// The memory that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryRegion {
    /// The code or data of a module.
    Module,
    /// The stack of this thread: of several that had it one after the other, the last.
    Stack(ThreadIndex),
    /// A block that was allocated while allocations were watched.
    Heap,
    /// Bytes of a file that is mapped to be shared.
    File,
    /// Memory that is known by its address only: mostly it was allocated too.
    Unknown,
}

impl MemoryRegion {
    /// The unit, in bytes, by which sharing is remembered: the better memory is named, the finer.
    fn grain(self) -> u64 {
        match self {
            Self::Module | Self::Heap => 64,
            Self::Stack(_) => 8,
            Self::File | Self::Unknown => 4096,
        }
    }
}

/// An address by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedAddress {
    pub(crate) name: ObjName,
    pub(crate) offset: u32,
    pub(crate) region: MemoryRegion,
}

impl MemoryState {
    /// The thread on whose stack an address is: the last of several, since a program may give a thread one of its variables, or a part of
    /// another stack.
    pub(crate) fn stack_at(&self, addr: u64) -> Option<ThreadIndex> {
        self.stacks.rposition(|(stack, _)| stack.contains(&addr))
    }

    /// The memory that an address belongs to, and the place in it.
    pub(crate) fn place(&self, addr: u64) -> NamedAddress {
        if let Some(index) = self.stack_at(addr) {
            let (stack, name) = &self.stacks[index];
            return NamedAddress {
                name: *name,
                offset: (addr - stack.start) as u32,
                region: MemoryRegion::Stack(index),
            };
        }
        if let Some((_, module)) = self.layout.module_at(addr) {
            let offset = (addr - module.mapped.bias) as u32;
            return NamedAddress { name: module.name, offset, region: MemoryRegion::Module };
        }
        if let Some((name, start)) = self.heap.at(addr) {
            return NamedAddress { name, offset: (addr - start) as u32, region: MemoryRegion::Heap };
        }
        if let Some((file, offset)) = self.shared_files.content_at(addr) {
            let name = self.knowledge.content_name(file, offset >> 32);
            return NamedAddress { name, offset: offset as u32, region: MemoryRegion::File };
        }
        let name = self.knowledge.memory_name(addr >> 32);
        NamedAddress { name, offset: addr as u32, region: MemoryRegion::Unknown }
    }

    /// The name of `len` bytes at an address.
    pub(crate) fn object(&self, addr: u64, len: u64) -> Obj {
        let NamedAddress { name, offset, .. } = self.place(addr);
        Obj { name, offset, len: u32::try_from(len.max(1)).unwrap_or(u32::MAX) }
    }

    /// The memory around `len` bytes at an address that counts as shared if one of them is: no more than the variables that they
    /// are of, where those are known.
    pub(crate) fn stretch(&self, addr: u64, len: u64) -> Obj {
        let NamedAddress { name, offset, region } = self.place(addr);
        let grain = region.grain();
        let bytes = u64::from(offset)..u64::from(offset).saturating_add(len.max(1));
        let mut start = bytes.start / grain * grain;
        let mut end = bytes.end.checked_next_multiple_of(grain);
        if let (MemoryRegion::Module, Some((_, module))) = (region, self.layout.module_at(addr)) {
            let variable = |at| module.image.variable(at);
            start = variable(bytes.start).map_or(start, |variable| start.max(variable.start));
            end = variable(bytes.end - 1).map_or(end, |variable| end.map(|end| end.min(variable.end)));
        }
        let len = end.and_then(|end| u32::try_from(end - start).ok()).unwrap_or(u32::MAX);
        Obj { name, offset: start as u32, len }
    }
}

/// The number of chunks that are looked at from an access on, and of pieces of memory with names of their own in them.
const CHUNKS_AHEAD: u64 = 16;
const PIECES: usize = 32;

/// Private memory, in stretches.
impl MemoryState {
    /// The chunks ([`Log::CHUNK`]) from the one of an address on in which no access that begins there is known to touch shared memory:
    /// some of them, and none if the first is not one.
    pub(crate) fn private_chunks(&self, addr: u64) -> Range<u64> {
        let first = addr / Log::CHUNK;
        let reaches = u64::from(WIDEST) - 1;
        let from = first * Log::CHUNK;
        let to = self.private_from(from, from.saturating_add(CHUNKS_AHEAD * Log::CHUNK + reaches));
        first..(to.saturating_sub(reaches) / Log::CHUNK).max(first)
    }

    /// The end of the memory from an address on that is not known to be shared, as far as it is looked at: not beyond `end`.
    pub(crate) fn private_from(&self, start: u64, end: u64) -> u64 {
        let mut at = start;
        for _ in 0..PIECES {
            if at >= end {
                break;
            }
            let next = self.next_name(at).min(end);
            if self.knowledge.is_shared(self.object(at, next - at)) {
                break;
            }
            at = next;
        }
        at
    }

    /// The next address whose memory may have another name ([`MemoryState::place`]).
    fn next_name(&self, at: u64) -> u64 {
        let stacks = self.stacks.iter().map(|(stack, _)| stack);
        let modules = self.layout.modules.iter().map(|module| &module.mapped.range);
        let files = self.shared_files.ranges();
        let borders = stacks.chain(modules).chain(files).flat_map(|range| [range.start, range.end]);
        let borders =
            borders.chain(self.heap.borders(at)).chain([(at | u64::from(u32::MAX)).saturating_add(1)]);
        borders.filter(|&border| border > at).min().unwrap_or(u64::MAX)
    }
}

/// A thread comes to an operation: what it is about may have to be told of.
pub(crate) fn note_told(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    pending: &Pending,
) {
    for name in memory.knowledge.note_told(&memory.layout, &pending.op.may.accesses, pending.site) {
        if let Some(pointee_type) =
            memory.heap.extent(name).and_then(|block| pointee_type_at(tracee, scheduling, index, &block))
        {
            memory.knowledge.note_pointee_type(name, pointee_type);
        }
    }
}

/// The content of a block, as variables say that point to it: of the thread that uses it, else of another one, which may have
/// handed it on as a pointer to anything.
fn pointee_type_at(
    tracee: &Tracee,
    scheduling: &Scheduling,
    user: ThreadIndex,
    block: &Range<u64>,
) -> Option<(usize, AllocationType)> {
    let others =
        scheduling.threads.indices().filter(|&other| other != user && scheduling.threads[other].is_live());
    std::iter::once(user)
        .chain(others)
        .find_map(|index| stacks::inspect(tracee, index, |inspector| inspector.pointee_type_at(block)))
}
