//! The state of a stopped thread, as far as it decides what its next instruction touches.

use std::cell::OnceCell;

use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::{Accesses, Candidate, Machine, MemoryFunction};
use crate::os::vectors::Vectors;
use crate::os::{Regs, memory};

/// The accesses of the instruction at which a thread stands, at original addresses.
pub(crate) fn accesses_of(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
) -> Accesses {
    let mut accesses = instruction.accesses(&MachineState::of(tracee, index));
    accesses.iter_mut().for_each(|access| access.addr = memory.shared_files.original(access.addr));
    accesses
}

/// A thread that stands before an instruction.
pub(crate) struct MachineState<'a> {
    tracee: &'a Tracee,
    index: ThreadIndex,
    /// Read when an instruction first asks for them: few do.
    vectors: OnceCell<Option<Vectors>>,
}

impl<'a> MachineState<'a> {
    /// The state of a stopped thread.
    pub(crate) fn of(tracee: &'a Tracee, index: ThreadIndex) -> Self {
        Self { tracee, index, vectors: OnceCell::new() }
    }
}

impl MachineState<'_> {
    fn vectors(&self) -> Option<&Vectors> {
        let tid = self.tracee.tasks[self.index].tid;
        self.vectors.get_or_init(|| Vectors::of(tid).ok()).as_ref()
    }
}

impl Machine for MachineState<'_> {
    fn registers(&self) -> &Regs {
        &self.tracee.tasks[self.index].regs
    }

    fn vector(&self, number: usize) -> Option<[u8; 64]> {
        self.vectors()?.vector(number)
    }

    fn mask(&self, number: usize) -> Option<u64> {
        self.vectors()?.mask(number)
    }

    fn read(&self, addr: u64, into: &mut [u8]) -> bool {
        memory::read(self.tracee.leader, addr, into)
    }

    fn memory_function(&self, addr: u64) -> Option<MemoryFunction> {
        self.tracee.layout.survey.memory_functions.at(addr)
    }
}
