//! DWARF: what compilers tell of an image, section by section.

pub(crate) mod bounded;
pub(crate) mod cfi;
pub(crate) mod die;
pub(crate) mod expression;
pub(crate) mod inlined;
pub(crate) mod lines;
pub(crate) mod missing;
pub(crate) mod reader;
pub(crate) mod sections;
pub(crate) mod source_unit;
pub(crate) mod types;
pub(crate) mod variables;
