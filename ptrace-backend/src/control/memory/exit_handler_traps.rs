//! The traps where a thread that ends the process looks for functions that are to be called before: as long as it is alone, no
//! other thread has anything called, and they are of no use.

use checker::program::ExecutionError;

use crate::control::state::memory::MemoryState;
use crate::control::tracee::Tracee;

/// A thread that is alone ends the process.
pub(crate) fn lift(tracee: &Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    if !memory.written_code.is_empty() {
        return Ok(());
    }
    memory.ends_alone = true;
    tracee.lift_entries(tracee.layout.exit_handler_traps())
}

/// A function that it calls has created another thread.
pub(crate) fn plant_again(tracee: &Tracee, memory: &mut MemoryState) -> Result<(), ExecutionError> {
    if !std::mem::take(&mut memory.ends_alone) {
        return Ok(());
    }
    tracee.plant_entries(tracee.layout.exit_handler_traps())
}
