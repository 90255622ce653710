//! Files and folders that did not exist before an execution has made them.

use std::path::Path;

use files::Made;

/// The number of them that are removed of one execution: each costs two descriptors.
const MOST: usize = 256;

/// Files and folders that an execution has made, in this order; removed when dropped.
#[derive(Default)]
pub(crate) struct MadeFiles {
    files: Vec<Made>,
}

impl MadeFiles {
    /// Adds the file or folder that has just been made at this path.
    pub(crate) fn add(&mut self, path: &Path) {
        if self.files.len() < MOST {
            self.files.extend(Made::at(path));
        }
    }

    /// Adds a further name for one of them that has just been made; that of another file is the program's affair.
    pub(crate) fn add_name(&mut self, path: &Path) {
        let named =
            Made::at(path).ok().filter(|named| self.files.iter().any(|made| made.is_same_file(named)));
        if self.files.len() < MOST {
            self.files.extend(named);
        }
    }
}

impl Drop for MadeFiles {
    fn drop(&mut self) {
        for made in self.files.drain(..).rev() {
            // A file that may not be removed stays, as it would without this tool.
            let _ = made.remove();
        }
    }
}
