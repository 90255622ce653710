//! Signature of a failure, by which it is the same one after an edit: its kind, and the text of the lines where it stands.

use std::collections::HashMap;
use std::path::Path;

use checker::failure::FailureKind;

use crate::report::{Finding, Location, Party, Role};
use crate::store::short_hash;

/// A name that the same failure always gets, whatever moves around it.
pub(super) fn name(finding: &Finding, root: &Path) -> String {
    let mut identity = kind(finding.kind);
    let mut texts = HashMap::new();
    for place in places(finding) {
        let function = place.function.as_deref().unwrap_or_default();
        let file = place.file.as_deref().unwrap_or_default();
        identity.push_str(&format!("\n{file}\n{function}\n{}", line_text(place, root, &mut texts)));
    }
    format!("{}-{}", kind(finding.kind), short_hash(identity.as_bytes()))
}

/// The places of the threads that the failure is about; not those that were only preempted on the way.
fn places(finding: &Finding) -> Vec<&Location> {
    if finding.kind == FailureKind::ExitCode {
        // Programs end in the same function of the library, whatever was wrong.
        return vec![&finding.place];
    }
    let failed = finding.thread.as_ref();
    let on_the_way = |party: &&Party| party.role == Role::Preempted;
    let parties = finding.parties.iter().filter(|party| !on_the_way(party));
    let taking_part = parties.filter(|party| failed.is_none_or(|failed| party.thread == *failed));
    let mut places: Vec<_> = taking_part.filter_map(|party| party.stack.first()).collect();
    if failed.is_none() {
        places.sort_by_key(|place| (place.file.clone(), place.line));
        places.dedup();
    }
    places
}

fn line_text(place: &Location, root: &Path, texts: &mut HashMap<String, String>) -> String {
    let (Some(file), Some(line)) = (&place.file, place.line) else { return String::new() };
    let text = texts.entry(file.clone()).or_insert_with(|| read(&root.join(file)));
    let before: Vec<&str> = text.lines().take(line as usize).collect();
    let Some((found, before)) = before.split_last().filter(|(_, before)| before.len() + 1 == line as usize)
    else {
        // Without the source, its number must do.
        return line.to_string();
    };
    let begins = before.iter().rposition(|line| begins_something(line)).unwrap_or(0);
    let found = found.trim();
    match before[begins..].iter().filter(|line| line.trim() == found).count() {
        0 => found.to_owned(),
        // A second one of the same text in what is mostly one function.
        same => format!("{found}\n{same}"),
    }
}

/// Whether a line begins a function or something like it: the lines that belong to that are indented.
fn begins_something(line: &str) -> bool {
    line.starts_with(|first: char| first.is_alphanumeric() || first == '_')
}

/// The text of a file, whatever its encoding.
fn read(file: &Path) -> String {
    files::read(file, files::Kind::Text)
        .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn kind(kind: FailureKind) -> String {
    let value = serde_json::to_value(kind).ok();
    value.as_ref().and_then(serde_json::Value::as_str).unwrap_or("finding").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FailureKind, lines: &[u32]) -> Finding {
        let party = |(at, line): (usize, &u32)| Party {
            thread: format!("T{}", at + 1),
            role: if at == 0 { Role::Failed } else { Role::Preempted },
            doing: "does something".to_owned(),
            stack: vec![Location {
                file: Some("a.c".to_owned()),
                line: Some(*line),
                function: Some("main".to_owned()),
            }],
        };
        Finding {
            parties: lines.iter().enumerate().map(party).collect(),
            ..super::super::tests::finding(kind)
        }
    }

    fn root(text: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.c"), text).unwrap();
        root
    }

    #[test]
    fn where_the_thread_that_fails_was_preempted_before_is_no_part_of_it() {
        let root = root("int x;\n  create();\n  assert(x);\n");
        let of = |lines: &[u32]| {
            let mut finding = finding(FailureKind::Assertion, lines);
            finding.thread = Some("T1".to_owned());
            finding.parties.iter_mut().for_each(|party| "T1".clone_into(&mut party.thread));
            super::name(&finding, root.path())
        };
        assert_eq!(of(&[3, 2]), of(&[3]));
        assert_ne!(of(&[3, 2]), of(&[2]));
    }

    #[test]
    fn a_line_that_moves_keeps_its_failure() {
        let before = root("int x;\n  assert(x);\n");
        let after = root("// more\nint x;\nassert(x);\n");
        let name = |line, root: &tempfile::TempDir| {
            super::name(&finding(FailureKind::Assertion, &[line, 1]), root.path())
        };
        assert_eq!(name(2, &before), name(3, &after));
        assert_ne!(name(2, &before), name(1, &before));
    }

    #[test]
    fn who_was_preempted_makes_no_difference_and_the_kind_does() {
        let root = root("a\nb\nc\n");
        let name = |kind, lines: &[u32]| super::name(&finding(kind, lines), root.path());
        assert_eq!(name(FailureKind::Crash, &[1, 2]), name(FailureKind::Crash, &[1, 3]));
        assert_ne!(name(FailureKind::Crash, &[1]), name(FailureKind::Panic, &[1]));
    }

    #[test]
    fn what_ends_with_an_exit_code_is_named_by_its_failing_line() {
        let root = root("expect(a);\nexpect(b);\nreturn 1;\n");
        let name = |line| {
            let mut finding = finding(FailureKind::ExitCode, &[3]);
            finding.place.line = Some(line);
            super::name(&finding, root.path())
        };
        assert_ne!(name(1), name(2));
    }

    #[test]
    fn lines_of_one_text_are_told_apart_within_a_function_alone() {
        let before = root("int f()\n  return 1;\n\nint g()\n  return 1;\n  return 1;\n");
        let after = root("int g()\n  return 1;\n  return 1;\n");
        let name = |line, root: &tempfile::TempDir| {
            super::name(&finding(FailureKind::Assertion, &[line]), root.path())
        };
        assert_ne!(name(5, &before), name(6, &before));
        assert_eq!([5, 6].map(|line| name(line, &before)), [2, 3].map(|line| name(line, &after)));
    }

    #[test]
    fn without_the_source_the_lines_number_must_do() {
        let nowhere = tempfile::tempdir().unwrap();
        let name = |line| super::name(&finding(FailureKind::Crash, &[line]), nowhere.path());
        assert_ne!(name(1), name(2));
    }
}
