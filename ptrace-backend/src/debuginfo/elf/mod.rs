//! ELF files: sections, symbols, imports.

pub(crate) mod bytes;
pub(crate) mod debug_files;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod functions;
pub(crate) mod gaps;
pub(crate) mod imports;
pub(crate) mod symbols;
