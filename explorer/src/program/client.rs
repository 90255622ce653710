//! The client of a program, from its command.

use std::path::Path;

use ptrace_backend::{ClientSpec, Ready};
use regex_lite::Regex;

use crate::error::Error;
use crate::input::command;

/// The client that a command names, if it names one, and when the program is ready for it.
pub(crate) fn of(words: &str, ready: &str) -> Result<Option<ClientSpec>, Error> {
    if words.is_empty() {
        return if ready.is_empty() { Ok(None) } else { Err(Error::ReadyWithoutClient) };
    }
    let unusable = |why: &'static str| Error::Client { command: words.to_owned(), why };
    let parts = shlex::split(words).ok_or_else(|| unusable("a quotation mark is not closed"))?;
    let mut parts = parts.into_iter();
    let name = parts.next().ok_or_else(|| unusable("it is empty"))?;
    let found = command::find(Path::new(&name));
    let program = found.canonicalize().ok().filter(|path| path.is_file());
    let program = program.ok_or_else(|| unusable("there is no such program"))?;
    let ready = match ready.parse() {
        Ok(port) => Ready::ListensAt(port),
        Err(_) if ready.is_empty() => Ready::Listens,
        Err(_) => Ready::Writes(Regex::new(ready).map_err(|_| Error::Ready(ready.to_owned()))?),
    };
    Ok(Some(ClientSpec { program, name: name.into(), args: parts.map(Into::into).collect(), ready }))
}
