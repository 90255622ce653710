//! The memory that calls on streams use.

use std::ops::Range;

use crate::control::state::memory::MemoryState;
use crate::control::tracee::Tracee;

/// The size of a `FILE`, and the place in it of the beginning and the end of its buffer.
const FILE: u64 = 216;
const BUFFER: u64 = 56;
const POINTER: u64 = 8;

/// The memory that a call on a stream of the C library uses. Some of its functions are macros, by which the program's own code reads and
/// writes what the library does.
pub(super) fn parts(tracee: &Tracee, memory: &MemoryState, stream: u64) -> Vec<Range<u64>> {
    let file = stream..stream.saturating_add(FILE);
    let from = stream.wrapping_add(BUFFER);
    let buffer = between(tracee, from, from.wrapping_add(POINTER));
    std::iter::once(file).chain(buffer).chain(memory.memory_files.iter().cloned()).collect()
}

/// An output or input stream of the C++ library, its state, and the buffer behind it, which other streams may share. Inlined members of
/// both read and write there what the library does. Of a stream that is being made (`makes`), its beginning alone.
pub(super) fn parts_of_cxx_stream(
    tracee: &Tracee,
    stream: u64,
    makes: bool,
) -> impl Iterator<Item = Range<u64>> {
    /// The distance from the offset of the virtual base class to the table of virtual functions behind it (Itanium C++ ABI, 2.5.2).
    const TO_BASE: u64 = 24;
    /// A stream that is read counts what it has read last behind its pointer.
    const OWN: u64 = 16;
    /// The size of the base class `std::basic_ios` of GNU's library, and the place of the pointer in it.
    const STATE: u64 = 264;
    const BUFFER: u64 = 232;
    let table = Some(tracee.number(stream, 8)).filter(|_| !makes);
    let table = table.filter(|table| tracee.layout.module_at(*table).is_some());
    let base = table.map(|table| stream.wrapping_add(tracee.number(table.wrapping_sub(TO_BASE), 8)));
    let buffer = base.map(|base| tracee.number(base.wrapping_add(BUFFER), 8)).filter(|buffer| *buffer != 0);
    let state = base.map(|base| base..base.saturating_add(STATE));
    let own = stream..stream.saturating_add(OWN);
    let buffer = buffer.into_iter().flat_map(|buffer| parts_of_cxx_buffer(tracee, buffer, false));
    std::iter::once(own).chain(state).chain(buffer)
}

/// The part that all buffers of streams have in common, pointers and a locale, and what is there to be read, and written. The pointers of
/// `std::streambuf` come behind that to its table of functions. Of a buffer that is being made (`makes`), they tell nothing yet.
pub(super) fn parts_of_cxx_buffer(
    tracee: &Tracee,
    buffer: u64,
    makes: bool,
) -> impl Iterator<Item = Range<u64>> {
    const SIZE: u64 = 64;
    /// `eback` and `egptr`; `pbase` and `epptr`.
    const AREAS: [[u64; 2]; 2] = [[8, 24], [32, 48]];
    let areas = AREAS.map(|[from, to]| between(tracee, buffer.wrapping_add(from), buffer.wrapping_add(to)));
    let held = areas.into_iter().flatten().filter(move |_| !makes);
    std::iter::once(buffer..buffer.saturating_add(SIZE)).chain(held)
}

/// The memory between two pointers, which stand at these addresses; `None` if there is none.
fn between(tracee: &Tracee, from: u64, to: u64) -> Option<Range<u64>> {
    /// More than the buffer of any stream has; what is no buffer's is not looked at.
    const MOST: u64 = 1 << 24;
    let [from, to] = [from, to].map(|at| tracee.number(at, 8));
    (from != 0 && from < to && to - from <= MOST).then_some(from..to)
}
