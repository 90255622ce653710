//! Jobs: builds and explorations under way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use explorer::discover::BuildStep;
use explorer::verbs::json_lines::Line;
use explorer::verbs::watch::Progress;
use tokio::sync::oneshot;

use crate::explore::key::Key;
use crate::show::words;

/// A request for an exploration.
#[derive(Clone, Debug)]
pub(crate) struct ExploreRequest {
    /// The workspace folder that it lies in.
    pub(crate) folder: PathBuf,
    /// The target; `None` where nothing has been built yet.
    pub(crate) target: Option<Key>,
    /// The source that its lens stands in, and what it is called there.
    pub(crate) location: Option<(PathBuf, String)>,
    /// Its name for people.
    pub(crate) label: String,
    pub(crate) purpose: Purpose,
}

/// Purpose of an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// To find failures; `budget_level` counts how often more was asked for.
    Explore { budget_level: u32 },
    /// To see whether a finding is still there.
    Check { finding: String },
    /// To make the schedule of a finding as simple as it gets.
    Minimise { finding: String },
}

/// A build or an exploration under way. Dropping it ends it.
pub(crate) struct Job {
    pub(crate) id: u64,
    pub(crate) request: ExploreRequest,
    pub(crate) phase: Phase,
    /// Its program was built, or is being built.
    pub(crate) has_built: bool,
    /// The command that has built it.
    pub(crate) built_by: Option<String>,
    /// The build step that was known before the folder was looked at anew: a program that is gone is not known there.
    pub(crate) known_build: Option<BuildStep>,
    pub(crate) progress: Option<Progress>,
    /// Whether the client has been shown its progress.
    pub(crate) is_shown: bool,
    found: BTreeSet<String>,
    /// It has come to a result.
    has_reported: bool,
    cancel: Option<oneshot::Sender<()>>,
    is_cancelled: bool,
}

/// Phase of a job.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// The program is being built.
    Building,
    /// It is being looked for, in a look of that number.
    Looking(u64),
    /// It runs.
    Running,
}

impl Job {
    /// Number of distinct failures that it has found.
    pub(crate) fn bugs(&self) -> usize {
        self.found.len()
    }

    /// Whether it has found this.
    pub(crate) fn has_found(&self, id: &str) -> bool {
        self.found.contains(id)
    }

    /// Its phase or progress, as a lens, the tree and a status bar have it.
    pub(crate) fn words(&self) -> String {
        match self.phase {
            Phase::Building => "● building".to_owned(),
            Phase::Looking(_) | Phase::Running => words::running(self.progress.as_ref(), self.bugs()),
        }
    }

    /// Takes in a line, and says whether the store has something new.
    pub(crate) fn take(&mut self, line: &Line) -> bool {
        match line {
            Line::Progress(progress) => self.progress = Some(*progress),
            Line::Finding { finding } => {
                self.found.extend(finding.id.clone().filter(|_| !finding.dismissed));
                return true;
            }
            Line::Report { .. } => self.has_reported = true,
            Line::Error { .. } => {}
        }
        false
    }

    /// The channel that ends its next part when it is used or dropped. A cancelled job has none left.
    pub(crate) fn next_part(&mut self) -> Option<oneshot::Receiver<()>> {
        let (cancel, cancelled) = oneshot::channel();
        self.cancel = (!self.is_cancelled).then_some(cancel);
        (!self.is_cancelled).then_some(cancelled)
    }

    /// Begins its build; gives the channel that ends that, as for any part.
    pub(crate) fn build(&mut self) -> Option<oneshot::Receiver<()>> {
        (self.phase, self.has_built) = (Phase::Building, true);
        self.next_part()
    }

    pub(crate) fn cancel(&mut self) {
        self.is_cancelled = true;
        drop(self.cancel.take());
    }

    /// Whether it has come to a result that was not cut short.
    pub(crate) fn has_result(&self) -> bool {
        self.has_reported && !self.is_cancelled
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Jobs {
    jobs: BTreeMap<u64, Job>,
    last: u64,
}

impl Jobs {
    /// The one that works on a target.
    pub(crate) fn of_target(&self, target: &Key) -> Option<&Job> {
        self.jobs.values().find(|job| job.request.target.as_ref() == Some(target))
    }

    /// The one that works on what stands in a source under a name.
    pub(crate) fn of_place(&self, file: &std::path::Path, name: &str) -> Option<&Job> {
        let location = |job: &&Job| {
            job.request
                .location
                .as_ref()
                .is_some_and(|(its_file, its_name)| its_file == file && its_name == name)
        };
        self.jobs.values().find(location)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// The job that runs, where there is only one.
    pub(crate) fn only(&self) -> Option<u64> {
        let mut all = self.jobs.keys();
        all.next().copied().filter(|_| all.next().is_none())
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Job> {
        self.jobs.get_mut(&id)
    }

    /// Takes one in, which has not begun.
    pub(crate) fn add(&mut self, request: ExploreRequest, phase: Phase) -> u64 {
        self.last += 1;
        let id = self.last;
        let job = Job {
            id,
            request,
            phase,
            has_built: false,
            built_by: None,
            known_build: None,
            progress: None,
            is_shown: false,
            found: BTreeSet::new(),
            has_reported: false,
            cancel: None,
            is_cancelled: false,
        };
        self.jobs.insert(id, job);
        id
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Job> {
        self.jobs.remove(&id)
    }

    /// Those that wait for a look up to this number.
    pub(crate) fn waiting_for(&self, folder: &std::path::Path, number: u64) -> Vec<u64> {
        let waits = |job: &&Job| {
            job.request.folder == folder && matches!(job.phase, Phase::Looking(wanted) if wanted <= number)
        };
        self.jobs.values().filter(waits).map(|job| job.id).collect()
    }
}
