//! Targets of all folders: each checkout names its own, and two may use the same name.

use std::path::{Path, PathBuf};

use explorer::discover::Target;

/// Identity of a target among all others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key {
    /// The root of its checkout, where its store is.
    pub(crate) root: PathBuf,
    /// Its ID there.
    pub(crate) id: String,
}

impl Key {
    pub(crate) fn of(target: &Target) -> Self {
        Self { root: target.root.clone(), id: target.id.clone() }
    }

    /// Name of the target for people, as far as its ID says.
    pub(crate) fn label(&self) -> &str {
        let (program, test) = self.id.split_once('#').map_or((self.id.as_str(), None), |(p, t)| (p, Some(t)));
        let of_program = ["cargo:", "toml:"].iter().find_map(|kind| program.strip_prefix(kind));
        let name = match of_program {
            Some(name) => name.rsplit(':').next(),
            None => program.rsplit('/').next(),
        };
        test.or(name).unwrap_or(&self.id)
    }

    /// As clients know it: the ID alone in the checkout of the first folder, elsewhere with the checkout.
    pub(crate) fn name(&self, first_root: &Path) -> String {
        if self.root == first_root { self.id.clone() } else { format!("{}@{}", self.id, self.root.display()) }
    }
}

/// Parts of a client's name: the ID, and the checkout if it names one.
pub(crate) fn parse(name: &str) -> (&str, Option<&Path>) {
    let splits = name.match_indices("@/").map(|(at, _)| (&name[..at], Path::new(&name[at + 1..])));
    let named = splits.filter(|(_, root)| root.is_dir()).last();
    named.map_or((name, None), |(id, root)| (id, Some(root)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_that_programs_are_listed_with() {
        for (id, label) in [
            ("build/bank", "bank"),
            ("bank", "bank"),
            ("/elsewhere/bank", "bank"),
            ("build/tests#Suite.Name/*", "Suite.Name/*"),
            ("cargo:package:bin:server", "server"),
            ("cargo:package:lib:package#module::test", "module::test"),
            ("toml:named", "named"),
        ] {
            assert_eq!(Key { root: PathBuf::new(), id: id.to_owned() }.label(), label);
        }
    }

    #[test]
    fn names_lead_back() {
        let root = tempfile::tempdir().unwrap();
        let key = Key { root: root.path().to_owned(), id: "build/app#A@/b".to_owned() };
        assert_eq!(key.name(root.path()), "build/app#A@/b");
        let elsewhere = key.name(Path::new("/elsewhere"));
        assert_eq!(parse(&elsewhere), ("build/app#A@/b", Some(root.path())));
        assert_eq!(parse("app@/no/such/folder"), ("app@/no/such/folder", None));
    }
}
