//! The consequence of a stop for its thread.

use crate::control::watchdog::Reason;
use crate::os::wait::WaitStatus;

/// The consequence of a stop for the running thread.
pub(crate) enum Flow {
    /// Let it go on, delivering this signal unless it is 0.
    Resume(i32),
    /// It has come to a key point, or to its end.
    Rest,
    /// It has come to a key point at which it looks at something: it gives way first if its time slice is over.
    Look,
}

/// The outcome of a wait.
pub(crate) enum WaitResult {
    Report(WaitStatus),
    /// The code that runs may not go on.
    Over(Reason),
}

/// The memory of a process that another one has forked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForkedMemory {
    Copied,
    /// As `vfork` and `posix_spawn` have it, until the child executes another program.
    Shared,
}
