//! The target's standard streams: files in memory, so that no execution can block on them.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use files::Kind;

use crate::os::fd;

/// Number of bytes of each stream that are kept of one execution.
const KEPT: usize = 256 << 10;

/// So much of each stream stays in memory, in bytes: what exceeds it is thrown away.
const FLOOD: u64 = 16 << 20;

/// One set of streams, shared by all copies of a fork server.
pub(crate) struct Streams {
    stdin: File,
    stdout: File,
    stderr: File,
    /// Held while the output is cut short: two threads do that.
    cutting: Mutex<()>,
}

impl Streams {
    /// Streams whose input is the content of a file, or empty.
    pub(crate) fn new(input: Option<&Path>) -> io::Result<Self> {
        let stdin = fd::memory_file(c"stdin")?;
        // An empty input has nothing to read.
        if let Some(path) = input.filter(|path| *path != Path::new("/dev/null")) {
            (&stdin).write_all(&files::read(path, Kind::Input)?)?;
        }
        let [stdout, stderr] = [fd::memory_file(c"stdout")?, fd::memory_file(c"stderr")?];
        fd::append_only(&stdout)?;
        fd::append_only(&stderr)?;
        Ok(Self { stdin, stdout, stderr, cutting: Mutex::new(()) })
    }

    /// Standard input, output and error.
    pub(crate) fn files(&self) -> [&File; 3] {
        [&self.stdin, &self.stdout, &self.stderr]
    }

    /// Back to the state before the first execution.
    pub(crate) fn reset(&self) -> io::Result<()> {
        (&self.stdin).rewind()?;
        self.discard_output()
    }

    /// Whether nothing has been read or written since then.
    pub(crate) fn are_untouched(&self) -> bool {
        let is_empty = |stream: &File| stream.metadata().is_ok_and(|metadata| metadata.len() == 0);
        let is_read = (&self.stdin).stream_position().is_ok_and(|position| position > 0);
        !is_read && is_empty(&self.stdout) && is_empty(&self.stderr)
    }

    /// Throws away what was written.
    pub(crate) fn discard_output(&self) -> io::Result<()> {
        let _cutting = self.cutting();
        self.stdout.set_len(0)?;
        self.stderr.set_len(0)
    }

    /// The output to standard output and standard error, and whether some of it is left out.
    pub(crate) fn output(&self) -> (Vec<u8>, Vec<u8>, bool) {
        let (stdout, cut_out) = fd::head(&self.stdout, KEPT);
        let (stderr, cut_err) = fd::head(&self.stderr, KEPT);
        (stdout, stderr, cut_out || cut_err)
    }

    /// Throws away what has been written past [`FLOOD`]; the program notices nothing of it. For another thread than the
    /// one that controls the program, which may not be stopped anywhere while it floods.
    pub(crate) fn relieve(&self) {
        // Cut to nothing after its length was looked at, a stream would be made longer here.
        let _cutting = self.cutting();
        for stream in [&self.stdout, &self.stderr] {
            if stream.metadata().is_ok_and(|metadata| metadata.len() > FLOOD) {
                // Writes go to the end, wherever it is. A stream that cannot be cut short goes on growing.
                let _ = stream.set_len(FLOOD);
            }
        }
    }

    fn cutting(&self) -> MutexGuard<'_, ()> {
        // There is nothing that a panic could have left half done.
        self.cutting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a stream has grown past [`FLOOD`].
    pub(crate) fn flooded(&self) -> bool {
        [&self.stdout, &self.stderr].iter().any(|f| f.metadata().is_ok_and(|m| m.len() >= FLOOD))
    }
}
