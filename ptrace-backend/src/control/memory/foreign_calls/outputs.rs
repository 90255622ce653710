//! Calls on the standard output streams. No thread reads back what they print, so their order is no event, until the program looks at what such
//! a stream has: at its state, at its buffer, which may be one of the program's own, or by a function. Calls on it are looked at as
//! those on other streams from then on.

use checker::account::Unwatched;

use super::call::have_in_call;
use super::stream_parts::{SyncedStream, parts_of_file};
use crate::control::memory::sharing::TouchKind;
use crate::control::memory::unwatched_uses;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::unwatched_uses::OpenCall;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::libraries::effects::Effects;
use crate::os::fd;

/// Whether this is a standard stream of the C library whose calls no thread is known to find anything out of.
pub(super) fn is_apart(tracee: &Tracee, memory: &MemoryState, stream: u64) -> bool {
    tracee.layout.standard_streams.contains(&stream) && !memory.knowledge.looks_at_outputs()
}

/// Takes note of a call on such a stream.
pub(super) fn note(
    tracee: &Tracee,
    memory: &mut MemoryState,
    index: ThreadIndex,
    stream: u64,
    effects: Effects,
) {
    if effects == Effects::AboutStream {
        memory.promoted |= memory.knowledge.look_at_outputs();
    }
    for part in parts_of_file(tracee, stream) {
        memory.sharing.touch_in(index, None, part, TouchKind::Prints);
    }
}

/// Takes note of a call on a standard stream of the C++ library. Beside what it does to the one of the C library it resets the width, and tells in the
/// stream's state where printing fails. Whether no other thread is in the way of that.
pub(super) fn is_ordered(
    tracee: &Tracee,
    memory: &mut MemoryState,
    call: (ThreadIndex, OpenCall),
    synced: &SyncedStream,
    entry: &Unwatched,
) -> bool {
    /// The places of the two in the class `std::ios_base` of GNU's library.
    const WIDTH: u64 = 16;
    const STATE: u64 = 32;
    let &SyncedStream { state, file } = synced;
    let width = state.saturating_add(WIDTH)..state.saturating_add(WIDTH + 8);
    let state = state.saturating_add(STATE)..state.saturating_add(STATE + 4);
    let resets = tracee.number(width.start, 8) != 0;
    let fails = tracee.number(state.start, 4) != 0 || !prints(tracee, file);
    let mut is_settled = true;
    for (bytes, writes) in [(width, resets), (state, fails)] {
        let kind = if writes { TouchKind::Writes } else { TouchKind::Reads };
        let at = (call.0, Some(call.1));
        is_settled &= unwatched_uses::is_settled_in_call(memory, at, (bytes, kind), entry);
    }
    if is_apart(tracee, memory, file) {
        note(tracee, memory, call.0, file, Effects::Modelled);
        return is_settled;
    }
    have_in_call(memory, call, parts_of_file(tracee, file), entry) && is_settled
}

/// Whether what is printed to a standard stream of the C library goes where it goes at the beginning, which never fails.
fn prints(tracee: &Tracee, file: u64) -> bool {
    /// The place in a `FILE` of the number of its file.
    const DESCRIPTOR: u64 = 112;
    const KEPT: [&str; 2] = ["/memfd:stdout", "/memfd:stderr"];
    let link = fd::link(tracee.leader, tracee.number(file.wrapping_add(DESCRIPTOR), 4) as i32);
    KEPT.iter().any(|kept| link.starts_with(kept))
}
