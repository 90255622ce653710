//! Instructions that are found to touch memory, with their kinds and places.

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use ptrace_backend::instructions::{Candidate, FunctionShape, scan};

const START: u64 = 0x40_1000;
/// The addresses that the tests call constant.
const CONSTANT: std::ops::Range<u64> = 0x50_0000..0x50_1000;

fn assemble(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the test's instruction exists");
    assembler.assemble(START).expect("the test's code can be encoded")
}

fn candidates(code: &[u8]) -> Vec<Candidate> {
    let shape = FunctionShape::of(code, START);
    let found = scan(code, START, &shape, |addr| CONSTANT.contains(&addr));
    assert_eq!(found.undecoded, None);
    found.candidates
}

/// Kind, then each operand as size and direction, then whether it is on the stack.
fn describe(code: &[u8]) -> String {
    let words = candidates(code).into_iter().map(|candidate| {
        let operands = candidate.operands.iter().map(|operand| {
            format!(
                " {}{}{}",
                operand.size,
                if operand.read { "r" } else { "" },
                if operand.write { "w" } else { "" }
            )
        });
        let stack =
            candidate.stack.map_or(String::new(), |slot| format!(" {:?}{:+}", slot.base, slot.displacement));
        format!("{:?}{}{stack}", candidate.kind, operands.collect::<String>())
    });
    words.collect::<Vec<_>>().join("; ")
}

fn check(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>, expected: &str) {
    let code = assemble(write);
    assert_eq!(describe(&code), expected, "{code:02x?}");
}

fn check_bytes(code: &[u8], expected: &str) {
    assert_eq!(describe(code), expected, "{code:02x?}");
}

#[test]
fn plain_loads_and_stores() {
    check(|a| a.mov(eax, dword_ptr(rdi)), "Load 4r");
    check(|a| a.mov(byte_ptr(rdi + rsi * 2 + 5), al), "Store 1w");
    check(|a| a.mov(qword_ptr(0x60_0000), 7), "Store 8w");
    check(|a| a.movzx(eax, word_ptr(rdi)), "Load 2r");
    check(|a| a.cmp(dword_ptr(rdi), 0), "Load 4r");
    check(|a| a.test(byte_ptr(rdi), 1), "Load 1r");
    check(|a| a.add(rax, qword_ptr(rdi)), "Load 8r");
    check(|a| a.cmovne(rax, qword_ptr(rdi)), "Load 8r");
    check(|a| a.setne(byte_ptr(rdi)), "Store 1w");
    check(|a| a.bt(dword_ptr(rdi), 3), "Load 4r");
    check(|a| a.movnti(dword_ptr(rdi), eax), "Store 4w");
    check(|a| a.movbe(eax, dword_ptr(rdi)), "Load 4r");
    check(|a| a.xlatb(), "Load 1r");
}

#[test]
fn indivisible_updates() {
    check(|a| a.xchg(dword_ptr(rdi), eax), "LockedUpdate 4rw");
    check(|a| a.lock().add(dword_ptr(rdi), 1), "LockedUpdate 4rw");
    check(|a| a.lock().xadd(qword_ptr(rdi), rax), "LockedUpdate 8rw");
    check(|a| a.lock().bts(dword_ptr(rdi), 3), "LockedUpdate 4rw");
    check(|a| a.lock().dec(word_ptr(rdi)), "LockedUpdate 2rw");
    check(|a| a.lock().cmpxchg(dword_ptr(rdi), ecx), "CompareExchange 4rw");
    check(|a| a.lock().cmpxchg8b(qword_ptr(rdi)), "CompareExchange 8rw");
    check(|a| a.lock().cmpxchg16b(xmmword_ptr(rdi)), "CompareExchange 16rw");
}

#[test]
fn updates_that_another_processor_can_get_into() {
    check(|a| a.add(dword_ptr(rdi), 1), "SplitUpdate 4rw");
    check(|a| a.inc(qword_ptr(rdi)), "SplitUpdate 8rw");
    check(|a| a.neg(byte_ptr(rdi)), "SplitUpdate 1rw");
    check(|a| a.bts(dword_ptr(rdi), 3), "SplitUpdate 4rw");
    check(|a| a.shl(dword_ptr(rdi), 3), "SplitUpdate 4rw");
    check(|a| a.xadd(dword_ptr(rdi), eax), "SplitUpdate 4rw");
    check(|a| a.cmpxchg(dword_ptr(rdi), ecx), "SplitUpdate 4rw");
    check(|a| a.cmpxchg16b(xmmword_ptr(rdi)), "SplitUpdate 16rw");
    check(|a| a.sub(dword_ptr(rdi), eax), "SplitUpdate 4rw");
}

#[test]
fn string_instructions() {
    check(|a| a.movsb(), "Move 1w 1r");
    check(|a| a.rep().movsq(), "Move 8w 8r");
    check(|a| a.rep().stosd(), "Store 4w");
    check(|a| a.lodsw(), "Load 2r");
    check(|a| a.repne().scasb(), "Load 1r");
    check(|a| a.repe().cmpsb(), "Load 1r 1r");
}

