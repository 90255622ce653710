//! A finding of a store, as an editor shows it.

use std::path::{Path, PathBuf};

use explorer::report::FailureKind;
use explorer::report::interned::Shared;
use explorer::store::findings::{KeptFinding, KeptFolder};

use super::related_lines::{self, RelatedLine};
use super::schedule::{self, Preemption, Step, ThreadState};
use super::spot::Spot;
use crate::explore::key::Key;

/// A finding.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Its name among all findings.
    pub(crate) id: String,
    /// The folder that names of its files start from.
    pub(crate) root: PathBuf,
    pub(crate) folder: KeptFolder,
    /// Without its events.
    pub(crate) kept: KeptFinding,
    pub(crate) at: Option<Spot>,
    /// Every change of thread, in order.
    pub(crate) switches: Vec<Step>,
    /// Those of them that are preemptions.
    pub(crate) preemptions: Vec<Preemption>,
    /// The threads at the end.
    pub(crate) end: Vec<ThreadState>,
    /// The order that decides.
    pub(crate) critical_pair: Vec<RelatedLine>,
    /// The accesses to blame.
    pub(crate) pattern: Vec<RelatedLine>,
}

impl Finding {
    pub(super) fn of(root: &Path, folder: &KeptFolder, mut kept: KeptFinding) -> Self {
        let told = &kept.finding;
        let own = told.parties.iter().filter(|party| Some(&party.thread) == told.thread.as_ref());
        let others = told.parties.iter().filter(|party| Some(&party.thread) != told.thread.as_ref());
        let stacks = own.chain(others).flat_map(|party| &party.stack);
        let at = std::iter::once(&told.place).chain(stacks).find_map(|place| Spot::of(place, root));
        let told = schedule::RecordedFinding::of(&kept.finding, root);
        let (switches, preemptions, end) = (told.switches(), told.preemptions(), told.end());
        let why = kept.finding.explanation.as_ref();
        let critical_pair = why.map(|why| related_lines::critical_pair(why, root)).unwrap_or_default();
        let pattern = why.map(|why| related_lines::pattern(why, root)).unwrap_or_default();
        // Long executions would fill the memory of the server.
        kept.finding.events = Shared::default();
        if let Some(pair) = kept.finding.explanation.as_mut().and_then(|why| why.pair.as_mut()) {
            pair.passing = Shared::default();
        }
        Self {
            id: folder.path().join(&kept.id).to_string_lossy().into_owned(),
            root: root.to_owned(),
            folder: folder.clone(),
            at,
            switches,
            preemptions,
            end,
            critical_pair,
            pattern,
            kept,
        }
    }

    /// The target that it was found in.
    pub(crate) fn target(&self) -> Key {
        Key { root: self.root.clone(), id: self.kept.target.clone() }
    }

    /// Whether it is to be shown as a problem.
    pub(crate) fn is_open(&self) -> bool {
        self.kept.fixed.is_none()
    }

    /// Whether it fails only where a thread is stalled: a warning.
    pub(crate) fn is_timing(&self) -> bool {
        self.kept.finding.stall.is_some()
    }

    /// Whether it is a bug of the threads' order; a program that always fails is none.
    pub(crate) fn is_concurrency_bug(&self) -> bool {
        self.kept.finding.kind != FailureKind::AlwaysFails
    }

    /// Whether a simpler schedule may be found by taking longer. A program that always fails has none, and each experiment
    /// with a thread that goes round in a loop for ever would last as long as a thread may run.
    pub(crate) fn can_be_minimised(&self) -> bool {
        let told = &self.kept.finding;
        let is_minimised = told.explanation.as_ref().is_some_and(|why| why.minimised);
        let goes_round = told.kind == FailureKind::Livelock && told.thread.is_some();
        !is_minimised && !goes_round && told.kind != FailureKind::AlwaysFails
    }

    /// Whether more about it could be found out by taking longer.
    pub(crate) fn is_unfinished(&self) -> bool {
        let why = self.kept.finding.explanation.as_ref();
        why.is_some_and(|why| why.unfinished) && self.kept.finding.kind != FailureKind::AlwaysFails
    }

    /// The kind as it is written in reports.
    pub(crate) fn kind(&self) -> String {
        let kind = serde_json::to_value(self.kept.finding.kind).ok();
        kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    }

    /// Its schedule file.
    pub(crate) fn schedule(&self) -> PathBuf {
        self.folder.path().join(&self.kept.schedule)
    }

    /// The schedule file that passes, if there is one.
    pub(crate) fn passing(&self) -> Option<PathBuf> {
        self.kept.passing().and_then(|name| self.folder.path_of(&name))
    }

    /// The program that it was found in: where it was, if it is still there, else the copy.
    pub(crate) fn program(&self) -> PathBuf {
        let place = self.kept.run.program.in_checkout(&self.root);
        let copy = self.kept.program.as_ref().map(|copy| self.folder.path().join(copy));
        match copy {
            Some(copy) if !is_same_file(&place, &copy) => copy,
            _ => place,
        }
    }
}

/// Whether two files hold the same program, as far as that can be told without reading them.
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) else { return false };
    let is_link = (one.dev(), one.ino()) == (other.dev(), other.ino());
    is_link || (one.len() == other.len() && one.modified().ok() <= other.modified().ok())
}
