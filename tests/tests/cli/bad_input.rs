//! Input that cannot be explored or replayed is refused in one sentence, with exit code 3, and nothing is left running.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tests::{Build, Optimisation, Tool, binary, running};

/// Checks that the tool ends with exit code 3 and one sentence in which every phrase occurs.
fn refused(tool: &Tool, phrases: &[&str]) {
    let outcome = tool.run().unwrap();
    assert_eq!(outcome.code, 3, "{}", outcome.transcript());
    let lines = outcome.stderr.lines().filter(|line| !line.trim().is_empty()).count();
    assert_eq!(lines, 1, "one sentence is expected: {}", outcome.transcript());
    for phrase in phrases {
        assert!(outcome.says(phrase), "`{phrase}` is expected: {}", outcome.transcript());
    }
    assert!(outcome.stdout.is_empty(), "no report is expected: {}", outcome.transcript());
}

fn explored(program: &Path) -> Tool {
    Tool::explore([] as [&str; 0], program)
}

fn correct_program() -> PathBuf {
    Build::new("c/lost_update_ok.c", Optimisation::O0).program().unwrap()
}

/// A folder with a file `name` in it.
fn folder_with(name: &str, bytes: impl AsRef<[u8]>, mode: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    (folder, file)
}

/// The correct program with some bytes of its header replaced.
fn with_header(at: usize, bytes: &[u8]) -> (TempDir, PathBuf) {
    let mut program = fs::read(correct_program()).unwrap();
    program[at..at + bytes.len()].copy_from_slice(bytes);
    folder_with("program", program, 0o755)
}

#[test]
fn a_missing_file() {
    refused(&explored(Path::new("/nowhere/program")), &["/nowhere/program", "does not exist"]);
}

#[test]
fn a_directory() {
    let folder = tempfile::tempdir().unwrap();
    refused(&explored(folder.path()), &["is a directory"]);
}

#[test]
fn a_script() {
    let (_folder, script) = folder_with("script", "#!/bin/sh\nexit 0\n", 0o755);
    refused(&explored(&script), &["is a script for /bin/sh: explore the program itself, not"]);
    let program = correct_program();
    let starts = format!("#! /bin/sh\n# The tool.\nexec {} \"$@\"\n", program.display());
    let (_folder, script) = folder_with("script", starts, 0o755);
    refused(&explored(&script), &[&format!("is a script for /bin/sh: explore `{}`, not", program.display())]);
}

#[test]
fn a_text() {
    let (_folder, text) = folder_with("notes.txt", "nothing to run\n", 0o755);
    refused(&explored(&text), &["not an ELF"]);
}

#[test]
fn a_program_that_may_not_be_executed() {
    let (_folder, program) = folder_with("program", fs::read(correct_program()).unwrap(), 0o644);
    refused(&explored(&program), &["not executable"]);
}

#[test]
fn a_program_for_another_machine() {
    let aarch64 = 183_u16.to_le_bytes();
    let (_folder, program) = with_header(18, &aarch64);
    refused(&explored(&program), &["x86-64"]);
}

#[test]
fn a_32_bit_program() {
    let class_32 = [1];
    let (_folder, program) = with_header(4, &class_32);
    refused(&explored(&program), &["32-bit"]);
}

#[test]
fn a_truncated_program() {
    let mut bytes = fs::read(correct_program()).unwrap();
    bytes.truncate(200);
    let (_folder, program) = folder_with("program", bytes, 0o755);
    refused(&explored(&program), &["program"]);
}

#[test]
fn a_statically_linked_program() {
    let program = Build::new("c/lost_update_ok.c", Optimisation::O0).flag("-static").program().unwrap();
    refused(&explored(&program), &["statically linked"]);
}

#[test]
fn a_setuid_program() {
    let (_folder, program) = folder_with("program", fs::read(correct_program()).unwrap(), 0o4755);
    refused(&explored(&program), &["setuid"]);
}

