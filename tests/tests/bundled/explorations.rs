//! Explorations of bundled programs with the default options and a whole explanation: each is made once, and kept for as long
//! as there are trials.

use std::collections::HashMap;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use tests::{Outcome, Tool};

/// Past the default budget, so that a search that takes too long says itself that it does.
pub(crate) const LIMIT: Duration = Duration::from_secs(75);

/// An exploration with the store that it has filled.
pub(crate) struct Exploration {
    pub(crate) outcome: Outcome,
    _store: TempDir,
}

/// The explorations that have been made, by program.
#[derive(Default)]
pub(crate) struct Explorations(Mutex<HashMap<PathBuf, Arc<Slot>>>);

type Slot = OnceLock<Result<Exploration, String>>;

/// One of [`Explorations`], whether it has come to an end or could not be made.
pub(crate) struct Made(Arc<Slot>);

impl Made {
    /// The exploration.
    pub(crate) fn exploration(&self) -> Result<&Exploration, String> {
        let made = self.0.get().map(Result::as_ref);
        made.unwrap_or_else(|| unreachable!("a slot is filled before it is handed out")).map_err(Clone::clone)
    }
}

impl Explorations {
    /// The exploration of a program. Another trial that asks for it meanwhile waits for its end.
    pub(crate) fn of(&self, program: &Path) -> Made {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(all.entry(program.to_owned()).or_default());
        drop(all);
        slot.get_or_init(|| explore(program, &[], true).map_err(|error| error.to_string()));
        Made(slot)
    }
}

/// Explores a program with these options, and explains what is found or does not.
pub(crate) fn explore(
    program: &Path,
    options: &[&str],
    explains: bool,
) -> Result<Exploration, Box<dyn Error>> {
    let store = tempfile::tempdir()?;
    let place = ["--output".as_ref(), store.path().as_os_str()];
    let options = place.into_iter().chain(options.iter().map(AsRef::as_ref));
    let options: Vec<&OsStr> = options.collect();
    let tool = if explains { Tool::explain(options, program) } else { Tool::explore(options, program) };
    Ok(Exploration { outcome: tool.within(LIMIT).run()?, _store: store })
}
