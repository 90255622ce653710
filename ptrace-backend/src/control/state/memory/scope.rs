//! The part of an execution that is left out where few objects are watched.

use std::sync::Arc;

use checker::byte_set::ByteSet;

use crate::control::knowledge::armed_code::{ArmedCode, DetouredCode};

/// The restriction of an execution to some objects, once there is more than one thread: the rest is left out.
#[derive(Debug)]
pub(crate) struct NarrowScope {
    pub(crate) objects: Arc<ByteSet>,
    /// The instructions that always touch other memory.
    pub(crate) left_out: Vec<usize>,
    /// The code with all traps, and with those that the objects take; `None` where these are all.
    pub(crate) code: Option<ScopedCode>,
    /// The next access of the running thread is a key point whatever it touches, and all traps are planted.
    pub(crate) is_wide: bool,
}

/// Code with all traps, and with few.
#[derive(Debug)]
pub(crate) enum ScopedCode {
    /// With detours where instructions have touched private memory only.
    Detoured(Arc<DetouredCode>, ArmedCode),
    /// With traps alone.
    Trapped(Arc<ArmedCode>, ArmedCode),
}
