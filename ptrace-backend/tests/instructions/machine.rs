//! Runs a few bytes of machine code in this process, on registers and a stack of their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use iced_x86::IcedError;
use iced_x86::code_asm::*;

/// Everything but the far copy is in one block at this address, which absolute operands reach.
const BLOCK: u64 = 0x2000_0000;
const BLOCK_SIZE: usize = 0x8000;
const ENTER: u64 = BLOCK;
const LEAVE: u64 = BLOCK + 0x800;
/// Address of the original instruction.
pub(crate) const FROM: u64 = BLOCK + 0x1000;
/// Target of the tests' jumps and calls.
pub(crate) const TARGET: u64 = FROM + 0x40;
/// A function that returns at once.
pub(crate) const RETURNS: u64 = FROM + 0x80;
/// Address of a copy in reach of the block.
pub(crate) const NEAR: u64 = BLOCK + 0x2000;
/// Address of a copy that does not reach the block with 32 bits.
pub(crate) const FAR: u64 = 0x30_0000_0000;
/// Memory for operands.
pub(crate) const DATA: u64 = BLOCK + 0x3800;
const DATA_SIZE: usize = 0x800;
/// Holds [`TARGET`], and so do its neighbours.
pub(crate) const SLOT: u64 = DATA + 0x400;
const STACK: u64 = BLOCK + 0x4000;
const STACK_SIZE: usize = 0x1000;
const STACK_POINTER: u64 = STACK + 0x800;
const CELLS: u64 = BLOCK + 0x6000;

const GENERAL: [AsmRegister64; 16] =
    [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15];
const KEPT: [AsmRegister64; 6] = [rbx, rbp, r12, r13, r14, r15];

/// General-purpose registers by number, flags, and two vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct State {
    general: [u64; 16],
    flags: u64,
    vectors: [[u64; 2]; 2],
}

/// The memory that the harness loads from and stores to.
#[repr(C)]
struct Cells {
    state: State,
    host_stack: u64,
    exit: u64,
    start: u64,
}

/// All that an instruction left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    state: State,
    /// 1 behind the instruction, 2 at the target.
    exit: u64,
    data: Vec<u8>,
    stack: Vec<u8>,
}

impl Outcome {
    /// The state, the operands' memory and the stack.
    pub(crate) fn parts(&self) -> (State, [&[u8]; 2]) {
        (self.state, [&self.data, &self.stack])
    }

    /// The address at which the thread goes on, behind an instruction of this length.
    pub(crate) fn goes_on_at(&self, len: usize) -> u64 {
        if self.exit == 1 { FROM + len as u64 } else { TARGET }
    }
}

/// Carry, parity, auxiliary carry, zero, sign, overflow.
const STATUS_FLAGS: u64 = 0x8d5;
const ALWAYS_SET: u64 = 0x202;

impl State {
    /// The general registers, by number, and the flags.
    pub(crate) fn general(&mut self) -> (&mut [u64; 16], &mut u64) {
        (&mut self.general, &mut self.flags)
    }

    /// Each status flag alone, none, and all; counts that end a loop and such that do not; values that memory holds.
    pub(crate) fn variants() -> Vec<Self> {
        let flags = [0, 1, 4, 0x10, 0x40, 0x80, 0x800, 0x880, STATUS_FLAGS];
        let mut all: Vec<Self> = flags.iter().map(|flags| Self::new(*flags, 1, 0)).collect();
        all.extend([0, 2, 5].map(|count| Self::new(0x40, count, word(0x200))));
        all.push(Self::new(0, 1, word(0)));
        all
    }

    /// Registers that make sense for the tests' instructions.
    pub(crate) fn new(flags: u64, count: u64, accumulator: u64) -> Self {
        let mut general: [u64; 16] = std::array::from_fn(|n| 0x0101_0101_0101_0101 * (n as u64 + 1));
        general[..3].copy_from_slice(&[accumulator, count, word(0x208)]);
        general[4..8].copy_from_slice(&[STACK_POINTER, STACK_POINTER + 0x100, DATA + 0x100, DATA + 0x200]);
        general[12..14].copy_from_slice(&[TARGET, SLOT]);
        Self { general, flags: flags | ALWAYS_SET, vectors: [[1, 2], [3, 4]] }
    }
}

/// The contents of memory at this offset of the data before each run.
fn word(offset: u64) -> u64 {
    0x0123_4567_89ab_cdef ^ (offset << 8)
}

