//! Builds the `interleaver` binary and runs it, under a watchdog.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::outcome::Outcome;
use crate::paths::{self, Output as CargoOutput};
use crate::processes;
use crate::sample::is_sampled;

/// The longest time that a run of the tool may take.
pub const WATCHDOG: Duration = Duration::from_secs(30);

/// The tool could not be built or run.
#[derive(thiserror::Error)]
pub enum ToolError {
    /// It does not compile.
    #[error("the tool could not be built: {0}")]
    Build(String),
    /// It did not end by itself.
    #[error("`{command}` was still running after {} s, and was killed", limit.as_secs())]
    TimedOut {
        /// The command line.
        command: String,
        /// The longest time that it may take.
        limit: Duration,
    },
    /// It was ended by a signal.
    #[error("`{command}` was ended by {status}:\n{stderr}")]
    Killed {
        /// The command line.
        command: String,
        /// The status with which it ended.
        status: String,
        /// Its standard error.
        stderr: String,
    },
    /// It could not be started.
    #[error("`{command}` could not be run: {error}")]
    Start {
        /// The command line.
        command: String,
        /// The operating system's reason.
        error: io::Error,
    },
}

/// A test that fails shows it as it is meant to be read.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A command line of the tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The program that starts the tool, with its own arguments before the tool's command line.
    wrapper: Option<(PathBuf, Vec<OsString>)>,
    arguments: Vec<OsString>,
    /// Its sentences have no words.
    is_scrambled: bool,
    /// None for the root of the checkout.
    folder: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    limit: Duration,
}

impl Tool {
    /// The tool with these arguments.
    #[must_use]
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let (wrapper, folder, variables) = (None, None, Vec::new());
        Self { wrapper, arguments, is_scrambled: false, folder, variables, limit: WATCHDOG }
    }

    /// Explores `program` with these options, and asks for the report as JSON. Findings are not explained: an
    /// explanation takes hundreds of executions.
    #[must_use]
    pub fn explore<S: AsRef<OsStr>>(options: impl IntoIterator<Item = S>, program: &Path) -> Self {
        Self::exploration(&["--no-explain"], options, program)
    }

    /// The same with everything that is found out about a failure, however slow the machine.
    #[must_use]
    pub fn explain<S: AsRef<OsStr>>(options: impl IntoIterator<Item = S>, program: &Path) -> Self {
        Self::exploration(&["--explain-time", "1h"], options, program)
    }

    fn exploration<S: AsRef<OsStr>>(
        explains: &[&str],
        options: impl IntoIterator<Item = S>,
        program: &Path,
    ) -> Self {
        let mut tool = Self::new(["explore", "--format", "json"]).and(explains).and(options);
        // Tests that run beside each other leave no processor to a second worker, which a sample of the programs has.
        let says = tool.arguments.iter().any(|argument| argument == "--workers");
        let place = program.as_os_str().as_encoded_bytes().iter().map(|byte| usize::from(*byte)).sum();
        if !says && !is_sampled(place, 4) {
            tool = tool.and(["--workers", "1"]);
        }
        tool.and([OsStr::new("--"), program.as_os_str()])
    }

    /// More arguments.
    #[must_use]
    pub fn and<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Another time limit than [`WATCHDOG`].
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Another working directory than the root of the checkout.
    #[must_use]
    pub fn within_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// One more variable, or another value for one.
    #[must_use]
    pub fn with(mut self, name: &str, value: &OsStr) -> Self {
        self.variables.push((name.into(), value.to_owned()));
        self
    }

    /// Lets `wrapper` start the tool: it gets `arguments`, and then the tool's command line.
    #[must_use]
    pub fn under<S: AsRef<OsStr>>(
        mut self,
        wrapper: PathBuf,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        self.wrapper = Some((wrapper, arguments));
        self
    }

    /// A build of the tool whose sentences have no words.
    #[must_use]
    pub fn scrambled(mut self) -> Self {
        self.is_scrambled = true;
        self
    }

    /// Runs it at the root of the checkout unless another folder was named, with nothing on its standard input.
    ///
    /// # Errors
    /// When it cannot be built or started, or does not end by itself. The processes that it has started are killed
    /// then.
    pub fn run(&self) -> Result<Outcome, ToolError> {
        let tool = if self.is_scrambled { scrambled_binary()? } else { binary()? };
        let mut command = match &self.wrapper {
            Some((wrapper, arguments)) => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(tool);
                command
            }
            None => Command::new(tool),
        };
        command.args(&self.arguments).current_dir(self.folder.as_deref().unwrap_or(paths::workspace()));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = self.watch(&mut command)?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let Some(code) = output.status.code() else {
            return Err(ToolError::Killed {
                command: self.words(),
                status: output.status.to_string(),
                stderr,
            });
        };
        Ok(Outcome::new(code, String::from_utf8_lossy(&output.stdout).into_owned(), stderr))
    }

    fn watch(&self, command: &mut Command) -> Result<Output, ToolError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error| ToolError::Start { command: self.words(), error };
        let child = command.spawn().map_err(failed)?;
        let process = child.id().cast_signed();
        let (done, ended) = mpsc::channel();
        let reader = thread::spawn(move || done.send(child.wait_with_output()));
        let output = ended.recv_timeout(self.limit);
        if output.is_err() {
            processes::kill_tree(process);
        }
        // It has ended now, or is dead: nothing holds its pipes open any more.
        let _ = reader.join();
        output.map_err(|_| ToolError::TimedOut { command: self.words(), limit: self.limit })?.map_err(failed)
    }

    fn words(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        ["interleaver".into()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// The tool, built once per test process, with the profile of the test.
///
/// # Errors
/// When it does not compile.
pub fn binary() -> Result<&'static Path, ToolError> {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || build(&[], &output()?.folder);
    BINARY.get_or_init(build).as_deref().map_err(|error| ToolError::Build(error.clone()))
}

/// The tool without words in its sentences, built in a folder of its own.
fn scrambled_binary() -> Result<&'static Path, ToolError> {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let build = || build(&["--features", "scrambled"], &output()?.folder.join("scrambled"));
    BINARY.get_or_init(build).as_deref().map_err(|error| ToolError::Build(error.clone()))
}

fn output() -> Result<CargoOutput, String> {
    CargoOutput::find().map_err(|error| error.to_string())
}

fn build(features: &[&str], folder: &Path) -> Result<PathBuf, String> {
    let output = output()?;
    let profile = if output.profile == "debug" { "dev" } else { &output.profile };
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--package", "cli", "--bin", "interleaver", "--profile", profile])
        .args(["--message-format", "json-render-diagnostics"])
        .args(features)
        .arg("--target-dir")
        .arg(folder)
        .current_dir(paths::workspace())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    executable(&messages).ok_or_else(|| "cargo names no executable".to_owned())
}

fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut executables = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables.next_back()
}
