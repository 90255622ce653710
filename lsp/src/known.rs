//! Known facts: the programs in the folders, the findings in the stores, the texts, the jobs under way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use explorer::discover::{BuildStep, Target, Workspace};

use crate::documents::{self, Documents};
use crate::explore::compile_errors::CompileError;
use crate::explore::folder::Folder;
use crate::explore::job::{ExploreRequest, Jobs};
use crate::explore::key::{self, Key};
use crate::findings::{Finding, Findings, Texts};
use crate::settings::Settings;
use crate::show::words::BugSummary;
use crate::text::PositionEncoding;

/// The data of lenses, diagnostics, hints and the tree.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) encoding: PositionEncoding,
    pub(crate) settings: Settings,
    pub(crate) folders: Vec<Folder>,
    pub(crate) documents: Documents,
    pub(crate) findings: Findings,
    pub(crate) texts: Texts,
    pub(crate) jobs: Jobs,
    /// The finding that hints belong to, if one was chosen.
    pub(crate) selected: Option<String>,
    /// The errors for which targets could not be explored the last time.
    pub(crate) errors: HashMap<Key, String>,
    /// Errors of the last build in each directory.
    pub(crate) compile_errors: HashMap<PathBuf, Vec<CompileError>>,
    /// Files of which the last build made no program, each with a sentence.
    pub(crate) fruitless_builds: HashMap<PathBuf, String>,
}

impl Known {
    /// Number of findings that are of another text than that of now.
    pub(crate) fn stale_findings(&self) -> usize {
        self.findings.open().filter(|finding| self.texts.is_stale(finding, &self.documents)).count()
    }

    /// The workspace folder that a file belongs to, be it by way of a symbolic link that its editor followed.
    pub(crate) fn folder_of(&self, file: &Path) -> Option<&Folder> {
        let opened_as = || documents::named_path(&self.documents.get(file)?.uri);
        let holding = |file: &Path| crate::explore::folder::holding(&self.folders, file);
        holding(file).or_else(|| holding(&opened_as()?))
    }

    /// The name of a target for clients.
    pub(crate) fn name_of(&self, key: &Key) -> String {
        key.name(&self.folders.first().map(Folder::root).unwrap_or_default())
    }

    pub(crate) fn folder_mut(&mut self, path: &Path) -> Option<&mut Folder> {
        self.folders.iter_mut().find(|folder| folder.path == path)
    }

    /// The target of the store that a client names.
    pub(crate) fn explored_before(&self, name: &str) -> Option<Key> {
        self.findings.targets().find(|key| self.name_of(key) == name)
    }

    /// The folder of a target: the one that was seen to have it, else one that holds its checkout.
    pub(crate) fn folder_with(&self, key: &Key) -> Option<PathBuf> {
        let has = |folder: &&Folder| {
            let workspace = folder.workspace.as_ref();
            workspace.is_some_and(|workspace| workspace.target_in(&key.id, &key.root).is_some())
        };
        let holds = |folder: &&Folder| folder.root() == key.root || key.root.starts_with(&folder.path);
        let folder = self.folders.iter().find(has).or_else(|| self.folders.iter().find(holds))?;
        Some(folder.path.clone())
    }

    /// The target that a client names. Where it does not name the checkout, that is the one of the file, else the first.
    pub(crate) fn target(&self, name: &str, file: Option<&Path>) -> Option<(PathBuf, Target)> {
        let (id, root) = key::parse(name);
        let find = |folder: &Folder| {
            let workspace = folder.workspace.as_ref()?;
            root.map_or_else(|| workspace.target(id), |root| workspace.target_in(id, root))
        };
        let first = file.and_then(|file| self.folder_of(file));
        let mut folders = first.into_iter().chain(&self.folders);
        folders.find_map(|folder| Some((folder.path.clone(), find(folder)?)))
    }

    pub(crate) fn workspace(&self, folder: &Path) -> Option<Arc<Workspace>> {
        self.folders.iter().find(|known| known.path == folder)?.workspace.clone()
    }

    /// The finding that hints belong to.
    pub(crate) fn hinted(&self) -> Option<&Finding> {
        let selected = self.selected.as_ref().and_then(|id| self.findings.get(id));
        selected.filter(|finding| finding.is_open()).or_else(|| self.findings.first())
    }

    /// A file as it is named to people.
    pub(crate) fn shown(&self, path: &Path) -> String {
        self.folder_of(path).map_or_else(|| path.display().to_string(), |folder| shown(path, &folder.path))
    }

    /// Whether a program that was there is gone.
    pub(crate) fn is_gone(&self, request: &ExploreRequest) -> bool {
        let workspace = self.workspace(&request.folder);
        request
            .target
            .as_ref()
            .zip(workspace)
            .is_some_and(|(key, workspace)| workspace.target_in(&key.id, &key.root).is_none())
    }

    pub(crate) fn build_step(&self, request: &ExploreRequest) -> Option<BuildStep> {
        let workspace = self.workspace(&request.folder)?;
        match (&request.target, &request.location) {
            (Some(key), _) => workspace.build_step(&workspace.target_in(&key.id, &key.root)?),
            (None, Some((file, _))) => workspace.build_step_of_file(file),
            (None, None) => None,
        }
    }

    /// The line of the test that a finding was found in, from 0, where its failing line is in another file.
    pub(crate) fn test_of(&self, finding: &Finding) -> Option<(PathBuf, u32, String)> {
        let key = finding.target();
        let failing = finding.at.as_ref()?;
        let workspace = self.workspace(&self.folder_with(&key)?)?;
        let target = workspace.target_in(&key.id, &key.root)?;
        let at = target.at.filter(|at| target.test.is_some() && at.file != failing.file)?;
        let text = self.documents.text(&at.file);
        let written = workspace.targets_of_file(&at.file, text.as_deref()).into_iter();
        let mut same = written.filter(|other| other.target.as_ref().is_some_and(|other| other.id == key.id));
        let line = same.next().map_or(at.line, |other| other.line);
        Some((at.file, line.saturating_sub(1), target.label))
    }

    /// State of a target's bugs.
    pub(crate) fn bugs(&self, target: &Key) -> BugSummary {
        let all = self.findings.of_target(target).filter(|finding| finding.is_open());
        let (timing, open): (Vec<&Finding>, Vec<&Finding>) = all.partition(|finding| finding.is_timing());
        let told = || open.iter().map(|finding| &finding.kept.finding);
        let preemptions = told().filter_map(|told| told.preemptions).min();
        BugSummary {
            open: open.len(),
            timing: timing.len(),
            preemptions,
            fewest: told().any(|told| told.preemptions == preemptions && told.fewest),
            always: told()
                .next()
                .map(|told| told.tried)
                .filter(|_| !open.iter().any(|it| it.is_concurrency_bug())),
        }
    }

    /// The error for which a target could not be explored the last time.
    pub(crate) fn error_of(&self, target: &Key) -> Option<&str> {
        self.errors.get(target).map(String::as_str)
    }

    /// Whether the text is the one that was explored, and the order of threads matters.
    pub(crate) fn has_hints(&self, finding: &Finding) -> bool {
        finding.is_concurrency_bug() && !self.texts.is_stale(finding, &self.documents)
    }
}

/// A path relative to its folder, if it lies in there.
pub(crate) fn shown(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
