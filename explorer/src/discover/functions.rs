//! The functions of a program that discovery is about: `main`, what frameworks make of tests, what starts threads.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ptrace_backend::debuginfo::{Declaration, Image, Language, SourceUnit, is_user_file};

use super::source_line::SourceLine;

/// A function with the whole path of its name.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Its own name.
    pub(super) name: String,
    /// With the classes, namespaces or modules that it is in, as a person writes it.
    pub(super) path: String,
    pub(super) at: SourceLine,
    is_outermost: bool,
    is_rust: bool,
}

/// The functions wanted, each once.
pub(super) struct Functions {
    pub(super) all: Vec<Function>,
    /// The texts that a Rust program's data names: those of its tests are among them.
    pub(super) texts: HashSet<String>,
}

/// Rust's test harness, linked in.
const HARNESS: &str = "4test16test_main_static";

/// Names and beginnings of names that make a function interesting, whatever the language.
const NAMES: [&str; 4] = ["main", "TestBody", "test", "f"];
const BEGINNINGS: [&str; 9] = [
    "CATCH2_INTERNAL_TE",
    "____C_A_T_C_H____T_E",
    "DOCTEST_ANON_",
    "_DOCTEST_ANON_",
    "spawn<",
    "spawn_unchecked<",
    "spawn_scoped<",
    "gtest_",
    "C_A_T_C_H_T_E_",
];

impl Functions {
    pub(super) fn of(image: &Image, file: &mut dyn FnMut(&Path) -> PathBuf) -> Self {
        let texts = if has_harness(image) { test_names(image) } else { HashSet::new() };
        let last_words: HashSet<&str> =
            texts.iter().map(|text| text.rsplit("::").next().unwrap_or(text)).collect();
        let name_is_wanted = |name: &str| {
            NAMES.contains(&name)
                || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
                || last_words.contains(name)
        };
        let mut seen = HashSet::new();
        let declared = image.declarations(&unit_is_wanted, &name_is_wanted);
        let all = declared.into_iter().map(|declared| function(declared, file));
        let all = all.filter(|f| seen.insert((f.path.clone(), f.at.clone()))).collect();
        Self { all, texts }
    }

    /// Place of the user's own `main`. The one that a test harness brings along does not count.
    pub(super) fn main(&self, image: &Image) -> Option<SourceLine> {
        let harness = has_harness(image);
        let is_main = |function: &&Function| {
            let of_rust = function.is_rust && !harness && function.path.matches("::").count() == 1;
            function.name == "main" && (of_rust || (function.is_outermost && !function.is_rust))
        };
        self.all.iter().find(is_main).map(|function| function.at.clone())
    }
}

fn has_harness(image: &Image) -> bool {
    image.symbols().any(|symbol| symbol.name.contains(HARNESS))
}

/// Libraries that were built in advance declare nothing that is wanted, and much else.
fn unit_is_wanted(unit: &SourceUnit) -> bool {
    match unit.language {
        Language::Rust => !unit.file.starts_with("/rustc") && !unit.file.starts_with("/rust/deps"),
        _ => is_user_file(&unit.file),
    }
}

fn function(declared: Declaration, file: &mut dyn FnMut(&Path) -> PathBuf) -> Function {
    let Declaration { name, path, file: declared_in, line, is_outermost } = declared;
    let is_rust = declared_in.extension().is_some_and(|extension| extension == "rs");
    Function { name, path, at: SourceLine { file: file(&declared_in), line }, is_outermost, is_rust }
}

/// The texts that may be names of Rust tests: paths that stand beside the name of a source file, as the harness's
/// descriptions of tests have them.
fn test_names(image: &Image) -> HashSet<String> {
    /// Largest distance between the members of a description, in bytes.
    const NEAR: u64 = 160;
    let texts = image.static_texts();
    let files: Vec<u64> =
        texts.iter().filter(|found| found.text.ends_with(".rs")).map(|found| found.at).collect();
    let is_near_a_file = |at: u64| {
        let next = files.partition_point(|&file| file < at.saturating_sub(NEAR));
        files.get(next).is_some_and(|&file| file < at + NEAR)
    };
    let is_path = |text: &str| {
        let mut words = text.split("::");
        words.all(|word| {
            !word.is_empty()
                && !word.starts_with(|c: char| c.is_ascii_digit())
                && word.chars().all(|c| c.is_alphanumeric() || c == '_')
        })
    };
    let names = texts.iter().filter(|found| is_path(found.text) && is_near_a_file(found.at));
    names.map(|found| found.text.to_owned()).collect()
}
