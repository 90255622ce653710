//! Instructions by what they do with the stack beside keeping frames on it.

pub(crate) mod frame_address;
pub(crate) mod switch;
