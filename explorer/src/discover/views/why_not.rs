//! Reasons for which there is nothing to explore in a file, or at a line of it, in one sentence with what to do.

use std::path::Path;

use super::not_built::unlisted;
use crate::discover::written::written;
use crate::discover::{TextLanguage, Workspace};

impl Workspace {
    /// The reason for which a file has no lens, or that at a line (from 1) cannot be used as it is. `text` is the file as
    /// the editor has it; without one it is read.
    #[must_use]
    pub fn why_not(&self, file: &Path, text: Option<&str>, line: Option<u32>) -> String {
        let file = self.file(file);
        let name = self.shown(&file);
        let Some(language) = TextLanguage::of(&file) else {
            return format!("`{name}` is no C, C++ or Rust file");
        };
        let text =
            match text.map(str::to_owned).map_or_else(|| files::read_text(&file, files::Kind::Text), Ok) {
                Ok(text) => text,
                Err(error) => return format!("`{name}` cannot be read: {error}"),
            };
        let targets = self.targets_of_file(&file, Some(&text));
        let nearest = targets.iter().min_by_key(|target| line.map_or(0, |line| line.abs_diff(target.line)));
        if let Some(target) = nearest {
            return target.why.sentence().unwrap_or_else(|| {
                format!("there is one: `{}` in line {} can be explored", target.name, target.line)
            });
        }
        if !file.starts_with(&self.root) && !self.candidates.iter().any(|candidate| candidate.lists(&file)) {
            return format!("`{name}` lies outside of the workspace `{}`", self.root.display());
        }
        if written(&text, language).is_empty() {
            self.without_entry(&file)
        } else {
            self.without_threads(&file)
        }
    }

    /// The sentence for a file with neither `main` nor tests: names the programs that use it, else the reason for which
    /// there are none.
    fn without_entry(&self, file: &Path) -> String {
        let name = self.shown(file);
        let nothing = format!("`{name}` has neither `main` nor tests");
        let mut users: Vec<String> =
            self.programs_using(file).into_iter().map(|target| target.label).collect();
        users.dedup();
        if !users.is_empty() {
            return format!("{nothing}: explore a program that uses it ({})", some_of(&users));
        }
        if let Some(candidate) = self.candidates.iter().find(|candidate| candidate.lists(file)) {
            let reason = self.reason(candidate).unwrap_or_else(|| creates_none(&self.shown(&candidate.path)));
            return format!("{nothing}, and {reason}");
        }
        match unlisted(self, file).sentence() {
            Some(sentence) => format!("{nothing}, and {sentence}"),
            None => nothing,
        }
    }

    /// A file with `main` or tests, of a program without threads, or of none in a workspace that has none.
    fn without_threads(&self, file: &Path) -> String {
        let name = self.shown(file);
        if let Some(candidate) = self.candidates.iter().find(|candidate| candidate.lists(file)) {
            let program = self.shown(&candidate.path);
            let why = self.reason(candidate).or_else(|| self.nothing_to_explore(candidate));
            return why.unwrap_or_else(|| format!("`{program}` has nothing of `{name}` that could be run"));
        }
        let unbuilt = unlisted(self, file).sentence().unwrap_or_default();
        format!(
            "{unbuilt}; no source of the workspace mentions threads, and without any there are no interleavings to explore"
        )
    }
}

fn creates_none(program: &str) -> String {
    format!("`{program}`, which uses it, creates no threads")
}

/// At most three names.
fn some_of(names: &[String]) -> String {
    let first: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    let rest = names.len().saturating_sub(3);
    if rest == 0 { first.join(", ") } else { format!("{} and {rest} more", first.join(", ")) }
}
