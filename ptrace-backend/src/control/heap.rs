//! Heap objects by name: which thread allocated them, where, and the how manieth time.
//!
//! Two threads that allocate get addresses that depend on who came first, and a freed address is used again. So where
//! threads share heap memory, the allocator's functions are trapped from the first thread creation on.

use std::collections::BTreeMap;

use checker::names::{ObjName, ThreadName};
use checker::seam::ExecutionError;
use rustc_hash::FxHashMap;

use super::process::{Process, system};
use super::sync::Index;
use crate::os::memory;

/// What a trapped function of the allocator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// Returns a block of as many bytes as this argument says.
    Allocate { size: usize },
    /// Returns a block of the product of the first two arguments.
    AllocateMany,
    /// Frees the first argument, and returns a block of as many bytes as the second says.
    Resize,
    /// Frees the first argument.
    Free,
}

/// Functions of the C library that allocate. What is built on them (`operator new`, Rust's allocator) is seen through them.
pub(crate) const ALLOCATOR_FUNCTIONS: &[(&str, Allocator)] = &[
    ("malloc", Allocator::Allocate { size: 0 }),
    ("calloc", Allocator::AllocateMany),
    ("realloc", Allocator::Resize),
    ("memalign", Allocator::Allocate { size: 1 }),
    ("aligned_alloc", Allocator::Allocate { size: 1 }),
    ("free", Allocator::Free),
];

/// After so many calls of the allocator in one execution, each of which costs two stops, blocks are not named any more.
const MOST: u32 = 5000;

/// A call that will return a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocating {
    size: u64,
    back: u64,
}

/// The blocks that exist, by address.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    blocks: BTreeMap<u64, (u64, ObjName)>,
    /// How often the allocator was called.
    calls: u32,
    /// How often each thread has allocated at each place.
    counts: FxHashMap<(ThreadName, u64), u32>,
}

impl Heap {
    /// The block that an address is in, and where it begins.
    pub(crate) fn at(&self, addr: u64) -> Option<(ObjName, u64)> {
        let (&start, &(size, name)) = self.blocks.range(..=addr).next_back()?;
        (addr - start < size).then_some((name, start))
    }
}

impl Process {
    /// Names no more blocks in this execution: what comes allocates too much for what the names are worth.
    pub(crate) fn leave_allocations_unnamed(&mut self) -> Result<(), ExecutionError> {
        let layout = std::sync::Arc::clone(&self.layout);
        for entry in layout.allocator_entries() {
            let byte = layout.traps[&entry].byte;
            memory::poke_byte(self.leader, entry, byte).map_err(system("lift a trap"))?;
        }
        Ok(())
    }

    /// A thread stands at the entry of a function of the allocator.
    pub(crate) fn enter_allocator(&mut self, index: Index, what: Allocator) -> Result<(), ExecutionError> {
        self.heap.calls += 1;
        if self.heap.calls == MOST {
            self.leave_allocations_unnamed()?;
        }
        let argument = |i: usize| self.threads[index].argument(i);
        let size = match what {
            Allocator::Free => {
                let freed = argument(0);
                self.heap.blocks.remove(&freed);
                return self.pass_trap(index);
            }
            Allocator::Allocate { size } => argument(size),
            Allocator::AllocateMany => argument(0).saturating_mul(argument(1)),
            Allocator::Resize => argument(1),
        };
        if what == Allocator::Resize {
            let freed = argument(0);
            self.heap.blocks.remove(&freed);
        }
        let at = self.threads[index].regs.rsp;
        let back = self.number(at, 8);
        // Calls within the allocator belong to the one that is being accounted for.
        if self.threads[index].allocating.is_none()
            && memory::write(self.leader, at, &self.layout.returned.to_le_bytes())
        {
            self.threads[index].allocating = Some(Allocating { size, back });
        }
        self.pass_trap(index)
    }

    /// The function has returned, to the trap that was put in its caller's place.
    pub(crate) fn leave_allocator(&mut self, index: Index) -> Result<(), ExecutionError> {
        let Some(Allocating { size, back }) = self.threads[index].allocating.take() else {
            return Err(ExecutionError::System(
                "a thread came to the allocator's exit from nowhere".to_owned(),
            ));
        };
        let block = self.threads[index].regs.rax;
        if block != 0 {
            let thread = self.threads[index].name;
            let site = self.layout.site(back);
            let count = self.heap.counts.entry((thread, site.0)).or_default();
            *count += 1;
            let name = self.shared.heap_name(thread, site, *count);
            self.heap.blocks.insert(block, (size.max(1), name));
        }
        self.threads[index].regs.rip = back;
        self.write_registers(index)
    }
}
