//! The bytes that an instruction touches, given registers, and the result of a compare-and-swap to come.

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use libc::user_regs_struct;
use ptrace_backend::instructions::{
    Candidate, FunctionShape, TrappedInstruction, TrappedInstructionKind, scan,
};

const START: u64 = 0x40_1000;
const DIRECTION: u64 = 1 << 10;

fn registers() -> user_regs_struct {
    // SAFETY: the structure consists of integers only.
    let zero: user_regs_struct = unsafe { std::mem::zeroed() };
    user_regs_struct {
        rax: 0x1111_2222_3333_4444,
        rbx: 0x6000,
        rcx: 3,
        rdx: 0x9999_aaaa_bbbb_cccc,
        rsi: 0x8000,
        rdi: 0x7000,
        rbp: 0x7ffe_0000,
        rsp: 0x7ffd_0000,
        r8: u64::MAX,
        fs_base: 0x10_0000,
        gs_base: 0x20_0000,
        ..zero
    }
}

fn assemble(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the test's instruction exists");
    assembler.assemble(START).expect("the test's code can be encoded")
}

fn single(code: &[u8]) -> Candidate {
    let found = scan(code, START, &FunctionShape::default(), |_| false);
    let [candidate] = found.candidates.as_slice() else { panic!("one candidate expected: {found:?}") };
    candidate.clone()
}

fn describe(candidate: &Candidate, regs: &user_regs_struct) -> String {
    let one = |a: &ptrace_backend::instructions::MemoryAccess| {
        let direction = if a.read { "r" } else { "" }.to_owned() + if a.write { "w" } else { "" };
        format!("{:#x}+{}{direction}", a.addr, a.len)
    };
    candidate.accesses(regs).iter().map(one).collect::<Vec<_>>().join(" ")
}

fn check_with(
    change: impl FnOnce(&mut user_regs_struct),
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    expected: &str,
) {
    let mut regs = registers();
    change(&mut regs);
    let code = assemble(write);
    assert_eq!(describe(&single(&code), &regs), expected, "{code:02x?}");
}

fn check(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>, expected: &str) {
    check_with(|_| (), write, expected);
}

fn check_bytes(code: &[u8], expected: &str) {
    assert_eq!(describe(&single(code), &registers()), expected, "{code:02x?}");
}

#[test]
fn effective_addresses() {
    check(|a| a.mov(eax, dword_ptr(rdi)), "0x7000+4r");
    check(|a| a.mov(qword_ptr(rdi + rcx * 8 - 0x10), rax), "0x7008+8w");
    check(|a| a.mov(byte_ptr(rcx * 4 + 0x50_0000), al), "0x50000c+1w");
    check(|a| a.mov(eax, dword_ptr(0x60_0000)), "0x600000+4r");
    check(|a| a.mov(eax, dword_ptr(rdi + r8 * 8)), "0x6ff8+4r");
    check(|a| a.add(dword_ptr(rsp + 8), 1), "0x7ffd0008+4rw");
    check(|a| a.mov(eax, dword_ptr(eax + ecx * 1)), "0x33334447+4r");
    check(|a| a.mov(eax, dword_ptr(edi + r8d * 8)), "0x6ff8+4r");
    // `mov eax, [rip + 0x10]`, 6 bytes, and the same with a negative displacement and an immediate behind it.
    check_bytes(&[0x8b, 0x05, 0x10, 0, 0, 0], "0x401016+4r");
    check_bytes(&[0xc7, 0x05, 0xf0, 0xff, 0xff, 0xff, 1, 0, 0, 0], "0x400ffa+4w");
    // `mov eax, [eip + 0x10]`.
    check_bytes(&[0x67, 0x8b, 0x05, 0x10, 0, 0, 0], "0x401017+4r");
    // `movabs al, [0x1122334455667788]`.
    check_bytes(&[0xa0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11], "0x1122334455667788+1r");
}

#[test]
fn two_operands() {
    check(|a| a.movsd(), "0x7000+4w 0x8000+4r");
    check(|a| a.cmpsb(), "0x8000+1r 0x7000+1r");
    // `movs byte es:[rdi], fs:[rsi]`: the thread-local source counts, as the instruction as a whole does.
    check_bytes(&[0x64, 0xa4], "0x7000+1w 0x108000+1r");
    check(|a| a.push(qword_ptr(rsp + 8)), "0x7ffd0008+8r");
    // The address of a popped-to operand is computed after the pop.
    check(|a| a.pop(qword_ptr(rsp + 8)), "0x7ffd0010+8w");
}

#[test]
fn repeated_string_instructions_touch_as_much_as_the_count_says() {
    check(|a| a.rep().movsq(), "0x7000+24w 0x8000+24r");
    check(|a| a.rep().stosb(), "0x7000+3w");
    check(|a| a.repne().scasw(), "0x7000+6r");
    check(|a| a.stosd(), "0x7000+4w");
    check_with(|regs| regs.rcx = 0, |a| a.rep().movsb(), "");
    // Downwards from the element that the register points to.
    check_with(|regs| regs.eflags = DIRECTION, |a| a.rep().movsq(), "0x6ff0+24w 0x7ff0+24r");
    check_with(|regs| regs.eflags = DIRECTION, |a| a.movsq(), "0x7000+8w 0x8000+8r");
    // With 32-bit addresses only `ecx` counts.
    let mut regs = registers();
    regs.rcx |= 1 << 40;
    assert_eq!(describe(&single(&[0x67, 0xf3, 0xaa]), &regs), "0x7000+3w");
}

