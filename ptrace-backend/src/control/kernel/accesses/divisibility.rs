//! Operations that the kernel carries out, as other threads may find them half done.

use checker::operation::{Access, Divisibility, Op, OpKind};
use libc::c_long;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;

/// The operation that the call at which a thread stands is. Calls that change mappings copy nothing.
pub(super) fn of_call(tracee: &Tracee, index: ThreadIndex, accesses: impl IntoIterator<Item = Access>) -> Op {
    const OF_MAPPINGS: [c_long; 6] = [
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_pkey_mprotect,
        libc::SYS_madvise,
    ];
    let is_of_mappings = OF_MAPPINGS.contains(&(tracee.tasks[index].regs.orig_rax as c_long));
    if is_of_mappings { Op::new(OpKind::Io, accesses) } else { operation(OpKind::Io, accesses) }
}

/// An operation by which the kernel copies memory: bytes one after the other, or a few at once.
pub(crate) fn operation(kind: OpKind, accesses: impl IntoIterator<Item = Access>) -> Op {
    const WORD: u32 = 8;
    let mut op = Op::new(kind, accesses);
    let mut memory = op.may.accesses.iter().map(|access| access.obj).filter(|obj| obj.len > 1);
    let is_one_word = match (memory.next(), memory.next()) {
        (None, _) => true,
        (Some(obj), None) => obj.offset % WORD + obj.len <= WORD,
        _ => false,
    };
    if !is_one_word {
        op.divisibility = Divisibility::DivisibleInMemory;
    }
    op
}
