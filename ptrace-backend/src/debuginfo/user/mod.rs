//! The owner of code: the user or a library, by file, by line, by name.

pub(crate) mod code;
pub(crate) mod files;
pub(crate) mod names;
