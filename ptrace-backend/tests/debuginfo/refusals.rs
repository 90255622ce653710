//! A file that cannot be explored is refused in one sentence that says what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptrace_backend::preflight::inspect;

use crate::debuginfo::build::Project;

const PROGRAM: &str = "int main(void) { return 0; }\n";

fn check(path: &Path, expected: &str) {
    let refusal =
        inspect(path).err().unwrap_or_else(|| panic!("{} is not refused", path.display())).to_string();
    assert!(refusal.contains(expected), "{refusal}");
    assert!(
        refusal.contains(path.file_name().unwrap().to_str().unwrap()) && !refusal.contains('\n'),
        "{refusal}"
    );
}

fn project() -> Project {
    Project::new("program.c", PROGRAM)
}

/// An executable file with these contents.
fn executable(project: &Project, name: &str, contents: &[u8]) -> PathBuf {
    let path = project.folder().join(name);
    fs::write(&path, contents).unwrap();
    set_mode(&path, 0o755);
    path
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn programs_are_accepted() {
    let project = project();
    for (flags, pie, lines) in [(&["-g"][..], true, true), (&["-no-pie", "-s"], false, false)] {
        let program = inspect(&project.compile("program", flags)).unwrap();
        assert_eq!((program.pie, program.has_debug_lines), (pie, lines));
        assert_eq!(program.path, project.folder().join("program"));
        assert_eq!(
            (program.entry, program.build_id.as_str()),
            (program.image.entry(), program.image.build_id())
        );
        assert!(program.interpreter.exists());
    }
    let link = project.folder().join("link");
    std::os::unix::fs::symlink("program", &link).unwrap();
    assert_eq!(inspect(&link).unwrap().path, project.folder().join("program"));
}

#[test]
fn what_is_no_file_of_the_right_kind() {
    let project = project();
    check(&project.folder().join("missing"), "does not exist: build the program first");
    check(&project.folder(), "is a directory");
    let fifo = project.folder().join("fifo");
    project.run(Command::new("mkfifo").arg(&fifo));
    check(&fifo, "is not a regular file");
    let program = project.compile("locked", &[]);
    set_mode(&program, 0o644);
    check(&program, "is not executable: `chmod +x ");
}

#[test]
fn what_is_no_native_program() {
    let project = project();
    check(
        &executable(&project, "run.sh", b"#!/bin/sh -e\nexit 0\n"),
        "is a script for /bin/sh -e: explore the program itself",
    );
    check(&executable(&project, "text", b"hello, world, how are you"), "is not an ELF executable");
    check(&executable(&project, "empty", b""), "is not an ELF executable");
    let object = project.compile("object.o", &["-c"]);
    set_mode(&object, 0o755);
    check(&object, "is an object file: link it");
    check(&project.compile("library.so", &["-shared", "-fPIC"]), "is a shared library");
}

#[test]
fn what_is_for_another_machine_or_damaged() {
    let project = project();
    let whole = fs::read(project.compile("program", &[])).unwrap();
    // Class, machine and type are at fixed places of the header.
    for (name, at, byte, expected) in [
        ("bits32", 4, 1, "is a 32-bit program"),
        ("arm", 18, 183, "is built for AArch64"),
        ("riscv", 18, 243, "is built for RISC-V"),
        ("other", 18, 99, "ELF number 99"),
        ("core", 16, 4, "is a core dump"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        check(&executable(&project, name, &bytes), expected);
    }
    check(&executable(&project, "cut", &whole[..100]), "build the program again");
}

#[test]
fn what_is_linked_in_a_way_that_does_not_work() {
    let project = project();
    check(&project.compile("static", &["-static"]), "is statically linked: link it dynamically");
    check(&project.compile("static-pie", &["-static-pie"]), "is statically linked");
    check(
        &project.compile("lost", &["-Wl,--dynamic-linker=/nonexistent/ld.so"]),
        "`/nonexistent/ld.so`, which is not installed",
    );
}

#[test]
fn what_has_privileges() {
    let project = project();
    for (mode, expected) in [(0o4755, "the setuid bit"), (0o2755, "the setgid bit")] {
        let program = project.compile("program", &[]);
        set_mode(&program, mode);
        check(&program, expected);
    }
}

#[test]
fn what_has_a_sanitizer_built_in() {
    // The entry point of the sanitizer's library, defined here as a build with the library linked statically does, or
    // expected from elsewhere as the other builds do.
    let built_in = Project::new("program.c", "void __tsan_init(void) {}\nint main(void) { return 0; }\n");
    check(&built_in.compile("program", &[]), "ThreadSanitizer");
    let library = Project::new("asan.c", "void __asan_init(void) {}\n");
    let program =
        Project::new("program.c", "void __asan_init(void);\nint main(void) { __asan_init(); return 0; }\n");
    let asan = library.compile("libasan.so", &["-shared", "-fPIC"]);
    let linked = program.compile("program", &[asan.to_str().unwrap()]);
    check(
        &linked,
        "AddressSanitizer, which runs threads and memory of its own: explore the build without -fsanitize",
    );
}