#[test]
fn no_permission_to_ptrace() {
    let wrapper = Build::new("processes/without.c", Optimisation::O0).program().unwrap();
    let program = Build::new("c/check_then_act_ok.c", Optimisation::O0).program().unwrap();
    refused(&explored(&program).under(wrapper, ["trace"]), &["ptrace"]);
    assert_eq!(running(&program), [] as [i32; 0]);
}

#[test]
fn a_test_filter_that_matches_nothing() {
    let program = Build::new("frameworks/unit_tests.rs", Optimisation::O0).flag("--test").program().unwrap();
    refused(&explored(&program).and(["no_such_test"]), &["no_such_test"]);
    assert_eq!(running(&program), [] as [i32; 0]);
}

#[test]
fn a_default_schedule_that_is_not_reproducible() {
    // The second one does so in its very first execution only, of which auto does not hear again.
    for (name, strategy) in [
        ("input_output/leaves_file.c", "auto"),
        ("input_output/leaves_file.c", "icb"),
        ("input_output/finds_file.c", "icb"),
    ] {
        let program = Build::new(name, Optimisation::O0).program().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let here = Tool::explore(
            ["--strategy".as_ref(), strategy.as_ref(), "--cwd".as_ref(), folder.path().as_os_str()],
            &program,
        );
        refused(&here, &["does not do the same twice", "file"]);
        assert_eq!(running(&program), [] as [i32; 0]);
    }
}

#[test]
fn an_output_directory_that_cannot_be_written() {
    let (_folder, file) = folder_with("file", "", 0o644);
    let below = file.join("reports");
    refused(
        &Tool::explore(["--output".as_ref(), below.as_os_str()], &correct_program()),
        &["cannot write", "file"],
    );
}

#[test]
fn a_working_directory_that_does_not_exist() {
    refused(&Tool::explore(["--cwd", "/nowhere/at/all"], &correct_program()), &["/nowhere/at/all"]);
}

#[test]
fn an_input_file_that_does_not_exist() {
    refused(&Tool::explore(["--stdin", "/nowhere/at/all"], &correct_program()), &["/nowhere/at/all"]);
}

/// A schedule that the tool itself has saved, and the folder that it lies in.
fn saved_schedule() -> (TempDir, PathBuf) {
    let program = Build::new("c/lost_update.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outcome = Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program).run().unwrap();
    let Some(name) = outcome.finding()["schedule_file"].as_str() else {
        panic!("a finding is expected: {}", outcome.transcript());
    };
    let file = folder.path().join(name);
    (folder, file)
}

fn replayed(file: &Path) -> Tool {
    Tool::new([OsStr::new("replay"), file.as_os_str()])
}

#[test]
fn a_saved_schedule_is_replayed() {
    let (_folder, file) = saved_schedule();
    let outcome = replayed(&file).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert!(outcome.says("assertion"), "{}", outcome.transcript());
}

#[test]
fn a_missing_schedule_file() {
    refused(&replayed(Path::new("/nowhere/schedule.json")), &["/nowhere/schedule.json", "cannot be read"]);
}

#[test]
fn a_truncated_schedule_file() {
    let (_folder, file) = saved_schedule();
    let whole = fs::read(&file).unwrap();
    for part in [whole.len() / 4, whole.len() / 2, whole.len() - 3] {
        fs::write(&file, &whole[..part]).unwrap();
        refused(&replayed(&file), &["truncated"]);
    }
}

#[test]
fn a_corrupt_schedule_file() {
    let (_folder, file) = saved_schedule();
    let text = fs::read_to_string(&file).unwrap();
    for (right, wrong) in
        [("\"choices\": [", "\"choices\": {"), ("\"thread\":\"main\"", "\"thread\":\"nobody\"")]
    {
        assert!(text.contains(right), "`{right}` is expected in {text}");
        fs::write(&file, text.replacen(right, wrong, 1)).unwrap();
        refused(&replayed(&file), &["corrupt"]);
    }
}

#[test]
fn a_foreign_schedule_file() {
    for foreign in ["{\"name\": \"left-pad\", \"version\": 1}", "[]", "first name,last name\n", "\u{7f}ELF"] {
        let (_folder, file) = folder_with("schedule.json", foreign, 0o644);
        refused(&replayed(&file), &["schedule.json", "is not a schedule file"]);
    }
}

#[test]
fn a_schedule_file_of_the_future() {
    let (_folder, file) = saved_schedule();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"version\": 1", "\"version\": 99", 1)).unwrap();
    refused(&replayed(&file), &["99", "update interleaver"]);
}

