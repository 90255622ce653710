//! Ctrl-C: the first one ends the search in order, the second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use explorer::verdict::Verdict;

/// A flag that the first Ctrl-C (or SIGTERM, or SIGHUP) sets.
///
/// # Errors
/// When the signals cannot be handled.
pub(crate) fn flag() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            // The kernel ends every traced process with its tracer.
            std::process::exit(Verdict::Inconclusive.exit_code().into());
        }
    })?;
    Ok(cancel)
}
