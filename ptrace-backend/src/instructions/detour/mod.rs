//! Detours: instructions that take down which memory they touch, without a stop.
//!
//! The first of at least five bytes of instructions is replaced by a jump to a copy of them all that runs elsewhere. Before each
//! access that is to be taken down, the copy writes the address to a log ([`Log`]), then it does what the originals do
//! ([`crate::instructions::relocate`]). Of the call of a function that touches what its arguments say, it writes these ([`log_access`]).
//!
//! **Jumps into the middle.** The jump is `e9 cc cc cc cc`: whatever instruction begins behind the first one, its first
//! byte is now a breakpoint, and a thread that gets there by a jump that was not known stops, and is led to the place
//! in the copy ([`Detour::entries`]). Instruction punning (Chamith et al., PLDI 2017) chooses the distance of each jump
//! for that; here it is the same distance for all of them, so that their landing places ([`landing`]) keep the order
//! and the gaps that the instructions have, and never overlap.
//!
//! **Visible effects on a thread.** The copy saves two registers in the log's memory, uses neither the stack nor the
//! flags, and restores both before the instruction runs. A thread that is stopped inside is put back to the instruction
//! that it has not run yet ([`Detour::restore`]). One log serves all threads of a process, since one of them runs at a
//! time.

pub(crate) mod access_logging;
pub(crate) mod hand_off;
pub(crate) mod log;

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use libc::user_regs_struct;

use self::access_logging::{log_access, log_call, log_entry, log_free, stop};
use self::log::Log;
use super::relocate::{append, goes_on};
use super::stub::{Progress, Stub};

/// The jump in the place of the first instruction; its distance is made of breakpoints.
pub(crate) const JUMP: [u8; 5] = [0xe9, 0xcc, 0xcc, 0xcc, 0xcc];

/// The address at which the jump at an address lands.
pub(crate) fn landing(from: u64) -> u64 {
    const DISTANCE: i32 = 0xcccc_cccc_u32.cast_signed();
    from.wrapping_add(JUMP.len() as u64).wrapping_add_signed(i64::from(DISTANCE))
}

/// A copy of instructions that takes down what they touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Detour {
    /// The address of the first instruction.
    pub(crate) from: u64,
    /// The bytes that the jump replaces.
    pub(crate) original: [u8; 5],
    /// The address of the copy, and its length.
    pub(crate) to: u64,
    pub(crate) len: u64,
    /// The addresses of the instructions behind the first one, each with its address in the copy.
    pub(crate) entries: Box<[(u64, u64)]>,
    /// The candidates among the instructions, the first one being one of them; or that one alone, as the entry of a function.
    pub(crate) copied: Box<[CopiedInstruction]>,
    progress: Box<[CopyPosition]>,
}

/// A place in a copy, and how far a thread has got from there on. There are hundreds of thousands of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CopyPosition {
    /// Its offset from the beginning of the copy, in bytes.
    begins: u32,
    /// The offset of the instruction that [`Progress`] names from the first one, in bytes.
    distance: u16,
    kind: MarkKind,
}

/// A kind of [`Progress`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MarkKind {
    Before,
    Pushed,
    Done,
    Saved,
}

impl CopyPosition {
    /// `None`: the instruction is too far away.
    fn of(from: u64, (begins, progress): (usize, Progress)) -> Option<Self> {
        let (kind, at) = match progress {
            Progress::Before => (MarkKind::Before, from),
            Progress::Pushed(at) => (MarkKind::Pushed, at),
            Progress::Done(at) => (MarkKind::Done, at),
            Progress::Saved(at) => (MarkKind::Saved, at),
        };
        let distance = u16::try_from(at.wrapping_sub(from)).ok()?;
        Some(Self { begins: u32::try_from(begins).ok()?, distance, kind })
    }

    fn progress(self, from: u64) -> Progress {
        let at = from.wrapping_add(self.distance.into());
        match self.kind {
            MarkKind::Before => Progress::Before,
            MarkKind::Pushed => Progress::Pushed(at),
            MarkKind::Done => Progress::Done(at),
            MarkKind::Saved => Progress::Saved(at),
        }
    }
}

