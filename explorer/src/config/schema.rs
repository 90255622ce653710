//! Every key of `interleaver.toml`: the keys that the reader accepts, and that editors complete and explain.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::setting::{SETTINGS, Section, Setting};
use super::value_kind::ValueKind;

/// A key of `interleaver.toml`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: ValueKind,
    /// The section in which it may stand.
    pub section: Section,
    /// Its default value, as it would be written; empty where there is no such value.
    pub default: Cow<'static, str>,
    /// Its meaning, in one or two sentences.
    pub doc: &'static str,
}

const fn key(
    name: &'static str,
    kind: ValueKind,
    section: Section,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { name, kind, section, default: Cow::Borrowed(default), doc }
}

use Section::{Both, Target, Top};

/// The keys that say what is run.
const BEFORE: [Key; 9] = [
    key(
        "build",
        ValueKind::Text,
        Both,
        "",
        "The command that builds the program, run by a shell in the folder of this file. Found out from Makefile, CMake or \
         cargo unless it is given.",
    ),
    key(
        "search",
        ValueKind::Paths,
        Top,
        "[]",
        "Further folders in which programs are looked for; they may lie outside of the workspace, but not hold it.",
    ),
    key("target", ValueKind::Targets, Top, "", "A program, and how it is run. There can be several."),
    key(
        "name",
        ValueKind::Text,
        Target,
        "",
        "A name of its own: the target stands beside the one that was found, and can be one of several for a program.",
    ),
    key("program", ValueKind::Path, Target, "", "The executable that this is about."),
    key(
        "args",
        ValueKind::Texts,
        Target,
        "[]",
        "The program's arguments. For a test they follow what selects the test.",
    ),
    key("cwd", ValueKind::Path, Target, "", "The program's working directory."),
    key(
        "stdin",
        ValueKind::Path,
        Target,
        "",
        "The file that the program reads as its standard input; empty unless given.",
    ),
    key("env", ValueKind::Variables, Target, "{}", "Variables that are set for the program."),
];

const AFTER: [Key; 3] = [
    key(
        "creates-threads",
        ValueKind::Flag,
        Target,
        "",
        "States that the program creates threads, where that cannot be seen, or that it does not: with true it can be explored, with false it gets no \
         lens.",
    ),
    key(
        "suppress",
        ValueKind::Suppressions,
        Top,
        "",
        "A data race or a potential deadlock that is known, and why it may stay.",
    ),
    key("ignore", ValueKind::Paths, Top, "[]", "Folders and files in which no programs are looked for."),
];

/// The keys that say what is run, the settings, and the rest.
static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let of_setting = |setting: &Setting| Key {
        name: setting.name,
        kind: setting.kind,
        section: setting.section,
        default: setting.default().in_file().into(),
        doc: setting.doc,
    };
    let in_file = SETTINGS.iter().filter(|setting| setting.section != Section::CommandLine);
    BEFORE.into_iter().chain(in_file.map(of_setting)).chain(AFTER).collect()
});

/// Every key, in the order in which they are documented.
#[must_use]
pub fn schema() -> &'static [Key] {
    &KEYS
}

/// The key of that name, if it may stand in the section.
pub(super) fn find(name: &str, in_target: bool) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name && key.section.allows(in_target))
}

/// The key that a wrong name was probably meant to be.
pub(super) fn similar(name: &str, in_target: bool) -> Option<&'static Key> {
    let keys = KEYS.iter().filter(|key| key.section.allows(in_target));
    let near = keys.map(|key| (distance(name, key.name), key));
    near.filter(|(distance, key)| *distance <= key.name.len().max(name.len()) / 3 + 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, key)| key)
}

/// Edit distance: the number of letters that have to be inserted, deleted or replaced; `-` and `_` are the same letter.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|text| text.to_lowercase().replace('_', "-"));
    strsim::levenshtein(&a, &b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_names_are_near_to_right_ones() {
        for (wrong, in_target, expected) in [
            ("max_preemptions", false, Some("max-preemptions")),
            ("max-preemption", true, Some("max-preemptions")),
            ("arg", true, Some("args")),
            ("arguments", true, None),
            ("targets", false, Some("target")),
            ("timelimit", false, Some("time-limit")),
            ("colour", false, None),
        ] {
            assert_eq!(similar(wrong, in_target).map(|key| key.name), expected, "{wrong}");
        }
    }

    #[test]
    fn names_are_unique_and_explained() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..index].iter().all(|other| other.name != key.name), "{}", key.name);
            assert!(key.doc.ends_with('.'), "{}", key.name);
        }
    }
}