/// The memory, and the right to use it: its addresses are the same in every test.
pub(crate) struct Machine {
    _alone: MutexGuard<'static, bool>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        static MAPPED: Mutex<bool> = Mutex::new(false);
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*mapped {
            map(BLOCK, BLOCK_SIZE);
            map(FAR, 0x1000);
            write(ENTER, &assemble(ENTER, enter));
            write(LEAVE, &assemble(LEAVE, leave));
            *mapped = true;
        }
        Self { _alone: mapped }
    }

    pub(crate) fn run_original(&mut self, code: &[u8], state: &State) -> Outcome {
        self.prepare(code.len());
        write(FROM, code);
        self.run(FROM, state)
    }

    /// Like the original of `len` bytes, in whose place is nothing but breakpoints.
    pub(crate) fn run_copy(&mut self, copy: &[u8], to: u64, len: usize, state: &State) -> Outcome {
        self.prepare(len);
        write(to, copy);
        self.run(to, state)
    }

    /// The operands' memory and the stack before a run, with their addresses.
    pub(crate) fn memory(&mut self) -> [(u64, Vec<u8>); 2] {
        self.prepare(0);
        [(DATA, read(DATA, DATA_SIZE)), (STACK, read(STACK, STACK_SIZE))]
    }

    fn prepare(&mut self, len: usize) {
        for code in [FROM, NEAR, FAR] {
            write(code, &[0xcc; 0x100]);
        }
        let next = FROM + len as u64;
        write(next, &assemble(next, |a| exit(a, 1)));
        write(TARGET, &assemble(TARGET, |a| exit(a, 2)));
        write(RETURNS, &[0xc3]);
        for offset in (0..DATA_SIZE as u64).step_by(8) {
            let value = if DATA + offset < SLOT - 0x40 { word(offset) } else { TARGET };
            write(DATA + offset, &value.to_le_bytes());
        }
        // Every slot in use leads to the target; the free part has a pattern.
        for offset in (0..STACK_SIZE as u64).step_by(8) {
            let value = if STACK + offset < STACK_POINTER { word(offset) } else { TARGET };
            write(STACK + offset, &value.to_le_bytes());
        }
    }

    fn run(&mut self, start: u64, state: &State) -> Outcome {
        let cells = CELLS as *mut Cells;
        // SAFETY: `Cells` fits the mapping at its address, and the code at `ENTER` keeps all that the calling
        // convention asks for. The code between is the test's own and touches nothing but the block.
        let (state, exit) = unsafe {
            cells.write(Cells { state: *state, host_stack: 0, exit: 0, start });
            let call: extern "sysv64" fn() = std::mem::transmute(ENTER as *const ());
            call();
            let Cells { state, exit, .. } = cells.read();
            (state, exit)
        };
        Outcome { state, exit, data: read(DATA, DATA_SIZE), stack: read(STACK, STACK_SIZE) }
    }
}

fn cell(offset: usize) -> AsmMemoryOperand {
    qword_ptr(CELLS + offset as u64)
}

const GENERAL_CELLS: usize = std::mem::offset_of!(State, general);
const FLAGS_CELL: usize = std::mem::offset_of!(State, flags);
const VECTOR_CELLS: usize = std::mem::offset_of!(State, vectors);

fn enter(a: &mut CodeAssembler) -> Result<(), IcedError> {
    for register in KEPT {
        a.push(register)?;
    }
    a.mov(cell(std::mem::offset_of!(Cells, host_stack)), rsp)?;
    a.movups(xmm0, cell(VECTOR_CELLS))?;
    a.movups(xmm1, cell(VECTOR_CELLS + 16))?;
    a.push(cell(FLAGS_CELL))?;
    a.popfq()?;
    for (number, register) in GENERAL.into_iter().enumerate() {
        a.mov(register, cell(GENERAL_CELLS + 8 * number))?;
    }
    a.jmp(cell(std::mem::offset_of!(Cells, start)))
}

fn leave(a: &mut CodeAssembler) -> Result<(), IcedError> {
    for (number, register) in GENERAL.into_iter().enumerate() {
        a.mov(cell(GENERAL_CELLS + 8 * number), register)?;
    }
    a.movups(cell(VECTOR_CELLS), xmm0)?;
    a.movups(cell(VECTOR_CELLS + 16), xmm1)?;
    a.mov(rsp, cell(std::mem::offset_of!(Cells, host_stack)))?;
    a.pushfq()?;
    a.pop(cell(FLAGS_CELL))?;
    a.cld()?;
    for register in KEPT.into_iter().rev() {
        a.pop(register)?;
    }
    a.ret()
}

/// Notes which exit this is, with every register and flag untouched.
fn exit(a: &mut CodeAssembler, number: i32) -> Result<(), IcedError> {
    a.mov(cell(std::mem::offset_of!(Cells, exit)), number)?;
    a.jmp(LEAVE)
}

fn assemble(at: u64, write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
    write(&mut assembler).expect("the harness is valid code");
    assembler.assemble(at).expect("the harness can be encoded")
}

fn map(addr: u64, len: usize) {
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping where there is none yet.
    let mapped = unsafe { libc::mmap(addr as *mut _, len, access, flags, -1, 0) };
    assert_eq!(mapped as u64, addr, "{}", std::io::Error::last_os_error());
}

fn write(addr: u64, bytes: &[u8]) {
    // SAFETY: all callers write into the mappings made above, which no Rust reference points to.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), addr as *mut u8, bytes.len()) };
}

fn read(addr: u64, len: usize) -> Vec<u8> {
    // SAFETY: the mapping has this length, and no other code writes to it meanwhile.
    unsafe { std::slice::from_raw_parts(addr as *const u8, len) }.to_vec()
}
