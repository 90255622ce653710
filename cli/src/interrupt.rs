//! Ends a search in order: at the first Ctrl-C, or when the process that started it goes away. The second Ctrl-C ends the
//! process at once.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use explorer::report::verdict::Verdict;

/// Time for a search to end in order once its result is not waited for any more.
const PATIENCE: Duration = Duration::from_millis(800);

/// A flag that the first Ctrl-C (or SIGTERM, or SIGHUP) sets.
///
/// # Errors
/// When the signals cannot be handled.
pub(crate) fn flag() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            end();
        }
    })?;
    Ok(cancel)
}

/// Sets the flag when standard input ends, which it does too when the process that holds its other end is killed.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn when_stdin_closes(cancel: Arc<AtomicBool>) -> io::Result<()> {
    let wait = move || {
        let mut stdin = io::stdin().lock();
        let mut ignored = [0; 256];
        while stdin.read(&mut ignored).is_ok_and(|read| read > 0) {}
        cancel.store(true, Ordering::SeqCst);
        #[expect(
            clippy::disallowed_methods,
            reason = "a deadline: nothing announces that an end in order fails"
        )]
        thread::sleep(PATIENCE);
        end();
    };
    thread::Builder::new().name("stdin".to_owned()).spawn(wait).map(drop)
}

/// The kernel ends every traced process with its tracer.
fn end() -> ! {
    std::process::exit(Verdict::Inconclusive.exit_code().into())
}
