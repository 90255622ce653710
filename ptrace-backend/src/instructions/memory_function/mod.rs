//! Functions of the C library that do nothing but read and write the memory that their arguments name.

mod accesses;
mod argument_accesses;
mod arguments;
mod formatted;
mod formatted_accesses;
mod function;
mod scanned;
mod scanned_accesses;
mod text;

pub use function::MemoryFunction;
