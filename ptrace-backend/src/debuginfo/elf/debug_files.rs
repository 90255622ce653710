//! An ELF file, and the file that its debug information was moved to.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::error::ImageError;
use super::file::ElfBytes;

/// The files that an image consists of.
pub(crate) struct DebugFiles {
    path: PathBuf,
    own: ElfBytes,
    companion: OnceLock<Option<ElfBytes>>,
}

impl DebugFiles {
    pub(crate) fn read(path: &Path) -> Result<Self, ImageError> {
        Ok(Self { path: path.to_owned(), own: ElfBytes::read(path)?, companion: OnceLock::new() })
    }

    /// Path of the file itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself.
    pub(crate) fn own(&self) -> &ElfBytes {
        &self.own
    }

    /// The file that its debug information was moved to.
    pub(crate) fn companion(&self) -> Option<&ElfBytes> {
        self.companion.get_or_init(|| companion(&self.path, &self.own)).as_ref()
    }

    /// Whether the linker kept a thread-local variable, as far as names are left to tell.
    pub(crate) fn has_thread_local(&self, name: &str) -> bool {
        let names = self.own.thread_locals().or_else(|| self.companion()?.thread_locals());
        names.is_none_or(|names| names.contains(&name))
    }
}

/// The file that a distribution or `objcopy --only-keep-debug` put an image's debug information into.
fn companion(image: &Path, elf: &ElfBytes) -> Option<ElfBytes> {
    let by_id = elf.build_id().filter(|id| id.len() > 2).map(|id| {
        let (start, rest) = id.split_at(2);
        PathBuf::from(format!("/usr/lib/debug/.build-id/{start}/{rest}.debug"))
    });
    let folder = image.parent().unwrap_or(Path::new("."));
    let by_link = elf.debug_link().map(|name| [folder.join(&name), folder.join(".debug").join(&name)]);
    let candidates = by_id.into_iter().chain(by_link.into_iter().flatten());
    let found = candidates.filter(|path| path != image).filter_map(|path| ElfBytes::read(&path).ok());
    found.into_iter().find(|other| other.build_id() == elf.build_id())
}