#[test]
fn vectors() {
    check(|a| a.movups(xmm0, xmmword_ptr(rdi)), "Load 16r");
    check(|a| a.movsd_2(qword_ptr(rdi), xmm0), "Store 8w");
    check(|a| a.cvtsi2sd(xmm0, dword_ptr(rdi)), "Load 4r");
    check(|a| a.vmovdqu(ymmword_ptr(rdi), ymm0), "Store 32w");
    check(|a| a.vmovdqu64(zmmword_ptr(rdi), zmm0), "Store 64w");
    check(|a| a.vmovdqu32(zmmword_ptr(rdi).k1(), zmm0), "Store 4w");
    check(|a| a.vpmaskmovd(xmmword_ptr(rdi), xmm1, xmm0), "Store 4w");
    check(|a| a.vaddps(zmm0, zmm1, dword_bcst(rdi)), "Load 4r");
    check(|a| a.vpgatherdd(ymm0.k1(), dword_ptr(rdi + ymm1 * 4)), "Load 4r");
    check(|a| a.maskmovdqu(xmm0, xmm1), "Store 1w");
    check(|a| a.fld(tword_ptr(rdi)), "Load 10r");
    check(|a| a.fstp(qword_ptr(rdi)), "Store 8w");
    check(|a| a.fxsave(byte_ptr(rdi)), "Store 512w");
    check(|a| a.xsave(byte_ptr(rdi)), "SplitUpdate 2696rw");
}

#[test]
fn stack_slots_on_the_side_do_not_count_but_named_memory_does() {
    check(|a| a.push(rax), "");
    check(|a| a.pop(rax), "");
    check(|a| a.ret(), "");
    check(|a| a.leave(), "");
    check(|a| a.enter(16, 0), "");
    check(|a| a.call(0x40_2000), "");
    check(|a| a.push(qword_ptr(rdi)), "Load 8r");
    check(|a| a.pop(qword_ptr(rdi)), "Store 8w");
    check(|a| a.call(qword_ptr(rdi)), "Load 8r");
    check(|a| a.jmp(qword_ptr(rdi + rax * 8)), "Load 8r");
    check(|a| a.pushfq(), "");
}

#[test]
fn what_computes_addresses_or_prefetches_does_not_access() {
    check(|a| a.lea(rax, ptr(rdi + 8)), "");
    check(|a| a.nop_1(dword_ptr(rdi)), "");
    check(|a| a.prefetcht0(byte_ptr(rdi)), "");
    check(|a| a.prefetchw(byte_ptr(rdi)), "");
    check(|a| a.endbr64(), "");
    check(|a| a.mfence(), "");
}

#[test]
fn operands_in_the_control_block_are_left_out() {
    check(|a| a.mov(rax, qword_ptr(0x28).fs()), "");
    // `gs` may point to anything.
    check(|a| a.add(qword_ptr(rdi).gs(), rax), "SplitUpdate 8rw");
    // The destination is ordinary memory.
    check_bytes(&[0x64, 0xa4], "Move 1w 1r");
}

#[test]
fn loads_of_constants_are_left_out() {
    check(|a| a.mov(rax, qword_ptr(CONSTANT.start)), "");
    check(|a| a.call(qword_ptr(CONSTANT.start)), "");
    check(|a| a.jmp(qword_ptr(rax * 8 + CONSTANT.start)), "");
    check(|a| a.mov(rax, qword_ptr(CONSTANT.end)), "Load 8r");
    check(|a| a.mov(rax, qword_ptr(rax * 8 + CONSTANT.start)), "Load 8r");
    // `mov rax, [rip + 0x50_0000 - next]`.
    let distance = (CONSTANT.start - START - 7) as u32;
    let code = [&[0x48, 0x8b, 0x05][..], &distance.to_le_bytes()].concat();
    check_bytes(&code, "");
}

#[test]
fn stack_operands_are_marked() {
    check(|a| a.mov(eax, dword_ptr(rsp + 12)), "Load 4r Rsp+12");
    check(|a| a.mov(dword_ptr(rbp - 4), 1), "Store 4w");
    let framed = assemble(|a| {
        a.push(rbp)?;
        a.mov(rbp, rsp)?;
        a.add(dword_ptr(rbp - 4), 1)?;
        a.mov(eax, dword_ptr(rbp + rax * 4 - 32))?;
        a.pop(rbp)?;
        a.ret()
    });
    check_bytes(&framed, "SplitUpdate 4rw Rbp-4; Load 4r Rbp-32");
    assert!(candidates(&framed)[1].stack.expect("it is on the stack").indexed);
}

#[test]
fn a_frame_pointer_is_recognised_by_all_writes_to_it() {
    let shape = |write: fn(&mut CodeAssembler) -> Result<(), IcedError>| {
        FunctionShape::of(&assemble(write), START).frame_pointer
    };
    assert!(shape(|a| a.mov(rbp, rsp)));
    assert!(shape(|a| a.lea(rbp, ptr(rsp + 0x80))));
    assert!(shape(|a| a.enter(16, 0)));
    assert!(!shape(|a| a.mov(rbp, rdi)));
    assert!(!shape(|a| a.push(rbp)));
    // A pointer that starts in the frame and wanders off.
    assert!(!shape(|a| {
        a.lea(rbp, ptr(rsp + 16))?;
        a.add(rbp, 8)
    }));
    assert!(!shape(|a| {
        a.mov(rbp, rsp)?;
        a.mov(ebp, eax)
    }));
}

#[test]
fn what_cannot_be_decoded_ends_the_list() {
    // `inc dword [rdi]`, a byte that is no instruction in 64-bit mode, `inc dword [rdi]`.
    let code = [0xff, 0x07, 0x06, 0xff, 0x07];
    let found = scan(&code, START, &FunctionShape::default(), |_| false);
    assert_eq!((found.candidates.len(), found.undecoded), (1, Some(START + 2)));
}
