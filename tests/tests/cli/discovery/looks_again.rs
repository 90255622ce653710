//! A workspace is looked at again and again while things are built in it.

use std::fs;
use std::time::SystemTime;

use explorer::config::Config;
use explorer::discover::{Explorability, Workspace};
use tests::Project;

/// The lenses above the lines of `src/main.c`.
fn standings(workspace: &Workspace, project: &Project) -> Vec<(u32, String, Explorability)> {
    let found = workspace.targets_of_file(&project.path("src/main.c"), None).into_iter();
    found.map(|target| (target.line, target.name, target.why)).collect()
}

#[test]
fn a_rescan_sees_what_was_built_and_what_is_gone() {
    let project = Project::copy("make-c").unwrap();
    let mut workspace = Workspace::scan(project.root(), &Config::default());
    assert!(matches!(&standings(&workspace, &project)[..], [(26, _, Explorability::NotBuilt { .. })]));

    project.run("make").unwrap();
    assert!(workspace.rescan(&Config::default()));
    let built = workspace.target("build/bank").unwrap();
    assert_eq!(standings(&workspace, &project), [(26, "main".to_owned(), Explorability::Ready)]);

    project.run("touch -d '1 minute' src/main.c && make CFLAGS='-O2 -g' -B").unwrap();
    assert!(workspace.rescan(&Config::default()));
    let rebuilt = workspace.target("build/bank").unwrap();
    assert_eq!(rebuilt.id, built.id);
    assert_ne!(rebuilt.build_id, built.build_id);

    project.run("make clean").unwrap();
    assert!(workspace.rescan(&Config::default()));
    assert_eq!(workspace.candidates().len(), 0);
    assert_eq!(workspace.target("build/bank"), None);
}

/// A look may come between the link and what the build tool notes of it.
#[test]
fn what_a_build_tool_notes_may_come_after_the_program() {
    let project = Project::copy("cargo-tests").unwrap();
    project.run("cargo test --no-run && mv target/debug/.fingerprint kept").unwrap();
    let mut workspace = Workspace::scan(project.root(), &Config::default());
    let id = "cargo:cargo-tests:lib:cargo_tests#tests::views_are_lost";
    assert_eq!(workspace.target(id), None);
    project.run("mv kept target/debug/.fingerprint").unwrap();
    assert!(workspace.rescan(&Config::default()));
    assert!(workspace.target(id).is_some());
    assert!(!workspace.rescan(&Config::default()), "nothing has changed");
}

/// The times of files have steps: what is written within one is seen by reading it again.
#[test]
fn a_program_may_change_within_a_step_of_its_times() {
    let project = Project::copy("make-c").unwrap();
    project.run("make").unwrap();
    let program = project.path("build/bank");
    let whole = fs::read(&program).unwrap();
    let modified = SystemTime::now();
    let write = |bytes: &[u8]| {
        fs::write(&program, bytes).unwrap();
        fs::File::options().append(true).open(&program).unwrap().set_modified(modified).unwrap();
    };
    write(&vec![0; whole.len()]);
    let mut workspace = Workspace::scan(project.root(), &Config::default());
    assert_eq!(workspace.target("build/bank"), None);
    write(&whole);
    assert!(workspace.rescan(&Config::default()));
    assert_eq!(standings(&workspace, &project), [(26, "main".to_owned(), Explorability::Ready)]);
}
