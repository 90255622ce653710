//! A thread that comes to no key point for as long as it may run: what its loop reads may be what another thread is to change,
//! and is a key point from then on.
//!
//! A thread that waits for a flag in a loop that counts its rounds does not spin as [`super::spin`] has it, and as long as
//! nobody has written the flag, no two threads share it. Where its time is over, it would have failed: so what is looked at
//! here is no failure yet, and nothing that a slow machine could change.

use checker::names::Obj;
use checker::seam::ExecutionError;
use iced_x86::{InstructionInfoFactory, Mnemonic};

use super::process::{Process, system};
use super::spin::Iteration;
use super::sync::Index;
use crate::layout::What;
use crate::os::memory;

/// The longest round of a loop that is looked at, in instructions.
const LONGEST: u32 = 2_000;

/// An instruction, the address that it reads, and how many bytes.
type Look = (u64, u64, usize);

/// What a round of a loop has read and written of memory that is not the thread's own.
#[derive(Default)]
struct Round {
    reads: Vec<Look>,
    writes: Vec<u64>,
}

impl Process {
    /// The running thread has been stopped between key points, and its time is over. If it goes round in a loop, makes what
    /// that reads and leaves as it is key points. `false`: there is nothing new in that, and the thread is late.
    pub(super) fn learns_from_runaway(&mut self, index: Index) -> Result<bool, ExecutionError> {
        // Where it is inside a system call, a step would go on with that.
        let is_inside_call = self.threads[index].regs.orig_rax as i64 >= 0;
        let others =
            self.threads.iter().enumerate().filter(|(other, thread)| *other != index && thread.is_live());
        if is_inside_call || others.count() == 0 || !self.shared.may_learn_from_runaway() {
            return Ok(false);
        }
        self.hide_probes()?;
        let looks = self.looks(index)?;
        self.show_probes()?;
        let (mut candidates, mut memory) = (Vec::new(), Vec::new());
        for (at, addr, len) in looks {
            let Some(What::Access(candidate)) = self.layout.traps.get(&at).map(|trap| &trap.what) else {
                continue;
            };
            candidates.push((*candidate, at));
            memory.push(self.stretch(addr, len as u64));
        }
        self.watch_from_now_on(index, &candidates, &memory)
    }

    /// What the thread's loop reads in each round, and leaves as it is. What is read in one round only is no flag, but gone
    /// through.
    fn looks(&mut self, index: Index) -> Result<Vec<Look>, ExecutionError> {
        let Some(first) = self.round(index)? else { return Ok(Vec::new()) };
        let Some(second) = self.round(index)? else { return Ok(Vec::new()) };
        let is_left = |look: &Look| !first.writes.contains(&look.1) && !second.writes.contains(&look.1);
        let is_repeated = |look: &Look| second.reads.contains(look) && is_left(look);
        Ok(first.reads.iter().filter(|look| is_repeated(look)).copied().collect())
    }

    /// Makes instructions key points where they touch this memory, in this execution too. `false`: they were already.
    fn watch_from_now_on(
        &mut self,
        index: Index,
        candidates: &[(usize, u64)],
        memory: &[Obj],
    ) -> Result<bool, ExecutionError> {
        let numbers: Vec<usize> = candidates.iter().map(|&(candidate, _)| candidate).collect();
        if numbers.is_empty() || !self.shared.promote(&numbers, None, memory) {
            return Ok(false);
        }
        self.promoted = true;
        let tid = self.threads[index].tid;
        for &(_, at) in candidates {
            memory::poke_byte(tid, at, 0xcc).map_err(system("plant a trap"))?;
        }
        self.watch.begin();
        Ok(true)
    }

    /// Steps a thread until it is back where it is, and says what it touched on the way; `None`, if it does not come back, or
    /// does something on the way that cannot be stepped.
    fn round(&mut self, index: Index) -> Result<Option<Round>, ExecutionError> {
        let start = self.threads[index].regs.rip;
        let mut info = InstructionInfoFactory::new();
        let mut round = Round::default();
        for _ in 0..LONGEST {
            let regs = self.threads[index].regs;
            let Some(instruction) = self.instruction(regs.rip) else { return Ok(None) };
            let mut touched = Iteration::default();
            if instruction.mnemonic() == Mnemonic::Syscall
                || !self.note_memory(&instruction, &regs, &mut info, &mut touched)
                || !self.single_step(index, &regs)?
            {
                return Ok(None);
            }
            let thread = &self.threads[index];
            let is_others = |addr: u64| !thread.owns(addr) && self.is_writable_data(addr);
            let reads = touched.reads.into_iter().filter(|&(addr, _)| is_others(addr));
            round.reads.extend(reads.map(|(addr, len)| (regs.rip, addr, len)));
            round.writes.extend(touched.stores.into_iter().map(|(addr, _)| addr));
            // A round of an inner loop may look at nothing.
            if thread.regs.rip == start && !round.reads.is_empty() {
                return Ok(Some(round));
            }
        }
        Ok(None)
    }
}
