//! Memory of programs: its names, its use after it was freed, and accesses by code that is not the program's own.

mod arguments;
mod exit_handlers;
mod frames;
mod freed_blocks;
mod heap_names;
mod kernel_state;
mod library_code;
mod standard_streams;
pub(crate) mod unseen;
