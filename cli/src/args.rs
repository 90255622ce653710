//! The command line: its options and their defaults.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use explorer::config::Settings;
use explorer::input::request::{Request, Strategy};

use crate::setting_args::SettingArgs;

/// Explores the thread interleavings of an unmodified native program.
#[derive(Debug, Parser)]
#[command(name = "interleaver", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a program under one interleaving after another, until one of them fails.
    ///
    /// Exit code: 0 nothing found and the bound covered, 1 found, 2 nothing found but the budget ended first, 3 the
    /// tool could not do its job.
    #[command(override_usage = "interleaver explore [OPTIONS] -- PROGRAM [ARG...]")]
    Explore(Box<ExploreArgs>),
    /// Runs one saved schedule again.
    Replay(ReplayArgs),
    /// Runs one saved schedule again, and shows its events and which of them happened before which.
    ///
    /// Exit code: 0 shown, 3 the tool could not do its job.
    Show(ShowArgs),
    /// Makes the failing schedule of a finding as simple as it gets, however long that takes.
    ///
    /// Exit code: 1 done, or nothing simpler can be had; 2 stopped, and everything is as it was; 3 the tool could not do its
    /// job.
    Minimise(MinimiseArgs),
    /// Shows which executables in a folder can be explored, and why the others are left out. Runs none of them.
    List(ListArgs),
    /// Tries whether this machine permits what exploring takes, and says what to do if not.
    ///
    /// Exit code: 0 programs can be explored, 3 they cannot.
    Doctor(DoctorArgs),
    /// Serves an editor: the language server, over standard input and output.
    Lsp,
    /// Serves an editor: the debug adapter, in which a saved schedule is stepped through both ways.
    Dap(DapArgs),
}

/// An option that is not given here is as `interleaver.toml` says, and else as the manual says.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    /// Number of executions that run at once, each on a CPU of its own; the result is the same [default: all CPUs, but one
    /// where executions could meet, as in a file that they write].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: Option<u16>,
    /// Operations at which threads are switched.
    #[arg(long, value_enum, default_value_t = ScopeName::All)]
    pub(crate) scope: ScopeName,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Keep report and schedules in this folder instead of the store.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Keep the result in the store under this name instead of the program's.
    #[arg(long, value_name = "NAME", conflicts_with = "output")]
    pub(crate) target: Option<String>,
    /// End as if by Ctrl-C when standard input is closed.
    #[arg(long)]
    pub(crate) watch_stdin: bool,
    /// The program's working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable for the program; can be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) variables: Vec<(String, String)>,
    /// The file that the program reads as its standard input; empty unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,
    /// The program and its arguments; everything after its name is its own.
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

impl ExploreArgs {
    /// The program to explore.
    pub(crate) fn program(&self) -> &Path {
        self.command.first().map_or(Path::new(""), Path::new)
    }

    /// The search asked for; `configured` is what a file says where the command line says nothing. Of what is assumed, both
    /// count.
    pub(crate) fn request(self, configured: &Settings) -> Request {
        let mut settings = self.settings.0.or(configured);
        let assumed = [&configured.assume, &self.settings.0.assume].into_iter().flatten().flatten();
        settings.assume = Some(assumed.cloned().collect());
        let only_synchronisation = self.scope == ScopeName::Sync;
        settings.strategy.get_or_insert(Strategy::unless_named(only_synchronisation));
        let mut words = self.command.into_iter();
        let program = words.next().unwrap_or_default();
        let variables = self.variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let mut request = Request {
            arguments: words.collect(),
            directory: self.cwd,
            variables: variables.collect(),
            stdin: self.stdin,
            output: self.output,
            target: self.target,
            only_synchronisation,
            workers: self.workers.and_then(|workers| NonZeroUsize::new(workers.into())),
            ..Request::new(program.into())
        };
        settings.apply(&mut request);
        request
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The folder to look through.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Format of the list.
    #[arg(long, value_enum, default_value_t = Whole::Text)]
    pub(crate) format: Whole,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Format of the answers.
    #[arg(long, value_enum, default_value_t = Whole::Text)]
    pub(crate) format: Whole,
}

#[derive(Debug, Args)]
pub(crate) struct DapArgs {
    /// Serve one client after another at this port of the loopback interface, instead of one at standard input and output;
    /// 0 is a free port, named on standard error.
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The saved schedule.
    #[arg(value_name = "SCHEDULE-FILE")]
    pub(crate) file: PathBuf,
    /// Run what the schedule names, also if somebody else has saved it.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t = Whole::Text)]
    pub(crate) format: Whole,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The saved schedule.
    #[arg(value_name = "SCHEDULE-FILE")]
    pub(crate) file: PathBuf,
    /// Run what the schedule names, also if somebody else has saved it.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Format of the events.
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub(crate) format: GraphFormat,
}

#[derive(Debug, Args)]
pub(crate) struct MinimiseArgs {
    /// The saved schedule, in its store.
    #[arg(value_name = "SCHEDULE-FILE")]
    pub(crate) file: PathBuf,
    /// Run what the schedule names, also if somebody else has saved it.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// End as if by Ctrl-C when standard input is closed.
    #[arg(long)]
    pub(crate) watch_stdin: bool,
}

/// Between which operations threads are switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// At every operation on what they share
    All,
    /// At synchronisation only (icb unless another search is named: idb, dfs, random, pct); data races say whether that was
    /// enough
    Sync,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    /// Objects, one a line, as things happen
    Jsonl,
}

