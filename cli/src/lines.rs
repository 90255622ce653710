//! An exploration, or what else takes its time, told line by line to a program that started it.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use explorer::report::verdict::Verdict;
use explorer::report::{Finding, Report};
use explorer::verbs::json_lines::Line;
use explorer::verbs::watch::{Progress, Watch};

/// The least time between two reports of progress.
const PAUSE: Duration = Duration::from_millis(100);

/// Does it, and prints every line as it comes.
///
/// # Errors
/// When the tool cannot do its job; the last line says why.
pub(crate) fn tell(
    cancel: &Arc<AtomicBool>,
    verb: impl FnOnce(&Arc<AtomicBool>, &mut dyn Watch) -> Result<Report, explorer::Error>,
) -> Result<Verdict, explorer::Error> {
    let mut lines = Lines { cancel, last: None };
    match verb(cancel, &mut lines) {
        Ok(report) => {
            let verdict = report.verdict;
            lines.print(&Line::Report { report: Box::new(report) });
            Ok(verdict)
        }
        Err(error) => {
            lines.print(&Line::Error { message: error.to_string() });
            Err(error)
        }
    }
}

struct Lines<'a> {
    cancel: &'a AtomicBool,
    last: Option<Instant>,
}

impl Lines<'_> {
    /// Nobody explores for a reader who is gone.
    fn print(&self, line: &Line) {
        let mut stdout = BufWriter::new(io::stdout().lock());
        if line.write(&mut stdout).and_then(|()| stdout.flush()).is_err() {
            self.cancel.store(true, Ordering::Relaxed);
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
