//! Executions with few key points: of shared memory, only accesses of some objects are watched.
//!
//! An instruction that always touches the same memory, and none of these objects, has no trap. Any other one is let through
//! where it touches none of them. The first access of a thread, and the first one after an event that may have let another
//! thread go, are key points whatever they touch: for that long all traps are planted.

use std::sync::Arc;

use checker::byte_set::ByteSet;
use checker::operation::OpKind;
use checker::program::{ExecutionError, Scope};

use crate::control::state::memory::MemoryState;
use crate::control::state::memory::scope::{NarrowScope, ScopedCode};
use crate::control::state::pending::{Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::error::{SystemAction, system};
use crate::instructions::{AccessKind, Candidate, MemoryAccess};

impl MemoryState {
    /// Whether an instruction touches the same memory whenever it runs, and none of these objects, and no thread can wait
    /// there.
    fn leaves_out(&self, instruction: &Candidate, objects: &ByteSet) -> bool {
        let Some(address) = instruction.fixed_address().filter(|_| !instruction.may_spin) else {
            return false;
        };
        let is_update = matches!(instruction.kind, AccessKind::CompareExchange | AccessKind::LockedUpdate);
        let may_lock = is_update && !self.layout.survey.rust_locks.mutexes.is_empty();
        let len = instruction.operands.iter().map(|operand| u64::from(operand.size)).max();
        let object = self.object(address, len.unwrap_or(1));
        !may_lock && !objects.overlap(object)
    }
}

/// Watches from now on what this scope takes; all traps are planted.
pub(crate) fn narrow_down(tracee: &Tracee, memory: &mut MemoryState) {
    let Scope::Objects(watched) = &memory.scope else { return };
    let watched = memory.knowledge.with_waited_for(watched);
    let layout = Arc::clone(&memory.layout);
    let is_left_out = |candidate: &&usize| memory.leaves_out(&layout.candidates[**candidate], &watched);
    let promoted = memory.knowledge.promoted();
    let left_out: Vec<usize> = promoted.iter().filter(is_left_out).copied().collect();
    let code = (!left_out.is_empty()).then(|| code(tracee, memory, &left_out));
    memory.narrow = Some(NarrowScope { objects: watched, left_out, code, is_wide: true });
}

/// Code with all traps, and without those of these instructions.
fn code(tracee: &Tracee, memory: &MemoryState, left_out: &[usize]) -> ScopedCode {
    let (knowledge, layout, pristine) = (&memory.knowledge, &memory.layout, tracee.pristine);
    match &tracee.detouring.used {
        Some(all) => {
            let few = knowledge.armed_code_without(layout, pristine, left_out, &all.detours);
            ScopedCode::Detoured(Arc::clone(all), few)
        }
        None => {
            let few = knowledge.armed_code_without(layout, pristine, left_out, &[]);
            ScopedCode::Trapped(knowledge.armed_code(layout, pristine, false), few)
        }
    }
}

/// Makes the next access of the running thread a key point whatever it touches, or only if it is of the scope.
pub(crate) fn widen(
    tracee: &mut Tracee,
    memory: &mut MemoryState,
    is_wide: bool,
) -> Result<(), ExecutionError> {
    let Some(narrow) = &mut memory.narrow else { return Ok(()) };
    if std::mem::replace(&mut narrow.is_wide, is_wide) == is_wide {
        return Ok(());
    }
    if matches!(narrow.code, Some(ScopedCode::Detoured(..))) && tracee.detouring.used.is_none() {
        let left_out = std::mem::take(&mut narrow.left_out);
        let trapped = code(tracee, memory, &left_out);
        if let Some(narrow) = &mut memory.narrow {
            narrow.code = Some(trapped);
        }
    }
    let code = match memory.narrow.as_ref().and_then(|narrow| narrow.code.as_ref()) {
        Some(ScopedCode::Detoured(all, few)) => {
            tracee.detouring.put_back();
            if is_wide { &all.code } else { few }
        }
        Some(ScopedCode::Trapped(all, few)) => {
            if is_wide {
                all
            } else {
                few
            }
        }
        None => return Ok(()),
    };
    code.plant_beside(tracee.leader, &tracee.layout, &memory.written_code)
        .map_err(system(SystemAction::PlantTraps))
}

/// Whether another thread may be able to go after such an event, or is to go first.
pub(crate) fn may_let_go(
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    kind: OpKind,
) -> bool {
    use WaitCondition::{Change, ReadLock, RustMutex, RustRead, RustWrite, Stream, WriteLock};
    let of_memory = |condition: &WaitCondition| {
        let of_rust = matches!(condition, RustMutex(..) | RustRead(_) | RustWrite(_));
        of_rust || matches!(condition, Change(_) | ReadLock(_) | WriteLock(_) | Stream(_))
    };
    let waits = |pending: &Pending| pending.deadline.is_some() || of_memory(&pending.condition);
    let others = scheduling.threads.enumerate().filter(|(other, _)| *other != index);
    let mut pending = others.filter_map(|(_, thread)| thread.pending.as_ref());
    memory.narrow.is_none() || kind.may_let_go(pending.any(waits))
}

/// Whether an access, at which the running thread stands, is passed because it touches none of the scope's objects.
pub(crate) fn passes_over(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    instruction: &Candidate,
    accesses: &[MemoryAccess],
) -> bool {
    let Some(narrow) = memory.narrow.as_ref().filter(|narrow| !narrow.is_wide) else { return false };
    let is_within = |access: &MemoryAccess| narrow.objects.overlap(memory.object(access.addr, access.len));
    !accesses.iter().any(is_within) && stacks::rust_mutex(tracee, index, instruction.kind).is_none()
}
