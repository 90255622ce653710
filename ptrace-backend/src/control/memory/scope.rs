//! Executions with few key points: of shared memory, only accesses of some objects are watched.
//!
//! An instruction that always touches the same memory, and none of these objects, has no trap. Any other one is let through
//! where it touches none of them. What a thread comes to first, and what it comes to after an event that may have let another
//! one go, is a key point whatever it touches: for that long all traps are planted.

use std::sync::Arc;

use checker::byte_set::ByteSet;
use checker::operation::OpKind;
use checker::program::{ExecutionError, Scope};

use crate::control::knowledge::arming::Arming;
use crate::control::process::Process;
use crate::control::state::flow::system;
use crate::control::state::pending::{Need, Pending};
use crate::control::state::scope::Narrow;
use crate::control::state::sync_objects::Index;
use crate::instructions::{Candidate, Kind, MemoryAccess};

impl Process {
    /// Watches from now on what this scope takes; all traps are planted.
    pub(crate) fn narrow_down(&mut self, all: Arc<Arming>) {
        let Scope::Objects(objects) = &self.memory.scope else { return };
        let objects = self.memory.shared.with_waited_for(objects);
        let layout = Arc::clone(&self.memory.layout);
        let is_left_out = |candidate: &&usize| self.leaves_out(&layout.candidates[**candidate], &objects);
        let promoted = self.memory.shared.promoted();
        let left_out: Vec<usize> = promoted.iter().filter(is_left_out).copied().collect();
        let few = || self.memory.shared.arming_without(&layout, self.tracee.pristine, &left_out);
        let code = (!left_out.is_empty()).then(|| (all, few()));
        self.memory.narrow = Some(Narrow { objects, code, is_wide: true });
    }

    /// Whether an instruction touches the same memory whenever it runs, and none of these objects, and no thread can wait
    /// there.
    fn leaves_out(&self, instruction: &Candidate, objects: &ByteSet) -> bool {
        let Some(address) = instruction.fixed_address().filter(|_| !instruction.may_spin) else {
            return false;
        };
        let is_update = matches!(instruction.kind, Kind::CompareExchange | Kind::LockedUpdate);
        let may_lock = is_update && !self.memory.layout.rust_mutexes.is_empty();
        let len = instruction.operands.iter().map(|operand| u64::from(operand.size)).max();
        let object = self.object(address, len.unwrap_or(1));
        !may_lock && !objects.overlap(object)
    }

    /// Makes the next access of the running thread a key point whatever it touches, or only if it is of the scope.
    pub(crate) fn widen(&mut self, is_wide: bool) -> Result<(), ExecutionError> {
        let Some(narrow) = &mut self.memory.narrow else { return Ok(()) };
        if std::mem::replace(&mut narrow.is_wide, is_wide) == is_wide {
            return Ok(());
        }
        match &narrow.code {
            Some((all, _)) if is_wide => all.plant(self.tracee.leader),
            Some((_, few)) => few.plant(self.tracee.leader),
            None => Ok(()),
        }
        .map_err(system("plant traps"))
    }

    /// Whether somebody else may be able to go after such an event, or is to go first.
    pub(crate) fn may_let_go(&self, index: Index, kind: OpKind) -> bool {
        use Need::{Change, ReadLock, RustMutex, RustRead, RustWrite, WriteLock};
        let of_memory = |need: &Need| {
            let of_rust = matches!(need, RustMutex(..) | RustRead(_) | RustWrite(_));
            of_rust || matches!(need, Change(_) | ReadLock(_) | WriteLock(_))
        };
        let waits = |pending: &Pending| pending.deadline.is_some() || of_memory(&pending.need);
        let others = self.scheduling.threads.iter().enumerate().filter(|(other, _)| *other != index);
        let mut pending = others.filter_map(|(_, thread)| thread.pending.as_ref());
        self.memory.narrow.is_none() || kind.may_let_go(pending.any(waits))
    }

    /// Whether an access, at which the running thread stands, is passed because it touches none of the scope's objects.
    pub(crate) fn passes_over(
        &self,
        index: Index,
        instruction: &Candidate,
        accesses: &[MemoryAccess],
    ) -> bool {
        let Some(narrow) = self.memory.narrow.as_ref().filter(|narrow| !narrow.is_wide) else { return false };
        let is_within = |access: &MemoryAccess| narrow.objects.overlap(self.object(access.addr, access.len));
        !accesses.iter().any(is_within) && self.rust_mutex(index, instruction.kind).is_none()
    }
}
