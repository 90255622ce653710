//! Selection by filters: whether the filter of a test selects another test of the same program too, decided as the
//! frameworks decide it. Neither of them can be given a name without any meaning of its own.

use super::{Framework, Test};

/// The reason for which a test cannot be run alone: of several tests that its filter selects too, the first.
pub(super) fn ambiguity(test: &Test, all: &[Test]) -> Option<String> {
    let filter = filter(test)?;
    let is_meant = |other: &Test| other.at == test.at && other.name == test.name;
    let same = all.iter().filter(|other| other.framework == test.framework && !is_meant(other));
    let other = same.into_iter().find(|other| matches(test.framework, &filter, &instance(other)));
    let framework = test.framework.name();
    if let Some(other) = other {
        let (name, at) = (&other.name, &other.at);
        return Some(format!(
            "{framework} cannot run `{}` alone, since what selects it selects `{name}` in line {} of `{}` as well: rename one of them",
            test.name,
            at.line,
            at.file.display()
        ));
    }
    let excludes = test.framework == Framework::Catch2 && filter.starts_with("exclude:");
    excludes.then(|| {
        format!(
            "{framework} cannot run `{}` alone, since `exclude:` has a meaning there: rename it",
            test.name
        )
    })
}

/// The filter that selects the test, as the framework sees it once it has undone the escapes.
fn filter(test: &Test) -> Option<String> {
    let argument = test.arguments.first()?;
    let filter = match test.framework {
        Framework::Catch2 => argument,
        Framework::Doctest => argument.strip_prefix("--test-case=")?,
        Framework::Rust | Framework::GoogleTest => return None,
    };
    let mut plain = String::new();
    let mut chars = filter.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    Some(plain)
}

/// A name that the framework lists the test by; those of a template end with a type.
fn instance(test: &Test) -> String {
    if test.is_template { format!("{}T", test.listed) } else { test.listed.clone() }
}

fn matches(framework: Framework, filter: &str, name: &str) -> bool {
    // Both ignore the case of letters.
    let (filter, name) = (filter.trim().to_lowercase(), name.trim().to_lowercase());
    if framework == Framework::Doctest {
        let (filter, name): (Vec<char>, Vec<char>) = (filter.chars().collect(), name.chars().collect());
        return wildcards(&filter, &name);
    }
    let (from, rest) = filter.strip_prefix('*').map_or((false, filter.as_str()), |rest| (true, rest));
    let (to, text) = rest.strip_suffix('*').map_or((false, rest), |text| (true, text));
    match (from, to) {
        (false, false) => name == text,
        (true, false) => name.ends_with(text),
        (false, true) => name.starts_with(text),
        (true, true) => name.contains(text),
    }
}

/// `*` stands for any text and `?` for any character.
fn wildcards(filter: &[char], name: &[char]) -> bool {
    match (filter, name) {
        ([], name) => name.is_empty(),
        (['*', rest @ ..], name) => (0..=name.len()).any(|from| wildcards(rest, &name[from..])),
        ([c, rest @ ..], [first, name @ ..]) => (*c == '?' || c == first) && wildcards(rest, name),
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_select_as_in_the_frameworks() {
        use Framework::{Catch2, Doctest};
        for (framework, filter, name, expected) in [
            (Catch2, "a", "a", true),
            (Catch2, "a", "A ", true),
            (Catch2, "a", "ab", false),
            (Catch2, "a*", "ab", true),
            (Catch2, "*b", "ab", true),
            (Catch2, "*b", "abc", false),
            (Catch2, "*b*", "abc", true),
            // Only at the ends.
            (Catch2, "a * b", "a x b", false),
            (Catch2, "a - *", "a - int", true),
            (Catch2, "a - *", "a -int", false),
            (Doctest, "a", "A", true),
            (Doctest, "a?c", "abc", true),
            (Doctest, "a?c", "ac", false),
            (Doctest, "a<*", "a<int>", true),
            (Doctest, "a*c*", "abcd", true),
            (Doctest, "a*c", "abcd", false),
        ] {
            assert_eq!(matches(framework, filter, name), expected, "{framework:?} {filter} {name}");
        }
    }
}