#[test]
fn a_schedule_whose_program_is_gone() {
    let (_folder, file) = saved_schedule();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("lost_update", "lost_program", 1)).unwrap();
    refused(&replayed(&file), &["lost_program"]);
}

/// Usage errors come with hints, over several lines.
#[test]
fn usage_errors() {
    let program = correct_program();
    for (options, phrase) in [
        (&["--bogus"][..], "--bogus"),
        (&["--strategy", "fast"], "fast"),
        (&["--max-preemptions", "-1"], "-1"),
        (&["--max-schedules", "many"], "many"),
        (&["--time-limit", "5"], "not a duration"),
        (&["--run-timeout", "soon"], "not a duration"),
        (&["--env", "NAME"], "NAME=VALUE"),
        (&["--workers", "0"], "workers"),
    ] {
        let outcome = Tool::explore(options, &program).run().unwrap();
        assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        assert!(outcome.says(phrase), "`{phrase}` is expected: {}", outcome.transcript());
    }
    for words in [&["explore"][..], &["explore", "--"], &["replay"], &["no-such-command"], &[]] {
        let outcome = Tool::new(words).run().unwrap();
        assert_eq!(outcome.code, 3, "{}", outcome.transcript());
        assert!(outcome.says("usage"), "{}", outcome.transcript());
    }
}

/// A named pipe without a writer.
fn pipe() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    (folder, pipe)
}

#[test]
fn a_pipe_as_a_schedule_file() {
    let (_folder, pipe) = pipe();
    refused(
        &Tool::new(["replay".as_ref(), pipe.as_os_str()]),
        &[&pipe.to_string_lossy(), "is not a regular file"],
    );
}

#[test]
fn a_pipe_as_standard_input() {
    let (_folder, pipe) = pipe();
    let input = pipe.to_str().unwrap();
    refused(&Tool::explore(["--stdin", input], &correct_program()), &[input, "it is not a regular file"]);
}

#[test]
fn a_path_that_is_not_text_is_no_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(OsStr::from_bytes(b"b\xff d"));
    fs::copy(correct_program(), &program).unwrap();
    let outcome = explored(&program).run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    assert_eq!(outcome.report["verdict"], "clean", "{}", outcome.transcript());
}

/// Runs the tool as a shell does that redirects its standard output; its exit code, and what it says of that.
fn redirected(words: &[&OsStr], to: &str) -> (Option<i32>, String) {
    let script = format!("\"$@\" {to}");
    let output =
        Command::new("/bin/sh").args(["-c", &script, "sh"]).arg(binary().unwrap()).args(words).output();
    let output = output.unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_standard_output_that_takes_nothing() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (folder, store, program) = (folder.path().as_os_str(), store.path().as_os_str(), correct_program());
    let explore: [&OsStr; 5] =
        ["explore".as_ref(), "--output".as_ref(), store, "--".as_ref(), program.as_ref()];
    let lines = [&["explore".as_ref(), "--format=jsonl".as_ref()], &explore[1..]].concat();
    for (words, what) in [
        (&["--help".as_ref()][..], "help and version"),
        (&["--version".as_ref()], "help and version"),
        (&["explore".as_ref(), "--help".as_ref()], "help and version"),
        (&["list".as_ref(), folder], "the report"),
        (&["list".as_ref(), "--format=json".as_ref(), folder], "the report"),
        (&["doctor".as_ref()], "the report"),
        (&explore, "the report"),
        (&lines, "the report"),
    ] {
        for (to, why) in [(">/dev/full", "No space left on device (os error 28)"), (">&-", "it is closed")] {
            let (code, said) = redirected(words, to);
            let sentence = format!("{what} cannot be written to standard output: {why}");
            assert!(code == Some(3) && said.contains(&sentence), "{words:?} {to}: {code:?} {said}");
        }
        // Output that goes to `/dev/null` is not missed.
        let (_, said) = redirected(words, ">/dev/null");
        assert!(!said.contains("standard output"), "{words:?}: {said}");
    }
}

