//! Interpreted instructions do what the processor does: each is run by both, and everything that they leave behind compared.

use iced_x86::code_asm::*;
use iced_x86::{Decoder, DecoderOptions, IcedError};
use libc::user_regs_struct;
use ptrace_backend::instructions::{ARITHMETIC, InterpretedMemory, Interpreter};

use crate::instructions::machine::{FROM, Machine, State, TARGET};

const CARRY: u64 = 1;
const ADJUST: u64 = 0x10;
const OVERFLOW: u64 = 0x800;

/// The memory that instructions of the tests touch.
struct Memory([(u64, Vec<u8>); 2]);

impl Memory {
    fn at(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        self.0
            .iter_mut()
            .find_map(|(start, bytes)| bytes.get_mut(address.checked_sub(*start)? as usize..)?.get_mut(..len))
    }
}

impl InterpretedMemory for Memory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        self.at(address, bytes.len()).is_some_and(|found| {
            bytes.copy_from_slice(found);
            true
        })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.at(address, bytes.len()).is_some_and(|found| {
            found.copy_from_slice(bytes);
            true
        })
    }
}

/// The general registers by the numbers of the processor.
fn slots(regs: &mut user_regs_struct) -> [&mut u64; 16] {
    [
        &mut regs.rax,
        &mut regs.rcx,
        &mut regs.rdx,
        &mut regs.rbx,
        &mut regs.rsp,
        &mut regs.rbp,
        &mut regs.rsi,
        &mut regs.rdi,
        &mut regs.r8,
        &mut regs.r9,
        &mut regs.r10,
        &mut regs.r11,
        &mut regs.r12,
        &mut regs.r13,
        &mut regs.r14,
        &mut regs.r15,
    ]
}

/// Values at the limits of each width, and others, for the registers that are no addresses.
fn states() -> Vec<State> {
    const VALUES: [u64; 12] =
        [0, 1, 2, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, i64::MAX as u64, 1 << 63, u64::MAX];
    const NUMBERS: [usize; 7] = [0, 1, 2, 3, 8, 9, 10];
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut all = State::variants();
    for _ in 0..200 {
        let mut state = State::new(next() & ARITHMETIC, 0, 0);
        let (general, _) = state.general();
        for number in NUMBERS {
            let random = next();
            general[number] = VALUES.get(random as usize % 16).copied().unwrap_or(random);
        }
        all.push(state);
    }
    all
}

/// Runs instructions by the processor and by the interpreter. The flags in `undefined` may differ.
fn check_code(machine: &mut Machine, undefined: u64, code: &[u8]) {
    for mut state in states() {
        let before = machine.memory();
        let outcome = machine.run_original(code, &state);
        // SAFETY: the structure consists of integers only.
        let mut regs: user_regs_struct = unsafe { std::mem::zeroed() };
        let (general, flags) = state.general();
        slots(&mut regs).into_iter().zip(*general).for_each(|(slot, value)| *slot = value);
        (regs.eflags, regs.rip) = (*flags, FROM);
        let mut interpreter = Interpreter::new(regs);
        let mut memory = Memory(before);
        let end = FROM + code.len() as u64;
        while (FROM..end).contains(&interpreter.regs.rip) {
            let at = interpreter.regs.rip;
            let rest = &code[(at - FROM) as usize..];
            let instruction = Decoder::with_ip(64, rest, at, DecoderOptions::NONE).decode();
            assert_eq!(interpreter.step(&instruction, &mut memory), Some(()), "{instruction}");
        }
        let (mut expected, memories) = outcome.parts();
        let (general, flags) = expected.general();
        let mut got = interpreter.regs;
        let context = format!("{code:02x?} from {state:x?}");
        assert_eq!(got.rip, outcome.goes_on_at(code.len()), "{context}");
        assert_eq!(slots(&mut got).map(|slot| *slot), *general, "{context}");
        let defined = ARITHMETIC & !undefined;
        assert_eq!(got.eflags & defined, *flags & defined, "{context}");
        assert_eq!(memory.0.each_ref().map(|(_, bytes)| &**bytes), memories, "{context}");
    }
}

fn check(
    machine: &mut Machine,
    undefined: u64,
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the test's instruction exists");
    check_code(machine, undefined, &assembler.assemble(FROM).expect("the test's code can be encoded"));
}

