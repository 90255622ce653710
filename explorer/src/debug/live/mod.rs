//! The program of a session: a copy that stands where the session stands, its code, its stacks, and its sources as they were.

pub(super) mod code;
pub(super) mod replica;
pub(super) mod stack;
pub(super) mod texts;