/// An instruction in a copy before which threads may stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CopiedInstruction {
    /// Its address in the program's code.
    pub(crate) address: u64,
    /// Its number, if it is a candidate; the entry of a function has none.
    pub(crate) candidate: Option<usize>,
    /// Behind the breakpoint at which threads stop, or hand themselves over ([`hand_off`]), unless the address that it touches is known to
    /// be private.
    pub(crate) asks: u64,
    /// The address of its instruction in the copy, behind the code that takes the access down.
    pub(crate) runs: u64,
}

impl Detour {
    /// Makes a detour for the instruction that `bytes` begin with and whose address is `from`, with its code, which is to be put
    /// at `to`. `candidate` says what is known of the instruction at an address. `None`: there can be no detour.
    pub(crate) fn new(
        bytes: &[u8],
        from: u64,
        to: u64,
        log: Log,
        candidate: impl Fn(u64) -> DetourPart,
    ) -> Option<(Self, Vec<u8>)> {
        let mut decoder = Decoder::with_ip(64, bytes, from, DecoderOptions::NONE);
        let mut stub = Stub::new(to);
        let (mut entries, mut copied) = (Vec::new(), Vec::new());
        let end = loop {
            let begins = decoder.position();
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return None;
            }
            if begins > 0 {
                entries.push((instruction.ip(), stub.here()));
            }
            stub.mark(Progress::Done(instruction.ip()));
            match candidate(instruction.ip()) {
                DetourPart::Nothing => {}
                DetourPart::Candidate(number, size) => {
                    let asks = log_access(&mut stub, &instruction, log, (number, size))?;
                    stub.mark(Progress::Done(instruction.ip()));
                    let (address, candidate) = (instruction.ip(), Some(number));
                    copied.push(CopiedInstruction { address, candidate, asks, runs: stub.here() });
                }
                DetourPart::Call(number) => {
                    let address = instruction.ip();
                    let asks = log_call(&mut stub, address, log, number);
                    stub.mark(Progress::Done(address));
                    copied.push(CopiedInstruction {
                        address,
                        candidate: Some(number),
                        asks,
                        runs: stub.here(),
                    });
                }
                DetourPart::Entry(number) if begins == 0 => {
                    let asks = log_entry(&mut stub, from, log, number);
                    stub.mark(Progress::Done(from));
                    let (address, candidate) = (from, Some(number));
                    copied.push(CopiedInstruction { address, candidate, asks, runs: stub.here() });
                }
                DetourPart::Free(number) if begins == 0 => {
                    let asks = log_free(&mut stub, from, log, number);
                    stub.mark(Progress::Done(from));
                    copied.push(CopiedInstruction {
                        address: from,
                        candidate: None,
                        asks,
                        runs: stub.here(),
                    });
                }
                DetourPart::Stops(number) if begins == 0 || number.is_some() => {
                    let address = instruction.ip();
                    let asks = stop(&mut stub, address, log, number);
                    stub.mark(Progress::Done(address));
                    copied.push(CopiedInstruction { address, candidate: number, asks, runs: stub.here() });
                }
                DetourPart::Entry(_) | DetourPart::Free(_) | DetourPart::Stops(_) | DetourPart::Another => {
                    return None;
                }
            }
            append(&mut stub, &decoder, &instruction, &bytes[begins..]).ok()?;
            let is_long_enough = decoder.position() >= JUMP.len();
            match (goes_on(&instruction), is_long_enough) {
                (true, true) => break instruction.next_ip(),
                (true, false) => {}
                (false, true) => break 0,
                // Behind it is another piece of code, or what fills the gap before that.
                (false, false) => {
                    while decoder.position() < JUMP.len() {
                        let filler = decoder.decode();
                        let is_filler = matches!(filler.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
                        if !is_filler || candidate(filler.ip()) != DetourPart::Nothing {
                            return None;
                        }
                        // A function may begin with it, and a jump may lead there.
                        if filler.mnemonic() == Mnemonic::Nop {
                            entries.push((filler.ip(), stub.here()));
                        }
                    }
                    break decoder.ip();
                }
            }
        };
        if end != 0 {
            stub.mark(Progress::Done(end));
            stub.jump(end);
        }
        let (code, progress) = stub.finish();
        let original = bytes.first_chunk().copied()?;
        let len = code.len() as u64;
        let progress =
            progress.into_iter().map(|mark| CopyPosition::of(from, mark)).collect::<Option<_>>()?;
        let (entries, copied) = (entries.into(), copied.into());
        Some((Self { from, original, to, len, entries, copied, progress }, code))
    }

