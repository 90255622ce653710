//! `interleaver.toml` in an editor: diagnostics, completions and hovers. See `docs/configuration.md`.

use std::path::Path;

use explorer::config::{Config, FILE, Key, Problem, Severity, ValueKind, schema};
use explorer::discover::Target;
use serde_json::{Value, json};
use tower_lsp::ls_types::{
    CompletionItem, CompletionItemKind, Diagnostic, DiagnosticSeverity, Documentation, Hover, HoverContents,
    MarkupContent, MarkupKind, Position, Range, Uri,
};

use crate::commands::Configured;
use crate::documents;
use crate::known::Known;
use crate::refusals::no_target;
use crate::show::diagnostics::SOURCE;
use crate::text::{PositionEncoding, line, position};

/// Whether a file is one.
pub(crate) fn is_one(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == FILE)
}

/// Diagnostics of the problems in the `interleaver.toml` of a folder.
pub(crate) fn diagnostics(content: &str, folder: &Path, encoding: PositionEncoding) -> Vec<Diagnostic> {
    let (_, problems) = Config::parse(content, folder);
    problems.into_iter().map(|problem| diagnostic(content, problem, encoding)).collect()
}

fn diagnostic(content: &str, problem: Problem, encoding: PositionEncoding) -> Diagnostic {
    let at = |byte| position(content, byte, encoding);
    Diagnostic {
        range: Range::new(at(problem.range.start), at(problem.range.end)),
        severity: Some(match problem.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        source: Some(SOURCE.to_owned()),
        message: problem.sentence,
        ..Diagnostic::default()
    }
}

/// Completions at a position.
pub(crate) fn completions(content: &str, at: Position, encoding: PositionEncoding) -> Vec<CompletionItem> {
    let text = line(content, at.line).unwrap_or_default();
    let before = &text[..encoding.byte(text, at.character)];
    let in_target = is_in_target(content, at.line);
    match before.split_once('=') {
        Some((name, _)) => key(name.trim(), in_target).map(values).unwrap_or_default(),
        None => {
            let taken = taken(content, at.line);
            let free =
                schema().iter().filter(|key| key.section.allows(in_target) && !taken.contains(&key.name));
            free.map(item).collect()
        }
    }
}

/// Hover about the key at a position.
pub(crate) fn hover(content: &str, at: Position, encoding: PositionEncoding) -> Option<Hover> {
    let text = line(content, at.line)?;
    let name = text.split('=').next()?.trim().trim_matches(['[', ']']);
    let start = text.find(name)?;
    let end = start + name.len();
    let at_byte = encoding.byte(text, at.character);
    if at_byte < start || at_byte > end {
        return None;
    }
    let key = key(name, is_in_target(content, at.line)).or_else(|| key(name, false))?;
    let character = |byte: usize| Position::new(at.line, encoding.length(&text[..byte]));
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: explained(key) };
    Some(Hover {
        contents: HoverContents::Markup(contents),
        range: Some(Range::new(character(start), character(end))),
    })
}

fn explained(key: &Key) -> String {
    let default = if key.default.is_empty() { String::new() } else { format!("; default `{}`", key.default) };
    format!("**{}** ({}{default})\n\n{}", key.name, key.kind.words(), key.doc)
}

fn item(key: &Key) -> CompletionItem {
    let text = match key.kind {
        ValueKind::Targets => format!("[[{}]]\nprogram = \"\"", key.name),
        ValueKind::Suppressions => format!("[[{}]]\nreason = \"\"\nvariable = \"\"", key.name),
        _ if key.default.is_empty() => format!("{} = ", key.name),
        _ => format!("{} = {}", key.name, key.default),
    };
    CompletionItem {
        label: key.name.to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        detail: Some(key.kind.words()),
        documentation: Some(Documentation::String(key.doc.to_owned())),
        insert_text: Some(text),
        ..CompletionItem::default()
    }
}

fn values(key: &'static Key) -> Vec<CompletionItem> {
    let words: Vec<String> = match key.kind {
        ValueKind::Choice(choices) => choices.iter().map(|choice| format!("\"{choice}\"")).collect(),
        ValueKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        _ if key.default.is_empty() => Vec::new(),
        _ => vec![key.default.to_string()],
    };
    let item =
        |label| CompletionItem { label, kind: Some(CompletionItemKind::VALUE), ..CompletionItem::default() };
    words.into_iter().map(item).collect()
}

fn key(name: &str, in_target: bool) -> Option<&'static Key> {
    schema().iter().find(|key| key.name == name && key.section.allows(in_target))
}

