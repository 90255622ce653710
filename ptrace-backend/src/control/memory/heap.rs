//! Heap objects by name: which thread allocated them, where, and the how manieth time.
//!
//! Two threads that allocate get addresses that depend on who came first, and a freed address is used again. So where
//! threads share heap memory, the allocator's functions are trapped from the first thread creation on.
//!
//! Up to then every execution allocates alike. What main has allocated by then is found out once, in the first execution
//! that needs to know, whose allocations are trapped from `main` on; all later ones take it over without a stop.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use checker::names::{Obj, ObjName, Site, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::control::process::{Flow, Process, system};
use crate::control::sync::objects::Index;
use crate::layout::allocator::Allocator;
use crate::os::memory;

/// After so many calls of the allocator in one execution, each of which costs two stops, blocks are not named any more.
const MOST: u32 = 5_000;

/// The same for what main allocates before there are threads, which is watched once only.
const MOST_EARLY: u32 = 50_000;

/// A block that is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) size: u64,
    /// Where its address will be, unless it is the result.
    pub(crate) into: Option<u64>,
    /// The block at this address is freed then, and so many bytes of it are copied.
    pub(crate) copies: Option<(u64, u64)>,
}

/// A call that will return a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocating {
    wanted: Wanted,
    back: u64,
}

/// The blocks that exist, by address, and how often each thread has allocated at each place.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    by_address: BTreeMap<u64, (u64, ObjName)>,
    counts: FxHashMap<(ThreadName, u64), u32>,
    /// Who allocated a block, and the stack then: of those that threads share, and of those that main allocated early.
    origins: FxHashMap<ObjName, (ThreadName, Vec<Site>)>,
}

impl Blocks {
    fn at(&self, addr: u64) -> Option<(ObjName, u64)> {
        let (&start, &(size, name)) = self.by_address.range(..=addr).next_back()?;
        (addr - start < size).then_some((name, start))
    }
}

/// The heap of one execution.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// What main had allocated when it created the first thread, and which of it has been freed since.
    early: Arc<Blocks>,
    freed: FxHashSet<u64>,
    /// What has been allocated since, or, before the first thread, at all.
    blocks: Blocks,
    /// How often the allocator was called.
    calls: u32,
    /// Allocations are trapped already, to find out what main allocates.
    surveys: bool,
    /// Blocks are named from the first thread on.
    pub(crate) names: bool,
}

impl Heap {
    /// The block that an address is in, and where it begins.
    pub(crate) fn at(&self, addr: u64) -> Option<(ObjName, u64)> {
        let early = || self.early.at(addr).filter(|(_, start)| !self.freed.contains(start));
        self.blocks.at(addr).or_else(early)
    }

    /// The block that begins at an address, and its size.
    pub(crate) fn block(&self, addr: u64) -> Option<(ObjName, u64)> {
        let early = || self.early.by_address.get(&addr).filter(|_| !self.freed.contains(&addr));
        self.blocks.by_address.get(&addr).or_else(early).map(|&(size, name)| (name, size))
    }

    /// The addresses of a block.
    pub(crate) fn extent(&self, name: ObjName) -> Option<Range<u64>> {
        let extent = |(&start, &(size, other)): (&u64, &(u64, ObjName))| {
            (other == name).then(|| start..start.saturating_add(size))
        };
        let all = self.blocks.by_address.iter().chain(&self.early.by_address);
        all.into_iter().find_map(extent)
    }

    /// Who allocated a block, and the stack then, if that is known.
    pub(crate) fn origin(&self, block: ObjName) -> Option<&(ThreadName, Vec<Site>)> {
        self.blocks.origins.get(&block).or_else(|| self.early.origins.get(&block))
    }

    /// The block at an address is no more.
    pub(crate) fn forget(&mut self, addr: u64) {
        if self.blocks.by_address.remove(&addr).is_none() && self.early.by_address.contains_key(&addr) {
            self.freed.insert(addr);
        }
    }

    /// How often this thread has allocated at this place, this time included.
    fn count(&mut self, thread: ThreadName, site: u64) -> u32 {
        let early = &self.early.counts;
        let count = self.blocks.counts.entry((thread, site));
        let count = count.or_insert_with(|| early.get(&(thread, site)).copied().unwrap_or(0));
        *count += 1;
        *count
    }
}

