//! The lenses that an editor shows above a file's lines, and the reasons for showing none, for real builds; none of it
//! executes anything.

use std::fs;
use std::path::{Path, PathBuf};

use explorer::config::Config;
use explorer::discover::{Explorability, Target, Workspace};
use tempfile::TempDir;
use tests::{Build, Optimisation, Project, Tool};

/// A program that creates a thread, and one that does not.
const THREADED: &str = "#include <pthread.h>\n#include <stddef.h>\nstatic int n;\nstatic void *run(void *unused)\n{\n    \
     (void)unused;\n    n++;\n    return NULL;\n}\nint main(void)\n{\n    pthread_t other;\n    pthread_create(&other, NULL, \
     run, NULL);\n    return pthread_join(other, NULL);\n}\n";
const MAIN: u32 = 10;
const ALONE: &str = "int main(void)\n{\n    return 0;\n}\n";

/// A folder that holds these files.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a compiler's command line.
    fn compile(&self, words: &str) {
        let mut words = words.split_whitespace();
        let mut command = std::process::Command::new(words.next().unwrap());
        let output = command.args(words).current_dir(self.root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn scan(&self) -> Workspace {
        let (config, problems) = Config::read(&self.root());
        assert!(problems.is_empty(), "{problems:?}");
        Workspace::scan(&self.root(), &config)
    }

    /// The reason for which a file has no lens that can be used.
    fn why(&self, file: &str) -> String {
        self.scan().why_not(&self.path(file), None, None)
    }
}

/// Threads may be created in any file of a project, and by no program that is there yet.
#[test]
fn main_of_a_project_with_threads_has_a_lens_wherever_they_are_created() {
    let helper =
        "template <class F> void twice(F f) { std::thread one(f), two(f); one.join(); two.join(); }\n";
    let user = "#include \"twice.hpp\"\nint main() { twice([] {}); }\n";
    for (helper, lenses) in [(helper, 1), ("void twice();\n", 0)] {
        let folder = Folder::with(&[("Makefile", "all:\n"), ("twice.hpp", helper), ("user.cpp", user)]);
        let workspace = folder.scan();
        let found = workspace.targets_of_file(&folder.path("user.cpp"), None);
        assert_eq!(found.len(), lenses, "{found:?}");
        let why = folder.why("user.cpp");
        assert!(why.starts_with("no program has been built from `user.cpp` yet: `make` builds it"), "{why}");
        assert_eq!(why.contains("no source of the workspace mentions threads"), lenses == 0, "{why}");
    }
}

#[test]
fn a_source_that_begins_to_mention_threads_is_seen() {
    let folder = Folder::with(&[("Makefile", "all:\n"), ("alone.c", ALONE), ("lib.c", "int x;\n")]);
    let mut workspace = folder.scan();
    let lenses = |workspace: &Workspace| workspace.targets_of_file(&folder.path("alone.c"), None).len();
    assert_eq!((lenses(&workspace), workspace.rescan(&Config::default())), (0, false));
    folder.write("lib.c", "void *f(void *); int g(void) { return thrd_create(0, 0, 0); }\n");
    assert_eq!((workspace.rescan(&Config::default()), lenses(&workspace)), (true, 1));
    fs::remove_file(folder.path("lib.c")).unwrap();
    assert_eq!((workspace.rescan(&Config::default()), lenses(&workspace)), (true, 0));
}

/// Makes a file younger than everything that was built before.
fn touch(file: &Path) {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().append(true).open(file).unwrap().set_modified(later).unwrap();
}

fn standings(workspace: &Workspace, file: &Path) -> Vec<(u32, String, Explorability)> {
    let found = workspace.targets_of_file(file, None).into_iter();
    found.map(|target| (target.line, target.name, target.why)).collect()
}

#[test]
fn main_has_a_lens_at_its_line() {
    let folder = Folder::with(&[("src/app.c", THREADED)]);
    for (level, program) in [("-O0", "build/slow"), ("-O2", "build/fast")] {
        fs::create_dir_all(folder.path("build")).unwrap();
        folder.compile(&format!("cc -g {level} -pthread src/app.c -o {program}"));
        let workspace = folder.scan();
        let found = workspace.targets_of_file(&folder.path("src/app.c"), None);
        assert_eq!(found.len(), 1, "the freshest is shown: {found:?}");
        assert_eq!((found[0].line, &found[0].why), (MAIN, &Explorability::Ready));
        assert_eq!(found[0].target.as_ref().unwrap().id, program);
        assert!(folder.why("src/app.c").contains("there is one"));
    }
}

#[test]
fn what_stands_against_a_lens_is_said() {
    let header = "int helper(int x);\n";
    let library = "#include \"lib.h\"\nint helper(int x)\n{\n    return x;\n}\n";
    let user =
        THREADED.replace("n++", "n = helper(n)").replacen("#include", "#include \"lib.h\"\n#include", 1);
    for (compiled, file, phrases) in [
        // Not built yet.
        ("", "app.c", &["no program has been built from `app.c` yet", "`make` builds it"][..]),
        // Without debug information: known by the symbol that names the file.
        (
            "cc -pthread app.c -o app",
            "app.c",
            &["`app` has no line numbers for this file", "rebuild with -g"],
        ),
        ("cc -s -pthread app.c -o app", "app.c", &["`app` was built from cannot be told", "stripped", "-g"]),
        ("cc -c -g -pthread app.c -o app.o", "app.c", &["no program has been built"]),
        (
            "cc -g -fsanitize=thread -pthread app.c -o app",
            "app.c",
            &["ThreadSanitizer", "without -fsanitize"],
        ),
        (
            "cc -g -fsanitize=address -pthread app.c -o app",
            "app.c",
            &["AddressSanitizer", "without -fsanitize"],
        ),
        ("cc -g -static -pthread app.c -o app", "app.c", &["statically linked"]),
        ("cc -g -shared -fPIC -pthread app.c -o app", "app.c", &["shared library"]),
        // No threads.
        (
            "cc -g alone.c -o alone",
            "alone.c",
            &["`alone` creates no threads: there are no interleavings to explore"],
        ),
        ("", "alone.c", &["no program has been built from `alone.c` yet", "`make` builds it"]),
        // Neither main nor tests.
        (
            "cc -g -pthread user.c lib.c -o user",
            "lib.c",
            &["neither `main` nor tests", "a program that uses it (`user`)"],
        ),
        ("cc -g -pthread user.c lib.c -o user", "lib.h", &["neither `main` nor tests", "(`user`)"]),
        ("cc -g alone.c lib.c -o alone", "lib.c", &["neither `main` nor tests", "creates no threads"]),
        ("", "lib.c", &["neither `main` nor tests", "`make` builds it"]),
        (
            "cc -pthread user.c lib.c -o user",
            "lib.c",
            &["neither `main` nor tests", "`user` has no line numbers"],
        ),
        // Other files.
        ("", "Makefile", &["no C, C++ or Rust file"]),
        ("", "nowhere.c", &["cannot be read"]),
    ] {
        let folder = Folder::with(&[
            ("Makefile", "all:\n"),
            ("app.c", THREADED),
            ("alone.c", ALONE),
            ("lib.h", header),
            ("lib.c", library),
            ("user.c", &user),
        ]);
        if !compiled.is_empty() {
            folder.compile(compiled);
        }
        let why = folder.why(file);
        for phrase in phrases {
            assert!(why.contains(phrase), "`{phrase}` is expected after `{compiled}`: {why}");
        }
        assert!(!why.contains('\n'), "{why}");
    }
}

#[test]
fn a_shared_library_leads_to_the_programs_that_use_it() {
    let library = "int helper(int x)\n{\n    return x;\n}\n";
    let folder = Folder::with(&[("app.c", THREADED), ("lib.c", library), ("Makefile", "all:\n")]);
    folder.compile("cc -g -shared -fPIC lib.c -o libhelper.so");
    let why = folder.why("lib.c");
    assert!(why.contains("shared library: explore a program that uses it"), "{why}");
    folder.compile("cc -g -pthread app.c -Wl,--no-as-needed -L. -lhelper -o app");
    let why = folder.why("lib.c");
    assert!(why.contains("explore a program that uses it (`app`)"), "{why}");
    let workspace = folder.scan();
    let app = workspace.target("app").unwrap();
    assert!(!workspace.build_step(&app).unwrap().needed);
    touch(&folder.path("lib.c"));
    assert!(workspace.build_step(&app).unwrap().needed);
}

#[test]
fn how_something_is_built_is_found_out() {
    for (files, expected) in [
        (&["Makefile"][..], "make"),
        (&["GNUmakefile"], "make"),
        (&["CMakeLists.txt"], "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build"),
        (&["CMakeLists.txt", "out/CMakeCache.txt"], "cmake --build out"),
        (&["CMakeLists.txt", "my build/CMakeCache.txt"], "cmake --build 'my build'"),
        (&["build.ninja"], "ninja"),
        (&["Cargo.toml"], "cargo test --no-run"),
    ] {
        let folder = Folder::with(&[("src/app.c", THREADED)]);
        for file in files {
            folder.write(file, "");
        }
        let step = folder.scan().build_step_of_file(&folder.path("src/app.c")).unwrap();
        assert_eq!((step.command.as_str(), step.directory, step.needed), (expected, folder.root(), true));
        assert!(folder.why("src/app.c").contains(expected));
    }
    let package = Folder::with(&[("Cargo.toml", "")]);
    for (file, expected) in [
        ("src/main.rs", "cargo build && cargo test --no-run"),
        ("src/bin/other.rs", "cargo build && cargo test --no-run"),
        ("examples/small.rs", "cargo build --examples"),
        ("src/lib.rs", "cargo test --no-run"),
        ("tests/all.rs", "cargo test --no-run"),
    ] {
        package.write(file, "");
        assert_eq!(package.scan().build_step_of_file(&package.path(file)).unwrap().command, expected);
    }
    let folder = Folder::with(&[("src/app.c", THREADED)]);
    assert_eq!(folder.scan().build_step_of_file(&folder.path("src/app.c")), None);
    assert!(folder.why("src/app.c").contains("interleaver.toml"));
    folder.write("interleaver.toml", "build = \"./configure && ./b\"\n");
    let step = folder.scan().build_step_of_file(&folder.path("src/app.c")).unwrap();
    assert_eq!(step.command, "./configure && ./b");
}

#[test]
fn a_source_that_is_newer_makes_a_build_needed() {
    let project = Project::copy("make-c").unwrap();
    project.run("make").unwrap();
    let mut workspace = Workspace::scan(project.root(), &Config::default());
    let target = workspace.target("build/bank").unwrap();
    let step = workspace.build_step(&target).unwrap();
    assert_eq!((step.command.as_str(), step.needed), ("make", false));

    // A header counts, for the program that includes it only.
    let header = project.path("src/account.h");
    touch(&header);
    assert!(workspace.build_step(&target).unwrap().needed);
    let stale = Explorability::Stale { source: header };
    assert_eq!(standings(&workspace, &project.path("src/main.c")), [(26, "main".to_owned(), stale.clone())]);
    let crowd = standings(&workspace, &project.path("src/crowd.c"));
    assert_eq!(crowd[0].2, Explorability::Ready);
    assert!(stale.sentence().unwrap().contains("account.h"));
    assert!(!workspace.rescan(&Config::default()), "no executable has changed");
}

#[test]
fn the_text_places_a_lens() {
    let project = Project::copy("make-c").unwrap();
    project.run("make").unwrap();
    let workspace = Workspace::scan(project.root(), &Config::default());
    let file = project.path("src/main.c");
    let text = fs::read_to_string(&file).unwrap();
    let lines = |text: &str| {
        workspace.targets_of_file(&file, Some(text)).into_iter().map(|target| target.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(&text), [26]);
    assert_eq!(lines(&format!("\n\n{text}")), [28]);
    assert_eq!(lines(&text.replacen("#include", "/* int main(void) */\n#include", 1)), [27]);
}

#[test]
fn a_test_that_was_only_written_is_not_built_yet() {
    let project = Project::copy("cmake-gtest").unwrap();
    project.run("cmake -B build && cmake --build build").unwrap();
    let workspace = Workspace::scan(project.root(), &Config::default());
    let file = project.path("tests/queue_test.cpp");
    let text = fs::read_to_string(&file).unwrap();
    let with_more = text.replace("} // namespace", "TEST(Limits, AreNew)\n{\n}\n} // namespace");
    let found = workspace.targets_of_file(&file, Some(&with_more));
    assert_eq!(found.len(), 7, "{found:?}");
    assert_eq!(found.iter().filter(|target| target.why == Explorability::Ready).count(), 6, "{found:?}");
    let new = found.last().unwrap();
    assert_eq!((new.name.as_str(), &new.target), ("Limits.AreNew", &None));
    let sentence = new.why.sentence().unwrap();
    assert!(sentence.contains("build/queue_test") && sentence.contains("cmake --build build"), "{sentence}");
    // And one that is no longer written has no lens.
    let with_less = text.replace("TEST(Limits, AreKept)", "static void unused()");
    assert_eq!(workspace.targets_of_file(&file, Some(&with_less)).len(), 5);
}

/// As the framework runs it: cargo's variables are compared with what cargo itself sets.
#[test]
fn a_test_of_cargo_runs_as_cargo_runs_it() {
    let manifest = "[package]\nname = \"env-dump\"\nversion = \"1.2.3-beta.1\"\nedition = \"2021\"\nauthors = [\"A <a@b.c>\", \
                    \"B\"]\ndescription = \"d\"\n[workspace]\n";
    let source = "#[test]\nfn dump() {\n    std::thread::spawn(|| ()).join().unwrap();\n    for (name, value) in \
                  std::env::vars() {\n        println!(\"\\nENV {name}={value}\");\n    }\n    println!(\"\\nCWD {}\", \
                  std::env::current_dir().unwrap().display());\n}\n";
    let folder = Folder::with(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", source),
        (".cargo/config.toml", "[env]\nOWN = \"1\"\nPLACE = { value = \"x\", relative = true }\n"),
    ]);
    let cargo = |words: &[&str]| {
        let mut command = std::process::Command::new("cargo");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_"))
        {
            command.env_remove(name);
        }
        let output =
            command.args(words).env_remove("LD_LIBRARY_PATH").current_dir(folder.root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = cargo(&["test", "--offline", "--quiet", "--", "--nocapture"]);
    let workspace = folder.scan();
    let target = workspace.target("cargo:env-dump:lib:env_dump#dump").unwrap();
    let own = |name: &str| {
        target.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_str().unwrap())
    };
    let mut compared = 0;
    for (name, value) in text.lines().filter_map(|line| line.strip_prefix("ENV ")?.split_once('=')) {
        let is_cargos = name.starts_with("CARGO_PKG") || name.starts_with("CARGO_MANIFEST");
        if is_cargos || ["CARGO", "OWN", "PLACE"].contains(&name) {
            assert_eq!(own(name), Some(value), "{name}");
            compared += 1;
        }
        if name == "LD_LIBRARY_PATH" {
            // The value that this test itself was given follows.
            let same =
                value.split(':').all(|folder| own(name).unwrap().split(':').any(|other| other == folder));
            assert!(same, "{value} and {:?}", own(name));
            compared += 1;
        }
    }
    assert!(compared >= 18, "{compared} variables were compared");
    assert_eq!(
        text.lines().find_map(|line| line.strip_prefix("CWD ")),
        Some(target.directory.to_str().unwrap())
    );
    assert_eq!(target.arguments, ["--exact", "dump", "--nocapture", "--test-threads=1"]);
    // And nothing of it is a target but the test.
    let all: Vec<Target> =
        workspace.candidates().iter().flat_map(|candidate| workspace.targets_in(candidate)).collect();
    assert_eq!(all.len(), 1, "{all:?}");
}

#[test]
fn a_test_of_ctest_runs_where_and_with_what_ctest_runs_it() {
    let project = Project::shared("cmake-gtest", &["cmake -B build", "cmake --build build"]).unwrap();
    let workspace = Workspace::scan(project.root(), &Config::default());
    let target = workspace.target("build/queue_test#Environment.IsThatOfTheTestConfiguration").unwrap();
    assert_eq!(target.directory, project.path("tests"));
    let expected = [("QUEUE_LIMIT".into(), "8".into()), ("QUEUE_NAME".into(), "jobs".into())];
    assert_eq!(target.variables, expected);
    let mut command = std::process::Command::new(&target.program);
    let output = command.args(&target.arguments).envs(target.variables).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn whether_threads_are_created_can_be_said() {
    let folder = Folder::with(&[("app.c", THREADED), ("alone.c", ALONE)]);
    folder.compile("cc -g -pthread app.c -o app");
    folder.compile("cc -g alone.c -o alone");
    for (program, file, flag, lenses) in [
        ("app", "app.c", true, 1),
        ("app", "app.c", false, 0),
        ("alone", "alone.c", true, 1),
        ("alone", "alone.c", false, 0),
    ] {
        let text = format!("[[target]]\nprogram = \"{program}\"\ncreates-threads = {flag}\n");
        folder.write("interleaver.toml", &text);
        let found = folder.scan().targets_of_file(&folder.path(file), None);
        assert_eq!(found.len(), lenses, "{text}: {found:?}");
    }
}

#[test]
fn the_list_says_why_programs_are_left_out() {
    let folder = Folder::with(&[("app.c", THREADED), ("alone.c", ALONE), ("run.sh", "#!/bin/sh\n")]);
    folder.compile("cc -g -pthread app.c -o app");
    folder.compile("cc -g alone.c -o alone");
    folder.compile("cc -g -static -pthread app.c -o app-static");
    folder.compile("cc -g -fsanitize=thread -pthread app.c -o app-tsan");
    folder.compile("cc -pthread app.c -o app-plain");
    folder.compile("chmod +x run.sh");
    folder.compile("cp app app-setuid");
    folder.compile("chmod u+s app-setuid");
    let outcome =
        Tool::new(["list".as_ref(), folder.root().as_os_str()]).and(["--format", "json"]).run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    let executables = outcome.report["executables"].as_array().unwrap();
    let reason = |path: &str| {
        let found = executables.iter().find(|executable| executable["path"] == path);
        found.unwrap_or_else(|| panic!("`{path}` is expected: {}", outcome.transcript()))["left_out"].as_str()
    };
    assert_eq!(executables.len(), 6, "{}", outcome.transcript());
    assert_eq!(reason("app"), None);
    for (path, phrase) in [
        ("alone", "creates no threads"),
        ("app-static", "statically linked"),
        ("app-tsan", "without -fsanitize"),
        ("app-plain", "no line numbers"),
        ("app-setuid", "setuid"),
    ] {
        assert!(reason(path).is_some_and(|reason| reason.contains(phrase)), "{path}: {:?}", reason(path));
    }
    let text = Tool::new(["list".as_ref(), folder.root().as_os_str()]).run().unwrap();
    for path in ["app", "alone", "app-static", "app-tsan", "app-plain", "app-setuid"] {
        assert!(text.stdout.lines().any(|line| line == path), "{}", text.transcript());
    }
    let nowhere = Tool::new(["list", "/nowhere"]).run().unwrap();
    assert_eq!(nowhere.code, 3, "{}", nowhere.transcript());
}

/// The same is found if no process can be started.
#[test]
fn nothing_is_executed() {
    let project = Project::shared("cargo-tests", &["cargo test -q --offline --no-run"]).unwrap();
    let list = || Tool::new(["list".as_ref(), project.root().as_os_str()]).and(["--format", "json"]);
    let usual = list().run().unwrap();
    let wrapper = Build::new("processes/without.c", Optimisation::O0).program().unwrap();
    let mut words = Vec::new();
    for call in ["clone", "clone3", "fork", "vfork"] {
        words.extend([wrapper.clone().into_os_string(), call.into()]);
    }
    let alone = list().under(wrapper, words.split_off(1)).run().unwrap();
    assert_eq!((alone.code, &alone.stdout), (0, &usual.stdout), "{}", alone.transcript());
    assert!(usual.says("views_are_lost"), "{}", usual.transcript());
}
