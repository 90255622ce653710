//! An exploration, or what else takes its time, told line by line to a program that started it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use explorer::report::verdict::Verdict;
use explorer::report::{Finding, Report};
use explorer::verbs::json_lines::Line;
use explorer::verbs::watch::{Progress, Watch};

use crate::output;

/// The least time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(100);

/// Does it, and prints every line as it comes; where the tool cannot do its job, the last line says why. With what came of it
/// comes the first line's error that could not be printed.
pub(crate) fn tell(
    cancel: &Arc<AtomicBool>,
    verb: impl FnOnce(&Arc<AtomicBool>, &mut dyn Watch) -> Result<Report, explorer::Error>,
) -> (Result<Verdict, explorer::Error>, Option<io::Error>) {
    let mut lines = Lines { cancel, last: None, unwritten: None };
    let ended = match verb(cancel, &mut lines) {
        Ok(report) => {
            let verdict = report.verdict;
            lines.print(&Line::Report { report: Box::new(report) });
            Ok(verdict)
        }
        Err(error) => {
            lines.print(&Line::Error { message: error.to_string() });
            Err(error)
        }
    };
    (ended, lines.unwritten)
}

struct Lines<'a> {
    cancel: &'a AtomicBool,
    last: Option<Instant>,
    unwritten: Option<io::Error>,
}

impl Lines<'_> {
    /// Prints a line. An exploration without a reader is cancelled.
    fn print(&mut self, line: &Line) {
        if let Err(error) = output::written(|to| line.write(to)) {
            self.cancel.store(true, Ordering::Relaxed);
            self.unwritten.get_or_insert(error);
        }
    }
}

impl Watch for Lines<'_> {
    fn progress(&mut self, progress: &Progress) {
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            self.print(&Line::Progress(*progress));
        }
    }

    fn finding(&mut self, finding: &Finding) {
        self.print(&Line::Finding { finding: Box::new(finding.clone()) });
    }
}
