//! A file mapped into the target, and what is known of it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::ObjName;

use crate::debuginfo::Image;

/// A file mapped into the target.
#[derive(Debug, Clone)]
pub(crate) struct Mapped {
    pub(crate) path: PathBuf,
    /// The number that is added to a static address to get the one at run time.
    pub(crate) bias: u64,
    /// The addresses of its segments at run time, its zero-initialised data included.
    pub(crate) range: Range<u64>,
}

/// A module with what is known of its file.
pub(crate) struct Module {
    pub(crate) mapped: Mapped,
    pub(crate) image: Arc<Image>,
    /// Names every address in it.
    pub(crate) name: ObjName,
    /// Its code is the C library's own: calls from there are not the program's.
    pub(crate) is_libc: bool,
    /// It belongs to the system and not to the program: [`is_system`], and neither the executable nor a task scheduler.
    pub(crate) is_system: bool,
    /// It is a task scheduler, or goes with one ([`crate::libraries::task_schedulers`]).
    pub(crate) schedules_tasks: bool,
}

impl Module {
    /// The entry of this kind in the account for its code at a run-time address.
    pub(crate) fn unwatched(&self, kind: UnwatchedKind, address: u64) -> Unwatched {
        let function = self.image.function_at(address.wrapping_sub(self.mapped.bias));
        Unwatched {
            kind,
            module: self.mapped.path.file_name().map(|name| name.to_string_lossy().into_owned()),
            function: function.and_then(|function| function.name()),
        }
    }
}

/// A program at this path belongs to the system, or is installed for all users.
pub(crate) fn is_installed(path: &std::path::Path) -> bool {
    ["/bin", "/sbin", "/usr"].iter().any(|folder| path.starts_with(folder))
}

/// A library at this path belongs to the system and not to the program.
pub(crate) fn is_system(path: &std::path::Path) -> bool {
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].iter().any(|dir| path.starts_with(dir))
}
