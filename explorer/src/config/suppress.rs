//! `[[suppress]]`: data races and potential deadlocks that are known, and why they may stay.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Severity;
use super::reader::{ConfigReader, text};
use crate::report::{Location, LockOrder, PotentialDeadlock, Race, RacingAccess};

/// A data race or a potential deadlock that is not reported. Its functions and files hold for both accesses, or for two of
/// the threads, whichever ran first; where it names one only, that of either may be it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Suppression {
    /// The reason for which it may stay.
    pub reason: String,
    /// The variable or one of the locks, or what it is a part of.
    pub variable: Option<String>,
    /// The functions that the accesses are in, called from there or not; at most two.
    pub functions: Vec<String>,
    /// The files of the accesses, or how their paths end; at most two.
    pub files: Vec<String>,
    /// The program, if it is about one only.
    pub program: Option<PathBuf>,
    /// The line of the file at which it begins, from 1.
    pub line: u32,
}

/// The warnings of a program that may stay.
#[derive(Default, Debug)]
pub struct Suppressions {
    /// Each of them.
    pub known: Vec<Suppression>,
    /// Problems of the file that holds the suppressions, where some may be missing for it.
    pub problems: Vec<String>,
}

impl ConfigReader<'_> {
    pub(super) fn suppressions(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Suppression> {
        let tables = self.tables("suppress", value);
        if tables.is_empty() {
            let sentence = "`suppress` must be written as [[suppress]], once for each warning".to_owned();
            self.problem(Severity::Error, value.span(), sentence);
        }
        tables.into_iter().filter_map(|(range, table)| self.suppression(table, range)).collect()
    }

    fn suppression(&mut self, table: &DeTable<'_>, range: Range<usize>) -> Option<Suppression> {
        let line = self.text.line(range.start);
        let mut found = Suppression { line, ..Suppression::default() };
        let mut is_whole = true;
        for (name, value) in table {
            let read = found.read(name.get_ref(), value.get_ref(), self.root);
            let (severity, sentence) = match read {
                Read::Yes => continue,
                Read::Not(expected) => (Severity::Error, format!("`{}` must be {expected}", name.get_ref())),
                Read::Unknown => {
                    let sentence = format!(
                        "`{}` is not known here: a [[suppress]] has reason, variable, functions, files, program",
                        name.get_ref()
                    );
                    (Severity::Warning, sentence)
                }
            };
            // Half of what it says might match far too much.
            is_whole &= severity == Severity::Warning;
            self.problem(severity, value.span(), sentence);
        }
        let lacks = if found.reason.is_empty() {
            "this [[suppress]] gives no `reason`: say why the warning may stay"
        } else if found.variable.is_none() && found.functions.is_empty() && found.files.is_empty() {
            "this [[suppress]] names no `variable`, `functions` or `files`, and would match every warning"
        } else {
            return is_whole.then_some(found);
        };
        if is_whole {
            self.problem(Severity::Error, range, lacks.to_owned());
        }
        None
    }
}

enum Read {
    Yes,
    Not(&'static str),
    Unknown,
}

impl Suppression {
    fn read(&mut self, name: &str, value: &DeValue<'_>, root: &Path) -> Read {
        let one = || text(value).filter(|text| !text.is_empty());
        let two = || -> Option<Vec<String>> {
            let all: Option<Vec<String>> = value.as_array()?.iter().map(|one| text(one.get_ref())).collect();
            all.filter(|all| (1..=2).contains(&all.len()))
        };
        let (is_read, expected) = match name {
            "reason" => (one().map(|text| self.reason = text), "a text in quotes"),
            "variable" => (one().map(|text| self.variable = Some(text)), "a text in quotes"),
            "program" => (one().map(|text| self.program = Some(root.join(text))), "a path in quotes"),
            "functions" => (two().map(|all| self.functions = all), "a list of one or two texts"),
            "files" => (two().map(|all| self.files = all), "a list of one or two paths"),
            _ => return Read::Unknown,
        };
        if is_read.is_some() { Read::Yes } else { Read::Not(expected) }
    }

    /// Whether it is about this program.
    pub(super) fn is_about(&self, program: &Path) -> bool {
        self.program.as_deref().is_none_or(|only| only == program)
    }

    /// Whether it is about this data race.
    #[must_use]
    pub fn matches(&self, race: &Race) -> bool {
        let places = |access: &RacingAccess| places(&access.place, &access.stack);
        self.fits(&[(&race.variable, &race.also_called)], &race.accesses.each_ref().map(places))
    }

    /// Whether it is about this potential deadlock.
    #[must_use]
    pub fn matches_potential_deadlock(&self, potential: &PotentialDeadlock) -> bool {
        let uses = potential.threads.iter().flat_map(LockOrder::uses);
        let locks: Vec<(&String, &Vec<String>)> =
            uses.map(|taken| (&taken.lock, &taken.also_called)).collect();
        let of_thread = |order: &LockOrder| -> Vec<Location> {
            order.uses().into_iter().flat_map(|taken| places(&taken.place, &taken.stack)).collect()
        };
        self.fits(&locks, &potential.threads.iter().map(of_thread).collect::<Vec<_>>())
    }

    /// Whether it is about something of one of these variables, each with what it is called besides, whose parts are in these places.
    fn fits(&self, variables: &[(&String, &Vec<String>)], parts: &[Vec<Location>]) -> bool {
        let is_part = |whole: &String| {
            let is_of = |variable: &String| {
                let rest = variable.strip_prefix(whole.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '+']))
            };
            variables.iter().any(|(variable, others)| is_of(variable) || others.iter().any(is_of))
        };
        self.variable.as_ref().is_none_or(is_part)
            && are_of(&self.functions, parts, &|place, name| place.function.as_deref() == Some(name))
            && are_of(&self.files, parts, &|place, name| {
                let file = place.file.as_deref().unwrap_or_default();
                file.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            })
    }
}

/// A place, and how a thread came there.
fn places(place: &Location, stack: &[Location]) -> Vec<Location> {
    std::iter::once(place).chain(stack).cloned().collect()
}

/// Whether names hold for the parts of a warning: one for either, two for one each.
fn are_of(names: &[String], parts: &[Vec<Location>], is: &dyn Fn(&Location, &str) -> bool) -> bool {
    let holds = |part: usize, name: &String| parts[part].iter().any(|place| is(place, name));
    let all = || 0..parts.len();
    match names {
        [] => true,
        [one] => all().any(|part| holds(part, one)),
        [one, other, ..] => all().any(|a| holds(a, one) && all().any(|b| a != b && holds(b, other))),
    }
}
