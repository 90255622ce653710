//! A thread that comes to no key point for as long as it may run: what its loop reads may be what another thread is to change,
//! and is a key point from then on.
//!
//! A thread that waits for a flag in a loop that counts its rounds does not spin as [`crate::control::loops::spin`] has it, and as long as
//! nobody has written the flag, no two threads share it. What is looked at here would be cut short otherwise; a long
//! calculation would be, too, and goes on one event at a time, which a note tells.
//!
//! A loop that comes back to where it was, with the same registers and the same memory, and has looked at nothing meanwhile that
//! another thread could change, never ends: that is a livelock, whatever the time that it has had.

use std::cmp::Reverse;

use checker::names::Obj;
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic};

use crate::control::loops::spin::Iteration;
use crate::control::process::Process;
use crate::control::state::flow::system;
use crate::control::state::spinning::same_registers;
use crate::control::state::sync_objects::Index;
use crate::layout::What;
use crate::os::memory;

/// The longest round of a loop that is looked at, in instructions.
const LONGEST: u32 = 20_000;

/// An instruction, the address that it reads, and how many bytes.
type Look = (u64, u64, usize);

/// What a round of a loop has read and written.
#[derive(Default)]
struct Round {
    reads: Vec<Look>,
    writes: Vec<u64>,
}

/// Whether an instruction calls the kernel.
fn is_call(instruction: Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Int)
}

impl Process {
    /// The running thread has been stopped between key points, and its time is over. If it goes round in a loop, makes what
    /// that reads and leaves as it is key points. `false`: there is nothing new in that, and the thread is late.
    pub(crate) fn learns_from_runaway(&mut self, index: Index) -> Result<bool, ExecutionError> {
        let thread = &self.scheduling.threads[index];
        // Where it is inside a system call, a step would go on with that.
        let is_inside_call = self.tracee.tasks[index].regs.orig_rax as i64 >= 0;
        let is_alone = self.scheduling.threads.iter().filter(|thread| thread.is_live()).count() < 2;
        if is_inside_call
            || is_alone
            || thread.cancellation.asynchronous
            || !self.tracee.shared.may_learn_more()
        {
            return Ok(false);
        }
        self.hide_probes()?;
        let looks = self.looks(index)?;
        self.show_probes()?;
        self.watch_from_now_on(index, &looks)
    }

    /// The running thread has been stopped between key points. If it goes round in a circle for ever, lets it go on to a place in
    /// that which is the same in all executions.
    pub(crate) fn goes_round(&mut self, index: Index) -> Result<bool, ExecutionError> {
        let thread = &self.scheduling.threads[index];
        if self.tracee.tasks[index].regs.orig_rax as i64 >= 0 || thread.cancellation.asynchronous {
            return Ok(false);
        }
        self.hide_probes()?;
        let circle = self.circle(index)?;
        if let Some(place) = circle {
            for _ in 0..LONGEST {
                let regs = self.tracee.tasks[index].regs;
                if place == (Reverse(regs.rsp), regs.rip) || !self.single_step(index, &regs)? {
                    break;
                }
            }
        }
        self.show_probes()?;
        Ok(circle.is_some())
    }

