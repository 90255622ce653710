//! An exploration as it happens: the objects that `--format jsonl` prints, one a line. See `docs/formats.md`.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::escaping;
use crate::report::{Finding, Report};
use crate::verbs::watch::Progress;

/// One line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// Progress of the search; at most ten times a second.
    Progress(Progress),
    /// A failure has been reproduced and saved. One that comes again, with the same `id`, replaces the first.
    Finding {
        /// It.
        finding: Box<Finding>,
    },
    /// The last line of an exploration that came to a result.
    Report {
        /// The same object that `--format json` prints.
        report: Box<Report>,
    },
    /// The last line of one that did not.
    Error {
        /// The reason for which the tool could not do its job.
        message: String,
    },
}

impl Line {
    /// Writes it as it is printed; ends with a line break.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let line = match self {
            Self::Finding { finding } => {
                &Self::Finding { finding: Box::new(finding.shortened().into_owned()) }
            }
            Self::Report { report } => &Self::Report { report: Box::new(report.shortened().into_owned()) },
            Self::Progress(_) | Self::Error { .. } => self,
        };
        serde_json::to_writer(escaping::Json::new(&mut *to), line)?;
        to.write_all(b"\n")
    }
}
