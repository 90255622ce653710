//! The source files that are the user's own.

use std::path::Path;

/// Whether a source file is one of the user's: everything outside of the folders where systems keep installed code. It is what reports
/// name places by; what is watched does not depend on it.
#[must_use]
pub fn is_user_file(file: &Path) -> bool {
    const SYSTEM: [&str; 10] = [
        "/usr/include",
        "/usr/lib",
        "/usr/lib32",
        "/usr/src/debug",
        "/usr/src/googletest",
        "/usr/src/linux",
        "/usr/local/include",
        "/usr/local/lib",
        "/rustc",
        "/rust/deps",
    ];
    let text = file.to_string_lossy();
    let installed = [
        "/.cargo/registry/",
        "/.cargo/git/",
        "/cargo/registry/",
        "/.rustup/",
        "/lib/rustlib/",
        "../sysdeps/",
    ];
    !file.as_os_str().is_empty()
        && !SYSTEM.iter().any(|folder| file.starts_with(folder))
        && !installed.iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_code_is_not_the_users() {
        for (file, expected) in [
            ("/home/me/project/src/main.rs", true),
            ("/tmp/a.c", true),
            ("/usr/include/c++/12/atomic", false),
            ("/rustc/59807616/library/core/src/cell.rs", false),
            ("/home/me/.cargo/registry/src/index/crossbeam-0.8.4/src/lib.rs", false),
            ("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/lib.rs", false),
            ("/usr/include-mine/a.h", true),
            // The folder that images of containers have for programs.
            ("/usr/src/app/main.c", true),
            ("/usr/src/googletest/googletest/src/gtest.cc", false),
            ("/home/me/kernel/sysdeps/wait.c", true),
            ("/build/glibc/csu/../sysdeps/x86_64/start.S", false),
            ("", false),
        ] {
            assert_eq!(is_user_file(Path::new(file)), expected, "{file}");
        }
    }
}
