//! Functions of the C library that do nothing but read and write the memory that their arguments name.

mod accesses;
mod formatted;
mod formatted_accesses;
mod function;
mod text;

pub use function::MemoryFunction;
