//! The same program in other words: a C or C++ source with every name of its own changed, and blank lines in between.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::manifest::Language;

/// Words that mean something by themselves. Those that the headers use are known from there.
const RESERVED: &str = "alignas alignof asm auto bool break case catch char char16_t char32_t char8_t class co_await \
    co_return co_yield concept const const_cast consteval constexpr constinit continue decltype default define defined \
    delete do double dynamic_cast elif else endif enum error explicit export extern false final float for friend goto if \
    ifdef ifndef import include inline int line long main module mutable namespace new noexcept noinline nullptr operator \
    override pragma private protected public register reinterpret_cast requires restrict return short signed sizeof static \
    static_assert static_cast struct switch target template this thread_local throw true try typedef typeid typename \
    undef union unsigned using virtual void volatile wchar_t while";

/// A source in other words.
#[derive(Clone, Debug)]
pub struct Renamed {
    /// Its text.
    pub text: String,
    names: BTreeMap<String, String>,
    /// For each line, from 1, which it is now.
    lines: Vec<u64>,
}

impl Renamed {
    /// Renames what a source declares: every name that neither its headers nor the language have.
    ///
    /// # Errors
    /// When the compiler cannot be asked what the headers have.
    pub fn new(source: &str, language: Language) -> io::Result<Self> {
        let taken = taken(source, language)?;
        let is_own = |name: &&str| !name.starts_with("__") && !taken.contains(*name);
        let own: BTreeSet<&str> = names(source).filter(is_own).collect();
        // In the opposite order of the alphabet, and of another length.
        let count = own.len();
        let names =
            own.iter().zip(0..).map(|(name, nth)| ((*name).to_owned(), format!("q{:03}", count - nth)));
        let mut renamed = Self { text: String::new(), names: names.collect(), lines: vec![0] };
        let text = renamed.name(source);
        let mut now = 0;
        let mut is_continued = false;
        for (line, number) in text.lines().zip(1_u64..) {
            let blank = if is_continued { 0 } else { number * 7 % 4 };
            (0..blank).for_each(|_| renamed.text.push('\n'));
            renamed.text.push_str(line);
            renamed.text.push('\n');
            now += blank + 1;
            renamed.lines.push(now);
            is_continued = line.ends_with('\\');
        }
        Ok(renamed)
    }

    /// A piece of the source, or a name from a report, in the new words.
    #[must_use]
    pub fn name(&self, text: &str) -> String {
        let new = |word| match word {
            Word::Name(name) => self.names.get(name).map_or(name, String::as_str),
            Word::Other(other) => other,
        };
        words(text).map(new).collect()
    }

    /// The present number of a line, counted from 1.
    #[must_use]
    pub fn line(&self, line: u64) -> Option<u64> {
        self.lines.get(usize::try_from(line).ok()?).copied().filter(|&line| line > 0)
    }

    /// A sentence of a report on the source: the names in backquotes in the new words, and lines (`counter.c:9`) as
    /// they are now.
    #[must_use]
    pub fn sentence(&self, sentence: &str) -> String {
        let parts = sentence.split('`').enumerate().map(|(nth, part)| match nth % 2 {
            0 => self.places(part),
            _ => self.name(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    fn places(&self, text: &str) -> String {
        let mut parts = text.split(':');
        let mut new = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let line = part[..digits].parse().ok().and_then(|line| self.line(line));
            let line = line.map_or_else(|| part[..digits].to_owned(), |line| line.to_string());
            new.push_str(&format!(":{line}{}", &part[digits..]));
        }
        new
    }
}

/// Every word that the language or the headers of a source have.
fn taken(source: &str, language: Language) -> io::Result<BTreeSet<String>> {
    let (compiler, kind) = match language {
        Language::Cpp => ("c++", "-xc++"),
        _ => ("cc", "-xc"),
    };
    let mut child = Command::new(compiler)
        .args([language.standard(source), kind])
        .args(["-E", "-dD", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let includes = source.lines().filter(|line| line.starts_with("#include")).collect::<Vec<_>>().join("\n");
    if let Some(mut input) = child.stdin.take() {
        input.write_all(format!("{includes}\n").as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{compiler} -E: {}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // Of a macro, its name: its parameters are its own.
    let headers = text.lines().flat_map(|line| match line.strip_prefix("#define ") {
        Some(definition) => names(definition).take(1).collect::<Vec<_>>(),
        None => names(line).collect(),
    });
    let all = headers.chain(names(&includes)).chain(RESERVED.split_whitespace());
    Ok(all.map(str::to_owned).collect())
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter_map(|word| match word {
        Word::Name(name) => Some(name),
        Word::Other(_) => None,
    })
}

/// A piece of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word<'t> {
    Name(&'t str),
    /// A number, a text, a comment, or anything else.
    Other(&'t str),
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => quoted(rest, '"'),
            '\'' => quoted(rest, '\''),
            // The apostrophe parts digits.
            _ if first.is_ascii_digit() => {
                rest.find(|letter| !(is_part(letter) || "'.".contains(letter))).unwrap_or(rest.len())
            }
            _ if is_part(first) => rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        rest = after;
        let is_name = is_part(first) && !first.is_ascii_digit();
        Some(if is_name { Word::Name(word) } else { Word::Other(word) })
    })
}

/// The length of a quoted text, its quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#include <pthread.h>\n#define LIMIT 1'000\n/* total */\nstatic struct { int count; } total;\n\
                          int main(void)\n{\n    total.count = LIMIT; // total\n    return pthread_self() == 0 ? 'a' : sizeof(\"total\\\"\");\n}\n";

    #[test]
    fn own_names_change_and_others_do_not() {
        let renamed = Renamed::new(SOURCE, Language::C).unwrap();
        assert_eq!(renamed.name("total.count = LIMIT;"), "q001.q002 = q003;");
        let lines: Vec<&str> = renamed.text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "#include <pthread.h>",
                "#define q003 1'000",
                "/* total */",
                "static struct { int q002; } q001;",
                "int main(void)",
                "{",
                "    q001.q002 = q003; // total",
                "    return pthread_self() == 0 ? 'a' : sizeof(\"total\\\"\");",
                "}",
            ]
        );
    }

    #[test]
    fn lines_are_followed() {
        let renamed = Renamed::new(SOURCE, Language::C).unwrap();
        for (line, number) in SOURCE.lines().zip(1..) {
            let now = renamed.line(number).unwrap() as usize;
            assert_eq!(renamed.text.lines().nth(now - 1).unwrap(), renamed.name(line), "{number}");
        }
        assert_eq!(renamed.line(0), None);
        assert!(renamed.line(7).unwrap() > 7);
    }

    #[test]
    fn sentences_of_reports_follow() {
        let renamed = Renamed::new(SOURCE, Language::C).unwrap();
        let told =
            renamed.sentence("order violation: T2 reads `total.count` (a.c:7) before T1 writes it (a.c:1)");
        let [seventh, first] = [7, 1].map(|line| renamed.line(line).unwrap());
        assert_eq!(
            told,
            format!(
                "order violation: T2 reads `q001.q002` (a.c:{seventh}) before T1 writes it (a.c:{first})"
            )
        );
    }
}
