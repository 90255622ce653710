//! The memory that calls on streams use.

use std::ops::Range;

use crate::control::state::memory::MemoryState;
use crate::control::tracee::Tracee;
use crate::layout::Layout;

/// The size of a `FILE`, and the place in it of the beginning and the end of its buffer.
const FILE: u64 = 216;
const BUFFER: u64 = 56;
const POINTER: u64 = 8;

/// The size of the base class `std::basic_ios` of GNU's C++ library, and the place in it of the pointer to the buffer.
const STATE: u64 = 264;
const BUFFER_OF_STATE: u64 = 232;

/// The size of what all buffers have in common.
const CXX_BUFFER: u64 = 64;

/// More than the buffer of any stream has; what is no buffer's is not looked at.
const MOST: u64 = 1 << 24;

/// The memory that a call on a stream of the C library uses. Some of its functions are macros, by which the program's own code reads and
/// writes what the library does.
pub(super) fn parts(tracee: &Tracee, memory: &MemoryState, stream: u64) -> Vec<Range<u64>> {
    parts_of_file(tracee, stream).chain(memory.memory_files.iter().cloned()).collect()
}

/// The stream itself and its buffer.
pub(super) fn parts_of_file(tracee: &Tracee, stream: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let file = stream..stream.saturating_add(FILE);
    let from = stream.wrapping_add(BUFFER);
    std::iter::once(file).chain(between(tracee, from, from.wrapping_add(POINTER)))
}

/// The standard stream of the C library to which a buffer hands on all that it gets, if it is one that keeps in step with that library
/// (`stdio_sync_filebuf`): it has a pointer to the stream behind what all buffers have in common.
fn file_behind(tracee: &Tracee, buffer: u64) -> Option<u64> {
    let Layout { standard_input, standard_output, standard_error, .. } = &*tracee.layout;
    let file = tracee.number(buffer.wrapping_add(CXX_BUFFER), POINTER as usize);
    [standard_input, standard_output, standard_error].contains(&&Some(file)).then_some(file)
}

/// An output stream of the C++ library that keeps in step with one of the C library's.
pub(super) struct SyncedStream {
    /// The address of its state.
    pub(super) state: u64,
    /// The stream of the C library.
    pub(super) file: u64,
}

/// The stream of the C++ library at this address, if it is such a one.
pub(super) fn synced_stream(tracee: &Tracee, stream: u64) -> Option<SyncedStream> {
    let state = state_of_cxx_stream(tracee, stream)?;
    let file = file_behind(tracee, tracee.number(state.wrapping_add(BUFFER_OF_STATE), POINTER as usize))?;
    Some(SyncedStream { state, file })
}

/// The address of the state of an input or output stream, which is a virtual base class.
fn state_of_cxx_stream(tracee: &Tracee, stream: u64) -> Option<u64> {
    /// The distance from the offset of the virtual base class to the table of virtual functions behind it (Itanium C++ ABI, 2.5.2).
    const TO_BASE: u64 = 24;
    let table = tracee.number(stream, POINTER as usize);
    tracee.layout.module_at(table)?;
    Some(stream.wrapping_add(tracee.number(table.wrapping_sub(TO_BASE), POINTER as usize)))
}

/// An output or input stream of the C++ library, its state, and the buffer behind it, which other streams may share. Inlined members of
/// both read and write there what the library does. Of a stream that is being made (`makes`), its beginning alone.
pub(super) fn parts_of_cxx_stream(
    tracee: &Tracee,
    stream: u64,
    makes: bool,
) -> impl Iterator<Item = Range<u64>> {
    /// A stream that is read counts what it has read last behind its pointer.
    const OWN: u64 = 16;
    let base = Some(stream).filter(|_| !makes).and_then(|stream| state_of_cxx_stream(tracee, stream));
    let buffer = base.map(|base| tracee.number(base.wrapping_add(BUFFER_OF_STATE), 8));
    let buffer = buffer.filter(|buffer| *buffer != 0);
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
    /// `eback` and `egptr`; `pbase` and `epptr`.
    const AREAS: [[u64; 2]; 2] = [[8, 24], [32, 48]];
    let areas = AREAS.map(|[from, to]| between(tracee, buffer.wrapping_add(from), buffer.wrapping_add(to)));
    let file = file_behind(tracee, buffer).into_iter().flat_map(|file| parts_of_file(tracee, file));
    let own = memory_of_file_buffer(tracee, buffer);
    let held = areas.into_iter().flatten().chain(file).chain(own).filter(move |_| !makes);
    std::iter::once(buffer..buffer.saturating_add(CXX_BUFFER)).chain(held)
}

/// The memory that the buffer of a file has, or that the program gave it (`pubsetbuf`): it is an area of the buffer once something is written or read.
fn memory_of_file_buffer(tracee: &Tracee, buffer: u64) -> Option<Range<u64>> {
    const TABLES: [&str; 2] = [
        "_ZTVSt13basic_filebufIcSt11char_traitsIcEE",
        "_ZTVN9__gnu_cxx13stdio_filebufIcSt11char_traitsIcEEE",
    ];
    /// The size of what stands before the first function of a table.
    const HEAD: u64 = 16;
    /// The places in the class `std::basic_filebuf` of GNU's library of the beginning and the size of the memory.
    const MEMORY: u64 = 152;
    const SIZE: u64 = 160;
    let table = tracee.number(buffer, POINTER as usize).wrapping_sub(HEAD);
    let (_, module) = tracee.layout.module_at(table)?;
    let is_it = |name: &&&str| {
        module.image.symbol(name).is_some_and(|at| at.wrapping_add(module.mapped.bias) == table)
    };
    TABLES.iter().find(is_it)?;
    let [start, size] =
        [MEMORY, SIZE].map(|place| tracee.number(buffer.wrapping_add(place), POINTER as usize));
    (start != 0 && (1..=MOST).contains(&size)).then(|| start..start.saturating_add(size))
}

/// The memory between two pointers, which stand at these addresses; `None` if there is none.
fn between(tracee: &Tracee, from: u64, to: u64) -> Option<Range<u64>> {
    let [from, to] = [from, to].map(|at| tracee.number(at, 8));
    (from != 0 && from < to && to - from <= MOST).then_some(from..to)
}
