//! An exploration in a process of its own: started, listened to, and ended when it is not wanted any more.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use explorer::config::Settings;
use explorer::input::request::Request;
use explorer::verbs::json_lines::Line;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Time for a process to end in order. It gives itself less.
const PATIENCE: Duration = Duration::from_millis(950);

/// The part of its standard error that is looked at, in bytes.
const MOST_ERRORS: u64 = 64 << 10;

/// The command to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Exploration {
    /// The `interleaver` executable.
    pub(crate) tool: PathBuf,
    /// `explore` or `minimise`.
    pub(crate) verb: &'static str,
    /// Everything after that and `--format jsonl --watch-stdin`.
    pub(crate) arguments: Vec<OsString>,
    /// Its working directory.
    pub(crate) directory: PathBuf,
}

/// The arguments that make the tool do what a request says, for the target of this name.
pub(crate) fn arguments(request: &Request, target: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![format!("--target={target}").into()];
    words.extend(Settings::of(request).options().into_iter().map(OsString::from));
    for (option, path) in [("--cwd", &request.directory), ("--stdin", &request.stdin)] {
        words.extend(path.iter().flat_map(|path| [option.into(), path.clone().into_os_string()]));
    }
    for (name, value) in &request.variables {
        words.extend(["--env".into(), [name.as_os_str(), value].join("=".as_ref())]);
    }
    words.push("--".into());
    words.push(request.program.clone().into());
    words.extend(request.arguments.iter().cloned());
    words
}

/// The way in which it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With a report or an error as its last line.
    InOrder,
    /// Without; a sentence.
    Broken(String),
}

impl Exploration {
    /// Runs it until it ends, or until `cancel` is used or dropped; then it has a second. `tell` gets each line.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(crate) async fn run(
        &self,
        cancel: oneshot::Receiver<()>,
        mut tell: impl FnMut(Line),
    ) -> io::Result<End> {
        let mut child = self.command().spawn()?;
        // Closing this pipe tells the process to end; so does the end of this process, however it comes.
        let mut lifeline = child.stdin.take();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("its output cannot be read"));
        };
        let errors = tokio::spawn(async move {
            let mut text = Vec::new();
            // An unreadable text is no error that could be told.
            let _ = stderr.take(MOST_ERRORS).read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut lines = BufReader::new(stdout).lines();
        let mut last = None;
        let mut listen = async || {
            while let Ok(Some(text)) = lines.next_line().await {
                // Lines of a newer tool may be unknown.
                let Ok(line) = serde_json::from_str::<Line>(&text) else { continue };
                last = Some(matches!(line, Line::Report { .. } | Line::Error { .. }));
                tell(line);
            }
        };
        let cancelled = tokio::select! {
            () = listen() => false,
            _ = cancel => true,
        };
        if cancelled {
            drop(lifeline.take());
            // Past its time, what it told before must do.
            let _ = timeout(PATIENCE, listen()).await;
        }
        end(&mut child).await?;
        if last == Some(true) || cancelled {
            return Ok(End::InOrder);
        }
        Ok(End::Broken(broken(&errors.await.unwrap_or_default())))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.tool);
        command
            .args([self.verb, "--format", "jsonl", "--watch-stdin"])
            .args(&self.arguments)
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in the terminal of an editor is not meant for it.
            .process_group(0);
        command
    }
}

/// Its output is closed, or its time is up. The kernel ends what it traces with it.
async fn end(child: &mut Child) -> io::Result<()> {
    if timeout(PATIENCE, child.wait()).await.is_err() {
        child.kill().await?;
    }
    Ok(())
}

fn broken(errors: &str) -> String {
    let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last {
        Some(line) => format!("the exploration ended unexpectedly: {line}"),
        None => "the exploration ended unexpectedly, and said nothing".to_owned(),
    }
}
