//! An editor without a screen: the client's side of the language server protocol, under a watchdog.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tool::{self, ToolError, WATCHDOG};

/// Answers a request of the server, or `None` for what every editor answers.
pub type Answer = Box<dyn FnMut(&str, &Value) -> Option<Value>>;

/// A client of one server. A failure is a panic: it is for tests only.
pub struct Editor {
    to_server: Box<dyn Write>,
    from_server: Receiver<Value>,
    next_id: u64,
    answer: Answer,
    /// Everything that the server sent without being asked, in order: requests too. Answers have no place in that order:
    /// what was sent before an answer may come after it, so that only a wait for what was sent later shows what was told.
    pub told: Vec<Value>,
    /// The number of messages that were told before something was done: they belong to the past.
    past: usize,
    /// For each method, how many of `told` were waited for.
    waited: HashMap<String, usize>,
    folder: PathBuf,
    process: Option<Child>,
}

/// A message from the server.
pub type Told = Value;

impl Editor {
    /// A server in this process, which explores with the real tool.
    ///
    /// # Errors
    /// When the tool cannot be built.
    ///
    /// # Panics
    /// When the system gives no sockets or threads.
    pub fn in_process(folder: &Path) -> Result<Self, ToolError> {
        let tool = tool::binary()?.to_owned();
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        theirs.set_nonblocking(true).expect("a socket can do without waiting");
        thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                let socket = tokio::net::UnixStream::from_std(theirs).expect("a socket");
                let (input, output) = socket.into_split();
                lsp::serve_over(input, output, tool).await;
            });
        });
        let reader = ours.try_clone().expect("a second handle");
        Ok(Self::over(Box::new(ours), reader, folder, None))
    }

    /// A server in a process of its own, as an editor starts it.
    ///
    /// # Errors
    /// When the tool cannot be built or started.
    ///
    /// # Panics
    /// When its pipes are missing.
    pub fn spawned(folder: &Path) -> Result<Self, ToolError> {
        Self::started_by(Command::new(tool::binary()?), folder)
    }

    /// The same, where `wrapper` starts the server: it gets these words, the tool, and the tool's arguments.
    ///
    /// # Errors
    /// When the tool cannot be built or started.
    ///
    /// # Panics
    /// When its pipes are missing.
    pub fn spawned_under(wrapper: &Path, words: &[&str], folder: &Path) -> Result<Self, ToolError> {
        let mut command = Command::new(wrapper);
        command.args(words).arg(tool::binary()?);
        Self::started_by(command, folder)
    }

    fn started_by(mut command: Command, folder: &Path) -> Result<Self, ToolError> {
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let started = command.spawn();
        let mut process =
            started.map_err(|error| ToolError::Start { command: "interleaver lsp".to_owned(), error })?;
        let input: ChildStdin = process.stdin.take().expect("piped");
        let output = process.stdout.take().expect("piped");
        Ok(Self::over(Box::new(input), output, folder, Some(process)))
    }

    fn over(
        to_server: Box<dyn Write>,
        output: impl Read + Send + 'static,
        folder: &Path,
        process: Option<Child>,
    ) -> Self {
        let (sender, from_server) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let answer: Answer = Box::new(|_, _| None);
        let folder = folder.to_owned();
        Self {
            to_server,
            from_server,
            next_id: 0,
            answer,
            told: Vec::new(),
            past: 0,
            waited: HashMap::new(),
            folder,
            process,
        }
    }

    /// Answers some requests of the server in another way than with `null`.
    #[must_use]
    pub fn answering(mut self, answer: impl FnMut(&str, &Value) -> Option<Value> + 'static) -> Self {
        self.answer = Box::new(answer);
        self
    }

    /// Says hello with these options, as an editor that can do everything.
    pub fn begin(&mut self, options: Value) -> Value {
        self.begin_as(options, full_capabilities())
    }

    /// Says hello as an editor that can do this.
    pub fn begin_as(&mut self, options: Value, capabilities: Value) -> Value {
        let params = json!({
            "processId": null,
            "rootUri": uri(&self.folder),
            "workspaceFolders": [{ "uri": uri(&self.folder), "name": "workspace" }],
            "capabilities": capabilities,
            "initializationOptions": options,
        });
        let hello = self.request("initialize", params);
        self.notify("initialized", json!({}));
        hello
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    /// When the answer is an error.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.try_request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and waits for its answer, whatever it is.
    pub fn try_request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.wait_for(method, |message| message["id"] == json!(id) && message.get("method").is_none())
    }

    /// Sends a request, and does not wait.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.past = self.told.len();
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// When the server is gone.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.to_server.write_all(bytes).and_then(|()| self.to_server.flush()).expect("the server reads");
    }

    /// Waits for an error that answers no request of this editor, such as one to bytes that it has sent.
    pub fn wait_for_error(&mut self) -> Told {
        self.wait_for("an error", |message| message.get("error").is_some())
    }

    /// Waits for a message that has not been read yet; the ones before it are kept in `told`, and requests are answered.
    /// Private: a message may have been read while another one was waited for, which `wait_for_method` knows.
    ///
    /// # Panics
    /// When it does not come.
    fn wait_for(&mut self, what: &str, mut is_it: impl FnMut(&Value) -> bool) -> Told {
        let started = Instant::now();
        loop {
            let left = WATCHDOG.saturating_sub(started.elapsed());
            let message = match self.from_server.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("no {what} in {WATCHDOG:?}: {:#?}", self.told),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the server has gone before {what}: {:#?}", self.told)
                }
            };
            let is_it = is_it(&message);
            self.take(&message);
            if is_it {
                return message;
            }
        }
    }

    fn take(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else { return };
        if message.get("id").is_some() {
            let result = (self.answer)(method, &message["params"]).unwrap_or(Value::Null);
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        self.told.push(message.clone());
    }

    /// Waits for a notification, or a request, of this method whose parameters fit. One that has come since something was
    /// done counts, and counts once.
    pub fn wait_for_method(&mut self, method: &str, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let mut fits = |message: &Value| message["method"] == method && fits(&message["params"]);
        let from = self.waited.get(method).copied().unwrap_or(0).max(self.past);
        let known = self.told.iter().enumerate().skip(from).find(|(_, message)| fits(message));
        let (at, message) = match known {
            Some((at, message)) => (at, message.clone()),
            None => {
                let message = self.wait_for(method, fits);
                (self.told.len() - 1, message)
            }
        };
        self.waited.insert(method.to_owned(), at + 1);
        message["params"].clone()
    }

    /// Opens a file.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn open(&mut self, file: &Path) {
        let text = std::fs::read_to_string(file).expect("the file is there");
        let language = match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => "rust",
            Some("c") => "c",
            Some("toml") => "toml",
            _ => "cpp",
        };
        let document = json!({ "uri": uri(file), "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text of an open file.
    pub fn change(&mut self, file: &Path, version: i32, text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri(file), "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    /// The lenses of a file.
    pub fn lenses(&mut self, file: &Path) -> Vec<Value> {
        let lenses = self.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri(file) } }));
        lenses.as_array().cloned().unwrap_or_default()
    }

    /// The titles of the lenses of a file.
    pub fn lens_titles(&mut self, file: &Path) -> Vec<String> {
        self.lenses(file).iter().map(title).collect()
    }

    /// The one lens whose title begins so.
    ///
    /// # Panics
    /// When there is none.
    pub fn lens(&mut self, file: &Path, start: &str) -> Value {
        let lenses = self.lenses(file);
        let found = lenses.iter().find(|lens| title(lens).starts_with(start));
        found.unwrap_or_else(|| panic!("no lens `{start}`: {lenses:#?}")).clone()
    }

    /// Does what a click on a lens does where the command is the server's.
    pub fn click(&mut self, lens: &Value) -> Value {
        let command = &lens["command"];
        self.execute(command["command"].as_str().unwrap_or_default(), command["arguments"][0].clone())
    }

    /// Runs a command of the server.
    pub fn execute(&mut self, command: &str, argument: Value) -> Value {
        self.past = self.told.len();
        self.request("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }))
    }

    /// Waits until the diagnostics of a file fit.
    pub fn wait_for_diagnostics(
        &mut self,
        file: &Path,
        mut fits: impl FnMut(&[Value]) -> bool,
    ) -> Vec<Value> {
        let uri = uri(file);
        let params = self.wait_for_method("textDocument/publishDiagnostics", |params| {
            params["uri"] == uri && fits(params["diagnostics"].as_array().map_or(&[], Vec::as_slice))
        });
        params["diagnostics"].as_array().cloned().unwrap_or_default()
    }

    /// The diagnostics of a file as they are: those that were published last.
    #[must_use]
    pub fn diagnostics(&self, file: &Path) -> Vec<Value> {
        let uri = uri(file);
        let of_file = |told: &&Value| {
            told["method"] == "textDocument/publishDiagnostics" && told["params"]["uri"] == uri.as_str()
        };
        let last = self.told.iter().rfind(of_file);
        last.and_then(|told| told["params"]["diagnostics"].as_array()).cloned().unwrap_or_default()
    }

    /// Waits until the diagnostics of a file, as they are, fit.
    pub fn settled_diagnostics(&mut self, file: &Path, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let diagnostics = self.diagnostics(file);
            if fits(&diagnostics) {
                return diagnostics;
            }
            self.wait_for("diagnostics", |message| message["method"] == "textDocument/publishDiagnostics");
        }
    }

    /// Waits until a lens fits, asking again whenever the server says that lenses have changed.
    pub fn wait_for_lens(&mut self, file: &Path, mut fits: impl FnMut(&str) -> bool) -> String {
        loop {
            if let Some(title) = self.lens_titles(file).into_iter().find(|title| fits(title)) {
                return title;
            }
            self.wait_for_method("workspace/codeLens/refresh", |_| true);
        }
    }

    /// Goes away without a word, and gives the server that is left behind.
    ///
    /// # Panics
    /// When the server is in this process.
    pub fn hang_up(mut self) -> Child {
        self.process.take().expect("a server in a process of its own")
    }

    /// The process of the server, if it has one.
    pub fn process(&mut self) -> Option<&mut Child> {
        self.process.as_mut()
    }

    /// Ends the conversation in order.
    pub fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The title of a lens.
#[must_use]
pub fn title(lens: &Value) -> String {
    lens["command"]["title"].as_str().unwrap_or_default().to_owned()
}

/// The URI of a file with a plain name.
#[must_use]
pub fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// The capabilities of an editor that can do everything.
#[must_use]
pub fn full_capabilities() -> Value {
    json!({
        "window": { "workDoneProgress": true, "showDocument": { "support": true } },
        "workspace": {
            "codeLens": { "refreshSupport": true },
            "inlayHint": { "refreshSupport": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "configuration": true,
        },
        "general": { "positionEncodings": ["utf-16"] },
    })
}

fn read(input: &mut impl BufRead) -> io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut text = vec![0; length];
    input.read_exact(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

/// Waits for a condition that nothing announces.
///
/// # Panics
/// When it does not come.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < WATCHDOG, "{what}: not in {WATCHDOG:?}");
        thread::park_timeout(Duration::from_millis(5));
    }
}
