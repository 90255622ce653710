//! Effects of system calls on memory, on files and on mappings: where threads share these, a call is an operation on them.
//!
//! A buffer that the kernel fills or empties is read or written by the calling thread. A mapping that is removed, moved or
//! protected is written. The content of a regular file, with what is said about it (its length, its mode), is one object, by
//! its name (`file_names`), whatever descriptor it is used through. So are the names of files taken together, the number of
//! each descriptor, and the rest of the state that the kernel keeps of a process (`process_state`). Standard streams are left
//! out: no thread of the program reads back what has been written there.

mod divisibility;
mod file_names;
pub(in crate::control) mod mappings;
mod messages;
pub(in crate::control) mod process_state;
pub(in crate::control) mod shared_files;
mod touched;

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use checker::operation::Access;
use smallvec::SmallVec;

pub(crate) use self::divisibility::operation;
use self::messages::{buffers, message, messages, socket_name};
use self::touched::{Touched, is_libc_internal_syscall, is_of_program, named_file};
use crate::control::memory::naming::MemoryRegion;
use crate::control::memory::sharing::TouchKind;
use crate::control::operations;
use crate::control::state::account::{Account, FileMapping};
use crate::control::state::flow::Flow;
use crate::control::state::memory::{BreakMover, MemoryState};
use crate::control::state::pending::{Action, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::stream_locks;
use crate::control::tracee::{PAGE, Tracee};
use crate::layout::module::Module;
use crate::layout::names::digest;
use crate::os::calls::{self, buffers, external_effects};
use crate::os::{fd, memory as target_memory};

/// Files and names have addresses of their own in the record of shared memory: above all that a program can map.
const NOT_MEMORY: u64 = 0xffff_8000_0000_0000;

/// The offset that stands for the position of the file.
const AT_POSITION: u64 = u64::MAX;

/// The accesses of the system call at which a thread stands to what threads share; takes note of all of them.
pub(crate) fn kernel_accesses(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> SmallVec<[Access; 2]> {
    let mut shared = SmallVec::new();
    if !tracee.is_scheduled(index) {
        return shared;
    }
    let mut touched = touched_by_kernel(tracee, index);
    touched.extend(process_state::touched(tracee, scheduling, account, index));
    let of_sockets = calls::socket_state(&tracee.tasks[index].regs);
    touched.extend(of_sockets.map(|writes| Touched::Sockets { writes }));
    touched.extend(calls::seals(&tracee.tasks[index].regs).map(|writes| Touched::Seals { writes }));
    let files = touched.iter().filter_map(|touched| match touched {
        Touched::File { descriptor, .. } => Some((*descriptor, false)),
        _ => None,
    });
    let files = files.collect();
    touched.extend(process_state::descriptors(tracee, scheduling, account, index, files));
    touched.extend(shared_files::mapped(tracee, memory, &touched));
    touched.extend(shared_files::shown(tracee, memory, account, index));
    // Buffers of the C library itself, or that it has allocated, are its own affair; what it was given by the program is not. No other
    // thread finds one on the stack of the calling thread.
    let is_elsewhere = |touched: &Touched| match touched {
        Touched::Memory { bytes, .. } => memory.place(bytes.start).region != MemoryRegion::Stack(index),
        _ => false,
    };
    // Its `fcntl` makes the call in a function of its own.
    let is_wrapped = tracee.tasks[index].regs.orig_rax as i64 == libc::SYS_fcntl;
    let is_own = !is_wrapped && touched.iter().any(is_elsewhere) && is_libc_internal_syscall(tracee, index);
    let is_in_event = stream_locks::is_in_call(tracee, scheduling, index);
    for touched in touched {
        let (place, object, writes) = match touched {
            Touched::Memory { ref bytes, .. } if is_own && !is_of_program(tracee, memory, index, bytes) => {
                continue;
            }
            Touched::Memory { bytes, writes } | Touched::Mapped { bytes, writes } if !bytes.is_empty() => {
                let len = bytes.end - bytes.start;
                let start = memory.shared_files.original(bytes.start);
                let bytes = start..start.saturating_add(len);
                let object = memory.stretch(bytes.start, bytes.end - bytes.start);
                (bytes, object, writes)
            }
            Touched::Memory { .. } | Touched::Mapped { .. } => continue,
            Touched::File { descriptor, writes } => {
                match file_names::regular_file(
                    tracee,
                    scheduling,
                    memory,
                    account,
                    index,
                    (descriptor, writes),
                ) {
                    Some(name) => content(tracee, account, name, writes),
                    None => continue,
                }
            }
            Touched::Content { name, writes } => content(tracee, account, name, writes),
            Touched::Position { descriptor } => {
                match file_names::position(tracee, scheduling, memory, account, index, descriptor) {
                    Some(name) => no_memory(tracee, name, true),
                    None => continue,
                }
            }
            Touched::Path { path, writes } => {
                file_names::note_links(account, &path, writes);
                content(tracee, account, format!("file `{}`", path.to_string_lossy()), writes)
            }
            Touched::Names { writes } => no_memory(tracee, "names of files".to_owned(), writes),
            // The C library maps and frees memory at addresses that are its own affair.
            Touched::Mappings { .. } if is_libc_internal_syscall(tracee, index) => continue,
            Touched::Mappings { writes } => {
                mappings::note_place(tracee, scheduling, account, index);
                no_memory(tracee, "mapped addresses".to_owned(), writes)
            }
            Touched::Break { .. } if is_libc_internal_syscall(tracee, index) => {
                mappings::note_break(scheduling, memory, account, BreakMover::Library);
                continue;
            }
            Touched::Break { writes } => {
                mappings::note_break(scheduling, memory, account, BreakMover::Program);
                no_memory(tracee, "the end of the program's data".to_owned(), writes)
            }
            Touched::Descriptor { number, writes } => {
                no_memory(tracee, format!("file descriptor {number}"), writes)
            }
            Touched::Descriptors => no_memory(tracee, "numbers of file descriptors".to_owned(), true),
            Touched::Sockets { writes } => no_memory(tracee, "the state of sockets".to_owned(), writes),
            Touched::Seals { writes } => no_memory(tracee, "seals of files".to_owned(), writes),
            Touched::ProcessState { writes } => no_memory(tracee, process_state::OBJECT.to_owned(), writes),
        };
        let kind = if writes { TouchKind::Writes } else { TouchKind::Reads };
        let conflict = match is_in_event {
            true => memory.sharing.touch_in_event(index, place.clone(), kind),
            false => memory.sharing.touch_in(index, None, place.clone(), kind),
        };
        let call = tracee.tasks[index].regs.orig_rax as i64;
        let is_mapped = place.start < NOT_MEMORY;
        if is_mapped && call == libc::SYS_munmap {
            memory.sharing.forget(&place);
        }
        if is_mapped
            && [libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect].contains(&call)
        {
            memory.heap.renamed.push(place);
        }
        if !conflict.bytes.is_empty() {
            let first = conflict.bytes[0].start;
            let is_memory = object.name.is_allocated() || first < NOT_MEMORY;
            let mut shared: Vec<Obj> = match is_memory {
                true => conflict.bytes.iter().map(|b| memory.stretch(b.start, b.end - b.start)).collect(),
                false => vec![object],
            };
            if is_memory && matches!(memory.place(first).region, MemoryRegion::Heap | MemoryRegion::Unknown) {
                memory.promoted |= memory.knowledge.watch_allocator();
                shared.extend(memory.release_at(first).filter(|_| conflict.frees));
            }
            memory.promoted |= tracee.knowledge.promote(&conflict.candidates, None, &shared);
        }
        if tracee.knowledge.is_shared(object) {
            shared.push(if writes { Access::write(object) } else { Access::read(object) });
        }
    }
    shared
}

/// A thread starts a process, which gets what the kernel keeps of this one, its descriptors, and what names stand for: it is entered
/// where another thread changes that, since what the new process does with it is no event.
pub(crate) fn note_heir(
    tracee: &Tracee,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) {
    if !tracee.is_scheduled(index) {
        return;
    }
    let numbers = fd::open(tracee.leader).into_iter().filter(|number| *number > 2);
    let descriptors = numbers.map(|number| format!("file descriptor {number}"));
    let all = [process_state::OBJECT, "names of files"].map(str::to_owned).into_iter().chain(descriptors);
    for name in all {
        let (place, object, _) = no_memory(tracee, name, false);
        let conflict = memory.sharing.touch_in(index, None, place, TouchKind::Reads);
        if !conflict.bytes.is_empty() || tracee.knowledge.is_shared(object) {
            account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, "vfork"));
        }
    }
}

