//! Errors: the reasons for which the tool could not do its job.

use std::path::PathBuf;

use checker::search::SearchError;

use crate::program::fresh_dir::FreshDirError;
use crate::schedule_file::ScheduleFileError;
use crate::store::StoreError;
use crate::trust::Running;

/// An exploration or a replay could not be done. Every text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A schedule's program is not in this checkout.
    #[error("the program of this schedule, `{program}`, is not there: it was looked for in {}", places(.roots))]
    ProgramNotHere {
        /// The program, as the file names it.
        program: String,
        /// The folders in which it was looked for.
        roots: Vec<PathBuf>,
    },
    /// The schedule does not come from this user.
    #[error(
        "{0}: nothing was run; if you know where it comes from, give --trust, or trust its workspace in the editor"
    )]
    Untrusted(Box<Running>),
    /// Only what a store keeps can be replaced in it.
    #[error("`{}` is not the failing schedule of a finding that a store keeps", .0.display())]
    NotKept(PathBuf),
    /// Its schedule says nothing about the program as it is now.
    #[error("the program was built again since `{}` was saved: explore it again", .0.display())]
    Rebuilt(PathBuf),
    /// The schedule is that of a failure, and nothing fails.
    #[error("the schedule `{}` does not fail", .0.display())]
    Passes(PathBuf),
    /// The search cannot leave out choices.
    #[error("--scope sync does not go with --strategy {strategy}: it is for {}", .others.join(", "))]
    Scope {
        /// Name of the search.
        strategy: &'static str,
        /// Those that can.
        others: Vec<&'static str>,
    },
    /// Without looking for data races one cannot know what switching at synchronisation only has left out.
    #[error(
        "--scope sync does not go with --no-races: data races say whether switching at synchronisation was enough"
    )]
    ScopeWithoutRaces,
    /// The client cannot be started.
    #[error("the client `{command}` cannot be started: {why}")]
    Client {
        /// Its command.
        command: String,
        /// The reason, in words.
        why: &'static str,
    },
    /// The client is named by a file of the workspace, and the user has not agreed to run it.
    #[error(
        "interleaver.toml names the client `{0}`, which would run with each execution: nothing was run; to agree, give it by \
         --client, or --client '' for none"
    )]
    UntrustedClient(String),
    /// It neither is a number nor can be matched.
    #[error(
        "`{0}` says nothing of when the program is ready: give a port, or a regular expression for a line that it writes"
    )]
    Ready(String),
    /// Nothing begins when the program is ready.
    #[error("--ready says when a client begins, and there is none: name one by --client")]
    ReadyWithoutClient,
    /// A folder or a file that the user named cannot be used.
    #[error("{what} `{}` cannot be used: {error}", .path.display())]
    Path {
        /// The purpose of the path.
        what: &'static str,
        /// The path itself.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The program cannot be run; a sentence with the reason.
    #[error("{0}")]
    NotLive(String),
    /// The backend cannot launch it.
    #[error(transparent)]
    Launch(#[from] ptrace_backend::LaunchError),
    /// The store or the output folder cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The schedule file cannot be used.
    #[error(transparent)]
    ScheduleFile(#[from] ScheduleFileError),
    /// The working directory cannot be copied.
    #[error(transparent)]
    FreshDir(#[from] FreshDirError),
    /// The program does not do the same twice.
    #[error(
        "the program does not do the same twice under one schedule, so that no finding would be reproducible: event {at} \
         was {expected}, and then {got}. Likely cause: {cause}"
    )]
    NotReproducible {
        /// Index of the diverging event, from 0.
        at: usize,
        /// The first time.
        expected: String,
        /// The second time.
        got: String,
        /// The likely cause, to look at first.
        cause: String,
    },
    /// A schedule of this very build does not come out.
    #[error(
        "the schedule could not be replayed: event {at} should be {expected}, but was {got}. Likely cause: {cause}"
    )]
    Diverged {
        /// Index of the diverging event, from 0.
        at: usize,
        /// As recorded.
        expected: String,
        /// As it was now.
        got: String,
        /// The likely cause, to look at first.
        cause: String,
    },
    /// The program has changed too much.
    #[error(
        "the program was rebuilt since the schedule was saved, and the schedule no longer applies: event {at} was \
         {expected}, and now is {got}"
    )]
    NoLongerApplies {
        /// Index of the diverging event, from 0.
        at: usize,
        /// As recorded.
        expected: String,
        /// As it was now.
        got: String,
    },
    /// An execution could not go on.
    #[error("{0}")]
    Search(SearchError),
}

impl Error {
    /// Whether it was stopped, or its time was up, before anything had run.
    #[must_use]
    pub fn came_too_soon(&self) -> bool {
        use ptrace_backend::LaunchError::{Cancelled, OutOfTime};
        matches!(self, Self::Launch(Cancelled | OutOfTime))
    }
}

fn places(roots: &[PathBuf]) -> String {
    let names: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
    names.join(", ")
}
