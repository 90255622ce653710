//! Live progress on standard error, for whoever watches a terminal.

use explorer::text::{grouped, plural};
use explorer::watch::{Progress, Watch};
use indicatif::{ProgressBar, ProgressStyle};

/// A line that is drawn over and over; nothing where standard error is no terminal.
pub(crate) struct Line(ProgressBar);

impl Line {
    pub(crate) fn new() -> Self {
        // No ticking thread: it would share the CPU that the search is bound to.
        let line = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{elapsed} · {msg}");
        line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self(line)
    }
}

impl Watch for Line {
    fn progress(&mut self, progress: &Progress) {
        if !self.0.is_hidden() {
            self.0.set_message(words(progress));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.finish_and_clear();
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
