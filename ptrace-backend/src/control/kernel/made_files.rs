//! Files and folders that did not exist before an execution has made them (`O_CREAT | O_EXCL`, `mkdir`; so do `mkstemp` and `mkdtemp`), with
//! their further names (`sem_open` gives a semaphore its name so), and what it has made in the memory that processes share by name
//! (`shm_open`): they are removed again at its end. The next execution would find them, and choose other names, or fail.

use std::fs;
use std::path::{Path, PathBuf};

use checker::program::ExecutionError;

use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::{Regs, calls, memory};

/// The folder of objects that processes share by name (shm_overview(7)).
const SHARED_OBJECTS: &str = "/dev/shm";

/// A way in which a call makes a name for a file or folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Making {
    /// There was nothing of that name.
    New,
    /// There may have been something.
    MayBeNew,
    /// It is another name of something.
    AnotherName,
}

/// The arguments of the call at which a thread stands that name what it makes: the path, and the folder that the path begins at. `None`: it
/// is no such call.
fn making(regs: &Regs) -> Option<(Making, usize, Option<usize>)> {
    let by_flags = |flags: u64| match flags as i32 & (libc::O_CREAT | libc::O_EXCL) {
        flags if flags == libc::O_CREAT => Some(Making::MayBeNew),
        flags if flags & libc::O_CREAT != 0 => Some(Making::New),
        _ => None,
    };
    match regs.orig_rax as i64 {
        libc::SYS_open => Some((by_flags(regs.rsi)?, 0, None)),
        libc::SYS_openat => Some((by_flags(regs.rdx)?, 1, Some(0))),
        libc::SYS_mkdir => Some((Making::New, 0, None)),
        libc::SYS_mkdirat => Some((Making::New, 1, Some(0))),
        libc::SYS_link => Some((Making::AnotherName, 1, None)),
        libc::SYS_linkat => Some((Making::AnotherName, 3, Some(2))),
        _ => None,
    }
}

/// Lets the kernel carry out the call at which a thread is about to go on if it is such a one, and takes note of what it has made.
pub(crate) fn pass(tracee: &mut Tracee, index: ThreadIndex) -> Result<(), ExecutionError> {
    let regs = tracee.tasks[index].regs;
    let Some((making, path, folder)) = making(&regs) else { return Ok(()) };
    let path = memory::string(tracee.leader, calls::argument(&regs, path));
    let folder = folder.map_or(libc::AT_FDCWD, |folder| calls::argument(&regs, folder) as i32);
    let Some(path) = absolute(tracee, folder, Path::new(&path)) else { return Ok(()) };
    // Of other files that are there afterwards, the user may want the last one.
    if making == Making::MayBeNew && (!path.starts_with(SHARED_OBJECTS) || path.symlink_metadata().is_ok()) {
        return Ok(());
    }
    if tracee.complete_call(index)?.is_some_and(|result| result >= 0) {
        match making {
            Making::New | Making::MayBeNew => tracee.made_files.add(&path),
            Making::AnotherName => tracee.made_files.add_name(&path),
        }
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
