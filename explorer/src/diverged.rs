//! The checker's words about an event that is not as expected, made readable; and what may be the cause.

use checker::names::Site;
use checker::search::SearchError;

use crate::error::Error;
use crate::places::Places;

/// Makes errors readable with the names of a program.
pub(crate) struct Readable<'a>(pub(crate) &'a Places<'a>);

impl Readable<'_> {
    pub(crate) fn search_error(&self, error: SearchError) -> Error {
        match error {
            SearchError::NotDeterministic { at, expected, got } => {
                let cause = cause(&expected, &got);
                Error::NotReproducible { at, expected: self.event(&expected), got: self.event(&got), cause }
            }
            SearchError::Diverged { at, expected, got } => {
                let cause = cause(&expected, &got);
                Error::Diverged { at, expected: self.event(&expected), got: self.event(&got), cause }
            }
            other => Error::Search(other),
        }
    }

    /// Puts function and line where the words give the number of a site ("at 0x1234").
    fn event(&self, words: &str) -> String {
        let Some((before, rest)) = words.split_once(" at 0x") else { return words.to_owned() };
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        match u64::from_str_radix(&rest[..end], 16) {
            Ok(site) => format!("{before} in {}", self.0.of_site(Site(site)).words()),
            Err(_) => words.to_owned(),
        }
    }
}

/// What to look at first.
fn cause(expected: &str, got: &str) -> String {
    let io = [expected, got].iter().any(|words| words.contains(" Io "));
    let first = if io { "what it reads (a socket, a pipe, another process), or " } else { "" };
    format!(
        "{first}files that an execution leaves behind (try --fresh-dir), the network, another process, or a system call \
         whose result is not controlled"
    )
}