    /// The code to which a function is to return in place of the trap at `from`: it hands the thread over, or stops it, as if that
    /// were at the trap. With the address behind its breakpoint.
    pub(crate) fn to_trap(from: u64, to: u64, log: Log) -> (Self, Vec<u8>, u64) {
        let mut stub = Stub::new(to);
        let asks = stop(&mut stub, from, log, None);
        let (code, progress) = stub.finish();
        let (original, len) = ([JUMP[1]; JUMP.len()], code.len() as u64);
        let progress = progress.into_iter().filter_map(|mark| CopyPosition::of(from, mark)).collect();
        let (entries, copied) = (Box::default(), Box::default());
        (Self { from, original, to, len, entries, copied, progress }, code, asks)
    }

    /// The code of the instruction at this address of the copy.
    pub(crate) fn code_from(&self, start: u64) -> Range<u64> {
        let offset = start.wrapping_sub(self.to) as usize;
        let is_next = |mark: &&CopyPosition| mark.begins as usize > offset && mark.kind != MarkKind::Pushed;
        let next = self.progress.iter().find(is_next);
        start..next.map_or(self.to + self.len, |next| self.to + u64::from(next.begins))
    }

    fn progress_at(&self, offset: u64) -> Progress {
        let mark = self.progress.iter().rev().find(|mark| u64::from(mark.begins) <= offset);
        mark.map_or(Progress::Before, |mark| mark.progress(self.from))
    }

    /// Whether a thread stands where the copy takes down what the instruction is about to touch.
    pub(crate) fn takes_down_at(&self, rip: u64) -> bool {
        let offset = rip.wrapping_sub(self.to);
        offset < self.len && matches!(self.progress_at(offset), Progress::Saved(_))
    }

    /// If a thread stands inside the copy or where the jump lands, puts it back to the instruction that it has not run yet. `saved`:
    /// the two registers that the log keeps. Says whether it stood there.
    pub(crate) fn restore(&self, regs: &mut user_regs_struct, saved: impl Fn() -> (u64, u64)) -> bool {
        if regs.rip == landing(self.from) {
            regs.rip = self.from;
            return true;
        }
        let offset = regs.rip.wrapping_sub(self.to);
        if offset >= self.len {
            return false;
        }
        match self.progress_at(offset) {
            Progress::Before => regs.rip = self.from,
            Progress::Pushed(call) => {
                regs.rsp = regs.rsp.wrapping_add(8);
                regs.rip = call;
            }
            Progress::Done(next) => regs.rip = next,
            Progress::Saved(at) => {
                (regs.rax, regs.rcx) = saved();
                regs.rip = at;
            }
        }
        true
    }
}

