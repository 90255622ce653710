//! Sources as a client knows them: files, and texts as they were explored where the files have been edited since.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::protocol::{Request, Source, SourceArguments};
use crate::request::{Answer, Launched, Refusal, arguments};

pub(crate) fn source_text(launched: Launched<'_>, request: &Request) -> Answer {
    let SourceArguments { source, source_reference } = arguments(request)?;
    let inner = source.and_then(|source| source.source_reference);
    let number = inner.filter(|number| *number != 0).unwrap_or(source_reference);
    let (file, text) = launched.session()?.explored_text(u64::try_from(number).unwrap_or(0))?;
    Ok(json!({"content": text, "mimeType": mime_type(&file)}))
}

pub(crate) fn loaded_sources(launched: Launched<'_>) -> Answer {
    let known = launched.session()?.sources()?;
    let sources: Vec<Source> = known.iter().map(|(file, explored)| source(file, *explored, true)).collect();
    Ok(json!({"sources": sources}))
}

/// The file that a client means.
pub(crate) fn file_of(launched: Launched<'_>, source: &Source) -> Result<PathBuf, Refusal> {
    match source.source_reference.filter(|number| *number != 0) {
        Some(number) => Ok(launched.session()?.explored_text(u64::try_from(number).unwrap_or(0))?.0),
        None => source.path.clone().ok_or_else(|| Refusal("a breakpoint needs a file".to_owned())),
    }
}

/// A file; `explored` is the number of its text as it was explored, if it has another one now.
pub(crate) fn source(file: &Path, explored: Option<u64>, is_own: bool) -> Source {
    let number = explored.and_then(|number| i64::try_from(number).ok());
    // A source with neither path nor number is shown as one that cannot be opened.
    let is_there = number.is_some() || file.is_file();
    let origin = match (number, is_there) {
        (Some(_), _) => Some("as explored: the file has been edited since".to_owned()),
        (None, false) => Some(format!("there is no file `{}`", file.display())),
        (None, true) => None,
    };
    Source {
        name: file.file_name().map(|name| name.to_string_lossy().into_owned()),
        path: is_there.then(|| file.to_owned()),
        source_reference: number,
        presentation_hint: (!is_own || !is_there).then(|| "deemphasize".to_owned()),
        origin,
    }
}

fn mime_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("c" | "h") => "text/x-c",
        Some("rs") => "text/x-rust",
        Some("cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx") => "text/x-c++",
        _ => "text/plain",
    }
}