/// The formats of a graph of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A table with a row for each event
    Text,
    Json,
    /// A graph for `dot` of Graphviz
    Dot,
}

/// The formats that know a report as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Whole {
    Text,
    Json,
}

impl From<Whole> for Format {
    fn from(whole: Whole) -> Self {
        match whole {
            Whole::Text => Self::Text,
            Whole::Json => Self::Json,
        }
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn explore(words: &str) -> Result<ExploreArgs, String> {
        let words = ["interleaver", "explore"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Command::Explore(args) => Ok(*args),
            _ => unreachable!("the words start with explore"),
        }
    }

    #[test]
    fn the_description_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_defaults_are_those_of_the_manual() {
        let args = explore("-- ./x").unwrap();
        assert_eq!((args.workers, args.format), (None, Format::Text));
        let workers = explore("--workers 4 -- ./x").unwrap().request(&Settings::default()).workers;
        assert_eq!(workers, NonZeroUsize::new(4));
        assert_eq!(args.request(&Settings::default()), Request::new("./x".into()));
        // The defaults in the help.
        let said = "--strategy auto --max-preemptions 2 --max-delays 2 --depth 3 --max-variables 2 --max-threads 3 --max-periods 6 --max-schedules 10000 --time-limit 60s --step-limit \
                    100000 --run-timeout 10s --seed 0 -- ./x";
        assert_eq!(explore(said).unwrap().request(&Settings::default()), Request::new("./x".into()));
    }

    #[test]
    fn an_option_wins_over_a_file() {
        let configured = Settings {
            max_preemptions: Some(5),
            seed: Some(6),
            keep_going: Some(true),
            assume: Some(vec!["file".to_owned()]),
            ..Settings::default()
        };
        let request =
            explore("--seed 7 --assume libtbb.so --assume time -- ./x").unwrap().request(&configured);
        assert_eq!((request.max_preemptions, request.seed, request.keep_going), (5, 7, true));
        assert_eq!(request.assume, ["file", "libtbb.so", "time"]);
    }

    #[test]
    fn what_follows_the_dashes_is_the_programs() {
        let args = explore("--seed 7 -- ./x --seed 8 -- y").unwrap();
        assert_eq!(
            (args.settings.0.seed, args.command),
            (Some(7), ["./x", "--seed", "8", "--", "y"].map(OsString::from).to_vec())
        );
        let args = explore("--seed 7 ./x --seed 8").unwrap();
        assert_eq!(
            (args.settings.0.seed, args.command),
            (Some(7), ["./x", "--seed", "8"].map(OsString::from).to_vec())
        );
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        for (words, sentence) in [
            ("--workers 0 -- x", "0 is not in 1..=256"),
            ("--env X -- x", "write NAME=VALUE"),
            ("--time-limit 5 -- x", "`5` is not a duration: write `500ms`, `20s` or `2m`"),
            ("--step-limit 0 -- x", "0 is not in 1.."),
            ("--strategy fast -- x", "possible values: icb, idb, dfs, "),
            ("", "required arguments were not provided"),
            ("--no-races --fail-on-races -- x", "cannot be used with"),
            ("--no-explain --explain-time 1s -- x", "cannot be used with"),
            ("--bogus -- x", "unexpected argument '--bogus'"),
        ] {
            let error = explore(words).unwrap_err();
            assert!(error.contains(sentence), "{words}: {error}");
        }
    }
}
