//! An error as a terminal may show it: names and texts in it come from anywhere.

use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal};
use std::iter;

use explorer::escaping::escaped;
use miette::{Diagnostic, ReportHandler};

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

/// The look of errors on a terminal: each sentence whole, so that it can be searched for, and causes below what they led to.
pub(crate) struct Plain;

impl ReportHandler for Plain {
    fn debug(&self, error: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RED: &str = "\u{1b}[31m";
        const END: &str = "\u{1b}[0m";
        let has_colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let mark = |mark: &str| if has_colours { format!("{RED}{mark}{END}") } else { mark.to_owned() };
        let lines = |text: &dyn fmt::Display| text.to_string().replace('\n', "\n    ");
        write!(f, "  {} {}", mark("×"), lines(&error))?;
        let causes = iter::successors(error.source(), |&cause| cause.source());
        let causes: Vec<String> = causes.map(|cause| lines(&cause)).collect();
        for (nth, cause) in causes.iter().enumerate() {
            let branch = if nth + 1 == causes.len() { "╰─▶" } else { "├─▶" };
            write!(f, "\n  {} {cause}", mark(branch))?;
        }
        writeln!(f)
    }
}
