//! From addresses of one execution to names that hold in all of them.

use std::ops::Range;

use checker::names::{Obj, ObjName, Site};

use crate::control::process::Process;
use crate::control::state::pending::Pending;
use crate::control::state::sync_objects::Index;
use crate::debuginfo::inspect::{Inspector, ThreadState};
use crate::debuginfo::{self, Made, Registers};
use crate::os::memory;

/// How many frames of a stack are looked at.
pub(crate) const STACK_DEPTH: usize = 64;

/// The target's memory, for unwinding.
struct TargetMemory(crate::os::Tid);

impl debuginfo::Memory for TargetMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> bool {
        memory::read(self.0, addr, buf)
    }
}

/// What an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The code or data of a module.
    Module,
    /// The stack of this thread: of several that had it one after the other, the last.
    Stack(Index),
    /// A block that was allocated while allocations were watched.
    Heap,
    /// Memory that is known by its address only: mostly it was allocated too.
    Unknown,
}

impl Owner {
    /// In units of so many bytes sharing is remembered: the better memory is named, the finer.
    fn grain(self) -> u64 {
        match self {
            Self::Module | Self::Heap => 64,
            Self::Stack(_) => 8,
            Self::Unknown => 4096,
        }
    }
}

/// An address by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) name: ObjName,
    pub(crate) offset: u32,
    pub(crate) owner: Owner,
}

impl Process {
    /// What an address belongs to, and where in it it is.
    pub(crate) fn place(&self, addr: u64) -> Place {
        if let Some((_, module)) = self.memory.layout.module_at(addr) {
            let offset = (addr - module.mapped.bias) as u32;
            return Place { name: module.name, offset, owner: Owner::Module };
        }
        if let Some(index) = self.memory.stacks.iter().rposition(|(stack, _)| stack.contains(&addr)) {
            let (stack, thread) = &self.memory.stacks[index];
            let name = self.memory.shared.stack_name(*thread);
            return Place { name, offset: (addr - stack.start) as u32, owner: Owner::Stack(index) };
        }
        if let Some((name, start)) = self.memory.heap.at(addr) {
            return Place { name, offset: (addr - start) as u32, owner: Owner::Heap };
        }
        let name = self.memory.shared.memory_name(addr >> 32);
        Place { name, offset: addr as u32, owner: Owner::Unknown }
    }

    /// The name of `len` bytes at an address.
    pub(crate) fn object(&self, addr: u64, len: u64) -> Obj {
        let Place { name, offset, .. } = self.place(addr);
        Obj { name, offset, len: u32::try_from(len.max(1)).unwrap_or(u32::MAX) }
    }

    /// The memory around `len` bytes at an address that counts as shared if one of them is.
    pub(crate) fn stretch(&self, addr: u64, len: u64) -> Obj {
        let Place { name, offset, owner } = self.place(addr);
        let grain = owner.grain();
        let start = u64::from(offset) / grain * grain;
        let end = u64::from(offset).saturating_add(len.max(1)).checked_next_multiple_of(grain);
        let len = end.and_then(|end| u32::try_from(end - start).ok()).unwrap_or(u32::MAX);
        Obj { name, offset: start as u32, len }
    }

    /// Where in the user's own source the call comes from from which a thread has just returned to `back`; where no line
    /// on the stack is the user's, where in the program's own code.
    pub(crate) fn call_site(&self, index: Index, back: u64) -> Site {
        self.call_through(index, back).0
    }

    /// The same, and where in the function that is called there the call goes on, which may be the place itself.
    pub(crate) fn call_through(&self, index: Index, back: u64) -> (Site, Site) {
        let call = back.wrapping_sub(1);
        if self.memory.layout.is_user_line(call) {
            return (self.memory.layout.site(call), self.memory.layout.site(call));
        }
        let callers = self.frames(index).into_iter().skip(1);
        let callers: Vec<u64> = [call].into_iter().chain(callers).collect();
        let at_line = callers.iter().position(|&pc| self.memory.layout.is_user_line(pc));
        let own = at_line
            .or_else(|| callers.iter().position(|&pc| self.memory.layout.in_user_code(pc)))
            .unwrap_or(0);
        (self.memory.layout.site(callers[own]), self.memory.layout.site(callers[own.saturating_sub(1)]))
    }

    /// A thread's stack, innermost frame first. Callers are named by their call instruction.
    pub(crate) fn stack(&self, index: Index) -> Vec<Site> {
        // Of a process that is gone, some memory may still be there and some not.
        let frames = if self.tracee.gone { Vec::new() } else { self.frames(index) };
        frames.into_iter().map(|pc| self.memory.layout.site(pc)).collect()
    }

    /// The stack of a thread that has just returned to `back`, from the call on.
    pub(crate) fn stack_of_call(&self, index: Index, back: u64) -> Vec<Site> {
        let callers = self.frames(index).into_iter().skip(1);
        std::iter::once(back - 1).chain(callers).map(|pc| self.memory.layout.site(pc)).collect()
    }

    fn frames(&self, index: Index) -> Vec<u64> {
        let frames = self.raw_frames(index, STACK_DEPTH);
        frames.iter().enumerate().map(|(i, frame)| if i == 0 { frame.pc } else { frame.pc - 1 }).collect()
    }

    /// A thread's frames, innermost first, with run-time addresses, at most `limit` of them.
    pub(crate) fn raw_frames(&self, index: Index, limit: usize) -> Vec<debuginfo::Frame> {
        let registers = self.registers(index);
        debuginfo::unwind(&self.memory.layout.unwinding, &TargetMemory(self.tracee.leader), &registers, limit)
    }

    /// The variable at an address on a thread's stack.
    pub(crate) fn local_at(&self, index: Index, addr: u64) -> Option<String> {
        self.inspect(index, |inspector| inspector.local_at(addr))
    }

    fn inspect<T>(&self, index: Index, look: impl FnOnce(&Inspector<'_>) -> T) -> T {
        let state = ThreadState { registers: self.registers(index), vectors: None, thread_pointer: None };
        look(&Inspector::new(&self.memory.layout.unwinding, &TargetMemory(self.tracee.leader), &state))
    }

    /// A thread comes to an operation: what it is about may have to be told of.
    pub(crate) fn note_told(&self, index: Index, pending: &Pending) {
        for name in self.memory.shared.note_told(&self.memory.layout, &pending.op.may.accesses, pending.site)
        {
            if let Some(held) = self.memory.heap.extent(name).and_then(|block| self.held_at(index, &block)) {
                self.memory.shared.note_held(name, held);
            }
        }
    }

    /// What a block holds, as variables say that point to it: of the thread that uses it, else of another one, which may have
    /// handed it on as a pointer to anything.
    fn held_at(&self, user: Index, block: &Range<u64>) -> Option<(usize, Made)> {
        let others = (0..self.scheduling.threads.len())
            .filter(|&other| other != user && self.scheduling.threads[other].is_live());
        std::iter::once(user)
            .chain(others)
            .find_map(|index| self.inspect(index, |inspector| inspector.held_at(block)))
    }

    /// A thread's registers, for unwinding.
    pub(crate) fn registers(&self, index: Index) -> Registers {
        let regs = &self.tracee.tasks[index].regs;
        // In the numbering of the x86-64 psABI's DWARF registers.
        let gpr = [
            regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp, regs.r8, regs.r9,
            regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15,
        ];
        Registers { gpr, pc: regs.rip }
    }
}