impl Process {
    /// Before its first instruction: traps the allocator if nobody knows yet what main allocates, and somebody should. A test
    /// harness has threads that wait by the time that the test creates its first: what they wait at is named like the rest.
    pub(crate) fn survey_heap(&mut self) -> Result<(), ExecutionError> {
        self.heap.early = self.shared.early_blocks();
        self.heap.surveys = self.shared.wants_early_blocks();
        if self.heap.surveys {
            let layout = Arc::clone(&self.layout);
            for (entry, _) in layout.allocator_entries() {
                memory::poke_byte(self.leader, entry, 0xcc).map_err(system("plant a trap"))?;
            }
        }
        Ok(())
    }

    /// The first thread is about to be created.
    pub(crate) fn end_heap_survey(&mut self) {
        if std::mem::take(&mut self.heap.surveys) {
            self.shared.keep_early_blocks(std::mem::take(&mut self.heap.blocks));
            self.heap.early = self.shared.early_blocks();
        }
        self.heap.calls = 0;
        self.heap.names = self.shared.watches_allocator();
    }

    /// Names no more blocks in this execution: what comes allocates too much for what the names are worth.
    pub(crate) fn leave_allocations_unnamed(&mut self) -> Result<(), ExecutionError> {
        let layout = Arc::clone(&self.layout);
        for (entry, _) in layout.allocator_entries() {
            let byte = layout.traps[&entry].byte;
            memory::poke_byte(self.leader, entry, byte).map_err(system("lift a trap"))?;
        }
        Ok(())
    }

    /// A thread stands at the entry of a function of the allocator.
    pub(crate) fn enter_allocator(&mut self, index: Index, what: Allocator) -> Result<Flow, ExecutionError> {
        self.heap.calls += 1;
        if self.heap.calls == if self.heap.surveys { MOST_EARLY } else { MOST } {
            self.leave_allocations_unnamed()?;
            if self.heap.names {
                self.note(Peculiarity::AllocatesOften);
            }
        }
        let argument = |i: usize| self.threads[index].argument(i);
        let mut into = None;
        let size = match what {
            Allocator::Free => return self.enter_free(index),
            Allocator::Allocate { size } => argument(size),
            Allocator::AllocateInto => {
                into = Some(argument(0));
                argument(2)
            }
            Allocator::AllocateMany => argument(0).saturating_mul(argument(1)),
            Allocator::Resize => argument(1),
        };
        if what == Allocator::Resize {
            let resized = argument(0);
            if let Some(flow) = self.enter_resize(index, resized)? {
                return Ok(flow);
            }
            self.heap.forget(resized);
        }
        self.await_block(index, Wanted { size, into, copies: None });
        self.pass_trap(index)?;
        Ok(Flow::Resume(0))
    }

    /// The function of the allocator at whose entry a thread stands is to return to a trap.
    pub(crate) fn await_block(&mut self, index: Index, wanted: Wanted) {
        let at = self.threads[index].regs.rsp;
        let back = self.number(at, 8);
        // Calls within the allocator belong to the one that is being accounted for.
        if self.threads[index].allocating.is_none()
            && memory::write(self.leader, at, &self.layout.returned.to_le_bytes())
        {
            self.threads[index].allocating = Some(Allocating { wanted, back });
        }
    }

    /// The function has returned, to the trap that was put in its caller's place.
    pub(crate) fn leave_allocator(&mut self, index: Index) -> Result<(), ExecutionError> {
        let Some(Allocating { wanted, back }) = self.threads[index].allocating.take() else {
            return Err(ExecutionError::System(
                "a thread came to the allocator's exit from nowhere".to_owned(),
            ));
        };
        self.threads[index].regs.rip = back;
        let result = self.threads[index].regs.rax;
        let Wanted { size, into, copies } = wanted;
        let addr = match into {
            None => result,
            Some(into) if result == 0 => self.number(into, 8),
            Some(_) => 0,
        };
        if addr != 0 {
            let thread = self.threads[index].name;
            let site = self.layout.site(back);
            let count = self.heap.count(thread, site.0);
            let name = self.shared.heap_name(thread, site, count, || self.call_through(index, back));
            let block = Obj { name, offset: 0, len: u32::MAX };
            if self.heap.surveys || self.shared.is_shared(block) {
                let stack = self.stack_of_call(index, back);
                self.heap.blocks.origins.insert(name, (thread, stack));
            }
            self.heap.blocks.by_address.insert(addr, (size.max(1), name));
            if let Some((from, len)) = copies {
                memory::write(self.leader, addr, &self.read(from, len as usize));
                let stack = self.stack_of_call(index, back);
                self.keep(index, from, stack);
            }
        }
        self.write_registers(index)
    }
}