#[test]
fn arithmetic_of_each_width() {
    let m = &mut Machine::new();
    macro_rules! all_widths {
        ($undefined:expr, $($name:ident)*) => { $(
            check(m, $undefined, |a| a.$name(al, bl));
            check(m, $undefined, |a| a.$name(ax, r8w));
            check(m, $undefined, |a| a.$name(ecx, r9d));
            check(m, $undefined, |a| a.$name(rdx, r10));
            check(m, $undefined, |a| a.$name(qword_ptr(rdi), rdx));
            check(m, $undefined, |a| a.$name(byte_ptr(rdi + 3), cl));
            check(m, $undefined, |a| a.$name(r8d, -2));
            check(m, $undefined, |a| a.$name(word_ptr(rsi), 0x1234));
        )* };
    }
    all_widths!(0, add adc sub sbb cmp);
    all_widths!(ADJUST, and or xor test);
    macro_rules! of_one {
        ($($name:ident)*) => { $(
            check(m, 0, |a| a.$name(bl));
            check(m, 0, |a| a.$name(r8w));
            check(m, 0, |a| a.$name(ecx));
            check(m, 0, |a| a.$name(rdx));
            check(m, 0, |a| a.$name(dword_ptr(rdi)));
        )* };
    }
    of_one!(inc dec neg not);
}

#[test]
fn shifts_and_rotations() {
    let m = &mut Machine::new();
    macro_rules! shifts {
        ($undefined:expr, $($name:ident)*) => { $(
            for by in [0, 1, 3, 7, 8, 15, 31, 33, 63, 64] {
                let undefined = if by == 1 { ADJUST } else { $undefined };
                check(m, undefined, |a| a.$name(rax, by));
                check(m, undefined, |a| a.$name(r9d, by));
            }
            check(m, ADJUST | OVERFLOW, |a| a.$name(rbx, cl));
            check(m, ADJUST | OVERFLOW, |a| a.$name(dword_ptr(rdi), cl));
            check(m, ADJUST | OVERFLOW, |a| a.$name(al, 3));
        )* };
    }
    shifts!(ADJUST | OVERFLOW, shl shr sar rol ror);
}

#[test]
fn products_and_quotients() {
    const UNDEFINED: u64 = ARITHMETIC & !(CARRY | OVERFLOW);
    let m = &mut Machine::new();
    check(m, UNDEFINED, |a| a.imul_2(rax, rbx));
    check(m, UNDEFINED, |a| a.imul_2(ecx, dword_ptr(rdi)));
    check(m, UNDEFINED, |a| a.imul_3(rdx, r8, -24));
    check(m, UNDEFINED, |a| a.imul_3(r9w, r10w, 300));
    check(m, UNDEFINED, |a| a.mul(r8));
    check(m, UNDEFINED, |a| a.mul(ebx));
    check(m, ARITHMETIC, |a| {
        a.xor(edx, edx)?;
        a.or(rbx, 1)?;
        a.div(rbx)
    });
    check(m, ARITHMETIC, |a| {
        a.xor(edx, edx)?;
        a.or(r8d, 1)?;
        a.div(r8d)
    });
}

#[test]
fn moves_and_addresses() {
    let m = &mut Machine::new();
    check(m, 0, |a| a.mov(rax, 0x1122_3344_5566_7788u64));
    check(m, 0, |a| a.mov(qword_ptr(rdi), -5));
    check(m, 0, |a| a.mov(al, ch));
    check(m, 0, |a| a.mov(bx, word_ptr(rdi + 1)));
    check(m, 0, |a| a.mov(r8d, ecx));
    check(m, 0, |a| a.movzx(eax, ch));
    check(m, 0, |a| a.movzx(rdx, word_ptr(rsi)));
    check(m, 0, |a| a.movsx(rax, cl));
    check(m, 0, |a| a.movsx(r8w, byte_ptr(rdi)));
    check(m, 0, |a| a.movsxd(rbx, ecx));
    check(m, 0, |a| a.lea(rax, ptr(rdi + rcx * 8 + 5)));
    check(m, 0, |a| a.lea(eax, ptr(rdx - 1)));
    check(m, 0, |a| a.cdqe());
    check(m, 0, |a| a.cwde());
    check(m, 0, |a| a.cdq());
    check(m, 0, |a| a.cqo());
    check(m, 0, |a| a.xchg(rax, r9));
    check(m, 0, |a| a.xchg(dword_ptr(rdi), ecx));
    check(m, 0, |a| a.lock().xadd(qword_ptr(rdi), rcx));
    check(m, 0, |a| a.xadd(bl, cl));
    check(m, 0, |a| a.lock().cmpxchg(qword_ptr(rdi + 0x100), rdx));
    check(m, 0, |a| a.lock().cmpxchg(dword_ptr(rdi), edx));
    check(m, 0, |a| a.cmpxchg(bl, cl));
    check(m, 0, |a| a.nop());
    check(m, 0, |a| a.mfence());
    check(m, 0, |a| {
        a.movups(xmm3, xmmword_ptr(rdi + 3))?;
        a.movaps(xmm5, xmm3)?;
        a.movdqu(xmmword_ptr(rsi + 1), xmm5)
    });
}

