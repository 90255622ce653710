//! Common parts of the benchmarks: target programs, built and launched; samples with their noise; the memory of this
//! process.

mod folder;
mod memory;
mod plain;
mod sample;
mod target;

pub use folder::{arguments, executables};
pub use memory::{peak_memory, peak_memory_of};
use mimalloc::MiMalloc;
pub use plain::{PlainRuns, Start};
pub use sample::Sample;
pub use target::{build, default_schedule, launch};

/// As in the tool.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Whether cargo runs this as a benchmark. Otherwise it is asked only whether it works.
#[must_use]
pub fn is_measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
