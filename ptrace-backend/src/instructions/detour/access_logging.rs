//! The work of the copy of a detour ([`super`]) before an instruction: it takes down the accesses of that, or hands the thread over.

use iced_x86::{Code, Instruction, MemoryOperand, OpKind as Operand, Register};

use super::hand_off::HandOff;
use super::log::{Log, WIDEST};
use crate::instructions::candidate::{AccessKind, Callee, Candidate};
use crate::instructions::memory_access::Extent;
use crate::instructions::stub::{Progress, Stub};
use crate::os::hand_off::PageSlot;

/// The part of an instruction that is taken down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LoggedOperand {
    /// The address of the one place that it touches.
    Address,
    /// The arguments of the function that it calls ([`ARGUMENTS`]).
    Arguments,
}

/// The number of arguments of a call that are taken down, an entry of the log each.
pub(crate) const ARGUMENTS: usize = 3;

/// The number in the place of an argument's of the address to which a call returns whose arguments are taken down at the entry of the
/// function.
pub(crate) const RETURN_ADDRESS: usize = ARGUMENTS;

/// The number of an entry of the log is that of its candidate, and above these bits that of the argument.
pub(crate) const ARGUMENT_SHIFT: u32 = 30;

impl Candidate {
    /// The way in which the memory that it touches is taken down before it runs, if there is one.
    pub(crate) fn logged_operand(&self) -> Option<LoggedOperand> {
        match self.kind {
            AccessKind::Call(Callee::Known(function)) if function.touches_what_arguments_say() => {
                return Some(LoggedOperand::Arguments);
            }
            AccessKind::Call(_) | AccessKind::Move => return None,
            _ => {}
        }
        let [operand] = self.operands.as_slice() else { return None };
        let segment = operand.memory.segment();
        let is_named = operand.extent == Extent::Single
            && matches!(segment, Register::None | Register::DS | Register::SS | Register::FS);
        is_named.then_some(LoggedOperand::Address)
    }

    /// Whether what it touches can be looked up in the table of private addresses: it touches no more than what is known of one
    /// there, and its address does not count from the thread's own memory. Such an address is not the one in the table, and the
    /// last variable before the thread's control block, whose end is 0, would be found in an empty place.
    pub(crate) fn can_be_looked_up(&self) -> bool {
        !self.counts_from_thread() && self.operands.iter().all(|operand| operand.size <= WIDEST)
    }

    /// Whether the address that is taken down counts from the thread's own memory.
    pub(crate) fn counts_from_thread(&self) -> bool {
        self.operands.iter().any(|operand| operand.memory.segment() == Register::FS)
    }
}

/// The address that an instruction names.
fn operand(instruction: &Instruction) -> Option<MemoryOperand> {
    let names = (0..instruction.op_count()).filter(|&at| instruction.op_kind(at) == Operand::Memory);
    let is_wide = |register: Register| register == Register::None || register.size() == 8;
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    // If the stack pointer moves, the address may count from its old or from its new value.
    if names.count() != 1 || instruction.is_stack_instruction() || !is_wide(base) || !is_wide(index) {
        return None;
    }
    Some(MemoryOperand::new(
        base,
        index,
        instruction.memory_index_scale(),
        instruction.memory_displacement64().cast_signed(),
        instruction.memory_displ_size(),
        false,
        Register::None,
    ))
}

/// The length of the code by which a thread hands itself over ([`super::hand_off`]), or stops.
const ASK: u8 = 15;

/// Hands the thread over, or stops it, and returns the address behind that. `rax` and `rcx` have been saved.
fn ask(stub: &mut Stub, log: Log) -> u64 {
    // lea rcx, [behind]; jmp [entry]; int3; behind:
    stub.bytes(&[0x48, 0x8d, 0x0d, 8, 0, 0, 0, 0xff, 0x24, 0x25]);
    stub.bytes(&HandOff::below(log.start).entry().to_le_bytes());
    stub.bytes(&[0xcc]);
    stub.here()
}

/// Saves the two registers that the code of a detour uses, for the instruction at this address.
fn save(stub: &mut Stub, at: u64, log: Log) {
    // mov [saved], rax; mov [saved], rcx
    for (field, store) in
        [(PageSlot::LogRax, [0x48, 0x89, 0x04, 0x25]), (PageSlot::LogRcx, [0x48, 0x89, 0x0c, 0x25])]
    {
        stub.bytes(&store);
        stub.bytes(&HandOff::below(log.start).address(field).to_le_bytes());
    }
    stub.mark(Progress::Saved(at));
}

