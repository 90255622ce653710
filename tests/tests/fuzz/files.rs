//! Files of a store, and the settings of a workspace.

use std::fs;
use std::path::{Path, PathBuf};

use explorer::config::Config;
use explorer::discover::Workspace;
use explorer::schedule_file::ScheduleFile;
use explorer::store::findings::KeptFolder;
use proptest::sample::select;
use tests::{Build, Optimisation, Tool};

use super::change::{changed, changes};
use super::runs::run;

/// A store that the tool itself has made.
fn store() -> (tempfile::TempDir, PathBuf) {
    let program = Build::new("c/lost_update.c", Optimisation::O0).program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outcome = Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program).run().unwrap();
    let schedule = PathBuf::from(outcome.finding()["schedule_file"].as_str().unwrap());
    (folder, schedule)
}

#[test]
fn files_of_a_store() {
    let (folder, schedule) = store();
    let finding = folder.path().join("findings").join(schedule.file_name().unwrap());
    let target = folder.path().join("target.json");
    let right = [&schedule, &finding, &target].map(|file| (file.clone(), fs::read(file).unwrap()));
    let kept = KeptFolder::at(folder.path());
    assert_eq!(kept.findings().len(), 1);
    run("files of a store", 300, &(0..right.len(), changes()), |(which, changes)| {
        let (file, text) = &right[which];
        fs::write(file, changed(text, 0..text.len(), &changes)).unwrap();
        let _ = ScheduleFile::read(&schedule);
        let _ = (kept.findings(), kept.target(), kept.stamp(), kept.finding_of_schedule(&schedule));
        fs::write(file, text).unwrap();
    });
}

const TOML: &str = r#"
build = "make"
search = ["out", "../other"]
ignore = ["old"]
strategy = "icb"
time-limit = "5s"

[[target]]
name = "x"
program = "out/x"
arguments = ["1", "2"]
environment = { A = "b" }

[[suppress]]
reason = "known"
variable = "x"
"#;

const CARGO: &str =
    "[package]\nname = \"p\"\nversion = \"1.2.3-a\"\nauthors = [\"x\"]\n[workspace]\nmembers = [\"a\"]\n";

const CARGO_CONFIG: &str =
    "[build]\ntarget-dir = \"{workspace-root}/out\"\n[env]\nA = { value = \"b\", force = true }\n";

const CTEST: &str = "add_test([=[Suite.Name]=]  /w/t [==[--gtest_filter=Suite.Name]==])\n\
    set_tests_properties([=[Suite.Name]=]  PROPERTIES ENVIRONMENT_MODIFICATION \"A=set:2;P=path_list_append:/x\")\n\
    subdirs(\"sub\")\n";

const SOURCE: &str =
    "#include <gtest/gtest.h>\nTEST(Suite, Name)\n{\n  EXPECT_EQ(1, R\"x()x\");\n}\n/* */ int main() { }\n";

#[test]
fn settings_of_a_workspace() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".cargo")).unwrap();
    let files = [
        ("interleaver.toml", TOML),
        ("Cargo.toml", CARGO),
        (".cargo/config.toml", CARGO_CONFIG),
        ("CTestTestfile.cmake", CTEST),
        ("a.cpp", SOURCE),
    ];
    let put = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    files.iter().for_each(|(name, text)| put(name, text.as_bytes()));
    run("settings of a workspace", 200, &(select(files.to_vec()), changes()), |((name, text), changes)| {
        put(name, &changed(text.as_bytes(), 0..text.len(), &changes));
        let (config, _) = Config::read(folder.path());
        // The folders to look in are not damaged here.
        let config = Config { search: Vec::new(), ..config };
        look(folder.path(), &config);
        put(name, text.as_bytes());
    });
}

fn look(root: &Path, config: &Config) {
    let workspace = Workspace::scan(root, config);
    let _ = workspace.listing().render();
    let source = root.join("a.cpp");
    let _ = workspace.targets_of_file(&source, None);
    let _ = workspace.why_not(&source, None, Some(2));
}
