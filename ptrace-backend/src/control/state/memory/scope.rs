//! The part of an execution that is left out where few objects are watched.

use std::sync::Arc;

use checker::byte_set::ByteSet;

use crate::control::knowledge::arming::{Arming, Detoured};

/// The restriction of an execution to some objects, once there is more than one thread: the rest is left out.
#[derive(Debug)]
pub(crate) struct Narrow {
    pub(crate) objects: Arc<ByteSet>,
    /// The instructions that always touch other memory.
    pub(crate) left_out: Vec<usize>,
    /// The code with all traps, and with those that the objects take; `None` where these are all.
    pub(crate) code: Option<Both>,
    /// The next access of the running thread is a key point whatever it touches, and all traps are planted.
    pub(crate) is_wide: bool,
}

/// Code with all traps, and with few.
#[derive(Debug)]
pub(crate) enum Both {
    /// With detours where instructions have touched private memory only.
    Detoured(Arc<Detoured>, Arming),
    /// With traps alone.
    Trapped(Arc<Arming>, Arming),
}
