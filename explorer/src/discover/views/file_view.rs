//! View of one file: the targets that an editor shows above its lines.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use files::Kind;

use super::not_built::{not_in, unlisted};
use crate::discover::target::{Explorability, Target, TargetAt};
use crate::discover::threads::text_creates_threads;
use crate::discover::written::{DeclarationKind, SourceDeclaration, is_same, written};
use crate::discover::{Candidate, TextLanguage, Workspace};

impl Workspace {
    /// Targets that can be explored in a file, by line: `main` and tests that can create threads, as the freshest program
    /// has them, and those in the text that no program has yet. `text` is the file as the editor has it; without one it is
    /// read.
    #[must_use]
    pub fn targets_of_file(&self, file: &Path, text: Option<&str>) -> Vec<TargetAt> {
        let file = self.file(file);
        let Some(language) = TextLanguage::of(&file) else { return Vec::new() };
        let Some(text) = text.map(str::to_owned).or_else(|| files::read_text(&file, Kind::Text).ok()) else {
            return Vec::new();
        };
        let written = written(&text, language);
        let view = View {
            workspace: self,
            file: &file,
            text: &text,
            written: &written,
            speaks_of_threads: text_creates_threads(&text),
        };
        view.all()
    }
}

/// A file and what its text declares.
struct View<'a> {
    workspace: &'a Workspace,
    file: &'a Path,
    text: &'a str,
    written: &'a [SourceDeclaration],
    speaks_of_threads: bool,
}

impl View<'_> {
    fn all(&self) -> Vec<TargetAt> {
        let mut found: Vec<TargetAt> = Vec::new();
        let mut placed: HashSet<usize> = HashSet::new();
        for candidate in self.candidates() {
            let blocked = self.workspace.reason(candidate);
            let newer = self.workspace.newer_source(candidate);
            for (target, name) in self.targets(candidate) {
                let blocked = blocked.as_ref().or_else(|| target.test.as_ref()?.ambiguity.as_ref());
                let why = match (blocked, newer) {
                    (Some(sentence), _) => Explorability::Blocked { sentence: sentence.clone() },
                    (None, Some(source)) => Explorability::Stale { source: source.to_owned() },
                    (None, None) => Explorability::Ready,
                };
                let Some((line, index)) = self.place(&target, candidate) else { continue };
                let is_known = found.iter().any(|other| other.line == line && other.name == name);
                placed.extend(index);
                let threads = match self.workspace.said_to_create_threads(candidate) {
                    Some(said) => said,
                    None => self.speaks_of_threads || candidate.creates_threads,
                };
                if !is_known && threads {
                    found.push(TargetAt { target: Some(target), name, line, why });
                }
            }
        }
        found.extend(self.unbuilt(&placed));
        found.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
        found
    }

    /// Those that can be explored first, each kind the freshest first.
    fn candidates(&self) -> Vec<&Arc<Candidate>> {
        let listing = self.workspace.candidates.iter().filter(|candidate| candidate.lists(self.file));
        let (usable, left_out): (Vec<_>, Vec<_>) =
            listing.partition(|candidate| self.workspace.reason(candidate).is_none());
        usable.into_iter().chain(left_out).collect()
    }

    /// The targets of an executable that stand in this file, with their names there.
    fn targets(&self, candidate: &Candidate) -> Vec<(Target, String)> {
        let is_here = |target: &Target| target.at.as_ref().is_some_and(|at| at.file == self.file);
        let named = |target: Target| {
            let name = target.test.as_ref().map_or_else(|| "main".to_owned(), |test| test.name.clone());
            let is_own = target.id.starts_with("toml:");
            let name = if is_own { format!("{name} ({})", target.label) } else { name };
            (target, name)
        };
        self.workspace.targets_in(candidate).into_iter().filter(is_here).map(named).collect()
    }

    /// The line of a target in the text, and which declaration that is. `None` if the text no longer has it.
    fn place(&self, target: &Target, candidate: &Candidate) -> Option<(u32, Option<usize>)> {
        let line = target.at.as_ref()?.line;
        let is_it = |written: &SourceDeclaration| match (&written.what, &target.test) {
            (DeclarationKind::Main, None) => true,
            (DeclarationKind::Test(words), Some(test)) => is_same(&test.name, words),
            _ => false,
        };
        let matching = self.written.iter().enumerate().filter(|(_, written)| is_it(written));
        if let Some((index, written)) = matching.min_by_key(|(_, written)| written.line.abs_diff(line)) {
            return Some((written.line, Some(index)));
        }
        // A macro of the project's own may declare it: the text of its line when the program was built is looked for.
        let modified = self.file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let saved = (modified <= candidate.modified)
            .then(|| files::read_text(self.file, Kind::Text).ok())
            .flatten()?;
        let declaring = saved.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let same =
            (1..).zip(self.text.lines()).filter(|(_, text)| *text == declaring).map(|(number, _)| number);
        same.min_by_key(|number| line.abs_diff(*number)).map(|line| (line, None))
    }

    /// The `main` and the tests that the text declares and no program has.
    fn unbuilt(&self, placed: &HashSet<usize>) -> Vec<TargetAt> {
        let rest = self.written.iter().enumerate().filter(|(index, _)| !placed.contains(index));
        let rest: Vec<&SourceDeclaration> = rest.map(|(_, written)| written).collect();
        let listing = self.workspace.usable().find(|candidate| candidate.lists(self.file));
        let said = listing.and_then(|candidate| self.workspace.said_to_create_threads(candidate));
        let threads = said.unwrap_or_else(|| self.workspace.can_create_threads());
        if rest.is_empty() || !(self.speaks_of_threads || threads) {
            return Vec::new();
        }
        let why = |name: &str| match listing {
            Some(candidate) => {
                Explorability::NotBuilt { sentence: not_in(self.workspace, candidate, name, self.file) }
            }
            None => unlisted(self.workspace, self.file),
        };
        let found = rest.into_iter().map(|written| {
            let name = match &written.what {
                DeclarationKind::Main => "main".to_owned(),
                DeclarationKind::Test(words) => words.clone(),
            };
            TargetAt { target: None, why: why(&name), name, line: written.line }
        });
        found.collect()
    }
}
