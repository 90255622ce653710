//! Listing of everything that a scan has looked at, for `interleaver list`.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::discover::walk::{Limits, ScanBudget};
use crate::discover::{Candidate, SourceLine, Target, Workspace};
use crate::escaping::escaped_line;
use crate::report::plural::plural;

/// Everything that a scan has looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Listing {
    /// The folder.
    pub root: PathBuf,
    /// Number of folders that were looked through.
    pub folders: usize,
    /// Number of files that were looked at.
    pub files: usize,
    /// The place at which a limit ended the search for executables, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// The executables, the freshest first.
    pub executables: Vec<ListedExecutable>,
}

/// An executable that was looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedExecutable {
    /// Relative to the folder, if it lies in there.
    pub path: String,
    /// The targets in it that can be explored.
    pub targets: Vec<ListedTarget>,
    /// The reason for which it is left out, in one sentence with what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Number of the user's files that it was made of.
    pub sources: usize,
    /// The first source that is newer than it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer_source: Option<String>,
}

/// Something that can be explored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedTarget {
    /// The target's ID.
    pub id: String,
    /// Its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<SourceLine>,
    /// The reason for which it is refused all the same, in one sentence with what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl From<Target> for ListedTarget {
    fn from(target: Target) -> Self {
        let refused = target.test.and_then(|test| test.ambiguity);
        Self { id: target.id, at: target.at, refused }
    }
}

impl Listing {
    /// For a person: each executable with what can be explored in it, or why it is left out.
    #[must_use]
    pub fn render(&self) -> String {
        let looked = format!(
            "{}: {} in {}\n",
            escaped_line(&self.root.to_string_lossy()),
            plural(self.files as u64, "file"),
            plural(self.folders as u64, "folder")
        );
        let cut =
            self.cut.iter().map(|cut| format!("Not everything was looked at: {}.\n", escaped_line(cut)));
        let none = self
            .executables
            .is_empty()
            .then(|| "No executables were found: build something first.\n".to_owned());
        let all = self.executables.iter().map(ListedExecutable::render);
        std::iter::once(looked).chain(cut).chain(none).chain(all).collect()
    }
}

impl ListedExecutable {
    fn render(&self) -> String {
        if let Some(reason) = &self.left_out {
            return format!("\n{}\n    left out: {}\n", escaped_line(&self.path), escaped_line(reason));
        }
        let newer =
            self.newer_source.iter().map(|source| format!("    older than {}\n", escaped_line(source)));
        let targets = self.targets.iter().map(|target| {
            let at = target
                .at
                .as_ref()
                .map(|at| format!("  {}:{}", escaped_line(&at.file.to_string_lossy()), at.line));
            let refused =
                target.refused.as_ref().map(|reason| format!("        refused: {}\n", escaped_line(reason)));
            format!(
                "    {}{}\n{}",
                escaped_line(&target.id),
                at.unwrap_or_default(),
                refused.unwrap_or_default()
            )
        });
        std::iter::once(format!("\n{}\n", escaped_line(&self.path))).chain(newer).chain(targets).collect()
    }
}

impl Workspace {
    /// Lists everything that was looked at, with the reason for which each executable was left out.
    #[must_use]
    pub fn listing(&self) -> Listing {
        // Executables that were read are listed also where reading has taken all its time.
        let budget = ScanBudget::new(Limits { reading: self.limits.time, ..self.limits });
        let mut executables = Vec::new();
        let unlisted = budget.each(&self.candidates, |candidate| executables.push(self.listed(candidate)));
        let rest = unlisted.map(|nth| self.candidates.len() - nth);
        let cut = self.found.cut.clone();
        Listing {
            root: self.root.clone(),
            folders: self.found.folders,
            files: self.found.files,
            cut: cut.or_else(|| Some(budget.is_over_before(rest?, "executable", "listed"))),
            executables,
        }
    }

    /// Everything that can be explored in the workspace.
    #[must_use]
    pub fn listed_targets(&self) -> Vec<Target> {
        let is_listed = |candidate: &&Arc<Candidate>| {
            self.reason(candidate).is_none() && self.nothing_to_explore(candidate).is_none()
        };
        self.candidates.iter().filter(is_listed).flat_map(|candidate| self.targets_in(candidate)).collect()
    }

    fn listed(&self, candidate: &Candidate) -> ListedExecutable {
        let left_out = self.reason(candidate).or_else(|| self.nothing_to_explore(candidate));
        let targets = if left_out.is_some() { Vec::new() } else { self.targets_in(candidate) };
        ListedExecutable {
            path: self.shown(&candidate.path),
            targets: targets.into_iter().map(ListedTarget::from).collect(),
            left_out,
            sources: candidate.sources.len(),
            newer_source: self.newer_source(candidate).map(|source| self.shown(source)),
        }
    }

    /// The reason for which there is nothing to explore in an executable that can be explored.
    pub(super) fn nothing_to_explore(&self, candidate: &Candidate) -> Option<String> {
        let path = self.shown(&candidate.path);
        if self.targets_in(candidate).is_empty() {
            return Some(format!("`{path}` holds no tests"));
        }
        if !self.may_create_threads(candidate) {
            return Some(format!("`{path}` creates no threads: there are no interleavings to explore"));
        }
        let is_cargos = matches!(candidate.kind, crate::discover::Kind::Cargo(_));
        let tool = if is_cargos { "set `debug = true` in the profile" } else { "rebuild with -g" };
        (!candidate.has_debug_lines).then(|| {
            format!("`{path}` has no line numbers, so that no source file leads to it: {tool}, or explore it by its name")
        })
    }
}
