//! Files and tests without a program, or with one that has no lines for them.

use std::path::Path;

use crate::discover::target::Explorability;
use crate::discover::{Candidate, Kind, Workspace};

/// A file that the line tables of no program list.
pub(in crate::discover) fn unlisted(workspace: &Workspace, file: &Path) -> Explorability {
    if let Some(candidate) = without_lines(workspace, file) {
        let program = workspace.shown(&candidate.path);
        let flag = match candidate.kind {
            Kind::Plain => "-g",
            Kind::Cargo(_) => "`debug = true` in the profile",
        };
        let sentence = format!("`{program}` has no line numbers for this file: rebuild with {flag}");
        return Explorability::Blocked { sentence };
    }
    let to_come = workspace.to_come().next().map(|target| workspace.shown(&target.program));
    let to_come =
        to_come.map(|program| format!(", and `{program}`, which interleaver.toml names, is not there"));
    let nothing = format!(
        "no program has been built from `{}` yet{}",
        workspace.shown(file),
        to_come.unwrap_or_default()
    );
    let sentence = match workspace.build_step_of_file(file) {
        Some(step) => format!("{nothing}: `{}` builds it", step.command),
        None => format!("{nothing}, and it is not known how: say `build = \"…\"` in interleaver.toml"),
    };
    match workspace.candidates.iter().find(|candidate| candidate.is_stripped && candidate.sources.is_empty())
    {
        Some(stripped) => Explorability::NotBuilt {
            sentence: format!(
                "{sentence}; what `{}` was built from cannot be told, since it is stripped: rebuild with -g and \
                 without -s",
                workspace.shown(&stripped.path)
            ),
        },
        None => Explorability::NotBuilt { sentence },
    }
}

/// A program that was made of a file of this name, and has no lines for it.
fn without_lines<'a>(workspace: &'a Workspace, file: &Path) -> Option<&'a Candidate> {
    let name = file.file_name()?.to_str()?;
    let is_of = |candidate: &&Candidate| match &candidate.kind {
        // rustc names the crate, not the file; nearly every program of a package has its files.
        Kind::Cargo(target) => {
            !candidate.has_debug_lines
                && workspace.manifest(target).is_some_and(|manifest| file.starts_with(manifest.folder()))
        }
        Kind::Plain => {
            let of_crate = || {
                let stem = name.strip_suffix(".rs")?;
                candidate.file_symbols.iter().find(|symbol| {
                    symbol.split_once('.').is_some_and(|(krate, rest)| krate == stem && rest.contains("cgu"))
                })
            };
            candidate.file_symbols.iter().any(|symbol| symbol == name)
                || (!candidate.has_debug_lines && of_crate().is_some())
        }
    };
    workspace.candidates.iter().map(AsRef::as_ref).find(is_of)
}

/// A test that the text has and the program has not.
pub(in crate::discover) fn not_in(
    workspace: &Workspace,
    candidate: &Candidate,
    name: &str,
    file: &Path,
) -> String {
    let program = workspace.shown(&candidate.path);
    match workspace.build_step_of_file(file) {
        Some(step) => format!("`{name}` is not in `{program}` yet: `{}` builds it", step.command),
        None => format!("`{name}` is not in `{program}` yet: build it again"),
    }
}
