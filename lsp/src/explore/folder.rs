//! A workspace folder, and what can be explored in it, looked at again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use explorer::config::Config;
use explorer::discover::Workspace;
use explorer::input::project_root::root_of;

use crate::documents;

/// The least time between two looks that were not asked for.
const PAUSE: Duration = Duration::from_secs(2);

/// Looks take at most this part of the time.
const SHARE: u32 = 50;

/// A workspace folder.
pub(crate) struct Folder {
    /// Without symbolic links.
    pub(crate) path: PathBuf,
    /// As the client names it.
    pub(crate) named: PathBuf,
    /// The last look; `None` before the first.
    pub(crate) workspace: Option<Arc<Workspace>>,
    scanning: bool,
    /// Another look is wanted after the one under way.
    again: bool,
    /// Looks that were begun.
    begun: u64,
    /// Time at which the last one ended, and its length.
    last: Option<(Instant, Duration)>,
}

/// A look to be taken, away from the state's owner.
pub(crate) struct FolderScan {
    path: PathBuf,
    before: Option<Arc<Workspace>>,
    number: u64,
}

/// Result of a look.
pub(crate) struct FolderScanResult {
    pub(crate) path: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    /// Whether anything is different from before.
    pub(crate) changed: bool,
    pub(crate) number: u64,
    took: Duration,
}

impl Folder {
    pub(crate) fn new(named: PathBuf) -> Self {
        Self {
            path: documents::file(&named),
            named,
            workspace: None,
            scanning: false,
            again: false,
            begun: 0,
            last: None,
        }
    }

    /// The folder that holds its store, but for programs that lie in a checkout of their own.
    pub(crate) fn root(&self) -> PathBuf {
        root_of(&self.path.join("program"), &self.path)
    }

    /// Asks for a look, which begins now unless one is under way. Also gives the number of the look that sees what is
    /// there now.
    pub(crate) fn look(&mut self) -> (Option<FolderScan>, u64) {
        if self.scanning {
            self.again = true;
            return (None, self.begun + 1);
        }
        self.scanning = true;
        self.begun += 1;
        let look = FolderScan { path: self.path.clone(), before: self.workspace.clone(), number: self.begun };
        (Some(look), self.begun)
    }

    /// Whether it is time for a look that was not asked for.
    pub(crate) fn is_due(&self) -> bool {
        let rested = |(ended, took): (Instant, Duration)| ended.elapsed() >= PAUSE.max(took * SHARE);
        !self.scanning && self.last.is_some_and(rested)
    }

    /// Takes in a look; gives the next one, if it was asked for meanwhile.
    pub(crate) fn looked(&mut self, looked: &FolderScanResult) -> Option<FolderScan> {
        self.workspace = Some(Arc::clone(&looked.workspace));
        self.last = Some((Instant::now(), looked.took));
        self.scanning = false;
        std::mem::take(&mut self.again).then(|| self.look().0).flatten()
    }
}

impl FolderScan {
    /// Looks at everything in the folder; nothing is executed and nothing is built.
    pub(crate) fn take(self) -> FolderScanResult {
        let begun = Instant::now();
        let (config, _) = Config::read(&self.path);
        let (workspace, changed) = match self.before {
            None => (Workspace::scan(&self.path, &config), true),
            Some(before) => {
                let mut workspace = Workspace::clone(&before);
                let changed = workspace.rescan(&config);
                (workspace, changed)
            }
        };
        let took = begun.elapsed();
        FolderScanResult {
            path: self.path,
            workspace: Arc::new(workspace),
            changed,
            number: self.number,
            took,
        }
    }
}

/// The folder that holds a file: of several, the innermost.
pub(crate) fn holding<'a>(folders: &'a [Folder], file: &Path) -> Option<&'a Folder> {
    folders
        .iter()
        .filter(|folder| file.starts_with(&folder.path) || file.starts_with(&folder.named))
        .max_by_key(|folder| folder.path.components().count())
}
