//! The repository, what lies around it, and how it is seen that something was changed or run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::{Tool, targets};

/// The folder of a target in the store, made by the author of the repository.
pub(crate) const PLANTED: &str = ".interleaver/planted-00000000";

/// Leaves a mark each time that it runs, be it as a program or as a library that another one loads.
const MARKER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void mark(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", MARKS, (int)getpid());
    close(open(name, O_CREAT | O_WRONLY, 0600));
}
int main(void)
{
    return 0;
}
"#;

/// A folder with the repository in it, and what is the user's own beside it.
pub(crate) struct Surroundings(tempfile::TempDir);

impl Surroundings {
    /// The user's own files, and a repository with nothing but a program that loses an update.
    pub(crate) fn new() -> Self {
        let top = Self(tempfile::tempdir().unwrap());
        for folder in ["mine/deep", "marks", "repository/.git/hooks", "state"] {
            fs::create_dir_all(top.path(folder)).unwrap();
        }
        top.put("mine/file", "mine");
        top.put("mine/deep/file", "mine as well");
        top.put("mine/secret.json", "{}");
        top.put("marker.c", MARKER);
        fs::copy(targets().join("c/lost_update.c"), top.path("repository/app.c")).unwrap();
        top.compile(&["-o", "repository/app", "repository/app.c"]);
        let marks = format!("-DMARKS=\"{}\"", top.path("marks").display());
        top.compile(&["-o", "repository/marker", "marker.c", &marks]);
        top.compile(&["-shared", "-fPIC", "-o", "repository/marker.so", "marker.c", &marks]);
        top
    }

    /// The same with all the harm that files can do.
    pub(crate) fn hostile() -> Self {
        let top = Self::new();
        top.plant_settings();
        top.plant_store();
        top
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let place = self.path(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, text).unwrap();
        place
    }

    pub(crate) fn compile(&self, words: &[&str]) {
        let mut compiler = Command::new("cc");
        compiler.args(["-g", "-pthread"]).args(words).current_dir(self.0.path());
        assert!(compiler.status().unwrap().success());
    }

