//! Hand-offs: a thread that comes to a key point in the copy of a detour ([`super`]) hands itself over to the tracer, and
//! waits, without a stop of the kernel's for the tracer.
//!
//! The thread writes its registers to a page that it has in common with the tracer, wakes the tracer by a futex, and waits at another
//! one, which is its own. To let it go, the tracer writes the registers with which it is to go on, and wakes it. The code that does
//! this uses neither the program's stack nor vector registers. It is entered by a jump through a word of the page, which
//! leads to a breakpoint instead wherever the tracer waits for stops of the kernel's alone.
//!
//! **A thread that is stopped inside** has either not handed itself over yet, and is put back to its key point, or has been let go, and
//! is put to where it goes on ([`HandOff::restore`]).

use iced_x86::code_asm::{
    AsmMemoryOperand, AsmRegister64, CodeAssembler, CodeLabel, dword_ptr, eax, ecx, edi, edx, esi, esp,
    qword_ptr, r8, r9, r10, r10d, r11, r12, r13, r14, r15, rax, rbp, rbx, rcx, rdi, rdx, rsi, rsp,
};
use iced_x86::{BlockEncoderOptions, IcedError};

use crate::os::Regs;
use crate::os::hand_off::{FRAME, FRAME_SIZE, PAGE_SIZE, PageSlot, STACK_END};

/// The places of the code and of the page, both below 2 GiB, where every instruction can name them: below the log of detours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HandOff {
    /// The address of the log.
    log: u32,
}

/// The code, and the offsets at which its parts begin.
struct Routine {
    code: Vec<u8>,
    parts: [usize; PARTS],
    /// Behind its two system calls.
    calls: [usize; 2],
}

/// All registers are saved; so are the flags; it waits; it goes on.
const PARTS: usize = 3;

/// The jump back to the breakpoint right before the address in `rcx`: `lea rcx, [rcx - 1]; jmp rcx`.
const TO_BREAKPOINT: [u8; 6] = [0x48, 0x8d, 0x49, 0xff, 0xff, 0xe1];

/// The offset of the routine, behind that.
const ROUTINE: u32 = 16;

/// The registers that are saved by the routine itself, but for `rsp`.
const SAVED: [(AsmRegister64, PageSlot); 13] = [
    (rbx, PageSlot::Rbx),
    (rdx, PageSlot::Rdx),
    (rsi, PageSlot::Rsi),
    (rdi, PageSlot::Rdi),
    (rbp, PageSlot::Rbp),
    (r8, PageSlot::R8),
    (r9, PageSlot::R9),
    (r10, PageSlot::R10),
    (r11, PageSlot::R11),
    (r12, PageSlot::R12),
    (r13, PageSlot::R13),
    (r14, PageSlot::R14),
    (r15, PageSlot::R15),
];

impl HandOff {
    /// The size of its memory below the log, in bytes.
    pub(crate) const ROOM: u32 = 2 * PAGE_SIZE;

    /// The hand-off memory that belongs to the log at this address.
    pub(crate) const fn below(log: u32) -> Self {
        Self { log }
    }

    /// The address of the page.
    pub(crate) const fn page(self) -> u32 {
        self.log - PAGE_SIZE
    }

    /// The address of the code.
    pub(crate) const fn code(self) -> u32 {
        self.log - Self::ROOM
    }

    /// The address of the routine.
    pub(crate) const fn routine(self) -> u32 {
        self.code() + ROUTINE
    }

    /// The address of a field of the page.
    pub(crate) const fn address(self, field: PageSlot) -> u32 {
        self.page() + field.offset()
    }

    /// The word through which a thread comes here, with the address behind its breakpoint in `rcx`.
    pub(crate) const fn entry(self) -> u32 {
        self.address(PageSlot::Entry)
    }

