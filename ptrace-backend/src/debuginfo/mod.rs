//! Everything static about executables and shared libraries: symbols, lines, inlining, types, unwinding.
//!
//! Nothing here knows of processes. Addresses are *static* (as in the ELF file) unless a name says otherwise; unwinding
//! reads memory through [`Memory`], so that it works on a traced process, a core dump and the own process alike.

mod bounded;
mod bytes;
mod cfi;
mod data;
mod declared;
mod demangle;
mod die;
mod dwarf;
mod elf;
mod error;
mod expression;
mod extent;
mod functions;
mod image;
mod imports;
mod inlined;
pub mod inspect;
mod lines;
mod memory;
mod modules;
mod ranges;
mod source;
mod statements;
mod static_text;
mod symbols;
mod types;
mod unwind;
mod user;
mod user_names;

pub use declared::Declaration;
pub use demangle::demangle;
pub use elf::CodeSection;
pub use error::ImageError;
pub use functions::Function;
pub use image::Image;
pub use inlined::Instance;
pub use inspect::{Made, counts_owners};
pub use lines::{Language, SourceUnit};
pub use memory::Memory;
pub use modules::{Module, Modules, Place};
pub(crate) use ranges::{contains, overlaps};
pub use source::SourceFrame;
pub use statements::{Statement, Statements};
pub use static_text::StaticText;
pub use symbols::{Symbol, SymbolKind};
pub use unwind::{Frame, Registers, unwind};
pub use user::is_user_file;
