//! `FUTEX_WAKE_OP`: the kernel changes a second word in one indivisible step, wakes waiters at the first word, and waiters at the
//! second one where that held what the call asks for.

use checker::names::EventId;
use checker::operation::{Access, Effect, Op, OpKind};
use checker::program::{ExecutionError, OpOutcome};

use crate::control::memory::sharing::TouchKind;
use crate::control::operations;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition, WakeOp};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::{Futex, Objects};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::futexes;
use crate::control::tracee::Tracee;
use crate::os::memory;

/// The size of a futex's word, in bytes.
const WORD: u64 = 4;

/// The operation of such a call on the second word, and the comparison: the sixth argument, as the kernel reads it.
struct Encoded {
    operation: u32,
    operand: i32,
    comparison: u32,
    compared_with: i32,
}

impl Encoded {
    fn of(code: u32) -> Self {
        const OPERAND_IS_BIT: u32 = 8;
        const BITS: u32 = 12;
        let signed = |field: u32| (field << (32 - BITS)).cast_signed() >> (32 - BITS);
        let operand = signed(code >> BITS);
        let (operation, is_bit) = (code >> 28 & !OPERAND_IS_BIT, code >> 28 & OPERAND_IS_BIT != 0);
        Self {
            operation,
            operand: if is_bit { 1_i32.wrapping_shl(operand.cast_unsigned()) } else { operand },
            comparison: code >> 24 & 0xf,
            compared_with: signed(code),
        }
    }

    /// The word after the operation; `None` if there is none of this number.
    fn changed(&self, old: i32) -> Option<i32> {
        Some(match self.operation {
            0 => self.operand,
            1 => old.wrapping_add(self.operand),
            2 => old | self.operand,
            3 => old & !self.operand,
            4 => old ^ self.operand,
            _ => return None,
        })
    }

    /// Whether the word held what is asked for; `None` if there is no comparison of this number.
    fn holds(&self, old: i32) -> Option<bool> {
        let with = self.compared_with;
        Some(match self.comparison {
            0 => old == with,
            1 => old != with,
            2 => old < with,
            3 => old <= with,
            4 => old > with,
            5 => old >= with,
            _ => return None,
        })
    }
}

/// A thread calls the kernel so.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let wake_op = WakeOp {
        first: futexes::futex_at(memory, regs.rdi, futexes::is_private(regs.rsi)),
        wake: futexes::least_one(regs.rdx),
        second: futexes::futex_at(memory, regs.r8, futexes::is_private(regs.rsi)),
        wake_second: futexes::least_one(regs.r10),
        code: regs.r9 as u32,
    };
    if [wake_op.first, wake_op.second].iter().any(|futex| futex.word % WORD != 0) {
        tracee.answer(index, -i64::from(libc::EINVAL))?;
        return Ok(Flow::Resume(0));
    }
    if !tracee.is_scheduled(index) {
        let Some(answer) = wake(tracee, scheduling, objects, wake_op, OpOutcome::Only, None) else {
            return Ok(Flow::Resume(0));
        };
        tracee.answer(index, answer)?;
        return Ok(Flow::Resume(0));
    }
    futexes::note_kernel_access(tracee, memory, index, wake_op.second.word, TouchKind::Writes);
    let touched = [wake_op.first, wake_op.second].map(|futex| Access::write(memory.object(futex.word, WORD)));
    let op = Op::new(OpKind::FutexWake, touched);
    Ok(operations::pend(
        tracee,
        scheduling,
        index,
        op,
        WaitCondition::Nothing,
        Action::FutexWakeOp(wake_op),
        None,
    ))
}

/// Carries it out as the thread's event.
pub(crate) fn carry_out(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    pending: &Pending,
    wake_op: WakeOp,
    (outcome, id): (OpOutcome, EventId),
) -> (Effect, Continuation) {
    let answer = wake(tracee, scheduling, objects, wake_op, outcome, Some(id));
    (pending.op.may.clone(), answer.map_or(Continuation::Kernel, Continuation::Answer))
}

/// The result of the call; `None` where the kernel is to carry it out, since other processes may wait at the words.
fn wake(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    wake_op: WakeOp,
    outcome: OpOutcome,
    id: Option<EventId>,
) -> Option<i64> {
    let WakeOp { first, wake: count, second, wake_second, code } = wake_op;
    let waits = |futex: Futex| objects.futexes.get(&futex).is_some_and(|queue| !queue.waiters.is_empty());
    if futexes::is_for_others(tracee, i64::from(waits(first) || waits(second))) {
        return None;
    }
    let Some(old) = memory::number(tracee.leader, second.word, WORD as usize) else {
        return Some(-i64::from(libc::EFAULT));
    };
    let (old, encoded) = (old as i32, Encoded::of(code));
    let Some(new) = encoded.changed(old) else { return Some(-i64::from(libc::ENOSYS)) };
    if !tracee.write(second.word, &new.to_le_bytes()) {
        return Some(-i64::from(libc::EFAULT));
    }
    let Some(holds) = encoded.holds(old) else { return Some(-i64::from(libc::ENOSYS)) };
    let mut wake = |futex, count| futexes::wake(scheduling, objects, futex, Futex::ANY, count, outcome, id);
    Some(wake(first, count) + if holds { wake(second, wake_second) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `FUTEX_OP` of the kernel's header.
    fn code(operation: u32, operand: i32, comparison: u32, compared_with: i32) -> u32 {
        let field = |value: i32| value.cast_unsigned() & 0xfff;
        operation << 28 | comparison << 24 | field(operand) << 12 | field(compared_with)
    }

    #[test]
    fn the_second_word_is_changed_as_the_kernel_changes_it() {
        for (operation, operand, old, new) in [
            (0, -3, 7, Some(-3)),
            (1, -1, 7, Some(6)),
            (2, 8, 1, Some(9)),
            (3, 5, 7, Some(2)),
            (4, 3, 1, Some(2)),
            (8, 5, 7, Some(32)),
            (8 | 3, 1, 7, Some(5)),
            (5, 0, 0, None),
        ] {
            let encoded = Encoded::of(code(operation, operand, 0, 0));
            assert_eq!(encoded.changed(old), new, "{operation} {operand} {old}");
        }
    }

    #[test]
    fn the_value_before_is_compared_as_a_signed_number() {
        let holds = |comparison, with, old| Encoded::of(code(0, 0, comparison, with)).holds(old);
        assert_eq!(holds(0, -1, -1), Some(true));
        assert_eq!(holds(1, 2, 2), Some(false));
        assert_eq!(holds(2, 0, -5), Some(true));
        assert_eq!(holds(3, -6, -5), Some(false));
        assert_eq!(holds(4, -1, 0), Some(true));
        assert_eq!(holds(5, 2_047, 2_047), Some(true));
        assert_eq!(holds(6, 0, 0), None);
    }
}