    /// The initial content of the memory: the code, and a page through which threads come to their breakpoints. `log`: the state of the log.
    pub(crate) fn bytes(self, log: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0xcc; PAGE_SIZE as usize];
        let routine = self.assemble().ok()?.code;
        bytes[..TO_BREAKPOINT.len()].copy_from_slice(&TO_BREAKPOINT);
        bytes.get_mut(ROUTINE as usize..)?.get_mut(..routine.len())?.copy_from_slice(&routine);
        bytes.resize(Self::ROOM as usize, 0);
        let entry = (self.entry() - self.code()) as usize;
        bytes[entry..entry + 4].copy_from_slice(&self.code().to_le_bytes());
        let cursor = (self.address(PageSlot::LogCursor) - self.code()) as usize;
        bytes[cursor..cursor + 8].copy_from_slice(&log.to_le_bytes());
        Some(bytes)
    }

    /// The addresses from which the kernel sees its two system calls come.
    pub(crate) fn calls(self) -> Option<[u32; 2]> {
        Some(self.assemble().ok()?.calls.map(|offset| self.routine() + offset as u32))
    }

    fn field(self, field: PageSlot) -> AsmMemoryOperand {
        qword_ptr(u64::from(self.address(field)))
    }

    fn word(self, field: PageSlot) -> AsmMemoryOperand {
        dword_ptr(u64::from(self.address(field)))
    }

    fn assemble(self) -> Result<Routine, IcedError> {
        const WAIT: u32 = libc::FUTEX_WAIT as u32;
        const WAKE: u32 = libc::FUTEX_WAKE as u32;
        const FUTEX: u32 = libc::SYS_futex as u32;
        let mut code = CodeAssembler::new(64)?;
        let mut labels: [CodeLabel; PARTS] = std::array::from_fn(|_| code.create_label());
        let [saved, flags, goes_on] = &mut labels;
        let mut calls = [code.create_label(), code.create_label()];
        let [woken, waited] = &mut calls;

        code.mov(self.field(PageSlot::Rip), rcx)?;
        code.mov(self.word(PageSlot::LetGo), 0)?;
        for (register, field) in SAVED {
            code.mov(self.field(field), register)?;
        }
        code.mov(self.field(PageSlot::Rsp), rsp)?;

        code.set_label(saved)?;
        code.mov(esp, self.page() + STACK_END)?;
        code.pushfq()?;
        code.pop(self.field(PageSlot::Flags))?;

        code.set_label(flags)?;
        for (saved, field) in [(PageSlot::LogRax, PageSlot::Rax), (PageSlot::LogRcx, PageSlot::Rcx)] {
            code.mov(rax, self.field(saved))?;
            code.mov(self.field(field), rax)?;
        }
        code.rdfsbase(rax)?;
        code.mov(self.field(PageSlot::FsBase), rax)?;
        code.rdgsbase(rax)?;
        code.mov(self.field(PageSlot::GsBase), rax)?;
        // The stack up to the end of its page at most: what lies behind that may not be mapped.
        code.cld()?;
        code.mov(rsi, self.field(PageSlot::Rsp))?;
        code.mov(ecx, esi)?;
        code.not(ecx)?;
        code.and(ecx, PAGE_SIZE - 1)?;
        code.add(ecx, 1)?;
        code.mov(edx, FRAME_SIZE)?;
        code.cmp(ecx, edx)?;
        code.cmova(ecx, edx)?;
        code.mov(self.field(PageSlot::FrameLen), rcx)?;
        code.mov(edi, self.page() + FRAME)?;
        code.rep().movsb()?;
        code.mov(rbx, self.field(PageSlot::Go))?;
        code.mov(dword_ptr(rbx), 0)?;
        code.mov(self.word(PageSlot::State), 1)?;
        code.mov(eax, FUTEX)?;
        code.mov(edi, self.address(PageSlot::State))?;
        code.mov(esi, WAKE)?;
        code.mov(edx, 1)?;
        code.syscall()?;
        code.set_label(woken)?;
        code.mov(eax, FUTEX)?;
        code.mov(rdi, rbx)?;
        code.mov(esi, WAIT)?;
        code.xor(edx, edx)?;
        code.xor(r10d, r10d)?;
        code.syscall()?;
        code.set_label(waited)?;
        code.cmp(dword_ptr(rbx), 0)?;
        code.je(*woken)?;

        code.set_label(goes_on)?;
        code.push(self.field(PageSlot::Flags))?;
        code.popfq()?;
        for (register, field) in SAVED.into_iter().chain([(rax, PageSlot::Rax), (rcx, PageSlot::Rcx)]) {
            code.mov(register, self.field(field))?;
        }
        code.mov(rsp, self.field(PageSlot::Rsp))?;
        code.jmp(self.field(PageSlot::Rip))?;

        let start = u64::from(self.routine());
        let assembled = code.assemble_options(start, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        let offset = |label: &CodeLabel| Ok((assembled.label_ip(label)? - start) as usize);
        let [saved, flags, goes_on] = labels;
        let [woken, waited] = calls;
        Ok(Routine {
            parts: [offset(&saved)?, offset(&flags)?, offset(&goes_on)?],
            calls: [offset(&woken)?, offset(&waited)?],
            code: assembled.inner.code_buffer,
        })
    }

    /// If a thread stands in the code, makes its registers those of a thread outside of it. `saved`: `rax` and `rcx`, where detours
    /// save them; `page`: a field of the page; `key_point`: the instruction to which the breakpoint right before an address belongs.
    pub(crate) fn restore(
        self,
        regs: &mut Regs,
        saved: impl Fn() -> (u64, u64),
        page: impl Fn(PageSlot) -> u64,
        key_point: impl Fn(u64) -> Option<u64>,
    ) -> bool {
        let Some(offset) =
            regs.rip.checked_sub(u64::from(self.code())).filter(|at| *at < u64::from(PAGE_SIZE))
        else {
            return false;
        };
        let Ok(Routine { parts: [all, flags, goes_on], .. }) = self.assemble() else { return false };
        let at = offset.saturating_sub(u64::from(ROUTINE)) as usize;
        let came_from = regs.rcx;
        let flags_now = regs.eflags;
        if at >= all {
            take_general_registers(regs, &page);
        }
        if at >= goes_on || at >= flags && page(PageSlot::LetGo) != 0 {
            regs.rip = page(PageSlot::Rip);
        } else {
            // Not all of the page is written yet; no other thread has run since.
            (regs.rax, regs.rcx) = saved();
            let behind =
                if offset < u64::from(ROUTINE) || at < flags { came_from } else { page(PageSlot::Rip) };
            // The jump back to the breakpoint has counted down by one.
            let Some(instruction) = key_point(behind).or_else(|| key_point(behind.wrapping_add(1))) else {
                return false;
            };
            regs.rip = instruction;
        }
        if at < flags {
            regs.eflags = flags_now;
        }
        regs.orig_rax = u64::MAX;
        true
    }
}