/// Makes the call at which a thread stands an operation if it touches what threads share; otherwise lets it through.
pub(crate) fn pass_to_kernel(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
) -> Flow {
    let accesses = kernel_accesses(tracee, scheduling, memory, account, index);
    pass_or_pend(tracee, scheduling, index, accesses)
}

/// The same, of a call that makes these accesses to what threads share.
pub(crate) fn pass_or_pend(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    index: ThreadIndex,
    accesses: SmallVec<[Access; 2]>,
) -> Flow {
    if accesses.is_empty() {
        return Flow::Resume(0);
    }
    operations::pend(
        tracee,
        scheduling,
        index,
        divisibility::of_call(tracee, index, accesses),
        WaitCondition::Nothing,
        Action::Kernel,
        None,
    )
}

/// A thing of this name that is no memory, as an object; with a place for it where no memory is, and whether it is written.
pub(crate) fn no_memory(tracee: &Tracee, name: String, writes: bool) -> (Range<u64>, Obj, bool) {
    const SPAN: u64 = 8;
    let at = NOT_MEMORY + (digest(&name) >> 20) * SPAN;
    (at..at + SPAN, tracee.knowledge.named(name), writes)
}

/// The content of a file. Where that is mapped as well, memory is another way to it, of which it is not known what it shows if the mapping is
/// not shared.
fn content(tracee: &Tracee, account: &mut Account, name: String, writes: bool) -> (Range<u64>, Obj, bool) {
    let is_mapped =
        |mapping: &FileMapping| (writes || mapping.is_written) && name == mapping.file && !mapping.is_shared;
    if account.file_mappings.iter().any(is_mapped) {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
    }
    no_memory(tracee, name, writes)
}

