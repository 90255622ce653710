//! Paths of source files, as compilers put them together.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, as written: symbolic links stay.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours_only() {
        for (path, expected) in
            [("/a/./b/../c.c", "/a/c.c"), ("../x.c", "../x.c"), ("/../x.c", "/../x.c"), ("a/../../b", "../b")]
        {
            assert_eq!(normalised(Path::new(path)), Path::new(expected));
        }
    }
}
