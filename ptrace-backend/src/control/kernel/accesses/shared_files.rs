//! Memory that files are mapped to, shared with others: the mappings that there are, and calls on such files.

use std::fs;
use std::os::unix::fs::MetadataExt;

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use super::touched::Touched;
use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::shared_files::MappedFile;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{PAGE, Tracee};
use crate::error::{SystemAction, system};
use crate::os::fd;
use crate::target::modules;

/// The call at which a thread stands is about to be carried out: what it may change of mappings is read where the thread stops next.
///
/// Until then the thread may touch what a new mapping shows, at an address that was known to be private: so none is known any more.
pub(crate) fn note_call(tracee: &mut Tracee, memory: &mut MemoryState, index: ThreadIndex) {
    let regs = &tracee.tasks[index].regs;
    let is_empty = memory.shared_files.is_empty();
    let shows = match regs.orig_rax as i64 {
        libc::SYS_mmap => regs.r10 as i32 & libc::MAP_SHARED != 0,
        // Of no bytes it makes another mapping of them; else it takes them to another place.
        libc::SYS_mremap => regs.rsi == 0 || !is_empty,
        _ => false,
    };
    let hides = matches!(regs.orig_rax as i64, libc::SYS_mmap | libc::SYS_munmap) && !is_empty;
    memory.shared_files.are_stale |= shows || hides;
    if shows && tracee.detouring.knows_private() {
        tracee.forget_private(&(0..u64::MAX));
    }
}

/// A thread is about to map a file of this name, by a descriptor.
pub(super) fn note_file(tracee: &Tracee, memory: &mut MemoryState, descriptor: i32, name: &str) {
    if let Ok(file) = fs::metadata(format!("/proc/{}/fd/{descriptor}", tracee.leader)) {
        // It may be made writable later on.
        let may_be_written = !fd::is_for(tracee.leader, descriptor, libc::O_RDONLY);
        let mapped = MappedFile { name: name.to_owned(), may_be_written };
        memory.shared_files.note_file((file.dev(), file.ino()), mapped);
    }
}

/// The content of files that the call at which a thread stands begins, or ceases, to show in memory.
pub(super) fn shown(
    tracee: &Tracee,
    memory: &MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Vec<Touched> {
    let regs = &tracee.tasks[index].regs;
    let (first, len, flags) = (regs.rdi, regs.rsi, regs.r10 as i32);
    let is_fixed = flags & libc::MAP_FIXED != 0;
    // Other calls have anything there.
    let len = len.checked_next_multiple_of(PAGE).unwrap_or(len);
    let range = first..first.saturating_add(len);
    let mut found = match regs.orig_rax as i64 {
        libc::SYS_munmap | libc::SYS_mremap => memory.shared_files.files_in(&range),
        libc::SYS_mmap if is_fixed => memory.shared_files.files_in(&range),
        _ => Vec::new(),
    };
    let maps = regs.orig_rax as i64 == libc::SYS_mmap
        && flags & libc::MAP_SHARED != 0
        && flags & libc::MAP_ANONYMOUS == 0;
    if maps && let Ok(file) = fs::metadata(format!("/proc/{}/fd/{}", tracee.leader, regs.r8 as i32)) {
        found.extend(memory.shared_files.file((file.dev(), file.ino())).map(Some));
    }
    let known = found.into_iter().filter_map(|file| {
        if file.is_none() {
            account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
        }
        let MappedFile { name, may_be_written } = file?.clone();
        Some(Touched::Content { name, writes: may_be_written })
    });
    known.collect()
}

/// Reads the mappings that there are, if they may have changed.
pub(crate) fn refresh(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
) -> Result<(), ExecutionError> {
    if memory.shared_files.are_stale {
        let mut all = modules::shared_files(tracee.leader).map_err(system(SystemAction::ReadMemoryMap))?;
        // The page that the program has in common with the tool is none of its own.
        all.retain(|view| !tracee.keeps_log_in(&view.memory));
        memory.heap.renamed.extend(memory.shared_files.ranges().cloned());
        let is_known = memory.shared_files.update(&all);
        memory.heap.renamed.extend(memory.shared_files.ranges().cloned());
        if !is_known {
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