fn touched_by_kernel(tracee: &Tracee, index: ThreadIndex) -> SmallVec<[Touched; 3]> {
    let regs = &tracee.tasks[index].regs;
    let buffer = |at: u64, len: u64, writes| Touched::Memory { bytes: at..at.saturating_add(len), writes };
    let text = |at| target_memory::string(tracee.leader, at).len() as u64;
    let named = buffers::of(regs, |at, len| tracee.number(at, len), text);
    let named = named.into_iter().map(|named| buffer(named.at, named.len, named.writes));
    let paths = buffers::paths(regs).into_iter().map(|at| buffer(at, text(at) + 1, false));
    let mut touched = touched_beside(tracee, index);
    touched.extend(named.chain(paths));
    touched
}

/// The same beside what [`buffers::of`] and [`buffers::paths`] tell.
fn touched_beside(tracee: &Tracee, index: ThreadIndex) -> SmallVec<[Touched; 3]> {
    let regs = &tracee.tasks[index].regs;
    let (first, second, third) = (regs.rdi, regs.rsi, regs.rdx);
    let buffer = |at: u64, len: u64, writes| Touched::Memory { bytes: at..at.saturating_add(len), writes };
    let file = |writes| Touched::File { descriptor: first as i32, writes };
    let position = |descriptor: u64| Touched::Position { descriptor: descriptor as i32 };
    match regs.orig_rax as i64 {
        libc::SYS_read => [buffer(second, third, true), file(false), position(first)].into_iter().collect(),
        libc::SYS_pread64 => [buffer(second, third, true), file(false)].into_iter().collect(),
        libc::SYS_write | libc::SYS_pwrite64 => {
            [buffer(second, third, false), file(true)].into_iter().collect()
        }
        libc::SYS_splice | libc::SYS_copy_file_range => {
            let files = [(first, false), (third, true)];
            let files = files.map(|(file, writes)| Touched::File { descriptor: file as i32, writes });
            files.into_iter().chain((second == 0).then(|| position(first))).collect()
        }
        libc::SYS_sendfile => {
            let files = [(second, false), (first, true)];
            let files = files.map(|(file, writes)| Touched::File { descriptor: file as i32, writes });
            files.into_iter().chain((third == 0).then(|| position(second))).collect()
        }
        libc::SYS_vmsplice => {
            let reads = fd::is_for(tracee.leader, first as i32, libc::O_RDONLY);
            buffers(tracee, second, third, reads).collect()
        }
        libc::SYS_recvfrom => [buffer(second, third, true)].into_iter().collect(),
        libc::SYS_sendto => {
            let name = socket_name(tracee, (regs.r8, regs.r9), false);
            [buffer(second, third, false)].into_iter().chain(name).collect()
        }
        libc::SYS_bind => socket_name(tracee, (second, third), true).into_iter().collect(),
        libc::SYS_connect => socket_name(tracee, (second, third), false).into_iter().collect(),
        libc::SYS_readv => {
            buffers(tracee, second, third, true).chain([file(false), position(first)]).collect()
        }
        libc::SYS_preadv | libc::SYS_preadv2 => {
            let moves = regs.orig_rax as i64 == libc::SYS_preadv2 && regs.r10 == AT_POSITION;
            let position = moves.then(|| position(first));
            buffers(tracee, second, third, true).chain([file(false)]).chain(position).collect()
        }
        libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => {
            buffers(tracee, second, third, false).chain([file(true)]).collect()
        }
        libc::SYS_recvmsg => message(tracee, second, true).collect(),
        libc::SYS_sendmsg => message(tracee, second, false).collect(),
        libc::SYS_recvmmsg => messages(tracee, second, third, true).collect(),
        libc::SYS_sendmmsg => messages(tracee, second, third, false).collect(),
        // A write moves the position as well, and the end of a file may be what it is counted from.
        libc::SYS_lseek => [file(false), position(first)].into_iter().collect(),
        libc::SYS_ftruncate | libc::SYS_fallocate => [file(true)].into_iter().collect(),
        libc::SYS_mremap if regs.r10 as i32 & libc::MREMAP_FIXED != 0 => {
            let mappings = Touched::Mappings { writes: true };
            [buffer(first, second, true), buffer(regs.r8, third, true), mappings].into_iter().collect()
        }
        libc::SYS_mremap => {
            // One that must not move fails where something is behind it.
            let writes = regs.r10 as i32 & libc::MREMAP_MAYMOVE == 0 && third > second;
            [buffer(first, second, true), Touched::Mappings { writes }].into_iter().collect()
        }
        libc::SYS_munmap => {
            [buffer(first, second, true), Touched::Mappings { writes: false }].into_iter().collect()
        }
        libc::SYS_brk => mappings::moved_break(tracee, index, first).collect(),
        libc::SYS_mprotect | libc::SYS_pkey_mprotect => [buffer(first, second, true)].into_iter().collect(),
        libc::SYS_madvise if discards(third as i32) => [buffer(first, second, true)].into_iter().collect(),
        // They fail where something of it is not mapped.
        libc::SYS_madvise | libc::SYS_msync | libc::SYS_mlock | libc::SYS_mlock2 | libc::SYS_munlock => {
            [buffer(first, second, false)].into_iter().collect()
        }
        libc::SYS_mincore => {
            [buffer(first, second, false), buffer(third, second.div_ceil(PAGE), true)].into_iter().collect()
        }
        libc::SYS_mmap if regs.r10 as i32 & libc::MAP_FIXED != 0 => {
            [buffer(first, second, true), Touched::Mappings { writes: true }].into_iter().collect()
        }
        // The outcome depends on whether something is mapped there already.
        libc::SYS_mmap if first != 0 => [Touched::Mappings { writes: true }].into_iter().collect(),
        libc::SYS_open => opened(tracee, index, second as i32),
        libc::SYS_openat => opened(tracee, index, third as i32),
        libc::SYS_creat => opened(tracee, index, libc::O_CREAT | libc::O_TRUNC),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_fstat => {
            asked(tracee, index, [buffer(second, size_of::<libc::stat>() as u64, true)])
        }
        libc::SYS_newfstatat => asked(tracee, index, [buffer(third, size_of::<libc::stat>() as u64, true)]),
        libc::SYS_statx => asked(tracee, index, [buffer(regs.r8, size_of::<libc::statx>() as u64, true)]),
        libc::SYS_access
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_getxattr
        | libc::SYS_lgetxattr => asked(tracee, index, []),
        libc::SYS_fgetxattr => [file(false)].into_iter().collect(),
        libc::SYS_getdents | libc::SYS_getdents64 => {
            let names = Touched::Names { writes: false };
            [names, buffer(second, third, true), position(first)].into_iter().collect()
        }
        libc::SYS_readlink => {
            [Touched::Names { writes: false }, buffer(second, third, true)].into_iter().collect()
        }
        libc::SYS_readlinkat => {
            [Touched::Names { writes: false }, buffer(third, regs.r10, true)].into_iter().collect()
        }
        libc::SYS_getcwd => [buffer(first, second, true)].into_iter().collect(),
        libc::SYS_fchmod | libc::SYS_fchown | libc::SYS_fsetxattr | libc::SYS_fremovexattr => {
            [file(true)].into_iter().collect()
        }
        libc::SYS_truncate
        | libc::SYS_chmod
        | libc::SYS_fchmodat
        | libc::SYS_chown
        | libc::SYS_lchown
        | libc::SYS_fchownat
        | libc::SYS_utime
        | libc::SYS_utimes
        | libc::SYS_utimensat
        | libc::SYS_setxattr
        | libc::SYS_lsetxattr
        | libc::SYS_removexattr
        | libc::SYS_lremovexattr => {
            let names = Touched::Names { writes: false };
            [Some(names), named_file(tracee, index, true)].into_iter().flatten().collect()
        }
        call if external_effects::NAMES.contains(&call) => {
            [Touched::Names { writes: true }].into_iter().collect()
        }
        _ => SmallVec::new(),
    }
}

