//! Consent: the user is asked before a command is run that a schedule from elsewhere, or a workspace, names.

use std::io::{self, BufRead, IsTerminal, Write};

use explorer::escaping::escaped;
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

/// The user's consent to a client that a file of the workspace names.
pub(crate) fn to_client(command: &str) -> Result<(), explorer::Error> {
    let shown =
        format!("interleaver.toml names a client, which runs with each execution:\n  {}\n", escaped(command));
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    let agreed = can_ask && agrees(&shown);
    if agreed { Ok(()) } else { Err(explorer::Error::UntrustedClient(command.to_owned())) }
}

/// Shows what would run, and asks.
fn ask(running: &Running) -> bool {
    agrees(&running.lines())
}

/// An answer that is not clearly a yes is a no.
fn agrees(shown: &str) -> bool {
    let asked = write!(io::stderr(), "{shown}Run it? [y/N] ").and_then(|()| io::stderr().flush());
    let mut answer = String::new();
    asked.is_ok()
        && io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
