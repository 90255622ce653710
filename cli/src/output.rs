//! Standard output.

use std::io::{self, BufWriter, Write};

use explorer::escaping::{Json, escaped};
use explorer::resources;
use serde::Serialize;

use crate::args::Whole;

/// Prints a value: as JSON, or in the words that `text` finds for it.
pub(crate) fn print_as(
    format: Whole,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> io::Result<()> {
    match format {
        Whole::Text => print(escaped(&text()).as_bytes()),
        Whole::Json => print_with(|to| {
            serde_json::to_writer_pretty(Json::new(&mut *to), value)?;
            to.write_all(b"\n")
        }),
    }
}

/// Prints to the end; a reader that has seen enough is no error.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    print_with(|to| to.write_all(bytes))
}

/// The same, for what is better not in memory as a whole.
pub(crate) fn print_with(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match print_whole(content) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Prints content that is of no use in part: a reader that is gone too soon has not got it.
pub(crate) fn print_whole(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    written(content).map_err(|error| unwritten(&error))
}

/// Prints, and says what stands against it in the system's words.
pub(crate) fn written(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if resources::has_no_output() {
        return Err(io::Error::other("it is closed"));
    }
    let mut stdout = BufWriter::new(io::stdout().lock());
    content(&mut stdout).and_then(|()| stdout.flush())
}

/// Looks whether standard output is there, before anything begins that tells of itself only there.
pub(crate) fn open_for(what: &str) -> io::Result<()> {
    written(|_| Ok(())).map_err(|error| not_written(what, &error))
}

/// The sentence for an error of [`written`].
pub(crate) fn unwritten(error: &io::Error) -> io::Error {
    not_written("the report", error)
}

fn not_written(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} cannot be written to standard output: {error}"))
}
