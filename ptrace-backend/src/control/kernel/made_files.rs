//! Files and folders that did not exist before an execution has made them (`O_CREAT | O_EXCL`, `mkdir`; so do `mkstemp` and `mkdtemp`): they
//! are removed again at its end. The next execution would find them, and choose other names, or fail.

use std::fs;
use std::path::{Path, PathBuf};

use checker::program::ExecutionError;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::{Regs, calls, memory};

/// The arguments of the call at which a thread stands that name what it makes, which may not exist: the path, and the folder that the path
/// begins at. `None`: it is no such call.
fn made(regs: &Regs) -> Option<(usize, Option<usize>)> {
    const NEW: i32 = libc::O_CREAT | libc::O_EXCL;
    match regs.orig_rax as i64 {
        libc::SYS_open if regs.rsi as i32 & NEW == NEW => Some((0, None)),
        libc::SYS_openat if regs.rdx as i32 & NEW == NEW => Some((1, Some(0))),
        libc::SYS_mkdir => Some((0, None)),
        libc::SYS_mkdirat => Some((1, Some(0))),
        _ => None,
    }
}

/// Lets the kernel carry out the call at which a thread is about to go on if it is such a one, and takes note of what it has made.
pub(crate) fn pass(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let Some((path, folder)) = made(&regs) else { return Ok(()) };
    let path = memory::string(tracee.leader, calls::argument(&regs, path));
    let folder = folder.map_or(libc::AT_FDCWD, |folder| calls::argument(&regs, folder) as i32);
    let Some(path) = absolute(tracee, folder, Path::new(&path)) else { return Ok(()) };
    if tracee.complete_call(index)?.is_some_and(|result| result >= 0) {
        tracee.made_files.add(&path);
    }
    Ok(())
}

/// The path of a file or folder that is to be made in a folder that exists, without links.
fn absolute(tracee: &Tracee, folder: i32, path: &Path) -> Option<PathBuf> {
    let folder = match folder {
        libc::AT_FDCWD => format!("/proc/{}/cwd", tracee.leader),
        descriptor => format!("/proc/{}/fd/{descriptor}", tracee.leader),
    };
    let path = Path::new(&folder).join(path);
    Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
}
