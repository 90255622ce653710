//! Files, folders and stores that hold far more than any program needs: what reads them ends in its time.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use explorer::config::Config;
use explorer::discover::{Limits, Workspace};
use explorer::store::findings::KeptFolder;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tests::binary;
use tests::editor::until;

use crate::repository::{PLANTED, Surroundings};

/// The size from which on a file takes seconds to read and to digest.
const LARGE: u64 = 1 << 30;

/// The time of a read that is not worth mentioning.
const SHORT: Duration = Duration::from_millis(20);

/// The program that loses an update, without an identity of its own and a gigabyte large, most of it a hole: to tell it from
/// others, all of it is digested.
fn large_program(top: &Surroundings) -> PathBuf {
    top.compile(&["-Wl,--build-id=none", "-o", "repository/large", "repository/app.c"]);
    let program = top.path("repository/large");
    OpenOptions::new().write(true).open(&program).unwrap().set_len(LARGE).unwrap();
    program
}

/// `attention` ends the tool, and this test, where a thread is deaf for a second.
#[test]
fn a_program_is_read_within_the_time_limit() {
    let top = Surroundings::new();
    let program = large_program(&top);
    let outcome = top.tool(["explore", "--time-limit", "20ms", "--", "./large"]).run().unwrap();
    assert_eq!(outcome.code, 2, "{}", outcome.transcript());
    assert_eq!(outcome.stderr, "time was up before the program had come to its first key point\n");
    assert!(!top.path("repository/.interleaver").exists());
    fs::create_dir(top.path("repository/inner")).unwrap();
    fs::rename(program, top.path("repository/inner/large")).unwrap();
    let limits = Limits { reading: SHORT, ..Limits::default() };
    let looked = Workspace::scan_within(&top.path("repository/inner"), &Config::default(), limits).listing();
    assert_eq!(looked.cut.unwrap(), "the time of 0 s was over before 1 executable was read");
    assert_eq!(looked.executables, []);
}

#[test]
fn what_was_read_in_time_is_listed() {
    const COUNT: usize = 200;
    let top = Surroundings::new();
    let folder = top.path("repository/many");
    fs::create_dir(&folder).unwrap();
    for nth in 0..COUNT {
        fs::copy(top.path("repository/app"), folder.join(format!("app-{nth}"))).unwrap();
    }
    let limits = Limits { reading: Duration::from_millis(50), ..Limits::default() };
    let listing = Workspace::scan_within(&folder, &Config::default(), limits).listing();
    let left =
        |cut: &String| cut.strip_prefix("the time of 0 s was over before ")?.split(' ').next()?.parse().ok();
    let left: usize = listing.cut.as_ref().map_or(0, |cut| left(cut).unwrap());
    assert_eq!(listing.executables.len(), COUNT - left);
}

#[test]
fn reading_a_program_is_stopped_by_an_interrupt() {
    let top = Surroundings::new();
    let program = large_program(&top);
    let found = top.tool(["explore", "--no-explain", "--format", "json", "--", "./app"]).run().unwrap();
    let schedule = found.finding()["schedule_file"].as_str().unwrap().to_owned();
    // It is read before it turns out to be another build.
    fs::rename(program, top.path("repository/app")).unwrap();
    for (signal, words) in [
        (Signal::SIGTERM, &["explore", "--", "./app"][..]),
        (Signal::SIGINT, &["replay", "--trust", &schedule]),
        (Signal::SIGINT, &["minimise", "--trust", &schedule]),
    ] {
        let mut command = Command::new(binary().unwrap());
        command.args(words).current_dir(top.repository()).env("XDG_STATE_HOME", top.path("state"));
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // From then on it handles signals, and has a gigabyte before it.
        until("the program is read", || has_open(child.id(), &top.path("repository/app")));
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert_eq!(said, "stopped before the program had come to its first key point\n", "{words:?}");
    }
}

fn has_open(process: u32, file: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    open.into_iter().any(|entry| fs::read_link(entry.path()).is_ok_and(|open| open == file))
}

#[test]
fn a_folder_of_many_files_and_links_is_looked_through_in_its_time() {
    let top = Surroundings::new();
    let folder = top.path("repository/many");
    fs::create_dir(&folder).unwrap();
    for nth in 0..10_000 {
        fs::write(folder.join(format!("file-{nth}")), "").unwrap();
        symlink("../app", folder.join(format!("link-{nth}"))).unwrap();
    }
    let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
    let cut = Workspace::scan_within(&folder, &Config::default(), limits).listing().cut.unwrap();
    assert_eq!(cut, format!("the time of 0 s was over at `{}`", folder.display()));
}

/// Each of them is smaller than what one may have, and all of them are more than memory.
#[test]
fn of_a_store_of_large_findings_the_newest_are_read() {
    let top = Surroundings::new();
    let planted = top.path(&format!("repository/{PLANTED}"));
    for nth in 0..200 {
        let file = format!("repository/{PLANTED}/findings/planted-{nth}.json");
        top.put(&file, "");
        OpenOptions::new().write(true).open(top.path(&file)).unwrap().set_len(200 << 20).unwrap();
    }
    let outcome = top.explore(PLANTED).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    let findings = KeptFolder::at(&planted).findings();
    assert_eq!(
        findings.iter().map(|kept| &*kept.id).collect::<Vec<_>>(),
        [outcome.finding()["id"].as_str().unwrap()]
    );
}

/// Each variable is looked for among all before it.
#[test]
fn notes_of_build_tools_are_read_in_their_time() {
    let top = Surroundings::new();
    let variables: Vec<String> = (0..400_000).map(|nth| format!("V{nth}=")).collect();
    let text = format!(
        "add_test(a \"a\")\nset_tests_properties(a PROPERTIES ENVIRONMENT \"{}\")\n",
        variables.join(";")
    );
    top.put("repository/build/CTestTestfile.cmake", text);
    let limits = Limits { reading: Duration::from_millis(500), ..Limits::default() };
    let listing = Workspace::scan_within(&top.repository(), &Config::default(), limits).listing();
    assert_eq!(listing.cut.unwrap(), "the time of 0 s was over before 1 note of a build tool was read");
}

#[test]
fn of_a_store_of_many_findings_the_newest_are_looked_at() {
    let top = Surroundings::new();
    let planted = top.path(&format!("repository/{PLANTED}"));
    for nth in 0..3000 {
        let id = format!("planted-{nth}");
        let finding = top.finding(&id, &format!("schedules/{id}.json"), "sources/x");
        top.put(&format!("repository/{PLANTED}/findings/{id}.json"), finding.to_string());
    }
    top.put(&format!("repository/{PLANTED}/sources/x"), "somebody's");
    let outcome = top.explore(PLANTED).run().unwrap();
    assert_eq!(outcome.code, 1, "{}", outcome.transcript());
    let findings = KeptFolder::at(&planted).findings();
    let is_own = |id: &str| outcome.finding()["id"] == id;
    assert_eq!((findings.len(), findings.iter().any(|kept| is_own(&kept.id))), (1000, true));
    // It is not known what the others need.
    assert!(planted.join("sources/x").exists());
}
