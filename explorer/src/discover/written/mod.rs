//! `main` and tests as a text declares them: they place a lens in a text that is newer than any program, or in one that no
//! program was built from. The data of a program wins.

mod blank;
mod cpp;
mod declaration;
mod rust;

use std::path::Path;

pub(super) use self::declaration::{DeclarationKind, SourceDeclaration};

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

/// Everything of that kind in a text, by line.
pub(super) fn written(text: &str, language: TextLanguage) -> Vec<SourceDeclaration> {
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
