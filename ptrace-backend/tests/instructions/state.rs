//! The bytes that an instruction touches where more than general-purpose registers decides it: gathers and scatters,
//! and calls of memory functions.

use std::collections::BTreeMap;

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use libc::user_regs_struct;
use ptrace_backend::instructions::{
    Callee, Candidate, FunctionShape, Machine, MemoryFunction, Transfer, TransferKind, scan,
};

const START: u64 = 0x40_1000;

/// Addresses of the texts `a` and `b` of a test.
const A: u64 = 0x7000;
const B: u64 = 0x8ffd;

/// A thread of a test.
struct Thread {
    registers: user_regs_struct,
    vectors: BTreeMap<usize, [u8; 64]>,
    masks: BTreeMap<usize, u64>,
    memory: BTreeMap<u64, u8>,
}

impl Thread {
    fn new(arguments: [u64; 4]) -> Self {
        // SAFETY: the structure consists of integers only.
        let zero: user_regs_struct = unsafe { std::mem::zeroed() };
        let [first, second, third, fourth] = arguments;
        let registers = user_regs_struct { rdi: first, rsi: second, rdx: third, rcx: fourth, ..zero };
        Self { registers, vectors: BTreeMap::new(), masks: BTreeMap::new(), memory: BTreeMap::new() }
    }

    fn vector<const N: usize>(mut self, number: usize, elements: [i32; N]) -> Self {
        let mut bytes = [0; 64];
        for (element, value) in elements.iter().enumerate() {
            bytes[4 * element..4 * element + 4].copy_from_slice(&value.to_le_bytes());
        }
        self.vectors.insert(number, bytes);
        self
    }

    fn mask(mut self, number: usize, bits: u64) -> Self {
        self.masks.insert(number, bits);
        self
    }

    fn memory(mut self, addr: u64, bytes: &[u8]) -> Self {
        self.memory.extend((addr..).zip(bytes.iter().copied()));
        self
    }
}

impl Machine for Thread {
    fn registers(&self) -> &user_regs_struct {
        &self.registers
    }

    fn vector(&self, number: usize) -> Option<[u8; 64]> {
        self.vectors.get(&number).copied()
    }

    fn mask(&self, number: usize) -> Option<u64> {
        self.masks.get(&number).copied()
    }

    /// A page is there as a whole or not at all, as with real memory.
    fn read(&self, addr: u64, into: &mut [u8]) -> bool {
        const PAGE: u64 = 4096;
        let has_page = |at: u64| self.memory.range(at / PAGE * PAGE..(at / PAGE + 1) * PAGE).next().is_some();
        for (at, byte) in (addr..).zip(into) {
            if !has_page(at) {
                return false;
            }
            *byte = self.memory.get(&at).copied().unwrap_or(0x2e);
        }
        true
    }

    fn memory_function(&self, addr: u64) -> Option<MemoryFunction> {
        (addr == 0x7fff_0000).then(|| MemoryFunction::named("memset").unwrap())
    }
}

fn describe(candidate: &Candidate, thread: &Thread) -> String {
    let one = |a: &ptrace_backend::instructions::MemoryAccess| {
        let direction = if a.read { "r" } else { "" }.to_owned() + if a.write { "w" } else { "" };
        format!("{:#x}+{}{direction}", a.addr, a.len)
    };
    candidate.accesses(thread).iter().map(one).collect::<Vec<_>>().join(" ")
}

