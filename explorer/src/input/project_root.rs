//! The root of a checkout: the folder that holds the store, and that targets are named relative to.

use std::path::{Path, PathBuf};

/// The name of the store's folder.
pub const STORE: &str = ".interleaver";

/// The folder with the nearest `interleaver.toml` at or above the program's folder, else the one with the nearest
/// `.git`, else the working directory. Both paths are absolute.
#[must_use]
pub fn root_of(program: &Path, working_directory: &Path) -> PathBuf {
    let above = |marker: &str| {
        let start = program.parent()?;
        start.ancestors().find(|folder| folder.join(marker).exists()).map(Path::to_owned)
    };
    above("interleaver.toml").or_else(|| above(".git")).unwrap_or_else(|| working_directory.to_owned())
}

/// The roots that the names in a schedule file can be meant relative to, the likeliest first: the folder of the store
/// that the file lies in, the root of the file's own folder, that of the working directory, the working directory.
#[must_use]
pub fn roots_for_file(file: &Path, working_directory: &Path) -> Vec<PathBuf> {
    let store = file.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == STORE));
    let mut roots: Vec<PathBuf> = store.and_then(Path::parent).map(Path::to_owned).into_iter().collect();
    for root in [
        root_of(file, working_directory),
        root_of(&working_directory.join("x"), working_directory),
        working_directory.to_owned(),
    ] {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for file in files {
            let path = top.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        top
    }

    #[test]
    fn a_configuration_file_wins_over_a_nearer_repository() {
        let top = tree(&["interleaver.toml", "inner/.git/HEAD", "inner/build/program"]);
        let root = root_of(&top.path().join("inner/build/program"), Path::new("/"));
        assert_eq!(root, top.path());
    }

    #[test]
    fn without_one_the_nearest_repository_is_the_root() {
        let top = tree(&[".git/HEAD", "inner/.git/HEAD", "inner/build/program"]);
        let root = root_of(&top.path().join("inner/build/program"), Path::new("/"));
        assert_eq!(root, top.path().join("inner"));
    }

    #[test]
    fn with_neither_it_is_the_working_directory() {
        let top = tree(&["bin/program"]);
        assert_eq!(
            root_of(&top.path().join("bin/program"), Path::new("/elsewhere")),
            Path::new("/elsewhere")
        );
    }

    #[test]
    fn a_schedule_in_a_store_is_relative_to_the_folder_of_that_store() {
        let top = tree(&["plain/.interleaver/x/schedules/s.json"]);
        let file = top.path().join("plain/.interleaver/x/schedules/s.json");
        assert_eq!(roots_for_file(&file, Path::new("/cwd")), [top.path().join("plain"), "/cwd".into()]);
    }
}