    pub(crate) fn pipe(&self, name: &str) {
        let place = self.path(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        // A report may be there by now.
        let _ = fs::remove_file(&place);
        assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
    }

    pub(crate) fn link(&self, name: &str, to: &Path) {
        let place = self.path(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(to, place).unwrap();
    }

    /// Commands, programs and libraries that something in the repository asks for.
    fn plant_settings(&self) {
        let marker = self.path("repository/marker");
        let marker = marker.display();
        let preload = self.path("repository/marker.so");
        let preload = preload.display();
        self.put(
            "repository/interleaver.toml",
            format!("build = \"{marker}\"\nsearch = [\"/\", \"/dev\"]\n"),
        );
        self.put(
            "repository/Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"1.0.0\"\nbuild = \"build.rs\"\n",
        );
        let cargo = format!(
            "[build]\nrustc = \"{marker}\"\nrustc-wrapper = \"{marker}\"\n[env]\nLD_PRELOAD = \"{preload}\"\n"
        );
        self.put("repository/.cargo/config.toml", cargo);
        let ctest = format!(
            "add_test(app \"{}\")\nset_tests_properties(app PROPERTIES ENVIRONMENT \"LD_PRELOAD={preload}\")\n",
            self.path("repository/app").display()
        );
        self.put("repository/build/CTestTestfile.cmake", ctest);
        self.put("repository/build/CMakeCache.txt", format!("CMAKE_C_COMPILER:FILEPATH={marker}\n"));
        let hook = self.put("repository/.git/hooks/post-checkout", format!("#!/bin/sh\n{marker}\n"));
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
        self.pipe("repository/sub/Cargo.toml");
        self.pipe("repository/sub/.cargo/config.toml");
        self.link("repository/sub/CTestTestfile.cmake", Path::new("/dev/zero"));
        self.pipe("repository/sub/pipe");
        self.link("repository/sub/out", &self.path("mine"));
    }

    /// A store in which every name leads somewhere else.
    fn plant_store(&self) {
        let store = |name: &str| format!("repository/{PLANTED}/{name}");
        let mine = self.path("mine");
        for (id, schedule, copy) in [
            ("absolute", mine.join("secret.json").display().to_string(), "sources/x".to_owned()),
            ("above", "../../../mine/secret.json".to_owned(), "../../../mine/file".to_owned()),
            ("linked", "linked/secret.json".to_owned(), "linked/file".to_owned()),
            ("named", "schedules/named.json".to_owned(), "sources/file".to_owned()),
        ] {
            self.put(&store(&format!("findings/{id}.json")), self.finding(id, &schedule, &copy).to_string());
        }
        self.pipe(&store("findings/pipe.json"));
        self.link(&store("findings/zero.json"), Path::new("/dev/zero"));
        for folder in ["linked", "sources", "programs"] {
            self.link(&store(folder), &mine);
        }
        self.link(&store(".lock"), &mine.join("file"));
        self.link(&store("report.txt"), &mine.join("file"));
        self.link(&store("target.json"), Path::new("/dev/zero"));
        self.plant_schedule("named", &self.path("repository/marker"), &[], &json!({}));
        self.link("repository/.interleaver/linked-00000000", &mine);
    }

    /// A finding as it may have been written with knowledge of the format.
    pub(crate) fn finding(&self, id: &str, schedule: &str, copy: &str) -> Value {
        json!({
            "format": "interleaver-finding", "version": 1, "id": id, "target": "app", "found": 1, "fixed": null,
            "checked": null, "schedule": schedule, "program": "programs/0/marker",
            "run": self.run(&self.path("repository/marker"), &[], &json!({})),
            "sources": [{ "file": "app.c", "hash": "0", "copy": copy, "newer": false }],
            "finding": {
                "kind": "assertion", "message": "![x](http://e.example/x.png)\u{1b}[31m", "file": "app.c", "line": 3,
                "function": "main", "thread": "T1", "schedule_number": 1, "executions": 1, "preemptions": 1,
                "fewest": true, "delays": null, "threads": null, "variables": null, "reproduced": "2/2", "id": id,
                "schedule_file": schedule, "parties": [], "lanes": [{ "thread": "T1", "path": "main" }], "events": [],
                "output": { "stdout": "", "stderr": "\u{1b}]0;title\u{7}", "truncated": false },
            },
        })
    }

    fn run(&self, program: &Path, arguments: &[&str], environment: &Value) -> Value {
        json!({
            "program": { "absolute": program }, "build_id": "00", "arguments": arguments,
            "directory": { "absolute": self.repository() }, "fresh_directory": false, "environment": environment,
            "ignore_exit_code": true, "step_limit": 1000, "run_timeout_ms": 1000,
        })
    }

    /// A schedule of the planted target that runs a program. Returns its file.
    pub(crate) fn plant_schedule(
        &self,
        name: &str,
        program: &Path,
        arguments: &[&str],
        environment: &Value,
    ) -> PathBuf {
        let schedule = json!({
            "format": "interleaver-schedule", "version": 1, "tool": "0.1.0",
            "target": self.run(program, arguments, environment),
            "found_by": {
                "strategy": "icb", "seed": 0, "schedule_number": 1, "epoch": 0,
                "key_points": { "instructions": [], "memory": [] },
            },
            "failure": { "kind": "crash", "message": "it fails", "at": [], "preemptions": 0, "fewest": true, "delays": 0 },
            "choices": [],
        });
        self.put(&format!("repository/{PLANTED}/schedules/{name}.json"), schedule.to_string())
    }

    /// Every planted schedule.
    pub(crate) fn schedules(&self) -> Vec<PathBuf> {
        let folder = self.path(&format!("repository/{PLANTED}/schedules"));
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// The tool, run in the repository as a user whose state lies beside it.
    pub(crate) fn tool<S: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Tool {
        Tool::new(words)
            .within_folder(&self.repository())
            .with("XDG_STATE_HOME", self.path("state").as_os_str())
    }

    /// Explores the program of the repository, which fails, and keeps what comes of that in a folder.
    pub(crate) fn explore(&self, output: &str) -> Tool {
        let words =
            ["explore", "--format", "json", "--no-explain", "--max-schedules", "20", "--output", output];
        self.tool(words).and(["--", "./app"])
    }

    /// Programs name their marks by their process, and the tool tells each of them the same number.
    pub(crate) fn forget_marks(&self) {
        let marks = self.path("marks");
        fs::remove_dir_all(&marks).and_then(|()| fs::create_dir(&marks)).unwrap();
    }

    /// Number of times that something that was planted has run.
    pub(crate) fn marks(&self) -> usize {
        fs::read_dir(self.path("marks")).unwrap().count()
    }

    /// All that is not the tool's to change: everything but the store and the tool's own state.
    pub(crate) fn seen(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        look(&self.path(""), &mut seen, &[self.path("state"), self.path("repository/.interleaver")]);
        seen
    }
}

fn look(folder: &Path, seen: &mut BTreeMap<PathBuf, String>, left_out: &[PathBuf]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if left_out.contains(&path) {
            continue;
        }
        let about = fs::symlink_metadata(&path).unwrap();
        let kind = about.file_type();
        let content = match () {
            () if kind.is_file() => format!("{:?}", fs::read(&path).unwrap()),
            () if kind.is_symlink() => format!("{:?}", fs::read_link(&path).unwrap()),
            () => String::new(),
        };
        let is_folder = kind.is_dir();
        // The link count of a program grows with the copy that a store keeps of it.
        let modified = if is_folder { 0 } else { about.mtime_nsec() };
        seen.insert(
            path.clone(),
            format!("{kind:?} {:o} {} {modified} {content}", about.mode(), about.uid()),
        );
        if is_folder {
            look(&path, seen, left_out);
        }
    }
}

#[test]
fn what_is_planted_leaves_a_mark_where_it_runs() {
    let top = Surroundings::new();
    assert!(Command::new(top.path("repository/marker")).status().unwrap().success());
    assert_eq!(top.marks(), 1);
    let preload = top.path("repository/marker.so");
    assert!(Command::new("true").env("LD_PRELOAD", preload).status().unwrap().success());
    assert_eq!(top.marks(), 2);
}

#[test]
fn a_change_of_a_byte_is_seen() {
    let top = Surroundings::new();
    let before = top.seen();
    top.put("mine/deep/file", "mine as wel!");
    assert_ne!(top.seen(), before);
}
