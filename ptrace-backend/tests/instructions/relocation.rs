//! Copies of instructions do the same as the originals: both are run, and everything that they leave behind compared.

use crate::instructions::machine::{self, DATA, FAR, FROM, Machine, NEAR, State, TARGET};
use iced_x86::IcedError;
use iced_x86::code_asm::*;
use ptrace_backend::instructions::{NotRelocatable, relocate};

/// Runs `code` at [`FROM`] and its copies near and far with many register values, and compares.
fn check_bytes(machine: &mut Machine, code: &[u8]) {
    State::variants().iter().for_each(|state| check_from(machine, code, state));
}

fn check_from(machine: &mut Machine, code: &[u8], state: &State) {
    let expected = machine.run_original(code, state);
    for to in [NEAR, FAR] {
        let relocated = match relocate(code, FROM, to) {
            Err(NotRelocatable::OutOfReach { .. }) if to == FAR => continue,
            relocated => relocated.expect("the instruction can be relocated"),
        };
        let got = machine.run_copy(&relocated.code, to, code.len(), state);
        assert_eq!(got, expected, "{code:02x?} at {to:#x} from {state:x?}");
    }
}

fn check(machine: &mut Machine, write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) {
    check_bytes(machine, &assemble(write));
}

fn assemble(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the test's instruction exists");
    assembler.assemble(FROM).expect("the test's code can be encoded")
}

/// An instruction whose last four bytes are the distance to `addr`.
fn ending_in_distance(opcode: &[u8], addr: u64) -> Vec<u8> {
    let distance = addr.wrapping_sub(FROM + opcode.len() as u64 + 4) as u32;
    [opcode, &distance.to_le_bytes()].concat()
}

#[test]
fn instructions_without_addresses() {
    let m = &mut Machine::new();
    check(m, |a| a.add(rax, rbx));
    check(m, |a| a.adc(eax, ebx));
    check(m, |a| a.inc(qword_ptr(rdi)));
    check(m, |a| a.lock().cmpxchg(qword_ptr(rdi), rdx));
    check(m, |a| a.lock().cmpxchg16b(xmmword_ptr(rdi)));
    check(m, |a| a.lock().xadd(dword_ptr(rdi + 4), ecx));
    check(m, |a| a.xchg(qword_ptr(rsi), r9));
    check(m, |a| a.rep().movsb());
    check(m, |a| a.rep().stosd());
    check(m, |a| a.repne().scasb());
    check(m, |a| a.movups(xmm0, xmmword_ptr(rdi)));
    check(m, |a| a.movntdq(xmmword_ptr(rdi), xmm1));
    check(m, |a| a.cmovb(rax, qword_ptr(rdi)));
    check(m, |a| a.cld());
    check(m, |a| a.mov(rax, 0x1122_3344_5566_7788u64));
}

#[test]
fn the_stack_and_the_red_zone_are_left_as_the_original_leaves_them() {
    let m = &mut Machine::new();
    check(m, |a| a.mov(qword_ptr(rsp - 8), rax));
    check(m, |a| a.mov(rax, qword_ptr(rsp - 128)));
    check(m, |a| a.push(rax));
    check(m, |a| a.push(rsp));
    check(m, |a| a.push(0x1234));
    check(m, |a| a.pop(rbx));
    check(m, |a| a.pop(rsp));
    check(m, |a| a.push(qword_ptr(rsp + 8)));
    check(m, |a| a.pop(qword_ptr(rsp + 8)));
    check(m, |a| a.pushfq());
    check(m, |a| a.enter(32, 0));
    check(m, |a| a.leave());
    check(m, |a| a.sub(rsp, 0x40));
}

#[test]
fn operands_relative_to_the_instruction() {
    let m = &mut Machine::new();
    // `mov rax, [m]`; `mov [m], rax`; `lea rax, [m]`; `add [m], rax`; `lock xadd [m], rcx`; `lock cmpxchg [m], rdx`.
    check_bytes(m, &ending_in_distance(&[0x48, 0x8b, 0x05], DATA));
    check_bytes(m, &ending_in_distance(&[0x48, 0x89, 0x05], DATA + 8));
    check_bytes(m, &ending_in_distance(&[0x48, 0x8d, 0x05], DATA + 8));
    check_bytes(m, &ending_in_distance(&[0x48, 0x01, 0x05], DATA));
    check_bytes(m, &ending_in_distance(&[0xf0, 0x48, 0x0f, 0xc1, 0x0d], DATA));
    check_bytes(m, &ending_in_distance(&[0xf0, 0x48, 0x0f, 0xb1, 0x15], DATA));
    // `movups xmm0, [m]`; `cmp byte [m], 0x80`, whose displacement is followed by an immediate; `push [m]`.
    check_bytes(m, &ending_in_distance(&[0x0f, 0x10, 0x05], DATA + 16));
    let with_immediate = ending_in_distance(&[0x80, 0x3d], DATA - 1);
    check_bytes(m, &[&with_immediate[..], &[0x80]].concat());
    check_bytes(m, &ending_in_distance(&[0xff, 0x35], DATA));
    check_bytes(m, &ending_in_distance(&[0x8f, 0x05], DATA));
    // `lea eax, [eip + m]`: the address is cut to 32 bits, so it is the same from anywhere.
    check_bytes(m, &ending_in_distance(&[0x67, 0x8d, 0x05], DATA));
}

