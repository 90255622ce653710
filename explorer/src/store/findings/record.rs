//! Records of a store: one for each target, and one for each finding.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Extent;
use crate::input::portable_path::Place;
use crate::report::finding::old_form::without_option;
use crate::report::verdict::Verdict;
use crate::report::{Covered, Finding, NotCovered, PotentialDeadlock};
use crate::schedule_file::{SavedTarget, names};

/// Value of the `format` member of a finding's file.
pub const FINDING: &str = "interleaver-finding";

/// Value of the `format` member of a target's file.
pub const TARGET: &str = "interleaver-target";

/// The version of both that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// A finding as it is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptFinding {
    /// Always [`FINDING`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// Its name, which no other finding of the target has. The same failure keeps it over rebuilds.
    pub id: String,
    /// The target's name.
    pub target: String,
    /// The program that ran, and everything that it was given.
    pub run: SavedTarget,
    /// Bound and budget of the exploration that found it, of several the larger ones; absent in stores of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
    /// Time at which it was found first; seconds since 1970, as everywhere here.
    pub found: u64,
    /// Time since which it is known to be fixed.
    pub fixed: Option<u64>,
    /// Result of the last run that looked for it again.
    pub checked: Option<Checked>,
    /// The schedule file, relative to the target's folder.
    pub schedule: String,
    /// The program as it was, relative to the target's folder; absent where it could not be kept.
    pub program: Option<String>,
    /// Says that this copy was kept by this user; absent where there is none, or no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_seal: Option<String>,
    /// The sources that it names, as they were.
    pub sources: Vec<KeptSource>,
    /// The finding as the report has it.
    pub finding: Finding,
}

/// A kept finding but for the finding itself, which can be as long as its execution.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct KeptHead {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) id: String,
    pub(crate) found: u64,
    #[serde(default)]
    pub(crate) extent: Option<Extent>,
    #[serde(default)]
    pub(crate) fixed: Option<u64>,
    pub(crate) run: SavedTarget,
    pub(crate) finding: ToldHead,
    pub(crate) schedule: String,
    pub(crate) program: Option<String>,
    pub(crate) sources: Vec<KeptSource>,
}

/// The rank of a finding among those of one failure.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct ToldHead {
    preemptions: Option<u32>,
    #[serde(default)]
    explanation: Option<WhyHead>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
struct WhyHead {
    #[serde(default)]
    minimised: bool,
    #[serde(default)]
    missing: Vec<String>,
}

impl ToldHead {
    /// Whether it takes no more preemptions than another one of the same build, and its explanation tells more.
    pub(super) fn outlasts(&self, other: &Finding) -> bool {
        let Some(why) = &self.explanation else { return false };
        let is_simpler = match (self.preemptions, other.preemptions) {
            (Some(own), Some(other)) => own <= other,
            _ => true,
        };
        let tells_more = other.explanation.as_ref().is_none_or(|other| {
            (why.minimised, Reverse(why.missing.len())) > (other.minimised, Reverse(other.missing.len()))
        });
        is_simpler && tells_more
    }
}

/// A source as it was when a finding was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptSource {
    /// As the report names it: relative to the root, or absolute.
    pub file: String,
    /// BLAKE3 of its bytes, in hexadecimal digits.
    pub hash: String,
    /// Its copy, relative to the target's folder.
    pub copy: String,
    /// It had been changed after the program was built.
    pub newer: bool,
}

/// Result of looking for a finding again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checked {
    /// Time of that.
    pub at: u64,
    /// The result.
    pub result: CheckResult,
    /// The same as a sentence: `fixed: no failure up to 1 preemption · 312 schedules`.
    pub words: String,
}

/// Is a finding still there?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It was found again.
    StillFails,
    /// Every schedule within the bound of the exploration that found it was run, and it was not found.
    Fixed,
    /// The run ended before its bound was covered.
    Inconclusive,
}

/// A target as it is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptTarget {
    /// Always [`TARGET`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// Its name: the program's, with `#` and the test's if it is one of several in the program.
    pub id: String,
    /// The program that ran last, and everything that it was given.
    pub run: SavedTarget,
    /// Result of that run.
    pub last: Run,
}

/// Result of a run: the numbers of its report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Time at which it ended.
    pub at: u64,
    /// Its verdict.
    pub verdict: Verdict,
    /// The search.
    pub strategy: String,
    /// Every execution of the search; 0 in stores of older versions.
    #[serde(default)]
    pub executions: u64,
    /// Executions that ended, each class once.
    pub schedules: u64,
    /// Executions that repeated a class.
    pub redundant: u64,
    /// Executions that were cut because the rest was known.
    pub pruned: u64,
    /// All other executions.
    pub other: u64,
    /// The most threads that an execution had; 0 in stores of older versions.
    #[serde(default)]
    pub threads: u32,
    /// Bounds of which every schedule was run.
    pub covered: Covered,
    /// Its bound is covered, but for what was not watched; false in stores of older versions.
    #[serde(default)]
    pub complete: bool,
    /// The account of unwatched code and effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<NotCovered>,
    /// The reason for which it ended.
    pub ended: String,
    /// The same without the option of the command line; absent in stores of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Notes on what the result rests on.
    pub notes: Vec<String>,
    /// The findings that it made.
    pub findings: Vec<String>,
    /// The potential deadlocks that it saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub potential_deadlocks: Vec<KeptPotentialDeadlock>,
}

/// A potential deadlock as it is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptPotentialDeadlock {
    /// The potential deadlock as the report has it.
    #[serde(flatten)]
    pub told: PotentialDeadlock,
    /// Of each source that it names, BLAKE3 of its bytes, in hexadecimal digits.
    pub sources: BTreeMap<String, String>,
}

impl Run {
    /// The count of schedules for people: every execution, as progress counts them.
    #[must_use]
    pub fn ran(&self) -> u64 {
        self.executions.max(self.schedules)
    }

    /// Whether everything was run, and no thread was created.
    #[must_use]
    pub fn has_no_threads(&self) -> bool {
        self.threads == 1 && self.verdict == Verdict::Clean
    }

    /// The reason for which it ended, without the option of the command line.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_else(|| without_option(&self.ended))
    }
}

impl KeptFinding {
    /// The schedule file that passes, relative to the target's folder, if one was found.
    #[must_use]
    pub fn passing(&self) -> Option<String> {
        let pair = self.finding.explanation.as_ref()?.pair.as_ref()?;
        pair.schedule_file.is_some().then(|| names::passing_name(&self.id))
    }
}

impl KeptSource {
    /// Path of the source in the checkout at `root`.
    #[must_use]
    pub fn path(&self, root: &std::path::Path) -> std::path::PathBuf {
        root.join(&self.file)
    }
}

/// The name of a target that is a whole program.
#[must_use]
pub fn program_id(program: &Place) -> String {
    program.display()
}

/// The digits that stand for a source's text.
#[must_use]
pub fn content_hash(text: &[u8]) -> String {
    blake3::hash(text).to_hex().to_string()
}
