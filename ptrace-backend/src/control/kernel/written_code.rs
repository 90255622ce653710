//! Code of modules into which the program may write: data in the same pages is the program's, and traps go around it.

use std::ops::Range;

use checker::program::ExecutionError;

use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;

/// A thread changes the protection of memory: takes note of code that can be written from then on.
pub(crate) fn note(
    tracee: &mut Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
) -> Result<(), ExecutionError> {
    let regs = &tracee.tasks[index].regs;
    let (start, len, protection) = (regs.rdi, regs.rsi, regs.rdx as i32);
    let pages = start..start.saturating_add(len);
    if protection & libc::PROT_WRITE == 0 || memory.written_code.contains(&pages) {
        return Ok(());
    }
    let meets = |range: Range<u64>| range.start < pages.end && pages.start < range.end;
    let mut modules = tracee.layout.modules.iter().filter(|module| meets(module.mapped.range.clone()));
    let has_code = modules.any(|module| {
        let bias = module.mapped.bias;
        let code = module.image.text().into_iter().map(|section| section.range());
        code.map(|code| code.start + bias..code.end + bias).any(meets)
    });
    if has_code {
        // The jump of a detour is longer than the instruction that it replaces, which the program may change.
        tracee.end_detours()?;
        memory.written_code.push(pages);
    }
    Ok(())
}
