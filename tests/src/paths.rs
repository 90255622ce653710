//! Paths of the sources, and of the folder that everything built goes to.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The root of the checkout.
#[must_use]
pub fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder of the target programs' sources.
#[must_use]
pub fn targets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("targets")
}

/// The folder of the stepper's sources.
pub(crate) fn stepper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("stepper")
}

/// The place where cargo has put the running test.
pub(crate) struct Output {
    /// Cargo's target directory.
    pub(crate) folder: PathBuf,
    /// The name of the profile's folder in it.
    pub(crate) profile: String,
}

impl Output {
    /// Tests lie in `<target directory>/<profile>/deps`, wherever that directory was configured to be.
    pub(crate) fn find() -> io::Result<Self> {
        let test = env::current_exe()?;
        let profile = test.ancestors().find(|folder| folder.ends_with("deps")).and_then(Path::parent);
        let parts = profile.and_then(|profile| Some((profile.parent()?, profile.file_name()?.to_str()?)));
        let (folder, profile) = parts.ok_or_else(|| {
            io::Error::other(format!("`{}` does not lie where cargo puts tests", test.display()))
        })?;
        Ok(Self { folder: folder.to_owned(), profile: profile.to_owned() })
    }
}
