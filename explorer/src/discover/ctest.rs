//! Notes of CMake for CTest, read as text: the program that a test runs, its folder and its environment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ptrace_backend::attention;

use crate::input::environment::Variables;

/// A test that CTest would run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CTest {
    /// The program, as it is written: absolute nearly always.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) directory: PathBuf,
    pub(super) variables: Variables,
}

/// The tests that a file names, in order.
pub(super) fn read(file: &Path) -> Vec<CTest> {
    let text = files::read_text(file, files::Kind::Text).unwrap_or_default();
    tests(&text, file.parent().unwrap_or(Path::new("/")))
}

/// The test that runs exactly what `arguments` select, else the one that runs the whole program, else any that runs it.
pub(super) fn best<'a>(tests: &'a [CTest], program: &Path, arguments: &[String]) -> Option<&'a CTest> {
    let of_program = || tests.iter().filter(|test| test.program == program);
    let selects =
        |test: &&CTest| !arguments.is_empty() && arguments.iter().all(|a| test.arguments.contains(a));
    of_program()
        .find(selects)
        .or_else(|| of_program().find(|test| test.arguments.is_empty()))
        .or_else(|| of_program().next())
}

fn tests(text: &str, folder: &Path) -> Vec<CTest> {
    let mut found: Vec<CTest> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for (command, mut words) in commands(text) {
        match command.as_str() {
            "add_test" if words.len() >= 2 => {
                let name = words.remove(0);
                let program = PathBuf::from(words.remove(0));
                by_name.insert(name, found.len());
                let directory = folder.to_owned();
                found.push(CTest { program, arguments: words, directory, variables: Vec::new() });
            }
            "set_tests_properties" => {
                let Some(at) = words.iter().position(|word| word == "PROPERTIES") else { continue };
                let properties = words.split_off(at + 1);
                for name in &words[..at] {
                    if let Some(&index) = by_name.get(name) {
                        found[index].set(&properties);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

impl CTest {
    fn set(&mut self, properties: &[String]) {
        for pair in properties.chunks_exact(2) {
            attention::round();
            let (name, value) = (pair[0].as_str(), pair[1].as_str());
            match name {
                "WORKING_DIRECTORY" => self.directory = self.directory.join(value),
                "ENVIRONMENT" => {
                    for (name, value) in value.split(';').filter_map(|pair| pair.split_once('=')) {
                        self.set_variable(name, value.to_owned());
                    }
                }
                "ENVIRONMENT_MODIFICATION" => value.split(';').for_each(|change| self.modify(change)),
                _ => {}
            }
        }
    }

    fn set_variable(&mut self, name: &str, value: String) {
        attention::look_now();
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
    }

    /// `NAME=OPERATION:VALUE`
    fn modify(&mut self, change: &str) {
        let Some((name, (operation, value))) =
            change.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once(':')?)))
        else {
            return;
        };
        let own = self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let old = own.or_else(|| std::env::var_os(name)).unwrap_or_default().to_string_lossy().into_owned();
        let joined = |separator: &str, first: &str, second: &str| match (first, second) {
            ("", one) | (one, "") => one.to_owned(),
            (first, second) => format!("{first}{separator}{second}"),
        };
        let new = match operation {
            "set" => value.to_owned(),
            "unset" => String::new(),
            "string_append" => joined("", &old, value),
            "string_prepend" => joined("", value, &old),
            "path_list_append" => joined(":", &old, value),
            "path_list_prepend" => joined(":", value, &old),
            "cmake_list_append" => joined(";", &old, value),
            "cmake_list_prepend" => joined(";", value, &old),
            _ => return,
        };
        self.set_variable(name, new);
    }
}

/// The commands of a CMake file with their arguments; conditions are not looked at.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '#') {
        rest = &rest[next..];
        if rest.starts_with('#') {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        }
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        attention::round();
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        if let Some(inside) = rest.strip_prefix('(') {
            let (words, after) = arguments(inside);
            found.push((name, words));
            rest = after;
        }
    }
    found
}

/// The arguments up to the closing parenthesis, and what follows it.
fn arguments(text: &str) -> (Vec<String>, &str) {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return (words, rest);
        }
        if let Some(after) = rest.strip_prefix(')') {
            return (words, after);
        }
        let (word, after) = argument(rest);
        words.push(word);
        rest = after;
    }
}

fn argument(text: &str) -> (String, &str) {
    if let Some((marks, inside)) = bracket(text) {
        let end = format!("]{marks}]");
        let (content, after) = inside.split_once(&end).unwrap_or((inside, ""));
        return (content.to_owned(), after);
    }
    let quoted = text.strip_prefix('"');
    let mut word = String::new();
    let mut chars = quoted.unwrap_or(text).char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if quoted.is_some() => return (word, &quoted.unwrap_or(text)[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => word.push('\n'),
                Some((_, 't')) => word.push('\t'),
                Some((_, ';')) => word.push_str("\\;"),
                Some((_, escaped)) => word.push(escaped),
                None => {}
            },
            // A lone parenthesis inside would never end.
            c if quoted.is_none() && (c.is_whitespace() || c == ')' || (c == '(' && at > 0)) => {
                return (word, &text[at..]);
            }
            c => word.push(c),
        }
    }
    (word, "")
}

/// `[=[ … ]=]`
fn bracket(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let marks = inside.len() - inside.trim_start_matches('=').len();
    Some((&inside[..marks], inside[marks..].strip_prefix('[')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_their_folders_and_variables() {
        let text = r#"
# comment add_test(no "no")
add_test(all "/w/build/all_test")
set_tests_properties(all PROPERTIES  ENVIRONMENT "A=1;B=x y" WORKING_DIRECTORY "/w/data" _BACKTRACE_TRIPLES "/w/C;1;add_test;/w/C;0;")
add_test([=[Suite.Name]=]  /w/build/all_test [==[--gtest_filter=Suite.Name]==] --gtest_also_run_disabled_tests)
set_tests_properties([=[Suite.Name]=]  PROPERTIES WORKING_DIRECTORY sub SKIP_REGULAR_EXPRESSION [==[\[  SKIPPED \]]==] ENVIRONMENT_MODIFICATION "A=set:2;P=path_list_append:/x")
subdirs("sub")
"#;
        let found = tests(text, Path::new("/w/build"));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].directory.as_path(), found[0].arguments.len()), (Path::new("/w/data"), 0));
        assert_eq!(found[0].variables, [("A".into(), "1".into()), ("B".into(), "x y".into())]);
        assert_eq!(found[1].directory, Path::new("/w/build/sub"));
        assert_eq!(found[1].variables, [("A".into(), "2".into()), ("P".into(), "/x".into())]);

        let program = Path::new("/w/build/all_test");
        let one = ["--gtest_filter=Suite.Name".to_owned()];
        assert_eq!(best(&found, program, &one), Some(&found[1]));
        assert_eq!(best(&found, program, &["--gtest_filter=Other.Name".to_owned()]), Some(&found[0]));
        assert_eq!(best(&found, Path::new("/w/build/other"), &[]), None);
    }

    #[test]
    fn damaged_files_end() {
        for text in
            ["add_test(", "add_test([=[a", "add_test(\"a", "add_test(a \\", "))((", "add_test((a b)", "é(ü)"]
        {
            let _ = tests(text, Path::new("/"));
        }
    }
}
