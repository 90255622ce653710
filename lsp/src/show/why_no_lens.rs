//! Reasons for a missing lens.

use explorer::discover::{Explorability, TargetAt};

use crate::commands::AtLine;
use crate::documents;
use crate::known::Known;
use crate::refusals::NOT_TRUSTED;

/// The reason for which a file has no lens, or none at a line.
pub(crate) fn why_no_lens(known: &Known, place: &AtLine) -> String {
    let Some(file) = documents::path(&place.uri) else { return "only files can have lenses".to_owned() };
    if !known.settings.may_run() {
        return NOT_TRUSTED.to_owned();
    }
    if !known.settings.lenses {
        return "lenses are switched off in the settings (interleaver.lenses)".to_owned();
    }
    let Some(folder) = known.folder_of(&file) else {
        return format!("`{}` lies outside of the workspace", file.display());
    };
    let text = known.documents.get(&file).map(|document| document.text.as_str());
    match &folder.workspace {
        Some(workspace) => {
            let is_unbuilt = |at: &TargetAt| matches!(at.why, Explorability::NotBuilt { .. });
            let fruitless = known.fruitless_builds.get(&file);
            let fruitless =
                fruitless.filter(|_| workspace.targets_of_file(&file, text).iter().any(is_unbuilt));
            let why = || workspace.why_not(&file, text, place.line.map(|line| line + 1));
            fruitless.cloned().unwrap_or_else(why)
        }
        None => "the workspace is still being looked at: a lens appears when that is done".to_owned(),
    }
}
