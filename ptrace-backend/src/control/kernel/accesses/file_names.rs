//! Names of regular files that mean the same in every execution. That of a file is its path; a file that never had one
//! (`tmpfile`) shows the number of its inode instead, which the kernel hands out in the order of requests.

use std::fs::{self, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use checker::account::{Unwatched, UnwatchedKind};

use crate::control::state::account::Account;
use crate::control::state::memory::MemoryState;
use crate::control::state::memory::file_names::Inode;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::fd;

/// The words for the regular file behind a descriptor, which a call `writes` to; `None`: it is something else, or a standard stream.
pub(crate) fn regular_file(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    (descriptor, writes): (i32, bool),
) -> Option<String> {
    const STANDARD: Range<i32> = 0..3;
    if STANDARD.contains(&descriptor) {
        return None;
    }
    let link = format!("/proc/{}/fd/{descriptor}", tracee.leader);
    let file = fs::metadata(&link).ok().filter(Metadata::is_file)?;
    let path = fs::read_link(&link).ok()?;
    if path.file_name()?.to_str() == Some(&format!("#{} (deleted)", file.ino())) {
        return Some(nameless(scheduling, memory, index, (file.dev(), file.ino(), file.created().ok())));
    }
    if path.starts_with("/proc") {
        return None;
    }
    note_link(account, &file, writes);
    let path = path.to_string_lossy();
    Some(format!("file `{}`", path.trim_end_matches(" (deleted)")))
}

/// A call names a regular file by this path, and `writes` to it or to what is said about it.
pub(super) fn note_links(account: &mut Account, path: &Path, writes: bool) {
    if let Ok(file) = fs::metadata(path) {
        note_link(account, &file, writes);
    }
}

fn note_link(account: &mut Account, file: &Metadata, writes: bool) {
    if writes && file.nlink() > 1 {
        // Under another name it would be another file here, which others read.
        account.enter_unwatched(Unwatched::call(UnwatchedKind::File, "link"));
    }
}

/// The name of the position of an open file or folder: all descriptors that are copies of one another have it in common.
pub(crate) fn position(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &mut MemoryState,
    account: &mut Account,
    index: ThreadIndex,
    descriptor: i32,
) -> Option<String> {
    let link = |descriptor: i32| format!("/proc/{}/fd/{descriptor}", tracee.leader);
    let kind = fs::metadata(link(descriptor)).ok()?;
    let name = if kind.is_dir() {
        format!("folder `{}`", fs::read_link(link(descriptor)).ok()?.to_string_lossy())
    } else {
        regular_file(tracee, scheduling, memory, account, index, (descriptor, false))?
    };
    let mut all = fd::open(tracee.leader);
    all.sort_unstable();
    let first = all.into_iter().find(|&other| fd::is_copy(tracee.leader, other, descriptor));
    Some(format!("the position of descriptor {} in {name}", first.unwrap_or(descriptor)))
}

fn nameless(scheduling: &Scheduling, memory: &mut MemoryState, index: ThreadIndex, inode: Inode) -> String {
    let known = memory.nameless.iter().position(|(known, _)| *known == inode).unwrap_or_else(|| {
        memory.nameless.push((inode, scheduling.threads[index].name));
        memory.nameless.len() - 1
    });
    let thread = memory.nameless[known].1;
    let nth = memory.nameless[..=known].iter().filter(|(_, first)| *first == thread).count();
    format!("temporary file {nth} of {thread}")
}
