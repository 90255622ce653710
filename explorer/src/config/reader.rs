//! The state of reading an `interleaver.toml`: its text, its folder, and the problems so far.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{ConfigText, Problem, Severity};

/// The largest number of problems that are told: more than a person reads.
const MOST_PROBLEMS: usize = 100;

/// The largest number of tables of a kind that count: each is compared with others, and with every program.
const MOST_TABLES: usize = 1000;

pub(super) struct ConfigReader<'a> {
    pub(super) text: ConfigText<'a>,
    pub(super) root: &'a Path,
    pub(super) problems: Vec<Problem>,
    /// Number of problems beyond those.
    further: usize,
}

impl<'a> ConfigReader<'a> {
    pub(super) fn new(text: &'a str, root: &'a Path) -> Self {
        Self { text: ConfigText::new(text), root, problems: Vec::new(), further: 0 }
    }

    pub(super) fn problem(&mut self, severity: Severity, range: Range<usize>, sentence: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::new(severity, &self.text, range, sentence));
        } else {
            self.further += 1;
        }
    }

    /// The problems, ordered by their places in the file.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let Self { text, mut problems, further, .. } = self;
        problems.sort_by_key(|problem| problem.range.start);
        if further > 0 {
            let all = MOST_PROBLEMS + further;
            let sentence = format!("only the first {MOST_PROBLEMS} problems are told, of {all}");
            problems.push(Problem::new(Severity::Warning, &text, text.end(), sentence));
        }
        problems
    }

    /// The tables of a kind, as many as count.
    pub(super) fn tables<'t>(
        &mut self,
        name: &str,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Vec<(Range<usize>, &'t DeTable<'t>)> {
        let all = value.get_ref().as_array().into_iter().flat_map(|all| all.iter());
        let mut all = all.filter_map(|one| Some((one.span(), one.get_ref().as_table()?)));
        let tables = all.by_ref().take(MOST_TABLES).collect();
        if let Some((range, _)) = all.next() {
            let sentence = format!("from here, no [[{name}]] counts: {MOST_TABLES} stand before it");
            self.problem(Severity::Error, range, sentence);
        }
        tables
    }
}

pub(super) fn text(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}