    /// The outermost and first place of the circle in which the thread goes.
    fn circle(&mut self, index: Index) -> Result<Option<(Reverse<u64>, u64)>, ExecutionError> {
        // Only a step leaves all flags as code can see them.
        let regs = self.tracee.tasks[index].regs;
        if self.instruction(regs.rip).is_none_or(is_call) || !self.single_step(index, &regs)? {
            return Ok(None);
        }
        let start = self.tracee.tasks[index].regs;
        let mut info = InstructionInfoFactory::new();
        let mut passed = Iteration::default();
        let mut first = (Reverse(start.rsp), start.rip);
        for _ in 0..LONGEST {
            let regs = self.tracee.tasks[index].regs;
            first = first.min((Reverse(regs.rsp), regs.rip));
            let Some(instruction) = self.instruction(regs.rip) else { return Ok(None) };
            let trap = self.tracee.layout.traps.get(&regs.rip).map(|trap| &trap.what);
            let is_plain = !is_call(instruction) && matches!(trap, None | Some(What::Access(_)));
            if !is_plain || !self.note_memory(&instruction, &regs, &mut info, &mut passed) {
                return Ok(None);
            }
            let may_change =
                |&(addr, _): &(u64, usize)| !self.owns(index, addr) && self.is_writable_data(addr);
            if passed.reads.iter().any(may_change) || !self.single_step(index, &regs)? {
                return Ok(None);
            }
            passed.reads.clear();
            if same_registers(&start, &self.tracee.tasks[index].regs) && self.unchanged(&passed) {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// What the thread's loop reads in each round, and leaves as it is. What is read in one round only is no flag, but gone
    /// through; what is on its own stack is mostly nobody else's.
    fn looks(&mut self, index: Index) -> Result<Vec<Look>, ExecutionError> {
        let Some(first) = self.round(index)? else { return Ok(Vec::new()) };
        let Some(second) = self.round(index)? else { return Ok(Vec::new()) };
        let is_left = |look: &Look| !first.writes.contains(&look.1) && !second.writes.contains(&look.1);
        let is_repeated = |look: &Look| second.reads.contains(look) && is_left(look);
        Ok(first.reads.iter().filter(|look| is_repeated(look)).copied().collect())
    }

    /// Makes instructions key points where they read this, in this execution too. `false`: they were already.
    fn watch_from_now_on(&mut self, index: Index, looks: &[Look]) -> Result<bool, ExecutionError> {
        let candidate = |at: u64| match self.tracee.layout.traps.get(&at)?.what {
            What::Access(candidate) => Some(candidate),
            _ => None,
        };
        let looks: Vec<(usize, Look)> =
            looks.iter().filter_map(|look| Some((candidate(look.0)?, *look))).collect();
        let candidates: Vec<usize> = looks.iter().map(|&(candidate, _)| candidate).collect();
        let memory: Vec<Obj> =
            looks.iter().map(|&(_, (_, addr, len))| self.stretch(addr, len as u64)).collect();
        if looks.is_empty() || !self.tracee.shared.promote(&candidates, None, &memory) {
            return Ok(false);
        }
        self.memory.promoted = true;
        self.tracee.shared.note_runaway();
        self.account.note(Peculiarity::RunsLongInLoop);
        let tid = self.tracee.tasks[index].tid;
        for (_, (at, ..)) in looks {
            memory::poke_byte(tid, at, 0xcc).map_err(system("plant a trap"))?;
        }
        self.tracee.watch.begin(self.tracee.leader, tid);
        Ok(true)
    }

    /// Steps a thread until it is back where it is, and says what it touched on the way; `None`, if it does not come back, or
    /// does something on the way that cannot be stepped.
    fn round(&mut self, index: Index) -> Result<Option<Round>, ExecutionError> {
        let start = self.tracee.tasks[index].regs.rip;
        let mut info = InstructionInfoFactory::new();
        let mut round = Round::default();
        for _ in 0..LONGEST {
            let regs = self.tracee.tasks[index].regs;
            let Some(instruction) = self.instruction(regs.rip) else { return Ok(None) };
            let mut touched = Iteration::default();
            let trap = self.tracee.layout.traps.get(&regs.rip).map(|trap| &trap.what);
            if is_call(instruction)
                || !matches!(trap, None | Some(What::Access(_)))
                || !self.note_memory(&instruction, &regs, &mut info, &mut touched)
                || !self.single_step(index, &regs)?
            {
                return Ok(None);
            }
            let is_others = |addr: u64| !self.owns(index, addr) && self.is_writable_data(addr);
            let reads = touched.reads.into_iter().filter(|&(addr, _)| is_others(addr));
            round.reads.extend(reads.map(|(addr, len)| (regs.rip, addr, len)));
            round.writes.extend(touched.stores.into_iter().map(|(addr, _)| addr));
            // A round of an inner loop may look at nothing.
            if self.tracee.tasks[index].regs.rip == start && !round.reads.is_empty() {
                return Ok(Some(round));
            }
        }
        Ok(None)
    }
}
