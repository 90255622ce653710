//! The build step: asked for, run by the client or here, and what came of it.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::ls_types::request::Request;
use tower_lsp::ls_types::{MessageActionItem, MessageType};

use super::compile_errors::{CompileError, compile_errors};

/// The part of a build's output that is looked at, in bytes.
const MOST_OUTPUT: u64 = 4 << 20;

/// Standard input ends with this server, however that ends, and all processes of the build with it; they see an empty one.
const LIFELINE: &str = "exec 3<&0 </dev/null; { read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec 3<&-";

const YES: &str = "Build";
const NO: &str = "Cancel";

/// A build that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    /// For a shell.
    pub(crate) command: String,
    /// The folder in which it is run.
    pub(crate) directory: PathBuf,
    /// The user has agreed to it before.
    pub(crate) confirmed: bool,
}

/// Result of a build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Built {
    /// It succeeded.
    Done,
    /// The user does not want it, or has stopped it.
    Declined,
    /// A sentence with its first error, and the errors with their places.
    Failed(String, Vec<CompileError>),
}

/// `interleaver/build`.
enum ByClient {}

impl Request for ByClient {
    type Params = Build;
    type Result = Answer;
    const METHOD: &'static str = "interleaver/build";
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ran: bool,
    exit_code: Option<i32>,
    output: Option<String>,
    /// The command that was run, where the user has changed it.
    command: Option<String>,
}

impl Build {
    /// Has it done: by the client if that can, else here, once the user agrees. `cancel` ends it, used or dropped. Also gives
    /// the command that was run, which the user may have changed.
    pub(crate) async fn run(
        mut self,
        client: &Client,
        by_client: bool,
        cancel: oneshot::Receiver<()>,
    ) -> (Built, String) {
        let run = async {
            if by_client {
                return self.ask(client).await;
            }
            match self.confirmed || self.is_wanted(client).await {
                true => self.run_here().await.unwrap_or_else(|error| {
                    let sentence = format!("the build `{}` cannot be started: {error}", self.command);
                    Built::Failed(sentence, Vec::new())
                }),
                false => Built::Declined,
            }
        };
        let built = tokio::select! {
            built = run => built,
            _ = cancel => Built::Declined,
        };
        (built, self.command)
    }

    async fn ask(&mut self, client: &Client) -> Built {
        match client.send_request::<ByClient>(self.clone()).await {
            Ok(Answer { ran: false, .. }) => Built::Declined,
            Ok(Answer { exit_code, output, command, .. }) => {
                self.command = command.unwrap_or_else(|| std::mem::take(&mut self.command));
                if exit_code == Some(0) { Built::Done } else { self.failure(&output.unwrap_or_default()) }
            }
            Err(error) => Built::Failed(format!("the editor could not build: {error}"), Vec::new()),
        }
    }

    async fn is_wanted(&self, client: &Client) -> bool {
        let action =
            |title: &str| MessageActionItem { title: title.to_owned(), properties: Default::default() };
        let question = format!("Build with `{}` in `{}`?", self.command, self.directory.display());
        let actions = vec![action(YES), action(NO)];
        let answer = client.show_message_request(MessageType::INFO, question, Some(actions)).await;
        matches!(answer, Ok(Some(MessageActionItem { title, .. })) if title == YES)
    }

    /// Runs it, with everything that it starts in one group, which ends with this future.
    async fn run_here(&self) -> io::Result<Built> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{LIFELINE}\n{{ {}\n}} 2>&1", self.command)])
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let _group = child.id().map(Group);
        // Open for as long as the build is wanted, or this process lives.
        let _lifeline = child.stdin.take();
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let mut limited = stdout.take(MOST_OUTPUT);
            limited.read_to_end(&mut output).await?;
            // The rest is read, so that no process of the build has to wait for a full pipe.
            let mut rest = limited.into_inner();
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
        }
        let status = child.wait().await?;
        Ok(match status.success() {
            true => Built::Done,
            false => self.failure(&String::from_utf8_lossy(&output)),
        })
    }

    fn failure(&self, output: &str) -> Built {
        let sentence = match first_error(output) {
            Some(line) => format!("the build `{}` failed: {line}", self.command),
            None => format!("the build `{}` failed and said nothing", self.command),
        };
        Built::Failed(sentence, compile_errors(output, &self.directory))
    }
}

/// All processes of a build; they end with it.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        // There may be no process left to signal.
        let _ = killpg(Pid::from_raw(self.0.cast_signed()), Signal::SIGKILL);
    }
}

/// The line of a build's output that says what is wrong: the first one that speaks of an error, else the last one.
fn first_error(output: &str) -> Option<&str> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.contains("error:") || line.starts_with("error[") || line.contains("fatal error")
    };
    lines().find(is_error).or_else(|| lines().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str) -> Built {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let build = Build { command: command.to_owned(), directory: "/".into(), confirmed: true };
        runtime.block_on(build.run_here()).unwrap()
    }

    #[test]
    fn a_build_ends_with_its_first_error() {
        assert_eq!(run("true"), Built::Done);
        let output =
            "echo compiling; echo 'a.c:3:1: error: no such type' >&2; echo 'make: *** Error 1'; exit 2";
        let Built::Failed(sentence, _) = run(output) else { panic!("it fails") };
        assert!(sentence.ends_with("failed: a.c:3:1: error: no such type"), "{sentence}");
        let silent = "the build `exit 1` failed and said nothing".to_owned();
        assert_eq!(run("exit 1"), Built::Failed(silent, Vec::new()));
    }

    #[test]
    fn more_output_than_anybody_reads_does_not_stop_it() {
        assert_eq!(run("head -c 9000000 /dev/zero"), Built::Done);
    }

    #[test]
    fn errors_are_found_in_what_compilers_print() {
        for (output, expected) in [
            (
                "warning: x\nerror[E0308]: mismatched types\n --> a.rs:3:4\nerror: aborting\n",
                "error[E0308]: mismatched types",
            ),
            ("a.c:1:10: fatal error: x.h: No such file\n", "a.c:1:10: fatal error: x.h: No such file"),
            (
                "make: *** No rule to make target 'x'.  Stop.\n",
                "make: *** No rule to make target 'x'.  Stop.",
            ),
        ] {
            assert_eq!(first_error(output), Some(expected));
        }
        assert_eq!(first_error("\n \n"), None);
    }
}
