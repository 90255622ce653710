//! Values: bytes with the type that says what they mean, and what is read of them.

pub(crate) mod float;
pub(crate) mod scalar;
pub(crate) mod text;
pub(crate) mod type_names;
pub(crate) mod typed;
