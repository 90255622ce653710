//! One call of a function of a library: its entry in the account, and the memory that it is given.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};

use crate::control::memory::unwatched_uses;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::unwatched_uses::OpenCall;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::tracee::machine::MachineState;
use crate::instructions::{Accesses, MemoryFunction};
use crate::layout::Foreign;
use crate::libraries::effects::Effects;

/// The kind of what is not seen of a call.
pub(super) fn kind_of(foreign: &Foreign) -> UnwatchedKind {
    match foreign.effects {
        Effects::Stream(_) | Effects::AboutStream | Effects::OpensMemory { .. } => UnwatchedKind::File,
        _ => UnwatchedKind::LibraryFunction,
    }
}

/// The entry of a call in the account.
pub(super) fn entry_of(kind: UnwatchedKind, foreign: &Foreign) -> Unwatched {
    Unwatched { kind, module: Some(foreign.module.clone()), function: Some(foreign.name.clone()) }
}

/// Memory that threads share to which the arguments of a call point: it is used in the step of the call, and not where that begins.
pub(super) fn shared_arguments(
    tracee: &Tracee,
    memory: &MemoryState,
    index: ThreadIndex,
    foreign: &Foreign,
) -> Accesses {
    let arguments = MemoryFunction::named(&foreign.name)
        .map(|function| function.accesses(&MachineState::of(tracee, index)))
        .unwrap_or_default();
    memory.shared_among(&arguments)
}

/// Takes note that a call uses all of these parts of memory. Whether no other thread does, but in an order that events give.
pub(super) fn have_in_call(
    memory: &mut MemoryState,
    call: (ThreadIndex, OpenCall),
    parts: impl Iterator<Item = Range<u64>>,
    entry: &Unwatched,
) -> bool {
    parts.filter(|part| !unwatched_uses::has_in_call(memory, call, part.clone(), entry)).count() == 0
}
