//! Other ways to the content of files, and code that comes to be while the program runs: mappings, and pipes that refer to files.

use std::fs;

use checker::account::{Unwatched, UnwatchedKind};

use super::touched::{Touched, is_libc_internal_syscall};
use super::{file_names, shared_files};
use crate::control::state::account::{Account, FileMapping};
use crate::control::state::memory::{BreakMover, MemoryState};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{PAGE, Tracee};
use crate::layout::module::Module;
use crate::os::{Regs, calls};
use crate::target::modules;

/// Memory is mapped: code that is loaded or made, and pages that are mapped twice, are not watched.
pub(crate) fn note_mapping(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    let Regs { rsi: len, rdx: protection, r10: flags, r8: descriptor, r9: offset, .. } =
        tracee.tasks[index].regs;
    let (protection, flags, descriptor) = (protection as i32, flags as i32, descriptor as i32);
    let is_file = flags & libc::MAP_ANONYMOUS == 0;
    if protection & libc::PROT_EXEC != 0 {
        memory.has_late_files |= is_file;
        note_code(tracee, memory, account, is_file.then_some(descriptor));
    }
    if !is_file {
        return;
    }
    let is_written = flags & libc::MAP_SHARED != 0 && protection & libc::PROT_WRITE != 0;
    let file = (descriptor, is_written);
    let Some(file) = file_names::regular_file(tracee, scheduling, memory, account, index, file) else {
        return;
    };
    let is_shared = flags & libc::MAP_SHARED != 0;
    if is_shared {
        shared_files::note_file(tracee, memory, descriptor, &file);
    }
    let bytes = offset..offset.saturating_add(len);
    note_file_mapping(account, FileMapping { file, bytes, is_written, is_shared });
}

fn note_file_mapping(account: &mut Account, mapping: FileMapping) {
    if account.file_mappings.iter().any(|other| other.meets(&mapping)) {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
    }
    account.file_mappings.push(mapping);
}

/// A call that succeeds only where nothing is mapped yet may find there what the kernel has mapped for another thread: where the kernel
/// does so depends on all mappings, those of the tracer among them, and no such call is an event.
pub(super) fn note_place(
    tracee: &Tracee,
    scheduling: &Scheduling,
    account: &mut Account,
    index: ThreadIndex,
) {
    /// The kernel maps from one end of the address space on, next to what is there.
    const NEAR: u64 = 1 << 40;
    let Regs { rdi: address, rsi: old, rdx: new, r10: flags, .. } = tracee.tasks[index].regs;
    let call = tracee.tasks[index].regs.orig_rax as i64;
    let needs_room = match call {
        libc::SYS_mmap => address != 0 && flags as i32 & libc::MAP_FIXED == 0,
        libc::SYS_mremap => flags as i32 & libc::MREMAP_MAYMOVE == 0 && new > old,
        _ => false,
    };
    let mut libc = tracee.layout.modules.iter().filter(|module| module.is_libc);
    let is_near = |module: &Module| module.mapped.range.start.abs_diff(address) < NEAR;
    if needs_room && scheduling.has_company() && libc.any(is_near) {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &calls::name(call)));
    }
}

/// The objects of `brk`: memory behind the new end is not mapped any more, or begins to be. An end of 0 asks for the one that there is. All
/// that is done before the first thread is created comes before what others do to that memory, and what the C library gets or gives back
/// is its own affair.
pub(super) fn moved_break(tracee: &Tracee, index: ThreadIndex, end: u64) -> impl Iterator<Item = Touched> {
    let (end, is_moved) = (end.checked_next_multiple_of(PAGE).unwrap_or(end), end != 0);
    let changes_memory = is_moved && tracee.concurrent && !is_libc_internal_syscall(tracee, index);
    let heap = changes_memory.then(|| modules::grown_data(tracee.leader)).flatten();
    let between = heap.filter(|heap| heap.start <= end).map(|heap| end.min(heap.end)..end.max(heap.end));
    let changed = between.map(|bytes| Touched::Memory { bytes, writes: true });
    [Touched::Break { writes: is_moved }].into_iter().chain(changed)
}

/// Calls of the C library, which moves this end where its heap grows, are no events: those of the program find what these have done.
pub(super) fn note_break(
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    who: BreakMover,
) {
    if !scheduling.has_company() {
        return;
    }
    if *memory.break_mover.get_or_insert(who) != who {
        account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &calls::name(libc::SYS_brk)));
    }
}

/// A call puts the content of a file into a pipe or a socket, which may refer to the same pages: what is written to the file before
/// the content is read there is read as well.
pub(crate) fn note_splice(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    let regs = &tracee.tasks[index].regs;
    let (from, to) = match regs.orig_rax as i64 {
        libc::SYS_splice => (regs.rdi, regs.rdx),
        _ => (regs.rsi, regs.rdi),
    };
    let [from, to] = [from, to].map(|file| {
        file_names::regular_file(tracee, scheduling, memory, account, index, (file as i32, false))
    });
    if let (Some(file), None) = (from, to) {
        note_file_mapping(
            account,
            FileMapping { file, bytes: 0..u64::MAX, is_written: false, is_shared: false },
        );
    }
}

/// Memory becomes executable: code of a file, or code that the program makes.
pub(crate) fn note_code(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    descriptor: Option<i32>,
) {
    let path = descriptor.and_then(|fd| fs::read_link(format!("/proc/{}/fd/{fd}", tracee.leader)).ok());
    let module = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    // The C library loads it to unwind the stack of a thread that ends.
    if module.as_deref().is_some_and(|name| name.starts_with("libgcc_s.so")) {
        return;
    }
    let kind = if module.is_some() { UnwatchedKind::LoadedCode } else { UnwatchedKind::GeneratedCode };
    account.enter_unwatched(Unwatched { kind, module, function: None });
    memory.promoted |= tracee.knowledge.note_late_code();
}

/// A call changes mappings. Closed code among them may run from then on, which would not be seen.
pub(crate) fn note_closed_code(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex) {
    let regs = &tracee.tasks[index].regs;
    if tracee.layout.closed.meets(&(regs.rdi..regs.rdi.saturating_add(regs.rsi))) {
        memory.promoted |= tracee.knowledge.note_all_reached();
    }
}

/// A thread reads what the kernel tells of the process. Closed code among its mappings is no code of the program as it is.
pub(crate) fn note_look_at_closed_code(tracee: &Tracee, memory: &mut MemoryState) {
    if !tracee.layout.closed.is_empty() {
        memory.promoted |= tracee.knowledge.note_all_reached();
    }
}
