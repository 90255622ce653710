//! `main` and tests as a text declares them: what places a lens in a text that is newer than any program, or in one that
//! no program was built from. What a program says wins.

mod blank;
mod cpp;
mod rust;

use std::path::Path;

/// The languages whose files get lenses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextLanguage {
    /// C and C++.
    C,
    /// Rust.
    Rust,
}

impl TextLanguage {
    /// By the ending of a file's name.
    #[must_use]
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "h" | "hh" | "hpp" | "hxx" | "ipp" | "inl" | "tpp" => {
                Some(Self::C)
            }
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }
}

/// Something that could be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Written {
    pub(super) what: What,
    /// From 1.
    pub(super) line: u32,
}

/// What it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    Main,
    /// The words that its framework will make a name of: suite and name, or the text, or the path within the file.
    Test(String),
}

/// Everything of that kind in a text, by line.
pub(super) fn written(text: &str, language: TextLanguage) -> Vec<Written> {
    match language {
        TextLanguage::C => cpp::written(text),
        TextLanguage::Rust => rust::written(text),
    }
}

/// Whether a test that a program names is what a text declares in those words.
pub(super) fn is_same(name: &str, words: &str) -> bool {
    // Instances of tests have slashes, and `*` stands for their numbers; a Rust file does not know its own module.
    let plain = name.replace("/*", "");
    plain == words || name.strip_suffix(words).is_some_and(|module| module.ends_with("::"))
}