#[test]
fn jumps() {
    let m = &mut Machine::new();
    check(m, |a| a.jmp(TARGET));
    check_bytes(m, &[0xeb, (TARGET - FROM - 2) as u8]);
    for condition in 0..16 {
        check_bytes(m, &[0x70 | condition, (TARGET - FROM - 2) as u8]);
        check_bytes(m, &ending_in_distance(&[0x0f, 0x80 | condition], TARGET));
    }
    // `loopne`, `loope`, `loop`, `jrcxz`, and `jecxz`.
    for opcode in 0xe0..=0xe3 {
        check_bytes(m, &[opcode, (TARGET - FROM - 2) as u8]);
    }
    let jecxz = [0x67, 0xe3, (TARGET - FROM - 3) as u8];
    check_bytes(m, &jecxz);
    check_from(m, &jecxz, &State::new(0, 1 << 32, 0));
    check_from(m, &jecxz[1..], &State::new(0, 1 << 32, 0));
    check(m, |a| a.jmp(r12));
    check(m, |a| a.jmp(qword_ptr(r13)));
    check(m, |a| a.jmp(qword_ptr(rsp + 8)));
    check_bytes(m, &ending_in_distance(&[0xff, 0x25], machine::SLOT));
    check(m, |a| a.ret());
    check(m, |a| a.ret_1(16));
}

#[test]
fn calls_return_to_where_the_original_would() {
    let m = &mut Machine::new();
    check(m, |a| a.call(TARGET));
    check(m, |a| a.call(machine::RETURNS));
    check(m, |a| a.call(r12));
    check(m, |a| a.call(qword_ptr(r13)));
    check(m, |a| a.call(qword_ptr(r13 + rcx * 8 - 8)));
    check(m, |a| a.call(qword_ptr(rsp)));
    check(m, |a| a.call(qword_ptr(rsp + 0x78)));
    check(m, |a| a.call(qword_ptr(esp + 0x10)));
    check(m, |a| a.call(qword_ptr(rsp + rcx * 8)));
    check_bytes(m, &ending_in_distance(&[0xff, 0x15], machine::SLOT));
    // `call` with a prefix that fills it up to the size of an indirect one.
    check_bytes(m, &ending_in_distance(&[0x67, 0xe8], TARGET));
}

#[test]
fn operands_out_of_reach_are_refused() {
    let code = ending_in_distance(&[0x48, 0x8b, 0x05], DATA);
    assert_eq!(relocate(&code, FROM, FAR), Err(NotRelocatable::OutOfReach { operand: DATA, to: FAR }));
    let call = ending_in_distance(&[0xff, 0x15], machine::SLOT);
    let refused = relocate(&call, FROM, FAR);
    assert!(matches!(refused, Err(NotRelocatable::OutOfReach { operand: machine::SLOT, .. })), "{refused:?}");
}

#[test]
fn what_shows_its_address_is_refused() {
    let refused = |code: &[u8]| relocate(code, FROM, NEAR).expect_err("it cannot be relocated");
    assert_eq!(refused(&[0x0f, 0x05]), NotRelocatable::Visible("syscall"));
    assert_eq!(refused(&[0xcc]), NotRelocatable::Visible("interrupt"));
    assert_eq!(refused(&[0x0f, 0x0b]), NotRelocatable::Visible("undefined"));
    assert_eq!(refused(&[0x06]), NotRelocatable::Invalid(FROM));
    assert_eq!(refused(&[]), NotRelocatable::Invalid(FROM));
    assert_eq!(refused(&[0x48]), NotRelocatable::Invalid(FROM));
    assert_eq!(refused(&[0xff, 0xd4]), NotRelocatable::Transfer("a call to the stack pointer"));
    // `call [rsp - 8]`.
    let below = NotRelocatable::Transfer("a call through memory below the stack pointer");
    assert_eq!(refused(&[0xff, 0x54, 0x24, 0xf8]), below);
    assert_eq!(refused(&[0x48, 0xcf]), NotRelocatable::Transfer("a far return"));
}

#[test]
fn a_thread_inside_a_copy_is_brought_back() {
    let code = assemble(|a| a.call(TARGET));
    let relocated = relocate(&code, FROM, FAR).expect("a call can be relocated");
    let restored = |offset: u64, stack: u64| {
        // SAFETY: the structure consists of integers only.
        let mut regs: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        (regs.rip, regs.rsp) = (FAR + offset, stack);
        let inside = relocated.restore(&mut regs);
        (inside, regs.rip, regs.rsp)
    };
    assert_eq!(restored(0, 0x1000), (true, FROM, 0x1000));
    // Behind the push.
    assert_eq!(restored(6, 0xff8), (true, FROM, 0x1000));
    assert_eq!(
        restored(relocated.code.len() as u64, 0xff8),
        (false, FAR + relocated.code.len() as u64, 0xff8)
    );

    let plain = relocate(&[0xff, 0x07], FROM, NEAR).expect("an increment can be relocated");
    // SAFETY: the structure consists of integers only.
    let mut regs: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    regs.rip = NEAR + 2;
    assert!(plain.restore(&mut regs));
    assert_eq!(regs.rip, FROM + 2);
}