#[test]
fn bit_offsets_in_registers_lead_out_of_the_operand() {
    check(|a| a.bts(dword_ptr(rdi), ecx), "0x7000+4rw");
    check_with(|regs| regs.rcx = 100, |a| a.lock().bts(dword_ptr(rdi), ecx), "0x700c+4rw");
    check_with(|regs| regs.rcx = 100, |a| a.bt(qword_ptr(rdi), rcx), "0x7008+8r");
    check_with(|regs| regs.rcx = 0xffff_ffff, |a| a.btr(dword_ptr(rdi), ecx), "0x6ffc+4rw");
    check_with(|regs| regs.rcx = 0xffff, |a| a.btc(word_ptr(rdi), cx), "0x6ffe+2rw");
}

#[test]
fn a_compare_and_swap_writes_if_memory_holds_what_is_expected() {
    let succeeds = |write: fn(&mut CodeAssembler) -> Result<(), IcedError>, current: u128| {
        single(&assemble(write)).will_succeed(&registers(), current)
    };
    assert!(succeeds(|a| a.lock().cmpxchg(byte_ptr(rdi), cl), 0x44));
    assert!(succeeds(|a| a.lock().cmpxchg(word_ptr(rdi), cx), 0x4444));
    assert!(succeeds(|a| a.lock().cmpxchg(dword_ptr(rdi), ecx), 0x3333_4444));
    assert!(succeeds(|a| a.lock().cmpxchg(qword_ptr(rdi), rcx), 0x1111_2222_3333_4444));
    assert!(!succeeds(|a| a.lock().cmpxchg(qword_ptr(rdi), rcx), 0x3333_4444));
    assert!(!succeeds(|a| a.lock().cmpxchg(dword_ptr(rdi), ecx), 0));
    assert!(succeeds(|a| a.lock().cmpxchg8b(qword_ptr(rdi)), 0xbbbb_cccc_3333_4444));
    assert!(!succeeds(|a| a.lock().cmpxchg8b(qword_ptr(rdi)), 0x1111_2222_3333_4444));
    let wide = 0x9999_aaaa_bbbb_cccc_1111_2222_3333_4444;
    assert!(succeeds(|a| a.lock().cmpxchg16b(xmmword_ptr(rdi)), wide));
    assert!(!succeeds(|a| a.lock().cmpxchg16b(xmmword_ptr(rdi)), wide + (1 << 100)));
    // Not one that is indivisible: its two events are a read and a write.
    assert!(!succeeds(|a| a.cmpxchg(dword_ptr(rdi), ecx), 0x3333_4444));
}

#[test]
fn the_operand_of_a_split_update() {
    let candidate = single(&assemble(|a| a.add(word_ptr(rdi), 1)));
    let operand = candidate.split().expect("it reads and writes one operand");
    let access = operand.range(&registers()).expect("it touches something");
    assert_eq!((access.addr, access.len, access.read, access.write), (0x7000, 2, true, true));
    assert_eq!(single(&assemble(|a| a.lock().add(word_ptr(rdi), 1))).split(), None);
    assert_eq!(single(&assemble(|a| a.movsb())).split(), None);
}

#[test]
fn addresses_without_registers_are_known_beforehand() {
    assert_eq!(single(&[0x8b, 0x05, 0x10, 0, 0, 0]).fixed_address(), Some(START + 0x16));
    assert_eq!(single(&[0x8b, 0x07]).fixed_address(), None);
    assert_eq!(single(&assemble(|a| a.mov(eax, dword_ptr(rcx * 4 + 0x50_0000)))).fixed_address(), None);
}

fn special(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> TrappedInstruction {
    let found = scan(&assemble(write), START, &FunctionShape::default(), |_| false);
    assert_eq!(found.candidates, []);
    let [special] = found.trapped_instructions.as_slice() else {
        panic!("one special instruction expected: {found:?}")
    };
    *special
}

#[test]
fn special_instructions_are_completed_in_registers() {
    let completed = |special: TrappedInstruction, result: u64| {
        let mut regs = user_regs_struct { eflags: 0xfff, ..registers() };
        special.complete(&mut regs, result);
        assert_eq!(regs.rip, START + special.len as u64);
        regs
    };
    let time = completed(special(|a| a.rdtsc()), 0x1_0000_0002);
    assert_eq!((time.rax, time.rdx, time.rcx, time.eflags), (2, 1, 3, 0xfff));
    let time = completed(special(|a| a.rdtscp()), 0x1_0000_0002);
    assert_eq!((time.rax, time.rdx, time.rcx), (2, 1, 0));
    let random = completed(special(|a| a.rdrand(ax)), 0x1234_5678);
    assert_eq!((random.rax, random.eflags), (0x1111_2222_3333_5678, 0x72b));
    assert_eq!(completed(special(|a| a.rdseed(r9d)), u64::MAX).r9, 0xffff_ffff);
    assert_eq!(completed(special(|a| a.pause()), 0).rax, registers().rax);
    assert_eq!(special(|a| a.syscall()).kind, TrappedInstructionKind::Syscall);
}
