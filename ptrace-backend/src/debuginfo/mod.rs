//! Everything static about executables and shared libraries: symbols, lines, inlining, types, unwinding.
//!
//! Nothing here knows of processes. Addresses are *static* (as in the ELF file) unless a name says otherwise; unwinding
//! reads memory through [`Memory`], so that it works on a traced process, a core dump and the own process alike.

mod declared;
mod demangle;
mod dwarf;
mod elf;
mod entries;
mod extent;
mod image;
pub mod inspect;
mod memory;
mod modules;
mod ranges;
mod registers;
mod sections;
mod source;
mod source_path;
mod statements;
mod static_text;
mod unwind;
mod user;

pub use declared::Declaration;
pub use demangle::demangle;
pub use dwarf::inlined::Instance;
pub use dwarf::source_unit::{Language, SourceUnit};
pub use elf::error::ImageError;
pub use elf::file::CodeSection;
pub use elf::functions::Function;
pub use elf::symbols::{Symbol, SymbolKind};
pub use entries::allocation_type::{AllocationType, is_reference_count};
pub use image::Image;
pub use memory::Memory;
pub use modules::{LoadedImage, Modules, StaticAddress};
pub(crate) use ranges::{contains, overlaps};
pub use registers::Registers;
pub use source::SourceFrame;
pub use statements::{Statement, Statements};
pub use static_text::StaticText;
pub(crate) use unwind::frames;
pub use unwind::{Frame, unwind};
pub(crate) use user::code::unit_code;
pub use user::code::user_code;
pub use user::files::is_user_file;