/// The part of an instruction in a detour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DetourPart {
    /// It is no place at which a thread may have to stop.
    Nothing,
    /// It touches so many bytes of memory, and its address can be taken down.
    Candidate(usize, u32),
    /// It calls a function, whose arguments can be taken down.
    Call(usize),
    /// The entry of a function, whose arguments can be taken down with the address to which the call returns.
    Entry(usize),
    /// The entry of `free`, whose argument can be taken down, with the number for that ([`Layout::frees`](crate::layout::Layout::frees)).
    Free(usize),
    /// Threads stop there, whatever they do: at a candidate that cannot be taken down, which has a number, or at the entry of a function.
    Stops(Option<usize>),
    /// A thread may have to stop there.
    Another,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: u64 = 0x5555_5555_5000;
    const TO: u64 = 0x5555_4555_0000;
    const LOG: Log = Log { start: 0x7000_0000, entries: 16 };

    /// A detour for this code, the instructions at these offsets being candidates.
    fn detour(code: &[u8], candidates: &[u64]) -> Option<(Detour, Vec<u8>)> {
        let found = |at: u64| match candidates.iter().position(|offset| FROM + offset == at) {
            Some(number) => DetourPart::Candidate(number, 4),
            None => DetourPart::Nothing,
        };
        let filled = [code, &[0xcc; 20]].concat();
        Detour::new(&filled, FROM, TO, LOG, found)
    }

    #[test]
    fn what_the_jump_overwrites_begins_with_a_breakpoint_and_has_a_place_in_the_copy() {
        // mov eax, [rdi]; mov [rsi], eax; mov eax, 1
        let (detour, code) = detour(&[0x8b, 0x07, 0x89, 0x06, 0xb8, 1, 0, 0, 0], &[0, 2]).unwrap();
        assert_eq!(detour.original, [0x8b, 0x07, 0x89, 0x06, 0xb8]);
        let overwritten: Vec<u64> = detour.entries.iter().map(|(at, _)| at - FROM).collect();
        assert_eq!(overwritten, [2, 4]);
        assert!(overwritten.iter().all(|&offset| JUMP[offset as usize] == 0xcc));
        for CopiedInstruction { runs, asks, .. } in &detour.copied {
            let original = if *runs < detour.entries[0].1 { [0x8b, 0x07] } else { [0x89, 0x06] };
            assert_eq!(code[(runs - TO) as usize..][..2], original);
            assert_eq!(code[(asks - TO) as usize - 1], 0xcc);
        }
    }

    #[test]
    fn a_thread_that_stops_anywhere_in_a_copy_is_put_to_an_instruction_that_it_has_not_run() {
        // mov eax, [rdi]; mov [rsi], eax; call +0
        let (detour, _) = detour(&[0x8b, 0x07, 0x89, 0x06, 0xe8, 0, 0, 0, 0], &[0, 2]).unwrap();
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        for offset in 0..detour.len {
            let mut regs = user_regs_struct { rip: TO + offset, rax: 1, rcx: 2, ..zero };
            assert!(detour.restore(&mut regs, || (3, 4)));
            assert!([0, 2, 4].contains(&(regs.rip - FROM)), "{offset}: {:#x}", regs.rip);
            let saved = (regs.rax, regs.rcx);
            assert!(saved == (1, 2) || saved == (3, 4) && [0, 2].contains(&(regs.rip - FROM)), "{offset}");
        }
        let mut regs = user_regs_struct { rip: landing(FROM), ..zero };
        assert!(detour.restore(&mut regs, || (0, 0)) && regs.rip == FROM);
        let mut regs = user_regs_struct { rip: TO + detour.len, ..zero };
        assert!(!detour.restore(&mut regs, || (0, 0)));
    }

    #[test]
    fn a_thread_that_stops_at_the_entry_of_a_function_has_the_registers_of_its_caller() {
        // push rbx; mov rbx, rdi; sub rsp, 16
        let code = [&[0x53, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xec, 0x10][..], &[0xcc; 20]].concat();
        let found = |at: u64| if at == FROM { DetourPart::Stops(None) } else { DetourPart::Nothing };
        let (detour, copy) = Detour::new(&code, FROM, TO, LOG, found).unwrap();
        let &[CopiedInstruction { address: FROM, candidate: None, asks, runs }] = &*detour.copied else {
            panic!("{detour:?}")
        };
        assert_eq!((copy[(asks - TO) as usize - 1], copy[(runs - TO) as usize]), (0xcc, 0x53));
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        let mut regs = user_regs_struct { rip: asks, rax: 1, rcx: asks - 1, ..zero };
        assert!(detour.restore(&mut regs, || (3, 4)));
        assert_eq!((regs.rip, regs.rax, regs.rcx), (FROM, 3, 4));
    }

    #[test]
    fn a_call_is_taken_down_at_the_entry_of_a_function_and_at_no_other_place() {
        // mov rax, rdi; cmp rdx, 16
        let code = [&[0x48, 0x89, 0xf8, 0x48, 0x83, 0xfa, 0x10][..], &[0xcc; 20]].concat();
        let at =
            |entry: u64| move |at: u64| if at == entry { DetourPart::Entry(7) } else { DetourPart::Nothing };
        let (detour, copy) = Detour::new(&code, FROM, TO, LOG, at(FROM)).unwrap();
        let &[CopiedInstruction { address: FROM, candidate: Some(7), asks, runs }] = &*detour.copied else {
            panic!("{detour:?}")
        };
        assert_eq!((copy[(asks - TO) as usize - 1], &copy[(runs - TO) as usize..][..3]), (0xcc, &code[..3]));
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        for offset in 0..runs - TO {
            let mut regs = user_regs_struct { rip: TO + offset, rax: 1, rcx: 2, ..zero };
            assert!(detour.restore(&mut regs, || (3, 4)));
            let saved = (regs.rax, regs.rcx);
            assert!(regs.rip == FROM && (saved == (1, 2) || saved == (3, 4)), "{offset}");
        }
        assert!(Detour::new(&code, FROM, TO, LOG, at(FROM + 3)).is_none());
    }

    #[test]
    fn a_thread_in_the_copy_of_a_call_has_not_made_it_yet() {
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        for found in [DetourPart::Call(3), DetourPart::Stops(Some(3))] {
            // call +0x10
            let call = [&[0xe8, 0x10, 0, 0, 0][..], &[0xcc; 20]].concat();
            let at = |at: u64| if at == FROM { found } else { DetourPart::Nothing };
            let (detour, code) = Detour::new(&call, FROM, TO, LOG, at).unwrap();
            let &[CopiedInstruction { address: FROM, candidate: Some(3), asks, runs }] = &*detour.copied
            else {
                panic!("{detour:?}")
            };
            assert_eq!(code[(asks - TO) as usize - 1], 0xcc);
            let own = detour.code_from(runs);
            assert!(
                own.start == runs && own.end == TO + detour.len,
                "its return address is pushed by itself"
            );
            for offset in 0..detour.len {
                let before = user_regs_struct { rip: TO + offset, rax: 1, rcx: 2, rsp: 0x7000, ..zero };
                let mut regs = before;
                assert!(detour.restore(&mut regs, || (3, 4)));
                let has_pushed = regs.rsp == before.rsp + 8;
                assert!(regs.rip == FROM && (has_pushed || regs.rsp == before.rsp), "{offset}");
                assert!(!has_pushed || before.rip > runs, "{offset}");
            }
        }
    }

    #[test]
    fn a_thread_on_its_way_to_a_trap_is_at_that() {
        let (detour, code, behind) = Detour::to_trap(FROM, TO, LOG);
        assert_eq!(code[(behind - TO) as usize - 1], 0xcc);
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        let mut regs = user_regs_struct { rip: behind, rax: 1, rcx: 2, ..zero };
        assert!(detour.restore(&mut regs, || (3, 4)));
        assert_eq!((regs.rip, regs.rax, regs.rcx), (FROM, 3, 4));
    }

    #[test]
    fn no_jump_lies_over_the_beginning_of_another_piece_of_code() {
        // mov eax, [rdi]; ret, and then filler, or another function.
        assert!(detour(&[0x8b, 0x07, 0xc3, 0x66, 0x90], &[0]).is_some());
        assert!(detour(&[0x8b, 0x07, 0xc3, 0x31, 0xc0], &[0]).is_none());
        // mov eax, [rdi]; jmp -4, and then whatever.
        assert!(detour(&[0x8b, 0x07, 0xeb, 0xfc, 0x31, 0xc0], &[0]).is_none());
        // mov eax, [rdi]; syscall
        assert!(detour(&[0x8b, 0x07, 0x0f, 0x05, 0x90], &[0]).is_none());
    }

    #[test]
    fn an_address_that_cannot_be_named_is_not_logged() {
        // push qword [rax]; mov eax, [edi]
        assert!(detour(&[0xff, 0x30, 0x90, 0x90, 0x90], &[0]).is_none());
        assert!(detour(&[0x67, 0x8b, 0x07, 0x90, 0x90], &[0]).is_none());
    }
}
