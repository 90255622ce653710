//! Something that a system call touches, as its arguments name it.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::control::memory::naming::MemoryRegion;
use crate::control::state::memory::MemoryState;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::{Tracee, stacks};
use crate::os::{calls, memory};

/// Something that a system call reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Touched {
    Memory {
        bytes: Range<u64>,
        writes: bool,
    },
    File {
        descriptor: i32,
        writes: bool,
    },
    /// The content of a file, by the words for it.
    Content {
        name: String,
        writes: bool,
    },
    /// Memory that shows a file that the call is about.
    Mapped {
        bytes: Range<u64>,
        writes: bool,
    },
    /// The position of an open file, from which it is read, and which moves.
    Position {
        descriptor: i32,
    },
    /// The file at a path, if it is a regular one.
    Path {
        path: PathBuf,
        writes: bool,
    },
    Names {
        writes: bool,
    },
    /// The set of mapped addresses: a call names one, or frees some (`writes: false`).
    Mappings {
        writes: bool,
    },
    /// The end of the program's data, up to which its memory is mapped: a call asks for it, or moves it.
    Break {
        writes: bool,
    },
    /// The number of a descriptor, as what stands for a file: it is written where it begins to, or ends.
    Descriptor {
        number: i32,
        writes: bool,
    },
    /// The set of numbers in use, which is changed.
    Descriptors,
    /// The addresses that sockets are bound and connected to, and whether they listen.
    Sockets {
        writes: bool,
    },
    /// The seals of files in memory, which say what may be done to these.
    Seals {
        writes: bool,
    },
    /// All other state that the kernel keeps of the process.
    ProcessState {
        writes: bool,
    },
}

/// The regular file whose path, or else whose descriptor, a call is given.
pub(super) fn named_file(tracee: &Tracee, index: ThreadIndex, writes: bool) -> Option<Touched> {
    let regs = &tracee.tasks[index].regs;
    let Some((path, folder)) = calls::path_argument(regs.orig_rax as i64) else {
        return Some(Touched::File { descriptor: regs.rdi as i32, writes });
    };
    let path = memory::string(tracee.leader, calls::argument(regs, path));
    let folder = folder.map_or(libc::AT_FDCWD, |folder| calls::argument(regs, folder) as i32);
    if path.is_empty() {
        return Some(Touched::File { descriptor: folder, writes });
    }
    let folder = match folder {
        libc::AT_FDCWD => format!("/proc/{}/cwd", tracee.leader),
        descriptor => format!("/proc/{}/fd/{descriptor}", tracee.leader),
    };
    let path = fs::canonicalize(Path::new(&folder).join(path)).ok().filter(|path| path.is_file())?;
    Some(Touched::Path { path, writes })
}

/// Whether the system call at which a thread stands is one that the C library makes on its own behalf: its wrapper is
/// called from there.
pub(super) fn is_libc_internal_syscall(tracee: &Tracee, index: ThreadIndex) -> bool {
    /// Between a wrapper and its system call: `__syscall_cancel`, `__internal_syscall_cancel`, `__syscall_cancel_arch`.
    const CANCELLABLE: usize = 3;
    let pc = tracee.tasks[index].regs.rip;
    let wrapper = if is_cancellable(tracee, pc) { CANCELLABLE } else { 0 };
    let frames = stacks::raw_frames(tracee, index, wrapper + 2);
    let Some(caller) = frames.get(wrapper + 1) else { return false };
    tracee.layout.is_call_of_libc(pc) && stacks::is_libc_call_site(tracee, caller.pc)
}

/// Whether bytes are surely none that the C library has for itself: a variable of the program, or on the stack of another thread.
pub(super) fn is_of_program(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    bytes: &Range<u64>,
) -> bool {
    match memory.place(bytes.start).region {
        MemoryRegion::Module => tracee.layout.in_user_code(bytes.start),
        MemoryRegion::Stack(owner) => owner != index,
        MemoryRegion::Heap | MemoryRegion::File | MemoryRegion::Unknown => false,
    }
}

/// Whether the system call before an address is the one through which the C library, since version 2.41, makes all those at which a
/// thread can be cancelled. It has no symbol for linking, and is in assembly, always the same.
fn is_cancellable(tracee: &Tracee, pc: u64) -> bool {
    /// `mov %r11, 8(%rsp)`, `syscall`, `ret`.
    const CODE: [u8; 8] = [0x4c, 0x89, 0x5c, 0x24, 0x08, 0x0f, 0x05, 0xc3];
    const BEFORE: u64 = 7;
    tracee.read(pc.wrapping_sub(BEFORE), CODE.len()) == CODE
}