/// Takes the registers from the page, but for `rip`.
pub(crate) fn take_registers(regs: &mut Regs, page: impl Fn(PageSlot) -> u64) {
    (regs.fs_base, regs.gs_base) = (page(PageSlot::FsBase), page(PageSlot::GsBase));
    take_general_registers(regs, page);
}

fn take_general_registers(regs: &mut Regs, page: impl Fn(PageSlot) -> u64) {
    for (field, register) in places(regs) {
        *register = page(field);
    }
}

/// The general registers and the flags, without `rip`.
fn places(regs: &mut Regs) -> [(PageSlot, &mut u64); 17] {
    [
        (PageSlot::Rax, &mut regs.rax),
        (PageSlot::Rbx, &mut regs.rbx),
        (PageSlot::Rcx, &mut regs.rcx),
        (PageSlot::Rdx, &mut regs.rdx),
        (PageSlot::Rsi, &mut regs.rsi),
        (PageSlot::Rdi, &mut regs.rdi),
        (PageSlot::Rbp, &mut regs.rbp),
        (PageSlot::Rsp, &mut regs.rsp),
        (PageSlot::R8, &mut regs.r8),
        (PageSlot::R9, &mut regs.r9),
        (PageSlot::R10, &mut regs.r10),
        (PageSlot::R11, &mut regs.r11),
        (PageSlot::R12, &mut regs.r12),
        (PageSlot::R13, &mut regs.r13),
        (PageSlot::R14, &mut regs.r14),
        (PageSlot::R15, &mut regs.r15),
        (PageSlot::Flags, &mut regs.eflags),
    ]
}