/// Whether a line belongs to a `[[target]]`.
fn is_in_target(content: &str, number: u32) -> bool {
    let above = content.lines().take(number as usize);
    above.filter(|line| line.trim_start().starts_with('[')).last().is_some()
}

/// The keys of the section that a line is in, but for those on the line itself.
fn taken(content: &str, number: u32) -> Vec<&str> {
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let mut keys = Vec::new();
    for (at, line) in (0..).zip(content.lines()) {
        if is_header(line) {
            if at > number {
                break;
            }
            keys.clear();
        } else if at != number {
            keys.extend(line.split_once('=').map(|(name, _)| name.trim()));
        }
    }
    keys
}

/// The text with a place for a target's arguments, and the line of that place, from 0.
pub(crate) fn with_arguments(content: &str, folder: &Path, target: &Target) -> (String, usize) {
    let (config, _) = Config::parse(content, folder);
    let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
    let own = config.targets.iter().find(|known| known.program == target.program);
    let Some(own) = own else {
        let program = target.program.strip_prefix(folder).unwrap_or(&target.program);
        let program = toml_text(&program.to_string_lossy());
        if lines.last().is_some_and(|last| !last.trim().is_empty()) {
            lines.push(String::new());
        }
        lines.extend(["[[target]]".to_owned(), format!("program = {program}"), "args = []".to_owned()]);
        let at = lines.len() - 1;
        return (joined(&lines), at);
    };
    let header = (own.line as usize).saturating_sub(1).min(lines.len());
    let section = lines.iter().enumerate().skip(header + 1);
    let mut section = section.take_while(|(_, line)| !line.trim_start().starts_with('['));
    let is_args = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == "args");
    match section.find(|(_, line)| is_args(line)).map(|(at, _)| at) {
        Some(at) => (content.to_owned(), at),
        None => {
            let at = (header + 1).min(lines.len());
            lines.insert(at, "args = []".to_owned());
            (joined(&lines), at)
        }
    }
}

/// The text with a place for the command that builds everything, and the line of that place, from 0.
fn with_build(content: &str, command: &str) -> (String, usize) {
    let is_header = |line: &&str| line.trim_start().starts_with('[');
    let is_build = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == "build");
    match content.lines().take_while(|line| !is_header(line)).position(is_build) {
        Some(at) => (content.to_owned(), at),
        None => (format!("build = {}\n{content}", toml_text(command)), 0),
    }
}

/// A text as TOML writes it.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn joined(lines: &[String]) -> String {
    format!("{}\n", lines.join("\n"))
}

/// Problems in the `interleaver.toml` of a folder, with its document.
pub(crate) fn problems(known: &Known, folder: &Path) -> Option<(Uri, Vec<Diagnostic>)> {
    let path = folder.join(FILE);
    let found = diagnostics(&known.documents.text(&path)?, folder, known.encoding);
    Some((known.documents.uri(&path)?, found)).filter(|(_, found)| !found.is_empty())
}

/// `interleaver.toml` with a place for what is to be configured; nothing is written.
///
/// # Errors
/// When there is no such target, or no such file.
pub(crate) fn place(known: &Known, wanted: &Configured) -> Result<Value, String> {
    match wanted {
        Configured { target: Some(target), .. } => of_target(known, target),
        Configured { uri: Some(uri), .. } => of_file(known, uri),
        Configured { .. } => Err("say what to configure: a target, or a file".to_owned()),
    }
}

/// The same with a place for the command that builds a file.
fn of_file(known: &Known, uri: &Uri) -> Result<Value, String> {
    let file = documents::path(uri);
    let folder = file.as_ref().and_then(|file| known.folder_of(file));
    let (file, folder) = file.as_ref().zip(folder).ok_or("the file lies outside of the workspace")?;
    let step = folder.workspace.as_ref().and_then(|workspace| workspace.build_step_of_file(file));
    let path = folder.path.join(FILE);
    let text = known.documents.text(&path).unwrap_or_default();
    let (text, line) = with_build(&text, &step.map(|step| step.command).unwrap_or_default());
    Ok(json!({ "path": path, "text": text, "line": line }))
}

fn of_target(known: &Known, target: &str) -> Result<Value, String> {
    let (folder, target) = known.target(target, None).ok_or_else(|| no_target(target))?;
    let path = folder.join(FILE);
    let text = known.documents.text(&path).unwrap_or_default();
    let (text, line) = with_arguments(&text, &folder, &target);
    Ok(json!({ "path": path, "text": text, "line": line }))
}

#[cfg(test)]
mod tests {
    use explorer::input::request::Strategy;

