//! Request of a user: a program, the way to run it, and the way to explore it.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use checker::explain::Effort;
pub use checker::strategy::StrategyKind as Strategy;

use crate::config::Defaults;
use crate::input::environment::Variables;

/// The executions that a claim about all schedules is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// Those that the processor shows: a claim is made where they are all sequentially consistent.
    X86,
    /// Those of sequential consistency.
    Sc,
}

impl MemoryModel {
    /// Every name.
    pub const NAMES: [&str; 2] = [Self::X86.name(), Self::Sc.name()];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::Sc => "sc",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::X86, Self::Sc].into_iter().find(|model| model.name() == name)
    }
}

/// A search that a user asks for. Relative paths start from the working directory of the tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The executable; a bare name that is no file here is looked for in `PATH`.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its working directory; that of the tool if `None`.
    pub directory: Option<PathBuf>,
    /// Variables that are set for it.
    pub variables: Variables,
    /// Its standard input; empty if `None`.
    pub stdin: Option<PathBuf>,
    /// Whether each execution has its own copy of the working directory.
    pub fresh_directory: bool,
    /// Whether an exit code other than 0, of the program or of its client, is no failure.
    pub ignore_exit_code: bool,
    /// The command of its client; empty if it has none.
    pub client: String,
    /// The condition for its client to begin; empty where that is that it listens.
    pub ready: String,
    /// The longest time for which a thread may run without coming to its next key point.
    pub run_timeout: Duration,
    /// The largest number of events in one execution.
    pub step_limit: u32,
    /// The search.
    pub strategy: Strategy,
    /// The bound of auto, icb and bounded-dpor.
    pub max_preemptions: u32,
    /// The bound of idb.
    pub max_delays: u32,
    /// The depth of the failures that are looked for (pct, pctvb).
    pub depth: u32,
    /// The largest number of variables that preemptions may be at (vtb, pctvb).
    pub max_variables: u32,
    /// The largest number of threads whose order may matter (vtb).
    pub max_threads: u32,
    /// The largest number of periods in a schedule (period).
    pub max_periods: u32,
    /// The longest time for which a sleep or a timed wait that ends may let another thread stand still that could run. A
    /// failure that needs a longer stall is a warning.
    pub max_stall: Duration,
    /// The seed of random choices.
    pub seed: u64,
    /// Number of executions that run at once; the result does not depend on it. Unless given, as many as there are CPUs, as
    /// long as executions cannot meet outside of their memory.
    pub workers: Option<NonZeroUsize>,
    /// Whether the search goes on after the first finding.
    pub keep_going: bool,
    /// Whether findings are explained after the search.
    pub explain: bool,
    /// The longest time for the explanation of one finding.
    pub explain_time: Duration,
    /// The effort for the simplest schedule.
    pub effort: Effort,
    /// Whether threads are switched at synchronisation only.
    pub only_synchronisation: bool,
    /// Whether data races are looked for.
    pub races: bool,
    /// Whether locks that are taken in opposite orders are looked for.
    pub lock_order: bool,
    /// Whether a data race counts as a failure.
    pub fail_on_races: bool,
    /// The memory model that a claim is about.
    pub memory_model: MemoryModel,
    /// Entries of the account that the user answers for: file names of modules, or kinds of entries of the account.
    pub assume: Vec<String>,
    /// The largest number of executions of the search.
    pub max_schedules: u64,
    /// The longest time for the search.
    pub time_limit: Duration,
    /// The folder for report and schedules, if not the store.
    pub output: Option<PathBuf>,
    /// The name that the target has in the store; that of the program if `None`.
    pub target: Option<String>,
}

impl Request {
    /// A program without arguments, and the defaults for everything else.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            directory: None,
            variables: Vec::new(),
            stdin: None,
            fresh_directory: Defaults::fresh_directory(),
            ignore_exit_code: Defaults::ignore_exit_code(),
            client: Defaults::client(),
            ready: Defaults::ready(),
            run_timeout: Defaults::run_timeout(),
            step_limit: Defaults::step_limit(),
            strategy: Defaults::strategy(),
            max_preemptions: Defaults::max_preemptions(),
            max_delays: Defaults::max_delays(),
            depth: Defaults::depth(),
            max_variables: Defaults::max_variables(),
            max_threads: Defaults::max_threads(),
            max_periods: Defaults::max_periods(),
            max_stall: Defaults::max_stall(),
            seed: Defaults::seed(),
            workers: None,
            keep_going: Defaults::keep_going(),
            explain: Defaults::explain(),
            explain_time: Defaults::explain_time(),
            effort: Effort::Bounded,
            only_synchronisation: false,
            races: Defaults::races(),
            lock_order: Defaults::lock_order(),
            fail_on_races: Defaults::fail_on_races(),
            memory_model: Defaults::memory_model(),
            assume: Defaults::assume(),
            max_schedules: Defaults::max_schedules(),
            time_limit: Defaults::time_limit(),
            output: None,
            target: None,
        }
    }

    /// The options of the checker for it.
    pub(crate) fn options(&self) -> checker::search::Options {
        checker::search::Options {
            strategy: self.strategy,
            max_preemptions: self.max_preemptions,
            max_delays: self.max_delays,
            depth: self.depth,
            max_variables: self.max_variables,
            max_threads: self.max_threads,
            max_periods: self.max_periods,
            max_schedules: Some(self.max_schedules),
            step_limit: self.step_limit,
            seed: self.seed,
            keep_going: self.keep_going,
            races: self.races,
            lock_order: self.lock_order,
            only_synchronisation: self.only_synchronisation,
            ..checker::search::Options::default()
        }
    }
}