/// Puts `rcx` back.
fn restore_rcx(stub: &mut Stub, log: Log) {
    // mov rcx, [saved]
    stub.bytes(&[0x48, 0x8b, 0x0c, 0x25]);
    stub.bytes(&HandOff::below(log.start).address(PageSlot::LogRcx).to_le_bytes());
}

/// The same as [`ask`] while the flag of a candidate is set.
fn ask_by_flag(stub: &mut Stub, log: Log, candidate: usize) -> u64 {
    // movzx ecx, byte [flag]; jrcxz on
    stub.bytes(&[0x0f, 0xb6, 0x0c, 0x25]);
    stub.bytes(&log.flag(candidate).to_le_bytes());
    stub.bytes(&[0xe3, ASK]);
    // on:
    ask(stub, log)
}

/// Hands a thread over that comes to this address, or stops it, whatever it touches there, while the flag of the candidate there is
/// set, if it is one; returns the address behind that.
pub(super) fn stop(stub: &mut Stub, at: u64, log: Log, candidate: Option<usize>) -> u64 {
    save(stub, at, log);
    if let Some(candidate) = candidate {
        let asks = ask_by_flag(stub, log, candidate);
        restore_rcx(stub, log);
        return asks;
    }
    let asks = ask(stub, log);
    // A thread that stops stands here, and its registers are still to be restored.
    stub.bytes(&[0xcc]);
    asks
}

/// Writes the arguments of a call to the log, or, while the flag of the candidate is set, stops; returns the address behind that.
pub(super) fn log_call(stub: &mut Stub, at: u64, log: Log, candidate: usize) -> u64 {
    save(stub, at, log);
    let asks = ask_by_flag(stub, log, candidate);
    enter_arguments(stub, log, candidate);
    restore_rcx(stub, log);
    asks
}

/// The same of a call of the function at whose entry the thread stands, with the address to which the call returns.
pub(super) fn log_entry(stub: &mut Stub, at: u64, log: Log, candidate: usize) -> u64 {
    save(stub, at, log);
    let asks = ask_by_flag(stub, log, candidate);
    enter_arguments(stub, log, candidate);
    stub.bytes(&LOAD_RETURN_ADDRESS);
    enter(stub, log, RAX, candidate | RETURN_ADDRESS << ARGUMENT_SHIFT);
    restore_rcx(stub, log);
    restore_rax(stub, log);
    asks
}

/// Writes the arguments of a call to the log.
fn enter_arguments(stub: &mut Stub, log: Log, candidate: usize) {
    // mov [end + 8 * rcx], rdi, rsi, or rdx
    let stores: [u8; ARGUMENTS] = [0x3c, 0x34, 0x14];
    for (number, store) in stores.into_iter().enumerate() {
        enter(stub, log, store, candidate | number << ARGUMENT_SHIFT);
    }
}

/// `mov rax, [rsp]`, at the entry of a function.
const LOAD_RETURN_ADDRESS: [u8; 4] = [0x48, 0x8b, 0x04, 0x24];

/// Puts `rax` back.
fn restore_rax(stub: &mut Stub, log: Log) {
    // mov rax, [saved]
    stub.bytes(&[0x48, 0x8b, 0x04, 0x25]);
    stub.bytes(&HandOff::below(log.start).address(PageSlot::LogRax).to_le_bytes());
}

/// Takes down a call of `free`, at whose entry the thread stands: its argument, unless that is null, the word before the block, which has
/// the size of that, and the address to which the call returns. While the flag of this number is set, the thread stops; the address
/// behind that is returned. The word is read wherever the argument leads, and may fault.
pub(super) fn log_free(stub: &mut Stub, at: u64, log: Log, number: usize) -> u64 {
    const RDI: u8 = 0x3c;
    save(stub, at, log);
    let asks = ask_by_flag(stub, log, number);
    // mov rcx, rdi; jrcxz null; jmp entries; null: jmp behind; entries:
    stub.bytes(&[0x48, 0x89, 0xf9, 0xe3, 0x02, 0xeb, 0x05, 0xe9]);
    let loads: [&[u8]; ARGUMENTS] = [&[], &[0x48, 0x8b, 0x47, 0xf8], &LOAD_RETURN_ADDRESS];
    let length = loads.iter().map(|load| load.len() + ENTER).sum::<usize>();
    stub.bytes(&(length as u32).to_le_bytes());
    // mov rax, [rdi - 8]; mov rax, [rsp]
    for (argument, (load, register)) in loads.into_iter().zip([RDI, RAX, RAX]).enumerate() {
        stub.bytes(load);
        enter(stub, log, register, number | argument << ARGUMENT_SHIFT);
    }
    // behind:
    restore_rcx(stub, log);
    restore_rax(stub, log);
    asks
}

/// The length of the code of [`enter`].
const ENTER: usize = 44;

