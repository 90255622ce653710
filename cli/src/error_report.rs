//! An error as a terminal may show it: names and texts in it come from anywhere.

use std::error::Error;

use explorer::escaping::escaped;

/// The sentence of an error, and that of its cause.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{sentence}")]
pub(crate) struct ErrorReport {
    sentence: String,
    #[source]
    cause: Option<Box<ErrorReport>>,
}

impl ErrorReport {
    /// Those of an error.
    pub(crate) fn of(error: &(dyn Error + '_)) -> Self {
        let cause = error.source().map(|cause| Box::new(Self::of(cause)));
        Self { sentence: escaped(&error.to_string()).into_owned(), cause }
    }
}
