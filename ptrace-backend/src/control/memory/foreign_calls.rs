//! Calls of system libraries of which not all is known: where they may matter to other threads, they are entered as not watched
//! ([`checker::account`]).

use checker::account::{Unwatched, UnwatchedKind};
use checker::program::ExecutionError;

use crate::control::memory::sharing::How;
use crate::control::state::account::Account;
use crate::control::state::flow::Flow;
use crate::control::state::memory::MemoryState;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::layout::Foreign;
use crate::libraries::effects::Effects;

/// The running thread has come to the entry of a function of a system library of which not all is known.
pub(crate) fn enter(
    tracee: &mut Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    foreign: usize,
) -> Result<Flow, ExecutionError> {
    let layout = std::sync::Arc::clone(&tracee.layout);
    let foreign = &layout.foreign[foreign];
    let caller = tracee.number(tracee.tasks[index].regs.rsp, 8);
    let is_seen = tracee.layout.in_system_library(caller)
        || tracee.in_harness(index)
        || !(tracee.concurrent && scheduling.has_company())
        || is_harmless(tracee, memory, index, foreign);
    if is_seen {
        tracee.pass_trap(index)?;
        return Ok(Flow::Resume(0));
    }
    let kind = match foreign.effects {
        Effects::Stream { .. } => UnwatchedKind::File,
        Effects::CxxStream | Effects::Unknown | Effects::Modelled => UnwatchedKind::LibraryFunction,
    };
    let (module, function) = (Some(foreign.module.clone()), Some(foreign.name.clone()));
    account.enter_unwatched(Unwatched { kind, module, function });
    // Once tells it all.
    tracee.lift(index)?;
    Ok(Flow::Resume(0))
}

/// Whether a call works on a standard stream, whose content nobody in the program reads back, or on one that no other
/// thread uses at the same time.
fn is_harmless(tracee: &Tracee, memory: &mut MemoryState, index: ThreadIndex, foreign: &Foreign) -> bool {
    let (argument, is_cxx) = match foreign.effects {
        Effects::Stream { argument } => (argument, false),
        Effects::CxxStream => (0, true),
        Effects::Unknown | Effects::Modelled => return false,
    };
    let stream = tracee.tasks[index].argument(argument);
    if tracee.layout.standard_streams.contains(&stream) {
        return true;
    }
    let buffer = if is_cxx { stream_buffer(tracee, stream) } else { stream };
    // No stream means all of them.
    stream != 0 && [stream, buffer].into_iter().all(|object| has_for_itself(memory, index, object))
}

/// Takes note that a thread works on an object of a library. Whether no other thread does, but in an order that holds in
/// every schedule.
fn has_for_itself(memory: &mut MemoryState, index: ThreadIndex, object: u64) -> bool {
    /// The first word stands for it all.
    const WORD: u64 = 8;
    let bytes = object..object.saturating_add(WORD);
    memory.sharing.touch_in(index, None, bytes, How::Writes).bytes.is_empty()
}

/// The buffer behind an output or input stream of the C++ library, which other streams may share; the stream itself where
/// it has none yet.
fn stream_buffer(tracee: &Tracee, stream: u64) -> u64 {
    /// Where the table of virtual functions says how far the virtual base class lies (Itanium C++ ABI, 2.5.2).
    const TO_BASE: u64 = 24;
    /// Where the base class `std::basic_ios` of GNU's library has the pointer.
    const BUFFER: u64 = 232;
    let table = tracee.number(stream, 8);
    let base = stream.wrapping_add(tracee.number(table.wrapping_sub(TO_BASE), 8));
    match tracee.number(base.wrapping_add(BUFFER), 8) {
        0 => stream,
        buffer => buffer,
    }
}
