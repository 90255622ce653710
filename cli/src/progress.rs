//! View of a search under way for a person: progress on standard error, where that is a terminal, and on standard output
//! the findings so far.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use explorer::escaping::escaped;
use explorer::render;
use explorer::report::Finding;
use explorer::report::plural::{grouped, plural};
use explorer::verbs::watch::{Progress, Watch};
use indicatif::{ProgressBar, ProgressStyle};

/// A line that is drawn over and over; nothing where standard error is no terminal.
pub(crate) struct Line {
    line: ProgressBar,
    /// Whether findings are told at once, as text.
    tells: bool,
    /// Those that were.
    told: BTreeSet<Option<String>>,
    cancel: Arc<AtomicBool>,
}

impl Line {
    /// A search without a reader is cancelled: `cancel` is set then.
    pub(crate) fn new(tells: bool, cancel: &Arc<AtomicBool>) -> Self {
        // No ticking thread: it would share the CPU that the search is bound to.
        let line = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{elapsed} · {msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { line, tells, told: BTreeSet::new(), cancel: Arc::clone(cancel) }
    }
}

impl Watch for Line {
    fn progress(&mut self, progress: &Progress) {
        if !self.line.is_hidden() {
            self.line.set_message(words(progress));
        }
    }

    /// The text is printed whatever comes after it: the search, the explanation, or the end of this process.
    fn finding(&mut self, finding: &Finding) {
        if self.tells && finding.explanation.is_none() && self.told.insert(finding.id.clone()) {
            let text = render::render_at_once(finding);
            let print = || {
                let mut stdout = io::stdout().lock();
                stdout.write_all(escaped(&text).as_bytes()).and_then(|()| stdout.flush())
            };
            if self.line.suspend(print).is_err() {
                self.cancel.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

fn words(progress: &Progress) -> String {
    let bound = progress.bound.map(|bound| format!(" · bound {bound}")).unwrap_or_default();
    format!(
        "{} · {} schedules/s{bound} · {}",
        plural(progress.schedules, "schedule"),
        grouped(progress.schedules_per_second.round() as u64),
        plural(progress.findings as u64, "finding")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_names_what_is_left_out_where_there_is_no_bound() {
        let mut progress =
            Progress { schedules: 12_345, schedules_per_second: 1_620.4, bound: Some(1), findings: 1 };
        assert_eq!(words(&progress), "12,345 schedules · 1,620 schedules/s · bound 1 · 1 finding");
        progress = Progress { bound: None, findings: 0, ..progress };
        assert_eq!(words(&progress), "12,345 schedules · 1,620 schedules/s · 0 findings");
    }
}