/// The byte of a store that stands for `rax`.
const RAX: u8 = 0x04;

/// Writes a register to the log, which this byte of a store stands for, with a number. `rcx` is used.
fn enter(stub: &mut Stub, log: Log, store: u8, number: usize) {
    let cursor = HandOff::below(log.start).address(PageSlot::LogCursor).to_le_bytes();
    // mov rcx, [cursor]; mov [end + 8 * rcx], register; mov dword [end + 8 * rcx + 8], number
    stub.bytes(&[0x48, 0x8b, 0x0c, 0x25]);
    stub.bytes(&cursor);
    stub.bytes(&[0x48, 0x89, store, 0xcd]);
    stub.bytes(&log.end().to_le_bytes());
    stub.bytes(&[0xc7, 0x04, 0xcd]);
    stub.bytes(&(log.end() + 8).to_le_bytes());
    stub.bytes(&(number as u32).to_le_bytes());
    // lea rcx, [rcx + 2]; mov [cursor], rcx
    stub.bytes(&[0x48, 0x8d, 0x49, 0x02, 0x48, 0x89, 0x0c, 0x25]);
    stub.bytes(&cursor);
    // jrcxz full; jmp on; full: int3; on:
    stub.bytes(&[0xe3, 0x02, 0xeb, 0x01, 0xcc]);
}

/// Writes the address that an instruction touches to the log; before that it may stop, and the address behind the breakpoint is
/// returned. Two registers are used, and no flags.
pub(super) fn log_access(
    stub: &mut Stub,
    instruction: &Instruction,
    log: Log,
    (candidate, size): (usize, u32),
) -> Option<u64> {
    let address = operand(instruction)?;
    let state = |field, offset: u32| (HandOff::below(log.start).address(field) + offset).to_le_bytes();
    let [saved_rax, saved_rcx] = [PageSlot::LogRax, PageSlot::LogRcx].map(|field| state(field, 0));
    let [looked_up, chunk] = [0, 1].map(|offset| state(PageSlot::LogAddress, offset));
    // mov [saved], rax; mov [saved], rcx; lea rax, [operand]
    stub.bytes(&[0x48, 0x89, 0x04, 0x25]);
    stub.bytes(&saved_rax);
    stub.bytes(&[0x48, 0x89, 0x0c, 0x25]);
    stub.bytes(&saved_rcx);
    stub.encode(&Instruction::with2(Code::Lea_r64_m, Register::RAX, address).ok()?).ok()?;
    stub.mark(Progress::Saved(instruction.ip()));
    // movzx ecx, byte [flag]; jrcxz log
    stub.bytes(&[0x0f, 0xb6, 0x0c, 0x25]);
    stub.bytes(&log.flag(candidate).to_le_bytes());
    stub.bytes(&[0xe3, 65 + ASK]);
    // mov [looked_up], rax; movzx ecx, word [chunk]; mov rcx, [chunks + 8 * rcx]; mov rax, [chunk]; lea rcx, [rcx + rax + 1]
    stub.bytes(&[0x48, 0x89, 0x04, 0x25]);
    stub.bytes(&looked_up);
    stub.bytes(&[0x0f, 0xb7, 0x0c, 0x25]);
    stub.bytes(&chunk);
    stub.bytes(&[0x48, 0x8b, 0x0c, 0xcd]);
    stub.bytes(&log.chunks().to_le_bytes());
    stub.bytes(&[0x48, 0x8b, 0x04, 0x25]);
    stub.bytes(&chunk);
    stub.bytes(&[0x48, 0x8d, 0x4c, 0x01, 0x01]);
    // mov rax, [looked_up]; jrcxz log
    stub.bytes(&[0x48, 0x8b, 0x04, 0x25]);
    stub.bytes(&looked_up);
    stub.bytes(&[0xe3, 18 + ASK]);
    // movzx ecx, ax; mov rcx, [table + 8 * rcx]; lea rcx, [rcx + rax + size]; jrcxz log
    stub.bytes(&[0x0f, 0xb7, 0xc8, 0x48, 0x8b, 0x0c, 0xcd]);
    stub.bytes(&log.end().to_le_bytes());
    stub.bytes(&[0x48, 0x8d, 0x4c, 0x01, size.min(WIDEST) as u8, 0xe3, ASK]);
    let asks = ask(stub, log);
    enter(stub, log, RAX, candidate);
    // mov rcx, [saved]; mov rax, [saved]
    stub.bytes(&[0x48, 0x8b, 0x0c, 0x25]);
    stub.bytes(&saved_rcx);
    stub.bytes(&[0x48, 0x8b, 0x04, 0x25]);
    stub.bytes(&saved_rax);
    Some(asks)
}
