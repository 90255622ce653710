//! The types that the parser of debug information is instantiated with.

use gimli::{EndianSlice, LittleEndian};

/// The bytes of a section.
pub(crate) type Reader = EndianSlice<'static, LittleEndian>;
/// A compilation unit, or the unit of a type.
pub(crate) type Unit = gimli::Unit<Reader>;
/// An entry of debug information, with its attributes.
pub(crate) type Die = gimli::DebuggingInformationEntry<Reader>;