    use super::*;

    fn labels(content: &str, line: u32, character: u32) -> Vec<String> {
        let items = completions(content, Position::new(line, character), PositionEncoding::Utf16);
        items.into_iter().map(|item| item.label).collect()
    }

    #[test]
    fn keys_are_completed_where_they_may_stand() {
        let top = labels("\n[[target]]\n", 0, 0);
        assert!(top.contains(&"build".to_owned()) && top.contains(&"target".to_owned()));
        assert!(!top.contains(&"args".to_owned()));
        let target = labels("\n[[target]]\n", 2, 0);
        assert!(target.contains(&"args".to_owned()) && !target.contains(&"target".to_owned()));
    }

    #[test]
    fn a_key_that_is_there_is_not_completed_again() {
        assert!(!labels("build = \"make\"\n\n", 1, 0).contains(&"build".to_owned()));
        assert!(labels("build = \"make\"\n[[target]]\n\n", 2, 0).contains(&"build".to_owned()));
        assert!(labels("bui\nseed = 1\n", 0, 3).contains(&"build".to_owned()));
    }

    #[test]
    fn values_are_completed_by_kind() {
        assert_eq!(labels("strategy = ", 0, 11), Strategy::NAMES.map(|name| format!("{name:?}")));
        assert_eq!(labels("fresh-dir = t", 0, 13), ["true", "false"]);
        assert_eq!(labels("colour = ", 0, 9), Vec::<String>::new());
    }

    #[test]
    fn keys_are_explained() {
        let explain = |content: &str, line, character| {
            let hover = hover(content, Position::new(line, character), PositionEncoding::Utf16)?;
            match hover.contents {
                HoverContents::Markup(markup) => Some(markup.value),
                _ => None,
            }
        };
        assert!(explain("seed = 3", 0, 2).unwrap().starts_with("**seed** (a whole number"));
        assert_eq!(explain("seed = 3", 0, 7), None);
        assert!(explain("[[target]]\nargs = []", 0, 4).is_some());
        assert_eq!(explain("nonsense = 1", 0, 2), None);
        assert_eq!(explain("", 3, 2), None);
    }

    #[test]
    fn what_is_wrong_is_underlined_in_the_clients_units() {
        let found = diagnostics("# 🙂\nsed = 1\n", Path::new("/p"), PositionEncoding::Utf16);
        let [wrong] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(wrong.range, Range::new(Position::new(1, 0), Position::new(1, 3)));
    }

    fn target() -> Target {
        Target {
            id: "build/app".to_owned(),
            label: "app".to_owned(),
            root: "/p".into(),
            program: "/p/build/app".into(),
            build_id: String::new(),
            test: None,
            at: None,
            arguments: Vec::new(),
            directory: "/p".into(),
            variables: Vec::new(),
            stdin: None,
            settings: explorer::config::Settings::default(),
        }
    }

    #[test]
    fn a_build_command_gets_a_place() {
        for (content, command, expected, line) in [
            ("", "make \"x\"", "build = \"make \\\"x\\\"\"\n", 0),
            ("seed = 1\nbuild = \"ninja\"\n", "make", "seed = 1\nbuild = \"ninja\"\n", 1),
            (
                "[[target]]\nprogram = \"a\"\nbuild = \"m\"\n",
                "make",
                "build = \"make\"\n[[target]]\nprogram = \"a\"\nbuild = \"m\"\n",
                0,
            ),
        ] {
            let made = with_build(content, command);
            assert_eq!(made, (expected.to_owned(), line));
            assert_eq!(Config::parse(&made.0, Path::new("/p")).1, Vec::new());
        }
    }

    #[test]
    fn arguments_get_a_place() {
        for (content, expected, line) in [
            ("", "[[target]]\nprogram = \"build/app\"\nargs = []\n", 2),
            ("seed = 1\n", "seed = 1\n\n[[target]]\nprogram = \"build/app\"\nargs = []\n", 4),
            ("[[target]]\nprogram = \"build/app\"\n", "[[target]]\nargs = []\nprogram = \"build/app\"\n", 1),
            (
                "[[target]]\nprogram = \"build/app\"\nargs = [\"1\"]\n",
                "[[target]]\nprogram = \"build/app\"\nargs = [\"1\"]\n",
                2,
            ),
        ] {
            let made = with_arguments(content, Path::new("/p"), &target());
            assert_eq!(made, (expected.to_owned(), line));
            let (config, problems) = Config::parse(&made.0, Path::new("/p"));
            assert_eq!((config.targets.len(), problems), (1, Vec::new()));
        }
    }
}
