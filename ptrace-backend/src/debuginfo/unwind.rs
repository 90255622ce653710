//! Walking the stack of a stopped thread with nothing but its registers and its memory.

use std::cell::RefCell;

use gimli::{CfaRule, RegisterRule};

use super::cfi::CallerRow;
use super::expression::evaluate;
use super::image::Image;
use super::modules::{Modules, Place};

/// The memory of something that stands still.
pub trait Memory {
    /// Fills `buffer` from `address`; false if not all of it can be read.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;
}

/// A thread's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// rax rdx rcx rbx rsi rdi rbp rsp r8 … r15: the order of their DWARF numbers.
    pub gpr: [u64; 16],
    /// The instruction pointer.
    pub pc: u64,
}

const RBP: usize = 6;
const RSP: usize = 7;
/// The DWARF number of the column that holds the return address.
const RETURN_ADDRESS: u16 = 16;

impl Registers {
    pub(super) fn get(&self, number: u16) -> Option<u64> {
        if number == RETURN_ADDRESS { Some(self.pc) } else { self.gpr.get(usize::from(number)).copied() }
    }

    fn set(&mut self, number: u16, value: u64) {
        match self.gpr.get_mut(usize::from(number)) {
            Some(register) => *register = value,
            None if number == RETURN_ADDRESS => self.pc = value,
            None => {}
        }
    }
}

/// A function that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Where it goes on, at run time.
    pub pc: u64,
    /// The value that the stack pointer had before the call that made this frame: it identifies the frame. 0 where the
    /// walk could not find it.
    pub cfa: u64,
    /// The image that holds the code, with the static address to look up: that of the call for a caller.
    pub place: Option<Place>,
}

/// The functions that have not returned, innermost first, at most `limit`.
///
/// Reads only through `memory`. Where there is no unwinding table it follows frame pointers, and past a call through
/// a wild pointer it goes on at the caller.
#[must_use]
pub fn unwind(modules: &Modules, memory: &dyn Memory, registers: &Registers, limit: usize) -> Vec<Frame> {
    let memory = &Window::new(memory);
    let mut frames = Vec::new();
    let mut registers = *registers;
    // The innermost instruction has not run; a caller stands behind its call, which may be its last instruction.
    let mut is_exact = true;
    while frames.len() < limit {
        let place = modules.find(registers.pc.wrapping_sub(u64::from(!is_exact)));
        let image = place.and_then(|place| modules.get(place.module)).map(|module| &*module.image);
        let row = place.zip(image).and_then(|(place, image)| image.cfi().row(place.address));
        let step = match (&row, image) {
            (Some(row), Some(image)) => undo_call(row, image, &registers, memory),
            _ => guess(modules, &registers, memory, frames.is_empty()),
        };
        let cfa = step.as_ref().map_or(0, |step| step.cfa);
        frames.push(Frame { pc: registers.pc, cfa, place });
        let Some(Step { caller: Some(caller), .. }) = step else { break };
        let is_stuck = caller.pc == registers.pc && caller.gpr[RSP] == registers.gpr[RSP];
        if caller.pc == 0
            || is_stuck
            || (caller.gpr[RSP] < registers.gpr[RSP] && !row.as_ref().is_some_and(|r| r.is_signal))
        {
            break;
        }
        is_exact = row.is_some_and(|row| row.is_signal);
        registers = caller;
    }
    frames
}

struct Step {
    cfa: u64,
    /// None where the table marks the outermost function.
    caller: Option<Registers>,
}

fn undo_call(row: &CallerRow, image: &Image, registers: &Registers, memory: &dyn Memory) -> Option<Step> {
    let cfi = image.cfi().section();
    let run = |expression: &gimli::UnwindExpression<usize>, start| {
        evaluate(expression.get(cfi).ok()?, row.encoding, start, registers, memory)
    };
    let cfa = match &row.cfa {
        CfaRule::RegisterAndOffset { register, offset } => {
            registers.get(register.0)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(expression) => run(expression, None)?,
    };
    let mut caller = *registers;
    caller.gpr[RSP] = cfa;
    let mut has_caller = false;
    for (number, rule) in &row.rules {
        let value = match rule {
            RegisterRule::Offset(offset) => word(memory, cfa.wrapping_add_signed(*offset)),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
            RegisterRule::Register(other) => registers.get(other.0),
            RegisterRule::Expression(expression) => {
                run(expression, Some(cfa)).and_then(|at| word(memory, at))
            }
            RegisterRule::ValExpression(expression) => run(expression, Some(cfa)),
            RegisterRule::Constant(value) => Some(*value),
            _ => None,
        };
        if let Some(value) = value {
            caller.set(*number, value);
            has_caller |= *number == RETURN_ADDRESS;
        }
    }
    Some(Step { cfa, caller: has_caller.then_some(caller) })
}

/// Without a table: a function that has just been called has its return address on top of the stack (a stub, or a wild
/// pointer that was called); otherwise the frame pointer may lead to one.
fn guess(modules: &Modules, registers: &Registers, memory: &dyn Memory, is_innermost: bool) -> Option<Step> {
    let returned_to = |slot: u64| {
        let pc = word(memory, slot)?;
        let place = modules.find(pc.wrapping_sub(1))?;
        modules.get(place.module)?.image.is_code(place.address).then_some(pc)
    };
    let rsp = registers.gpr[RSP];
    let mut caller = *registers;
    if is_innermost && let Some(pc) = returned_to(rsp) {
        caller.pc = pc;
        caller.gpr[RSP] = rsp.wrapping_add(8);
        return Some(Step { cfa: caller.gpr[RSP], caller: Some(caller) });
    }
    let rbp = registers.gpr[RBP];
    if rbp < rsp {
        return None;
    }
    caller.pc = returned_to(rbp.checked_add(8)?)?;
    caller.gpr[RBP] = word(memory, rbp)?;
    caller.gpr[RSP] = rbp.checked_add(16)?;
    Some(Step { cfa: caller.gpr[RSP], caller: Some(caller) })
}

fn word(memory: &dyn Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}

/// A page: what can be read at its start can be read throughout.
const WINDOW: usize = 4096;

/// Reads a stretch of stack at a time: every read of another process is a system call.
struct Window<'a> {
    memory: &'a dyn Memory,
    last: RefCell<(u64, [u8; WINDOW])>,
}

impl<'a> Window<'a> {
    fn new(memory: &'a dyn Memory) -> Self {
        Self { memory, last: RefCell::new((u64::MAX, [0; WINDOW])) }
    }
}

impl Memory for Window<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let start = address & !(WINDOW as u64 - 1);
        let offset = (address - start) as usize;
        let Some(end) = offset.checked_add(buffer.len()).filter(|&end| end <= WINDOW) else {
            return self.memory.read(address, buffer);
        };
        let (at, bytes) = &mut *self.last.borrow_mut();
        if *at != start {
            *at = u64::MAX;
            if !self.memory.read(start, bytes) {
                return self.memory.read(address, buffer);
            }
            *at = start;
        }
        buffer.copy_from_slice(&bytes[offset..end]);
        true
    }
}
