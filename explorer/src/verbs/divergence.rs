//! Divergence of an execution from the expected one, made readable, with its likely cause.

use checker::divergence::{Difference, Observation};
use checker::failure::Failure;
use checker::operation::OpKind;
use checker::search::SearchError;

use crate::error::Error;
use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::thread_labels::ThreadLabels;

/// Makes errors readable with the names of a program.
pub(crate) struct ErrorPhrasing<'a>(pub(crate) &'a Places<'a>);

impl ErrorPhrasing<'_> {
    pub(crate) fn search_error(&self, error: SearchError) -> Error {
        match error {
            SearchError::NotDeterministic(difference) => {
                let Difference { at, expected, got } = *difference;
                let at = at.count();
                let cause = cause(&expected, &got);
                let (expected, got) = self.both(&expected, &got);
                Error::NotReproducible { at, expected, got, cause }
            }
            SearchError::Diverged(difference) => {
                let Difference { at, expected, got } = *difference;
                let at = at.count();
                let cause = cause(&expected, &got);
                let (expected, got) = self.both(&expected, &got);
                Error::Diverged { at, expected, got, cause }
            }
            other => Error::Search(other),
        }
    }

    /// Both, so that they differ: failures of one kind and text are told with their threads and stacks.
    fn both(&self, expected: &Observation, got: &Observation) -> (String, String) {
        let words = (self.event(expected), self.event(got));
        match (expected, got) {
            (Observation::Failure(first), Observation::Failure(second)) if words.0 == words.1 => {
                (self.with_stack(&words.0, first), self.with_stack(&words.1, second))
            }
            _ => words,
        }
    }

    fn with_stack(&self, words: &str, failure: &Failure) -> String {
        let thread = failure.thread.map_or_else(|| "no thread".to_owned(), |thread| thread.to_string());
        let stack: Vec<String> = failure.stack.iter().map(|&site| self.0.of_site(site).words()).collect();
        format!("{words} [{thread}: {}]", stack.join(", called by "))
    }

    /// The thread, what it does to what, and where.
    fn event(&self, seen: &Observation) -> String {
        // The threads of the execution are not known here: all go by their creation path.
        let words = Phrasing { labels: &ThreadLabels::of([], None), source: self.0.source() };
        match seen {
            Observation::Operation { thread, key, effect } => {
                let place = self.0.of_site(key.site).words();
                format!("{thread} {} in {place}", words.effect(key.kind, effect))
            }
            Observation::Failure(failure) => words.failure(failure),
            _ => seen.to_string(),
        }
    }
}

/// Likely causes, to look at first.
fn cause(expected: &Observation, got: &Observation) -> String {
    let is_io =
        |seen: &Observation| matches!(seen, Observation::Operation { key, .. } if key.kind == OpKind::Io);
    let reads = is_io(expected) || is_io(got);
    let first = if reads { "what it reads (a socket, a pipe, another process), or " } else { "" };
    format!(
        "{first}files that an execution leaves behind (try --fresh-dir), the network, another process, or a system call \
         whose result is not controlled"
    )
}
