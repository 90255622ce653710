//! Accesses that the source calls atomic by a compiler's builtin, a macro around one, or inline assembly. Neither the
//! instruction nor debug information shows it: only the text of the line does, and those of the macros in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use checker::names::Site;

use crate::program::source::Source;

/// Depth to which macros in macros are followed, and files in files.
const DEEP: usize = 8;

/// So many files are read for the macros of one.
const MOST_FILES: usize = 200;

/// Atomic accesses by the text of source files. Files are read once.
#[derive(Default)]
pub(crate) struct Atomics {
    files: RefCell<HashMap<PathBuf, Option<SourceText>>>,
}

/// The text of a source file.
struct SourceText {
    lines: Vec<String>,
    /// The files that it includes by a name in quotes, where they exist.
    includes: Vec<PathBuf>,
    /// The macros that it defines, with their text.
    macros: HashMap<String, String>,
}

impl Atomics {
    /// Whether the source calls the access at a site atomic, as far as its text can be read.
    pub(crate) fn says(&self, source: &dyn Source, site: Site) -> bool {
        let frames = source.locate(site);
        frames.first().is_some_and(|frame| match (&frame.file, frame.line) {
            (Some(file), Some(line)) => self.is_at(file, line, frame.column),
            _ => false,
        })
    }

    /// Whether the statement at a place names an atomic access; without a column, whether the line does.
    fn is_at(&self, file: &Path, line: u32, column: Option<u32>) -> bool {
        let text = self.with(file, |text| text.lines.get(line.saturating_sub(1) as usize).cloned());
        text.flatten().is_some_and(|text| {
            let text = column.map_or(text.as_str(), |column| statement_at(&text, column));
            self.mentions(text, file, DEEP)
        })
    }

    /// Whether a piece of source text names an atomic access, in itself or in the macros that it uses.
    fn mentions(&self, text: &str, file: &Path, deep: usize) -> bool {
        for word in words(text) {
            if is_atomic_word(word) {
                return true;
            }
            let is_macro = || self.definition(word, file, &mut HashSet::new());
            if deep > 0
                && let Some(definition) = is_macro()
                && self.mentions(&definition, file, deep - 1)
            {
                return true;
            }
        }
        false
    }

    /// Text that a macro stands for, by the file that uses it and the files that this one includes.
    fn definition(&self, name: &str, file: &Path, seen: &mut HashSet<PathBuf>) -> Option<String> {
        if seen.len() >= MOST_FILES || !seen.insert(file.to_owned()) {
            return None;
        }
        let (here, includes) =
            self.with(file, |text| (text.macros.get(name).cloned(), text.includes.clone()))?;
        here.or_else(|| includes.iter().find_map(|file| self.definition(name, file, seen)))
    }

    fn with<T>(&self, file: &Path, look: impl FnOnce(&SourceText) -> T) -> Option<T> {
        let mut files = self.files.borrow_mut();
        let text = files.entry(file.to_owned()).or_insert_with(|| SourceText::read(file));
        text.as_ref().map(look)
    }
}

impl SourceText {
    fn read(file: &Path) -> Option<Self> {
        let text = files::read_text(file, files::Kind::Text).ok()?;
        let folder = file.parent()?;
        let (mut includes, mut macros) = (Vec::new(), HashMap::new());
        for line in text.replace("\\\n", " ").lines() {
            let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
            if let Some(named) = directive.strip_prefix("include") {
                includes.extend(named.split('"').nth(1).map(|name| folder.join(name)));
            } else if let Some(definition) = directive.strip_prefix("define") {
                let definition = definition.trim_start();
                let end = definition.find(|c: char| !is_word(c)).unwrap_or(definition.len());
                let (name, rest) = definition.split_at(end);
                macros.insert(name.to_owned(), rest.to_owned());
            }
        }
        Some(Self { lines: text.lines().map(str::to_owned).collect(), includes, macros })
    }
}

/// The statement of a line that has a column, in bytes and from 1, within it.
fn statement_at(line: &str, column: u32) -> &str {
    let at = column.saturating_sub(1) as usize;
    let (Some(before), Some(after)) = (line.get(..at), line.get(at..)) else { return line };
    let ends = |c: char| matches!(c, ';' | '{' | '}');
    let start = before.rfind(ends).map_or(0, |end| end + 1);
    let end = after.find(ends).map_or(line.len(), |end| at + end);
    &line[start..end]
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("//").next().unwrap_or_default();
    code.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

/// The builtins of GCC and LLVM, the functions of C11, C++ and other libraries that say in their names what they are, and
/// inline assembly, by which libraries write atomics of their own.
fn is_atomic_word(word: &str) -> bool {
    let is_assembly = matches!(word, "asm" | "__asm" | "__asm__");
    let lower = word.to_ascii_lowercase();
    is_assembly || lower.contains("atomic") || lower.starts_with("__sync_") || lower.starts_with("ck_pr_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_found_behind_macros_of_the_file_and_of_those_that_it_includes() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "cell.h",
            "#  define  GET(p) \\\n  __atomic_load_n((p), __ATOMIC_ACQUIRE)\n#include \"cell.c\"\n",
        );
        write(
            "cell.c",
            "#include \"cell.h\"\n#define LOOK(c) (GET(&(c)->state) == 1)\n\
             if (LOOK(c)) {}\nint plain = c->state; // not atomic\nuse(atomic_load(&x));\nSELF\n#define SELF SELF\n",
        );
        let file = folder.path().join("cell.c");
        let atomics = Atomics::default();
        let found: Vec<u32> = (1..=6).filter(|&line| atomics.is_at(&file, line, None)).collect();
        assert_eq!(found, [2, 3, 5]);
        assert!(!atomics.is_at(&folder.path().join("missing.c"), 1, None));
    }

    #[test]
    fn a_column_tells_the_statements_of_a_line_apart() {
        let line = "void f(void) { data = 1; atomic_store(&ready, 1); } // é";
        let statement = |of: &str| statement_at(line, line.find(of).unwrap() as u32 + 1);
        assert_eq!(statement("= 1"), " data = 1");
        assert_eq!(statement("atomic"), " atomic_store(&ready, 1)");
        assert_eq!(statement("void f"), "void f(void) ");
        assert_eq!(statement(";"), " data = 1");
        for outside in [0, line.len() as u32, u32::MAX] {
            assert!(line.contains(statement_at(line, outside)));
        }
    }
}
