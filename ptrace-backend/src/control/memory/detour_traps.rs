//! Traps of instructions that have, or get, a detour ([`crate::instructions::detour`]).

use checker::program::{ExecutionError, Scope};

use crate::control::state::memory::MemoryState;
use crate::control::tracee::Tracee;
use crate::error::{SystemAction, system};

/// The number of times that the code is written anew in an execution, because an instruction has a detour.
const MOST_PLANS: u32 = 8;

/// An instruction has a detour from now on, in this execution too.
pub(crate) fn log_more(tracee: &mut Tracee, memory: &MemoryState) -> Result<(), ExecutionError> {
    // In other scopes the code has other traps as well; and no trap is to come back that has been taken away for good.
    let is_whole = matches!(memory.scope, Scope::All | Scope::Audit) && tracee.probes.wanted.is_empty();
    let is_whole = is_whole && !memory.heap.left_unnamed;
    let detouring = &tracee.detouring;
    let is_paused = detouring.used.is_some() && !detouring.on;
    if !is_whole || detouring.over || is_paused || detouring.plans >= MOST_PLANS || !tracee.has_log() {
        return Ok(());
    }
    tracee.detouring.plans += 1;
    let is_audit = memory.scope == Scope::Audit;
    let code = memory.knowledge.armed_code_with_detours(
        &memory.layout,
        tracee.pristine,
        is_audit,
        tracee.page.is_some(),
    );
    tracee.begin_detours(code).map_err(system(SystemAction::PlantTraps))
}

/// The thread has come to a trap that takes the place of a detour for a while.
pub(crate) fn count_trap(tracee: &mut Tracee) -> Result<(), ExecutionError> {
    if tracee.detouring.traps_left == 0 {
        return Ok(());
    }
    tracee.detouring.traps_left -= 1;
    if tracee.detouring.traps_left == 0 { tracee.resume_detours() } else { Ok(()) }
}
