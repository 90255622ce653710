//! Functions of the C library that do nothing but read and write the memory that their arguments name, and what functions of the C++
//! library's streams do beside that.

mod accesses;
mod argument_accesses;
mod arguments;
mod cxx_exceptions;
mod cxx_files;
mod cxx_streams;
mod formatted;
mod formatted_accesses;
mod function;
mod scanned;
mod scanned_accesses;
mod text;

pub use function::MemoryFunction;
pub(crate) use text::StringScanner;
