//! One program by itself: its name and its beginning, without a look at the rest of its workspace.

use std::ffi::OsString;
use std::path::Path;

use crate::discover::cargo::Notes;
use crate::discover::walk::Stamp;
use crate::discover::{Framework, SourceLine, Target, Workspace};

/// A program with its arguments, as an editor names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramIdentity {
    /// The ID of the target that editors show for it.
    pub id: String,
    /// The test's name, or `main`.
    pub name: String,
    /// Place of the test, or of `main`.
    pub at: Option<SourceLine>,
    /// The framework of the test, if it is one.
    pub framework: Option<Framework>,
}

/// Finds the target that a program runs with these arguments: the one test that they select, or the program as a whole.
/// `program` is absolute and without symbolic links, `root` that of its checkout. `None` for what is no native program.
#[must_use]
pub fn identify(program: &Path, arguments: &[OsString], root: &Path) -> Option<ProgramIdentity> {
    let metadata = program.metadata().ok()?;
    let mut workspace = Workspace::empty(root);
    let kind = Notes::default().kind(&[program.to_owned()]);
    let candidate = workspace.read_candidate(program, Stamp::of(&metadata), kind)?;
    let targets = workspace.targets_in(&candidate);
    let mut selected = targets.iter().filter(|target| is_selected(target, arguments));
    let found = match (selected.next(), selected.next()) {
        (Some(one), None) => Some(one),
        _ => targets.iter().find(|target| target.test.is_none()),
    };
    Some(ProgramIdentity {
        id: found.map_or_else(|| workspace.id(&candidate), |target| target.id.clone()),
        name: found.and_then(|target| target.test.as_ref()).map_or("main", |test| &test.name).to_owned(),
        at: found.and_then(|target| target.at.clone()),
        framework: found.and_then(|target| target.test.as_ref()).map(|test| test.framework),
    })
}

/// Whether everything that selects a test is among the arguments; those that only say how it runs do not matter.
fn is_selected(target: &Target, arguments: &[OsString]) -> bool {
    const HOW: [&str; 5] = [
        "--nocapture",
        "--test-threads=1",
        "--include-ignored",
        "--gtest_also_run_disabled_tests",
        "--no-breaks=true",
    ];
    let Some(test) = &target.test else { return false };
    let mut selecting = test.arguments.iter().filter(|argument| !HOW.contains(&argument.as_str()));
    selecting.all(|argument| arguments.iter().any(|given| given == argument.as_str()))
}
