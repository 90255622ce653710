//! The real effect of an instruction, where that is less than it may have.

use checker::operation::Effect;
use checker::operation::OpKind;

use crate::control::state::pending::{Pending, only_looks};
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::instructions::AccessKind;

/// The real effect of an instruction: a compare-and-swap that will fail only reads.
pub(crate) fn access_effect(tracee: &Tracee, index: ThreadIndex, pending: &Pending) -> Effect {
    let all = pending.op.may.clone();
    if pending.op.kind != OpKind::CompareExchange {
        return all;
    }
    let regs = &tracee.tasks[index].regs;
    let Some(candidate) =
        tracee.layout.candidate_at(regs.rip).filter(|c| c.kind == AccessKind::CompareExchange)
    else {
        return all;
    };
    let accesses = candidate.accesses(regs);
    let current = accesses.first().map(|a| wide_number(tracee, a.addr, a.len as usize));
    match current {
        Some(current) if !candidate.will_succeed(regs, current) => only_looks(&all),
        _ => all,
    }
}

fn wide_number(tracee: &Tracee, addr: u64, len: usize) -> u128 {
    let mut bytes = [0; 16];
    let read = tracee.read(addr, len.min(16));
    bytes[..read.len()].copy_from_slice(&read);
    u128::from_le_bytes(bytes)
}