#[test]
fn vectors_of_the_newer_form() {
    if !std::is_x86_feature_detected!("avx") {
        return;
    }
    let m = &mut Machine::new();
    check(m, 0, |a| {
        a.vmovdqu(ymm3, ymmword_ptr(rdi + 3))?;
        a.vmovups(xmm4, xmm3)?;
        a.vmovdqu(ymmword_ptr(rsi + 1), ymm3)?;
        a.vmovdqu(ymmword_ptr(rsi + 41), ymm4)?;
        a.vzeroupper()?;
        a.vmovdqu(ymmword_ptr(rsi + 81), ymm3)
    });
}

#[test]
fn conditions() {
    let m = &mut Machine::new();
    macro_rules! conditions {
        ($($set:ident $cmov:ident $jump:ident)*) => { $(
            check(m, 0, |a| a.$set(bl));
            check(m, 0, |a| a.$cmov(eax, r9d));
            check(m, 0, |a| a.$cmov(rdx, qword_ptr(rdi)));
            check(m, 0, |a| a.$jump(TARGET));
        )* };
    }
    conditions!(
        seto cmovo jo  setno cmovno jno  setb cmovb jb  setae cmovae jae  sete cmove je  setne cmovne jne
        setbe cmovbe jbe  seta cmova ja  sets cmovs js  setns cmovns jns  setp cmovp jp  setnp cmovnp jnp
        setl cmovl jl  setge cmovge jge  setle cmovle jle  setg cmovg jg
    );
}

#[test]
fn the_stack_and_transfers() {
    let m = &mut Machine::new();
    check(m, 0, |a| a.push(rax));
    check(m, 0, |a| a.push(rsp));
    check(m, 0, |a| a.push(-3));
    check(m, 0, |a| a.push(qword_ptr(rdi)));
    check(m, 0, |a| a.pop(rbx));
    check(m, 0, |a| a.pop(rsp));
    check(m, 0, |a| a.leave());
    check(m, 0, |a| a.jmp(TARGET));
    check(m, 0, |a| a.jmp(r12));
    check(m, 0, |a| a.jmp(qword_ptr(r13)));
    check(m, 0, |a| a.call(TARGET));
    check(m, 0, |a| a.call(r12));
    check(m, 0, |a| a.ret());
    check(m, 0, |a| a.ret_1(24));
}

#[test]
fn what_is_not_known_is_told_as_that() {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    assembler.movaps(xmm1, xmm2).expect("the instruction exists");
    assembler.rep().movsb().expect("the instruction exists");
    assembler.mov(ah, al).expect("the instruction exists");
    assembler.addps(xmm1, xmm2).expect("the instruction exists");
    assembler.syscall().expect("the instruction exists");
    assembler.mov(rax, qword_ptr(rdi)).expect("the instruction exists");
    let code = assembler.assemble(FROM).expect("the test's code can be encoded");
    for instruction in &mut Decoder::with_ip(64, &code, FROM, DecoderOptions::NONE) {
        // SAFETY: the structure consists of integers only.
        let mut interpreter = Interpreter::new(unsafe { std::mem::zeroed() });
        let mut memory = Memory([(1 << 40, Vec::new()), (1 << 41, Vec::new())]);
        assert_eq!(interpreter.step(&instruction, &mut memory), None, "{instruction}");
    }
}