/// A file is opened, which may empty it.
fn opened(tracee: &Tracee, index: ThreadIndex, flags: i32) -> SmallVec<[Touched; 3]> {
    let names = Touched::Names { writes: creates(flags) };
    let emptied = (flags & libc::O_TRUNC != 0).then(|| named_file(tracee, index, true)).flatten();
    [Some(names), emptied].into_iter().flatten().collect()
}

/// The call asks about a file by its name or descriptor: for its length, say.
fn asked<const N: usize>(
    tracee: &Tracee,
    index: ThreadIndex,
    answer: [Touched; N],
) -> SmallVec<[Touched; 3]> {
    let names = Touched::Names { writes: false };
    [Some(names), named_file(tracee, index, false)].into_iter().flatten().chain(answer).collect()
}

/// Whether advice about memory throws its content away.
const fn discards(advice: i32) -> bool {
    matches!(advice, libc::MADV_DONTNEED | libc::MADV_DONTNEED_LOCKED | libc::MADV_FREE | libc::MADV_REMOVE)
}

/// The program's code is to be read from its file again: there are no traps in it then.
pub(super) fn note_discarded_code(tracee: &Tracee, account: &mut Account, index: ThreadIndex) {
    let regs = &tracee.tasks[index].regs;
    if regs.orig_rax as i64 != libc::SYS_madvise || !discards(regs.rdx as i32) {
        return;
    }
    let (start, end) = (regs.rdi, regs.rdi.saturating_add(regs.rsi));
    let is_code = |module: &Module| {
        let bias = module.mapped.bias;
        let sections = module.image.text().into_iter().map(|section| section.range());
        sections.into_iter().any(|code| code.start + bias < end && start < code.end + bias)
    };
    if tracee.layout.modules.iter().any(is_code) {
        account.enter_unwatched(Unwatched::of(UnwatchedKind::GeneratedCode));
    }
}

/// Whether a file is opened in a way that may make a name, or change what is behind it.
const fn creates(flags: i32) -> bool {
    flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}
