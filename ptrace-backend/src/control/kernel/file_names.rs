//! Names of regular files that mean the same in every execution. That of a file is its path; a file that never had one
//! (`tmpfile`) shows the number of its inode instead, which the kernel gives to whoever asks next.

use std::fs::{self, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use crate::control::process::Process;
use crate::control::state::file_names::Inode;
use crate::control::state::sync_objects::Index;

impl Process {
    /// The words for the regular file behind a descriptor; `None`: it is something else, or a standard stream.
    pub(crate) fn regular_file(&mut self, index: Index, descriptor: i32) -> Option<String> {
        const STANDARD: Range<i32> = 0..3;
        if STANDARD.contains(&descriptor) {
            return None;
        }
        let link = format!("/proc/{}/fd/{descriptor}", self.tracee.leader);
        let file = fs::metadata(&link).ok().filter(Metadata::is_file)?;
        let path = fs::read_link(&link).ok()?;
        if path.file_name()?.to_str() == Some(&format!("#{} (deleted)", file.ino())) {
            return Some(self.nameless(index, (file.dev(), file.ino(), file.created().ok())));
        }
        let path = path.to_string_lossy();
        Some(format!("file `{}`", path.trim_end_matches(" (deleted)")))
    }

    fn nameless(&mut self, index: Index, inode: Inode) -> String {
        let known = self.memory.nameless.iter().position(|(known, _)| *known == inode).unwrap_or_else(|| {
            self.memory.nameless.push((inode, self.scheduling.threads[index].name));
            self.memory.nameless.len() - 1
        });
        let thread = self.memory.nameless[known].1;
        let nth = self.memory.nameless[..=known].iter().filter(|(_, first)| *first == thread).count();
        format!("temporary file {nth} of {thread}")
    }
}