/// Hands the registers with which a thread is to go on to `put`, `rip` being among them.
pub(crate) fn give_registers(regs: &Regs, put: impl Fn(PageSlot, u64)) {
    let mut regs = *regs;
    put(PageSlot::Rip, regs.rip);
    for (field, register) in places(&mut regs) {
        put(field, *register);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: HandOff = HandOff::below(0x7000_0000);
    /// Behind the breakpoint of a key point, the instruction of that, and where its thread goes on.
    const BEHIND: u64 = 0x5555_4555_0123;
    const KEY_POINT: u64 = 0x5555_5555_5000;
    const GOES_ON: u64 = 0x5555_4555_0200;

    fn zero() -> Regs {
        // SAFETY: the structure consists of integers only.
        unsafe { std::mem::zeroed() }
    }

    /// The registers that are made of those of a thread that stands at this offset in the code.
    fn restored(at: u64, regs: Regs, is_let_go: bool) -> Option<Regs> {
        let mut regs = Regs { rip: u64::from(HERE.code()) + at, ..regs };
        let page = |field| match field {
            PageSlot::LetGo => u64::from(is_let_go),
            PageSlot::Rip => {
                if is_let_go {
                    GOES_ON
                } else {
                    BEHIND
                }
            }
            PageSlot::Rax => 1,
            PageSlot::Rcx => 2,
            PageSlot::Rsp => 3,
            PageSlot::Rbx => 4,
            PageSlot::Flags => 5,
            _ => 0,
        };
        let key_point = |behind| (behind == BEHIND).then_some(KEY_POINT);
        HERE.restore(&mut regs, || (1, 2), page, key_point).then_some(regs)
    }

    #[test]
    fn a_thread_that_stops_in_the_routine_has_the_registers_of_one_outside() {
        let Routine { code, parts: [saved, flags, goes_on], .. } = HERE.assemble().unwrap();
        let before = Regs { rbx: 4, rsp: 3, rcx: BEHIND, eflags: 5, ..zero() };
        for at in 0..code.len() {
            // The flags change last, and everything else changes once all is saved.
            let eflags = if at < flags { 5 } else { 9 };
            let changed = Regs { rbx: 9, rsp: 9, rcx: if at < flags { BEHIND } else { 9 }, eflags, ..zero() };
            let regs = if at < saved { before } else { changed };
            let place = u64::from(ROUTINE) + at as u64;
            let states: &[bool] = if at >= goes_on {
                &[true]
            } else if at >= flags {
                &[false, true]
            } else {
                &[false]
            };
            for &is_let_go in states {
                let regs = restored(place, regs, is_let_go).unwrap();
                let rip = if is_let_go { GOES_ON } else { KEY_POINT };
                let seen = [regs.rip, regs.rax, regs.rcx, regs.rsp, regs.rbx, regs.eflags];
                assert_eq!(seen, [rip, 1, 2, 3, 4, 5], "{at} {is_let_go}");
            }
        }
        assert!(restored(u64::from(PAGE_SIZE), zero(), false).is_none(), "it is outside");
    }

    #[test]
    fn a_thread_on_its_way_to_a_breakpoint_is_at_its_key_point() {
        for behind in [BEHIND, BEHIND - 1] {
            let regs = restored(0, Regs { rcx: behind, ..zero() }, false).unwrap();
            assert_eq!((regs.rip, regs.rax, regs.rcx), (KEY_POINT, 1, 2));
        }
    }

    #[test]
    fn the_code_calls_the_kernel_where_the_filter_lets_it() {
        let bytes = HERE.bytes(0).unwrap();
        let start = HERE.code();
        for call in HERE.calls().unwrap() {
            let behind = (call - start) as usize;
            assert_eq!(bytes[behind - 2..behind], [0x0f, 0x05], "{call:#x}");
        }
        assert_eq!(bytes.len(), HandOff::ROOM as usize);
    }
}
