//! Heap objects by name: which thread allocated them, where, and the how manieth time.
//!
//! Two threads that allocate get addresses that depend on who came first, and a freed address is used again. So where
//! threads share heap memory, the allocator's functions are trapped from the first thread creation on.
//!
//! Up to then every execution allocates alike. What main has allocated by then is found out once, in the first execution
//! that needs to know, whose allocations are trapped from `main` on; all later ones take it over without a stop.

use std::sync::Arc;

use checker::names::Obj;
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;

use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::heap::{Allocating, Request};
use crate::control::state::sync_objects::Index;
use crate::layout::allocator::Allocator;
use crate::os::memory;

/// After so many calls of the allocator in one execution, each of which costs two stops, blocks are not named any more.
const MOST: u32 = 5_000;

/// The same for what main allocates before there are threads, which is watched once only.
const MOST_EARLY: u32 = 50_000;

impl Process {
    /// Before its first instruction: traps the allocator if nobody knows yet what main allocates, and somebody should. A test
    /// harness has threads that wait by the time that the test creates its first: what they wait at is named like the rest.
    pub(crate) fn survey_heap(&mut self) -> Result<(), ExecutionError> {
        self.memory.heap.early = self.memory.shared.early_blocks();
        self.memory.heap.surveys = self.memory.shared.wants_early_blocks();
        if self.memory.heap.surveys {
            let layout = Arc::clone(&self.memory.layout);
            for (entry, _) in layout.allocator_entries() {
                memory::poke_byte(self.tracee.leader, entry, 0xcc).map_err(system("plant a trap"))?;
            }
        }
        Ok(())
    }

    /// The first thread is about to be created.
    pub(crate) fn end_heap_survey(&mut self) {
        if std::mem::take(&mut self.memory.heap.surveys) {
            self.memory.shared.keep_early_blocks(std::mem::take(&mut self.memory.heap.blocks));
            self.memory.heap.early = self.memory.shared.early_blocks();
        }
        self.memory.heap.calls = 0;
        self.memory.heap.names = self.memory.shared.watches_allocator();
    }

    /// Names no more blocks in this execution: what comes allocates too much for what the names are worth.
    pub(crate) fn leave_allocations_unnamed(&mut self) -> Result<(), ExecutionError> {
        let layout = Arc::clone(&self.memory.layout);
        for (entry, _) in layout.allocator_entries() {
            let byte = layout.traps[&entry].byte;
            memory::poke_byte(self.tracee.leader, entry, byte).map_err(system("lift a trap"))?;
        }
        Ok(())
    }

    /// A thread stands at the entry of a function of the allocator.
    pub(crate) fn enter_allocator(&mut self, index: Index, what: Allocator) -> Result<Flow, ExecutionError> {
        self.memory.heap.calls += 1;
        if self.memory.heap.calls == if self.memory.heap.surveys { MOST_EARLY } else { MOST } {
            self.leave_allocations_unnamed()?;
            if self.memory.heap.names {
                self.account.note(Peculiarity::AllocatesOften);
            }
        }
        let argument = |i: usize| self.tracee.tasks[index].argument(i);
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
            self.memory.heap.forget(resized);
        }
        self.await_block(index, Request { size, into, copies: None });
        self.pass_trap(index)?;
        Ok(Flow::Resume(0))
    }

    /// The function of the allocator at whose entry a thread stands is to return to a trap.
    pub(crate) fn await_block(&mut self, index: Index, wanted: Request) {
        let at = self.tracee.tasks[index].regs.rsp;
        let back = self.number(at, 8);
        // Calls within the allocator belong to the one that is being accounted for.
        if self.scheduling.threads[index].allocating.is_none()
            && memory::write(self.tracee.leader, at, &self.memory.layout.returned.to_le_bytes())
        {
            self.scheduling.threads[index].allocating = Some(Allocating { wanted, back });
        }
    }

    /// The function has returned, to the trap that was put in its caller's place.
    pub(crate) fn leave_allocator(&mut self, index: Index) -> Result<(), ExecutionError> {
        let Some(Allocating { wanted, back }) = self.scheduling.threads[index].allocating.take() else {
            return Err(ExecutionError::System(
                "a thread came to the allocator's exit from nowhere".to_owned(),
            ));
        };
        self.tracee.tasks[index].regs.rip = back;
        let result = self.tracee.tasks[index].regs.rax;
        let Request { size, into, copies } = wanted;
        let addr = match into {
            None => result,
            Some(into) if result == 0 => self.number(into, 8),
            Some(_) => 0,
        };
        if addr != 0 {
            let thread = self.scheduling.threads[index].name;
            let site = self.memory.layout.site(back);
            let count = self.memory.heap.count(thread, site.0);
            let name = self.memory.shared.heap_name(thread, site, count, || self.call_through(index, back));
            let block = Obj { name, offset: 0, len: u32::MAX };
            if self.memory.heap.surveys || self.memory.shared.is_shared(block) {
                let stack = self.stack_of_call(index, back);
                self.memory.heap.blocks.origins.insert(name, (thread, stack));
            }
            self.memory.heap.blocks.by_address.insert(addr, (size.max(1), name));
            if let Some((from, len)) = copies {
                memory::write(self.tracee.leader, addr, &self.read(from, len as usize));
                let stack = self.stack_of_call(index, back);
                self.keep(index, from, stack);
            }
        }
        self.write_registers(index)
    }
}
