//! `interleaver.toml`: what a project says about how it is built, run and explored. See `docs/configuration.md`.

mod parse;
mod problem;
mod schema;
mod suppress;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use problem::{Problem, Severity};
pub use schema::{Key, Section, ValueKind, schema};
pub use suppress::{Suppression, Suppressions};

use crate::request::{Request, Strategy};
use crate::root::root_of;

/// The name of the file, at the root of a workspace.
pub const FILE: &str = "interleaver.toml";

/// What `interleaver.toml` says. Paths are absolute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Config {
    /// The command that builds everything.
    pub build: Option<String>,
    /// Further folders in which programs are looked for.
    pub search: Vec<PathBuf>,
    /// Folders and files in which none are looked for.
    pub ignore: Vec<PathBuf>,
    /// How everything is explored.
    pub settings: Settings,
    /// How single programs are run, in the order of the file.
    pub targets: Vec<TargetConfig>,
    /// Data races that are known.
    pub suppressions: Vec<Suppression>,
}

/// A `[[target]]`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TargetConfig {
    /// Its own name; without one it changes the target that was found.
    pub name: Option<String>,
    /// The executable.
    pub program: PathBuf,
    /// The command that builds it.
    pub build: Option<String>,
    /// Its arguments.
    pub arguments: Option<Vec<String>>,
    /// Its working directory.
    pub directory: Option<PathBuf>,
    /// What it reads from its standard input.
    pub stdin: Option<PathBuf>,
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
    /// Whether it creates threads.
    pub creates_threads: Option<bool>,
    /// How it is explored.
    pub settings: Settings,
    /// Where it begins in the file: the line, from 1.
    pub line: u32,
}

/// How something is explored, as far as it is said.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Settings {
    /// Which search.
    pub strategy: Option<Strategy>,
    /// The bound of auto, icb and bounded-dpor.
    pub max_preemptions: Option<u32>,
    /// The bound of idb.
    pub max_delays: Option<u32>,
    /// The depth of the failures that are looked for (pct, pctvb).
    pub depth: Option<u32>,
    /// How many variables preemptions may be at (vtb, pctvb).
    pub max_variables: Option<u32>,
    /// How many threads' order may matter (vtb).
    pub max_threads: Option<u32>,
    /// How many periods a schedule may have (period).
    pub max_periods: Option<u32>,
    /// How many executions the search may take.
    pub max_schedules: Option<u64>,
    /// How long the search may take.
    pub time_limit: Option<Duration>,
    /// How long the explanation of one finding may take.
    pub explain_time: Option<Duration>,
    /// How long one execution may take.
    pub run_timeout: Option<Duration>,
    /// How many events one execution may have.
    pub step_limit: Option<u32>,
    /// What random choices start from.
    pub seed: Option<u64>,
    /// Whether the search goes on after the first finding.
    pub keep_going: Option<bool>,
    /// Whether an exit code other than 0 is no failure.
    pub ignore_exit_code: Option<bool>,
    /// Whether each execution has its own copy of the working directory.
    pub fresh_directory: Option<bool>,
}

impl Settings {
    /// These, and where they say nothing, `others`.
    #[must_use]
    pub fn or(self, others: &Self) -> Self {
        Self {
            strategy: self.strategy.or(others.strategy),
            max_preemptions: self.max_preemptions.or(others.max_preemptions),
            max_delays: self.max_delays.or(others.max_delays),
            depth: self.depth.or(others.depth),
            max_variables: self.max_variables.or(others.max_variables),
            max_threads: self.max_threads.or(others.max_threads),
            max_periods: self.max_periods.or(others.max_periods),
            max_schedules: self.max_schedules.or(others.max_schedules),
            time_limit: self.time_limit.or(others.time_limit),
            explain_time: self.explain_time.or(others.explain_time),
            run_timeout: self.run_timeout.or(others.run_timeout),
            step_limit: self.step_limit.or(others.step_limit),
            seed: self.seed.or(others.seed),
            keep_going: self.keep_going.or(others.keep_going),
            ignore_exit_code: self.ignore_exit_code.or(others.ignore_exit_code),
            fresh_directory: self.fresh_directory.or(others.fresh_directory),
        }
    }

    /// Changes what they say of a request, and nothing else.
    pub fn apply(&self, request: &mut Request) {
        fn set<T: Copy>(value: Option<T>, place: &mut T) {
            *place = value.unwrap_or(*place);
        }
        set(self.strategy, &mut request.strategy);
        set(self.max_preemptions, &mut request.max_preemptions);
        set(self.max_delays, &mut request.max_delays);
        set(self.depth, &mut request.depth);
        set(self.max_variables, &mut request.max_variables);
        set(self.max_threads, &mut request.max_threads);
        set(self.max_periods, &mut request.max_periods);
        set(self.max_schedules, &mut request.max_schedules);
        set(self.time_limit, &mut request.time_limit);
        set(self.explain_time, &mut request.explain_time);
        set(self.run_timeout, &mut request.run_timeout);
        set(self.step_limit, &mut request.step_limit);
        set(self.seed, &mut request.seed);
        set(self.keep_going, &mut request.keep_going);
        set(self.ignore_exit_code, &mut request.ignore_exit_code);
        set(self.fresh_directory, &mut request.fresh_directory);
    }
}

impl Config {
    /// Reads the `interleaver.toml` of a workspace. Where there is none, it says nothing. What is wrong in it is left out,
    /// and is among the problems.
    #[must_use]
    pub fn read(root: &Path) -> (Self, Vec<Problem>) {
        let path = root.join(FILE);
        match files::read_text(&path, files::Kind::Settings) {
            Ok(text) => Self::parse(&text, root),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => (Self::default(), vec![Problem::of_file(&path, &error)]),
        }
    }

    /// How a program is explored, as the `interleaver.toml` at the root of its checkout says, and what is wrong in that.
    #[must_use]
    pub fn about(program: &Path) -> (Settings, Vec<Problem>) {
        let here = Path::new(".").canonicalize().unwrap_or_default();
        let program = program.canonicalize().unwrap_or_else(|_| here.join(program));
        let (config, problems) = Self::read(&root_of(&program, &here));
        let own = config.of_program(&program).map(|target| target.settings).unwrap_or_default();
        (own.or(&config.settings), problems)
    }

    /// Reads a text as the `interleaver.toml` of the workspace `root`.
    #[must_use]
    pub fn parse(text: &str, root: &Path) -> (Self, Vec<Problem>) {
        parse::parse(text, root)
    }

    /// What it says of a program without giving it a name of its own.
    #[must_use]
    pub fn of_program(&self, program: &Path) -> Option<&TargetConfig> {
        self.targets.iter().find(|target| target.name.is_none() && target.program == program)
    }
}
