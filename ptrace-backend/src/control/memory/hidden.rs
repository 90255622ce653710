//! Accesses of memory by code of system libraries that is not watched, traced for once: they tell what the locks and barriers
//! of such libraries order ([`checker::program::Scope::Hidden`]).

use std::sync::Arc;

use checker::account::HiddenAccess;
use checker::operation::Access;
use checker::program::{ExecutionError, Scope};

use crate::control::process::Process;
use crate::control::state::flow::{Flow, system};
use crate::control::state::hidden::Hidden;
use crate::control::state::sync_objects::Index;
use crate::instructions::Kind;
use crate::os::memory::{self, MemoryFile};

/// So often a thread may come to an instruction between two events and do nothing new there: then it waits in a loop, and what
/// the instruction does later is not traced.
const OFTEN: u32 = 1_000;

/// So many accesses are traced in an execution.
const MOST: usize = 100_000;

impl Process {
    /// Plants the traps, where they are asked for, beside those of watched instructions.
    pub(crate) fn plant_hidden(&mut self) -> std::io::Result<bool> {
        if self.memory.scope != Scope::Hidden {
            return Ok(false);
        }
        let layout = Arc::clone(&self.memory.layout);
        let code = layout.hidden_code();
        for &addr in code.keys() {
            let mut byte = [0];
            if memory::read(self.tracee.pristine, addr, &mut byte) {
                self.memory.hidden.trapped.insert(addr, byte[0]);
            }
        }
        let addresses = self.memory.hidden.trapped.keys().copied();
        self.memory.shared.arming_with(&layout, self.tracee.pristine, addresses).plant(self.tracee.leader)?;
        Ok(true)
    }

    /// The running thread may stand behind the trap of such an instruction: takes note of what it does, and lets it pass.
    pub(crate) fn hidden_access(&mut self, index: Index, at: u64) -> Result<Option<Flow>, ExecutionError> {
        let Some(&byte) = self.memory.hidden.trapped.get(&at) else { return Ok(None) };
        self.tracee.tasks[index].regs.rip = at;
        self.watch_hidden(index).map_err(system("plant a trap"))?;
        let is_seen = self.in_harness(index) || self.note_hidden(index, at);
        self.memory.hidden.is_cut |= is_seen && !self.in_harness(index);
        if self.memory.hidden.accesses.len() > MOST {
            self.memory.hidden.is_cut = true;
            self.lift_hidden(self.tracee.leader);
            self.write_registers(index)?;
        } else if is_seen {
            memory::poke_byte(self.tracee.leader, at, byte).map_err(system("lift a trap"))?;
            self.memory.hidden.lifted.push(at);
            self.write_registers(index)?;
        } else {
            self.step_in_place(index, at, byte)?;
        }
        Ok(Some(Flow::Resume(std::mem::take(&mut self.tracee.tasks[index].deferred_signal))))
    }

    /// Another thread or event has begun: what was seen often enough is looked at again.
    fn watch_hidden(&mut self, index: Index) -> std::io::Result<()> {
        let now = (self.scheduling.events as u32, self.scheduling.threads[index].name);
        if self.memory.hidden.segment.replace(now) == Some(now) {
            return Ok(());
        }
        self.memory.hidden.since.clear();
        self.memory.hidden.visits.clear();
        for at in std::mem::take(&mut self.memory.hidden.lifted) {
            memory::poke_byte(self.tracee.leader, at, 0xcc)?;
        }
        Ok(())
    }

    /// Takes note of what an instruction does. Whether it has done nothing new for long.
    fn note_hidden(&mut self, index: Index, at: u64) -> bool {
        let layout = Arc::clone(&self.memory.layout);
        let Some(instruction) = layout.hidden_code().get(&at) else { return true };
        let indivisible = matches!(instruction.kind, Kind::LockedUpdate | Kind::CompareExchange);
        let (after, thread) = (self.scheduling.events as u32, self.scheduling.threads[index].name);
        let mut is_new = false;
        for access in instruction.accesses(&self.state(index)) {
            if self.memory.stacks[index].0.contains(&access.addr) {
                continue;
            }
            let obj = self.object(access.addr, access.len);
            let access = if access.write { Access::write(obj) } else { Access::read(obj) };
            let hidden = HiddenAccess { after, thread, access, indivisible };
            if self.memory.hidden.since.insert(hidden) {
                self.memory.hidden.accesses.push(hidden);
                is_new = true;
            }
        }
        let visits = self.memory.hidden.visits.entry(at).or_default();
        *visits = if is_new { 0 } else { *visits + 1 };
        *visits >= OFTEN
    }

    /// Takes the traps out of the code of a process.
    pub(crate) fn lift_hidden(&mut self, of: crate::os::Tid) {
        let Ok(memory) = MemoryFile::open(of) else { return };
        for (addr, byte) in &self.memory.hidden.trapped {
            // Where it does not succeed, the process is gone.
            _ = memory.write(*addr, &[*byte]);
        }
        if of == self.tracee.leader {
            self.memory.hidden.trapped.clear();
        }
    }

    /// What was traced; `None` where that is not all.
    pub(crate) fn take_hidden(&mut self) -> Option<Vec<HiddenAccess>> {
        let Hidden { accesses, is_cut, .. } = std::mem::take(&mut self.memory.hidden);
        (!is_cut).then_some(accesses)
    }
}
