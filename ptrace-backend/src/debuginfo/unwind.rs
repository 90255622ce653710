//! Walking the stack of a stopped thread with nothing but its registers and its memory.

use gimli::{CfaRule, RegisterRule};

use super::dwarf::cfi::CallerRow;
use super::dwarf::expression::evaluate;
use super::image::Image;
use super::memory::{Memory, Pages, word};
use super::modules::{Modules, StaticAddress};
use super::registers::{RETURN_ADDRESS, Registers};

const RBP: usize = 6;
const RSP: usize = 7;
/// A function that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Run-time address at which it goes on.
    pub pc: u64,
    /// The value that the stack pointer had before the call that made this frame: it identifies the frame. 0 where the
    /// walk could not find it.
    pub cfa: u64,
    /// The image that holds the code, with the static address to look up: that of the call for a caller.
    pub place: Option<StaticAddress>,
}

/// A frame with what its function sees in the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Activation {
    pub(super) frame: Frame,
    registers: Registers,
    /// The registers that still have the function's own values: a bit for each DWARF number.
    known: u32,
}

impl Activation {
    /// The value of a register as the function sees it; none if the functions that it called may have changed it since.
    pub(super) fn register(&self, number: u16) -> Option<u64> {
        self.registers.get(number).filter(|_| is_known(self.known, number))
    }
}

fn is_known(known: u32, number: u16) -> bool {
    1_u32.checked_shl(number.into()).is_some_and(|bit| known & bit != 0)
}

/// Every register.
const ALL: u32 = (1 << (RETURN_ADDRESS + 1)) - 1;
/// The registers that a function leaves as it found them: rbx, rbp, rsp, r12 to r15, and its own return address.
const PRESERVED: u32 = 1 << 3 | 1 << RBP | 1 << RSP | 0xf << 12 | 1 << RETURN_ADDRESS;

/// The functions that have not returned, innermost first, at most `limit`.
///
/// Reads only through `memory`. Without an unwinding table it follows frame pointers, and past a call through a wild
/// pointer it goes on at the caller.
#[must_use]
pub fn unwind(modules: &Modules, memory: &dyn Memory, registers: &Registers, limit: usize) -> Vec<Frame> {
    frames(modules, memory, registers).take(limit).collect()
}

/// The same, without a limit, and each found when it is asked for.
pub(crate) fn frames<'a>(
    modules: &'a Modules,
    memory: &'a dyn Memory,
    registers: &Registers,
) -> impl Iterator<Item = Frame> + 'a {
    Activations::new(modules, memory, registers).map(|activation| activation.frame)
}

/// The functions that have not returned, innermost first.
pub(super) struct Activations<'a> {
    modules: &'a Modules,
    memory: Pages<'a>,
    next: Option<Next>,
}

/// The function that comes next.
struct Next {
    registers: Registers,
    known: u32,
    is_innermost: bool,
    /// It goes on at its instruction: the innermost one, or one that a signal has interrupted, has not run that. Others stand behind
    /// their calls, which may be their last instructions.
    is_exact: bool,
}

impl<'a> Activations<'a> {
    pub(super) fn new(modules: &'a Modules, memory: &'a dyn Memory, registers: &Registers) -> Self {
        let next = Next { registers: *registers, known: ALL, is_innermost: true, is_exact: true };
        Self { modules, memory: Pages::new(memory), next: Some(next) }
    }
}

impl Iterator for Activations<'_> {
    type Item = Activation;

    fn next(&mut self) -> Option<Activation> {
        let Next { registers, known, is_innermost, is_exact } = self.next.take()?;
        let modules = self.modules;
        let place = modules.find(registers.pc.wrapping_sub(u64::from(!is_exact)));
        let image = place.and_then(|place| modules.get(place.module)).map(|module| &*module.image);
        let row = place.zip(image).and_then(|(place, image)| image.cfi().row(place.address));
        let step = match (&row, image) {
            (Some(row), Some(image)) => undo_call(row, image, &registers, known, &self.memory),
            _ => guess(modules, &registers, &self.memory, is_innermost),
        };
        let cfa = step.as_ref().map_or(0, |step| step.cfa);
        let is_signal = row.as_ref().is_some_and(|row| row.is_signal);
        if let Some(Step { caller: Some(caller), restored, lost, .. }) = step {
            let is_stuck = caller.pc == registers.pc && caller.gpr[RSP] == registers.gpr[RSP];
            let is_below = caller.gpr[RSP] < registers.gpr[RSP] && !is_signal;
            if caller.pc != 0 && !is_stuck && !is_below {
                let kept = if is_signal { known } else { known & PRESERVED };
                let known = kept & !lost | restored;
                self.next = Some(Next { registers: caller, known, is_innermost: false, is_exact: is_signal });
            }
        }
        Some(Activation { frame: Frame { pc: registers.pc, cfa, place }, registers, known })
    }
}

struct Step {
    cfa: u64,
    /// None where the table marks the outermost function.
    caller: Option<Registers>,
    /// The caller's registers whose values were found, a bit for each DWARF number.
    restored: u32,
    /// Those that have another value now.
    lost: u32,
}

impl Step {
    /// A call that left its return address and nothing else to go by.
    fn guessed(caller: Registers) -> Self {
        let lost = PRESERVED & !(1 << RBP | 1 << RSP | 1 << RETURN_ADDRESS);
        Self { cfa: caller.gpr[RSP], caller: Some(caller), restored: 0, lost }
    }
}

fn undo_call(
    row: &CallerRow,
    image: &Image,
    registers: &Registers,
    known: u32,
    memory: &dyn Memory,
) -> Option<Step> {
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
    let (mut restored, mut lost) = (1 << RSP, 0);
    for (number, rule) in row.rules.iter().filter(|(_, rule)| *rule != RegisterRule::SameValue) {
        let value = match rule {
            RegisterRule::Offset(offset) => word(memory, cfa.wrapping_add_signed(*offset)),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
            RegisterRule::Register(other) => registers.get(other.0).filter(|_| is_known(known, other.0)),
            RegisterRule::Expression(expression) => {
                run(expression, Some(cfa)).and_then(|at| word(memory, at))
            }
            RegisterRule::ValExpression(expression) => run(expression, Some(cfa)),
            RegisterRule::Constant(value) => Some(*value),
            _ => None,
        };
        let bit = 1_u32.checked_shl((*number).into()).unwrap_or_default();
        match value {
            Some(value) => {
                caller.set(*number, value);
                restored |= bit;
            }
            None => lost |= bit,
        }
    }
    let has_caller = restored & (1 << RETURN_ADDRESS) != 0;
    Some(Step { cfa, caller: has_caller.then_some(caller), restored, lost })
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
        return Some(Step::guessed(caller));
    }
    let rbp = registers.gpr[RBP];
    if rbp < rsp {
        return None;
    }
    caller.pc = returned_to(rbp.checked_add(8)?)?;
    caller.gpr[RBP] = word(memory, rbp)?;
    caller.gpr[RSP] = rbp.checked_add(16)?;
    Some(Step::guessed(caller))
}