fn single(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Candidate {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the test's instruction exists");
    decoded(&assembler.assemble(START).expect("the test's code can be encoded"))
}

fn decoded(code: &[u8]) -> Candidate {
    let found = scan(code, START, &FunctionShape::default(), |_| false);
    let [candidate] = found.candidates.as_slice() else { panic!("one candidate expected: {found:?}") };
    candidate.clone()
}

#[test]
fn gathers_take_each_index_from_the_vector_and_each_element_from_the_mask() {
    let indices = [0, 2, -1, 0x100, 4, 6, 8, 10];
    let thread = || Thread::new([0x7000, 0, 0, 0]).vector(5, indices);
    let gather = single(|a| a.vpgatherdd(xmm0.k1(), dword_ptr(rdi + xmm5 * 4 + 0x20)));
    assert_eq!(describe(&gather, &thread().mask(1, 0b1111)), "0x701c+8r 0x7028+4r 0x7420+4r");
    assert_eq!(describe(&gather, &thread().mask(1, 0b1010)), "0x7028+4r 0x7420+4r");
    assert_eq!(describe(&gather, &thread().mask(1, 0)), "");
    assert_eq!(describe(&gather, &Thread::new([0x7000, 0, 0, 0])), "", "nothing is known of its vectors");
    // With AVX2, the mask is the sign of each element of another vector: `vpgatherdd xmm0, [rdi + xmm5 * 4], xmm1`,
    // `vgatherdpd ymm0, [rdi + xmm5 * 8], ymm1`, `vpgatherqd xmm0, [rdi + ymm5], xmm1`.
    let signs = decoded(&[0xc4, 0xe2, 0x71, 0x90, 0x04, 0xaf]);
    assert_eq!(describe(&signs, &thread().vector(1, [-1, 0x7fff_ffff, 0, i32::MIN])), "0x7000+4r 0x7400+4r");
    let wide = decoded(&[0xc4, 0xe2, 0xf5, 0x92, 0x04, 0xef]);
    assert_eq!(describe(&wide, &thread().vector(1, [0, -1, -1, 0, 0, 0, 0, -1])), "0x7000+8r 0x7800+8r");
    let narrow = decoded(&[0xc4, 0xe2, 0x75, 0x91, 0x04, 0x2f]);
    let long = Thread::new([0x7000, 0, 0, 0]).vector(5, [4, 0, 16, 0, 32, 0, -8, -1]);
    assert_eq!(describe(&narrow, &long.vector(1, [-1; 4])), "0x6ff8+4r 0x7004+4r 0x7010+4r 0x7020+4r");
}

#[test]
fn scatters_write_and_elements_side_by_side_are_one_range() {
    let thread = Thread::new([0x7000, 0, 0, 0]).vector(5, [0, 1, 2, 3]).mask(2, 0xff);
    let scatter = single(|a| a.vpscatterdq(qword_ptr(rdi + xmm5 * 8).k2(), ymm0));
    assert_eq!(describe(&scatter, &thread), "0x7000+32w");
    // The same place twice.
    let thread = Thread::new([0x7000, 0, 0, 0]).vector(5, [3, 3, 3, 9]).mask(2, 0xff);
    assert_eq!(describe(&scatter, &thread), "0x7018+8w 0x7048+8w");
}

fn call(name: &str) -> Candidate {
    let function = MemoryFunction::named(name).unwrap_or_else(|| panic!("{name} is a memory function"));
    candidate(Callee::Known(function))
}

fn candidate(callee: Callee) -> Candidate {
    let target = ptrace_backend::instructions::Target::Address(0);
    Candidate::call(&Transfer { addr: START, len: 5, kind: TransferKind::Call, target }, callee)
}

/// Checks the bytes that each of some functions touches, called with these arguments while these texts stand at [`A`]
/// and [`B`].
fn check(names: &[&str], arguments: [u64; 4], a: &[u8], b: &[u8], expected: &str) {
    let thread = Thread::new(arguments).memory(A, a).memory(B, b);
    for name in names {
        assert_eq!(describe(&call(name), &thread), expected, "{name}{arguments:x?}");
    }
}

#[test]
fn copies_and_fills_touch_as_much_as_they_are_told() {
    let copies =
        ["memcpy", "memmove", "mempcpy", "__mempcpy", "__memcpy_chk", "__memmove_chk", "__mempcpy_chk"];
    check(&copies, [A, B, 300, 0], b"", b"", "0x8ffd+300r 0x7000+300w");
    check(&copies, [A, B, 0, 0], b"", b"", "");
    check(&["bcopy"], [A, B, 300, 0], b"", b"", "0x7000+300r 0x8ffd+300w");
    check(&["memset", "__memset_chk"], [A, 7, 300, 0], b"", b"", "0x7000+300w");
    check(&["bzero", "explicit_bzero", "__explicit_bzero_chk"], [A, 300, 7, 0], b"", b"", "0x7000+300w");
    check(&["memcmp", "bcmp", "__memcmpeq"], [A, B, 300, 0], b"", b"", "0x7000+300r 0x8ffd+300r");
    check(&["wmemcpy", "__wmemmove_chk"], [A, B, 3, 0], b"", b"", "0x8ffd+12r 0x7000+12w");
    check(&["wmemset"], [A, 7, u64::MAX, 0], b"", b"", &format!("{A:#x}+{}w", u64::MAX));
}

#[test]
fn searches_end_where_they_find_something() {
    let find = |argument: u64, limit: u64| [A, argument, limit, 0];
    check(&["memchr"], find(u64::from(b'c'), 10), b"abcabc", b"", "0x7000+3r");
    // The character is an `int`, of which the lowest byte counts.
    check(&["memchr"], find(0xff00 | u64::from(b'c'), 10), b"abcabc", b"", "0x7000+3r");
    check(&["memchr"], find(u64::from(b'x'), 6), b"abcabc", b"", "0x7000+6r");
    check(&["memchr"], find(u64::from(b'c'), 2), b"abcabc", b"", "0x7000+2r");
    check(&["memrchr"], find(u64::from(b'b'), 6), b"abcabc", b"", "0x7004+2r");
    check(&["memrchr"], find(u64::from(b'x'), 6), b"abcabc", b"", "0x7000+6r");
    check(&["rawmemchr", "__rawmemchr"], find(u64::from(b'c'), 0), b"abcabc", b"", "0x7000+3r");
    check(&["strchr", "index", "strchrnul"], find(u64::from(b'b'), 0), b"abc\0", b"", "0x7000+2r");
    check(&["strchr", "index", "strchrnul"], find(u64::from(b'x'), 0), b"abc\0", b"", "0x7000+4r");
    check(&["strchr"], find(0, 0), b"abc\0", b"", "0x7000+4r");
    check(&["strrchr", "rindex"], find(u64::from(b'b'), 0), b"abc\0", b"", "0x7000+4r");
    check(&["memccpy"], [A, B, u64::from(b'b'), 9], b"", b"abc", "0x8ffd+2r 0x7000+2w");
}

#[test]
fn strings_end_at_their_terminator_whatever_page_it_is_on() {
    // The text at `B` goes over the end of a page.
    check(&["strlen", "strdup", "__strdup"], [B, 0, 0, 0], b"", b"abcdef\0", "0x8ffd+7r");
    check(&["strlen"], [B, 0, 0, 0], b"", b"\0", "0x8ffd+1r");
    let long = [&[b'x'; 1000][..], b"\0"].concat();
    check(&["strlen"], [A, 0, 0, 0], &long, b"", "0x7000+1001r");
    check(&["strnlen", "strndup"], [B, 3, 0, 0], b"", b"abcdef\0", "0x8ffd+3r");
    check(&["strnlen", "strndup"], [B, u64::MAX, 0, 0], b"", b"abcdef\0", "0x8ffd+7r");
    check(&["wcslen", "wcsdup"], [B, 0, 0, 0], b"", b"a\0\0\0\0b\0\0\0\0\0\0\0", "0x8ffd+12r");
    // No terminator before memory ends.
    check(&["strlen"], [A, 0, 0, 0], b"abc", b"", "0x7000+4096r");
    check(&["strlen"], [0, 0, 0, 0], b"abc", b"", "");
}

#[test]
fn copies_of_strings_write_what_they_read_or_pad() {
    check(&["strcpy", "stpcpy", "__strcpy_chk"], [A, B, 0, 0], b"", b"abcd\0", "0x8ffd+5r 0x7000+5w");
    check(&["strncpy", "stpncpy", "__strncpy_chk"], [A, B, 9, 0], b"", b"abcd\0", "0x8ffd+5r 0x7000+9w");
    check(&["strncpy"], [A, B, 2, 0], b"", b"abcd\0", "0x8ffd+2r 0x7000+2w");
    check(&["strcat", "__strcat_chk"], [A, B, 0, 0], b"xyz\0", b"ab\0", "0x7000+4r 0x8ffd+3r 0x7003+3w");
    check(&["strncat", "__strncat_chk"], [A, B, 9, 0], b"xyz\0", b"ab\0", "0x7000+4r 0x8ffd+3r 0x7003+3w");
    // The terminator is not copied but set.
    check(&["strncat"], [A, B, 2, 0], b"xyz\0", b"abcd\0", "0x7000+4r 0x8ffd+2r 0x7003+3w");
    check(&["strncat"], [A, B, 0, 0], b"xyz\0", b"abcd\0", "0x7000+4r 0x7003+1w");
}

#[test]
fn comparisons_of_strings_end_at_the_first_difference() {
    check(&["strcmp"], [A, B, 0, 0], b"abcdef\0", b"abXdef\0", "0x7000+3r 0x8ffd+3r");
    check(&["strcmp"], [A, B, 0, 0], b"abc\0", b"abc\0", "0x7000+4r 0x8ffd+4r");
    check(&["strncmp"], [A, B, 2, 0], b"abc\0", b"abd\0", "0x7000+2r 0x8ffd+2r");
    check(&["strncmp"], [A, B, 0, 0], b"abc\0", b"abd\0", "");
    check(&["strstr", "strspn"], [A, B, 0, 0], b"abc\0", b"bc\0", "0x7000+4r 0x8ffd+3r");
}

#[test]
fn what_is_called_through_a_register_is_known_when_it_is_called() {
    let through = candidate(Callee::Register(iced_x86::Register::R12));
    let mut thread = Thread::new([A, 0, 16, 0]);
    assert_eq!(describe(&through, &thread), "");
    thread.registers.r12 = 0x7fff_0000;
    assert_eq!(describe(&through, &thread), "0x7000+16w");
}

#[test]
fn other_functions_are_none() {
    for name in ["tsearch", "strtok", "memcpyx", "__chk", "pthread_create", ""] {
        assert_eq!(MemoryFunction::named(name), None, "{name}");
    }
}

#[test]
fn moves_under_a_mask_touch_the_elements_that_it_says() {
    let thread = || Thread::new([0x7000, 0, 0, 0]);
    // vpmaskmovd [rdi], ymm1, ymm0; vmaskmovpd xmm0, xmm1, [rdi]; maskmovdqu xmm0, xmm1, at rdi
    let store = decoded(&[0xc4, 0xe2, 0x75, 0x8e, 0x07]);
    assert_eq!(
        describe(&store, &thread().vector(1, [-1, -1, 0, 1, 0, 0, 0, i32::MIN])),
        "0x7000+8w 0x701c+4w"
    );
    assert_eq!(describe(&store, &thread().vector(1, [0; 8])), "");
    assert_eq!(describe(&store, &thread()), "0x7000+32w", "the mask is not known");
    let load = decoded(&[0xc4, 0xe2, 0x71, 0x2d, 0x07]);
    assert_eq!(describe(&load, &thread().vector(1, [0, 0, 0, -1])), "0x7008+8r");
    let bytes = decoded(&[0x66, 0x0f, 0xf7, 0xc1]);
    assert_eq!(describe(&bytes, &thread().vector(1, [0x80, 0, 0x8000, -1])), "0x7000+1w 0x7009+1w 0x700c+4w");
    let masked = single(|a| a.vmovdqu32(dword_ptr(rdi + 0x40).k1(), zmm0));
    assert_eq!(describe(&masked, &thread().mask(1, 0b1000_0000_0000_0011)), "0x7040+8w 0x707c+4w");
}
