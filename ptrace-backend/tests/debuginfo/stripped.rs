//! Programs without symbols, without lines, and with both in a file beside them.

use std::fs;
use std::path::Path;
use std::process::Command;

use ptrace_backend::debuginfo::{Image, user_code};

use crate::debuginfo::build::{Project, range};

const PROGRAM: &str = r#"
int counter;
__attribute__((noinline)) int worker(int n) { counter += n; return counter; }
int main(int argc, char **argv) { return worker(argc); }
"#;

#[test]
fn without_lines_symbols_and_offsets_remain() {
    let image = Project::new("program.c", PROGRAM).open("program", &["-O1"]);
    let worker = range(&image, "worker");
    let [frame] = &image.frames(worker.start + 2)[..] else { panic!("one frame") };
    assert_eq!((frame.function.as_str(), &frame.file, frame.line), ("worker+0x2", &None, None));
    assert_eq!(image.data_at(image.symbol("counter").unwrap()).unwrap(), "counter");
    assert_eq!(image.data_at(image.symbol("counter").unwrap() + 1).unwrap(), "counter+0x1");
    let code = user_code(&image);
    let has = |address| code.iter().any(|part| part.contains(&address));
    assert!(
        worker.clone().all(has) && !has(image.entry()) && !has(image.symbol("register_tm_clones").unwrap())
    );
    assert!(!image.has_debug_lines());
}

#[test]
fn without_symbols_unwinding_tables_tell_functions_apart() {
    for flags in [&["-O1"][..], &["-O1", "-no-pie"], &["-O0", "-fcf-protection"]] {
        let project = Project::new("program.c", PROGRAM);
        let whole = project.open("program", flags);
        let stripped = project.open("stripped", &[flags, &["-s"]].concat());
        let [worker, main] = ["worker", "main"].map(|name| range(&whole, name));
        for known in [&worker, &main] {
            let function = stripped.function_at(known.start + 1).unwrap();
            assert_eq!((&function.range, function.symbol), (known, None));
        }
        let code = user_code(&stripped);
        let has = |address| code.iter().any(|part| part.contains(&address));
        assert!(worker.clone().all(has) && main.clone().all(has) && !has(stripped.entry()));
        let expected = format!("stripped+{:#x}", worker.start);
        assert_eq!(stripped.frames(worker.start)[0].function, expected);
        assert_eq!(stripped.symbol("worker"), None);
    }
}

#[test]
fn lines_may_be_in_a_file_beside_the_program() {
    let project = Project::new("program.c", PROGRAM);
    let program = project.compile("program", &["-g", "-O1"]);
    let worker = range(&Image::open(&program).unwrap(), "worker");
    project.run(Command::new("objcopy").args([
        "--only-keep-debug",
        "--compress-debug-sections",
        "program",
        "program.debug",
    ]));
    project.run(Command::new("strip").arg("program"));
    project.run(Command::new("objcopy").args(["--add-gnu-debuglink=program.debug", "program"]));
    let image = Image::open(&program).unwrap();
    assert_eq!(image.frames(worker.start)[0].file, Some(project.source()));
    assert_eq!(image.symbol("worker"), Some(worker.start));
    // A file of another build is not taken for this one's.
    project.compile("program.debug", &["-g", "-O0"]);
    assert_eq!(Image::open(&program).unwrap().symbol("worker"), None);
}

#[test]
fn builds_are_told_apart() {
    let project = Project::new("program.c", PROGRAM);
    let id = |name: &str, flags: &[&str]| project.open(name, flags).build_id().to_owned();
    let first = id("a", &["-O1", "-Wl,--build-id"]);
    assert_eq!(first, id("b", &["-O1", "-Wl,--build-id"]));
    assert_ne!(first, id("c", &["-O0", "-Wl,--build-id"]));
    let without = id("d", &["-O1", "-Wl,--build-id=none"]);
    assert!(without.starts_with("content-") && without.len() == "content-".len() + 16, "{without}");
    assert_eq!(without, id("e", &["-O1", "-Wl,--build-id=none"]));
    assert_ne!(without, id("f", &["-O0", "-Wl,--build-id=none"]));
}

#[test]
fn what_is_no_image_is_refused() {
    let project = Project::new("program.c", PROGRAM);
    let missing = Image::open(Path::new("/nonexistent/program")).err().unwrap().to_string();
    assert!(missing.starts_with("cannot read `/nonexistent/program`"), "{missing}");
    let text = Image::open(&project.source()).err().unwrap().to_string();
    assert!(text.contains("is not a readable x86-64 ELF file"), "{text}");
    let empty = project.folder().join("empty");
    fs::write(&empty, []).unwrap();
    assert!(Image::open(&empty).is_err());
}

#[test]
fn compressed_lines_are_lines() {
    let project = Project::new("program.c", PROGRAM);
    let worker = range(&project.open("program", &["-g", "-O1"]), "worker");
    let frames = |program: &str| Image::open(&project.folder().join(program)).unwrap().frames(worker.start);
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let how = format!("--compress-debug-sections={kind}");
        project.run(Command::new("objcopy").args([&how, "program", kind]));
        assert_eq!(frames(kind), frames("program"), "{kind}");
        assert!(frames(kind)[0].line.is_some(), "{kind}");
    }
}
