//! Asks before what somebody else has saved is run.

use std::io::{self, BufRead, IsTerminal, Write};

use explorer::trust::{Consent, Running};

/// Does what may run something: with the user's consent if that `is_given`; else the user is asked at the terminal, if there
/// is one.
pub(crate) fn with<T>(is_given: bool, verb: impl FnOnce(Consent<'_>) -> T) -> T {
    match is_given {
        true => verb(Consent::Given),
        false if io::stdin().is_terminal() && io::stderr().is_terminal() => verb(Consent::Ask(&ask)),
        false => verb(Consent::Refused),
    }
}

/// Shows what would run, and asks. Whatever is not clearly a yes is a no.
fn ask(running: &Running) -> bool {
    let asked = write!(io::stderr(), "{}Run it? [y/N] ", running.lines()).and_then(|()| io::stderr().flush());
    let mut answer = String::new();
    asked.is_ok()
        && io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
