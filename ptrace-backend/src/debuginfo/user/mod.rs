//! Whose code it is: by file, by line, by name.

pub(crate) mod code;
pub(crate) mod files;
pub(crate) mod names;