#[test]
fn a_protocol_without_a_standard_output() {
    for verb in ["lsp", "dap"] {
        let (code, said) = redirected(&[verb.as_ref()], ">&- </dev/null");
        let sentence = "the protocol cannot be written to standard output: it is closed";
        assert!(code == Some(3) && said.contains(sentence), "{verb}: {code:?} {said}");
    }
}

#[test]
fn a_reader_who_has_seen_enough() {
    let folder = tempfile::tempdir().unwrap();
    for words in
        [&["--help".as_ref()][..], &["list".as_ref(), folder.path().as_os_str()], &["doctor".as_ref()]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(binary().unwrap()).args(words).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{words:?}");
    }
}

#[test]
fn limits_below_what_anything_takes() {
    for (option, limit, words) in [
        ("-v", "300000", "the limit on address space is 292 MB, and this takes 512 MB"),
        ("-d", "8192", "the limit on memory is 8 MB, and this takes 512 MB"),
        ("-d", "65536", "the limit on memory is 64 MB"),
        ("-n", "6", "the limit on open files is 6, and this takes 32: raise it (`ulimit -n`)"),
    ] {
        for verb in ["explore", "list", "replay", "lsp", "dap", "doctor"] {
            let script = format!("ulimit {option} {limit}; exec \"$@\"");
            refused(&Tool::new([verb]).under("/bin/sh".into(), ["-c", &script, "sh"]), &[words]);
        }
    }
}

#[test]
fn a_limit_on_the_length_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--output".as_ref(), folder.path().as_os_str()];
    let tool = Tool::explore(options, &correct_program());
    refused(&tool.under("/bin/sh".into(), ["-c", "ulimit -f 4; exec \"$@\"", "sh"]), &["File too large"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is kept by half");
}

/// As on a full disk, there is room for some files and not for others: for the schedule, but not for all that is told of it.
#[test]
fn a_finding_that_there_is_no_room_for() {
    let program = Build::new("limits/fails_late.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ["explore", "--no-explain", "--strategy", "random", "--output"].map(OsStr::new);
    let tool = Tool::new(options).and([folder.path(), &program]);
    let outcome = tool.under("/bin/sh".into(), ["-c", "ulimit -f 800; exec \"$@\"", "sh"]).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    assert!(outcome.says("Found: assertion"), "{}", outcome.transcript());
    let why = "cannot write to `";
    assert_eq!(outcome.stdout.matches(why).count(), 1, "{}", outcome.transcript());
    assert!(outcome.says("File too large (os error 27)"), "{}", outcome.transcript());
    let inside = |name: &str| -> Vec<PathBuf> {
        fs::read_dir(folder.path().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    assert!(inside("findings").is_empty(), "nothing is kept by half");
    let [schedule] = &inside("schedules")[..] else { panic!("one schedule: {}", outcome.transcript()) };
    assert!(outcome.says(&format!("Replay it with: interleaver replay {}", schedule.display())));
    let replayed = Tool::new([OsStr::new("replay"), schedule.as_os_str()]).run().unwrap();
    assert_eq!(replayed.code, 1, "{}", replayed.transcript());
}

#[test]
fn a_small_stack_is_enough() {
    let tool = explored(&correct_program());
    let outcome = tool.under("/bin/sh".into(), ["-c", "ulimit -s 64; exec \"$@\"", "sh"]).run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
}
