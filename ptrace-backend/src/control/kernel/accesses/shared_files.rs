//! Memory that files are mapped to, shared with others: the mappings that there are, and calls on such files.

use std::fs;
use std::os::unix::fs::MetadataExt;

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use super::touched::Touched;
use crate::control::state::account::Account;
use crate::control::state::flow::system;
use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::target::modules;

/// The call at which a thread stands is about to be carried out: what it may change of mappings is read where the thread stops next.
pub(crate) fn note_call(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex) {
    let regs = &tracee.tasks[index].regs;
    let is_empty = memory.shared_files.is_empty();
    memory.shared_files.are_stale |= match regs.orig_rax as i64 {
        libc::SYS_mmap => regs.r10 as i32 & libc::MAP_SHARED != 0 || !is_empty,
        // Of no bytes it makes another mapping of them.
        libc::SYS_mremap => regs.rsi == 0 || !is_empty,
        libc::SYS_munmap => !is_empty,
        _ => false,
    };
}

/// Reads the mappings that there are, if they may have changed.
pub(crate) fn refresh(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
) -> Result<(), ExecutionError> {
    if memory.shared_files.are_stale {
        let all = modules::shared_files(tracee.leader).map_err(system("read the memory map"))?;
        if !memory.shared_files.update(&all) {
            account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
        }
    }
    Ok(())
}

/// The memory that shows files which a call touches.
pub(super) fn mapped(tracee: &Tracee, memory: &MemoryState, touched: &[Touched]) -> Vec<Touched> {
    let mut found = Vec::new();
    if memory.shared_files.is_empty() {
        return found;
    }
    for touched in touched {
        let (file, writes) = match touched {
            Touched::File { descriptor, writes } => {
                (fs::metadata(format!("/proc/{}/fd/{descriptor}", tracee.leader)), *writes)
            }
            Touched::Path { path, writes } => (fs::metadata(path), *writes),
            _ => continue,
        };
        let Ok(file) = file else { continue };
        let shown = memory.shared_files.memory_of((file.dev(), file.ino()));
        found.extend(shown.map(|bytes| Touched::Mapped { bytes, writes }));
    }
    found
}
