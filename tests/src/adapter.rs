//! A client of the debug adapter: starts the real binary, talks to it over its standard streams.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::tool::{ToolError, WATCHDOG, binary};

/// A running adapter, and its messages.
pub struct Adapter {
    /// None at a port of a server.
    child: Option<Child>,
    input: Option<Box<dyn Write + Send>>,
    stream: Option<TcpStream>,
    messages: Receiver<Value>,
    /// Events that have not been asked for yet.
    events: VecDeque<Value>,
    seq: i64,
}

impl Adapter {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be built or started.
    pub fn start() -> Result<Self, ToolError> {
        Self::started_by(Command::new(binary()?))
    }

    /// The same, where `wrapper` starts it: it gets these words, the tool, and the tool's arguments.
    ///
    /// # Errors
    /// When it cannot be built or started.
    pub fn start_under(wrapper: &Path, words: &[&OsStr]) -> Result<Self, ToolError> {
        let mut command = Command::new(wrapper);
        command.args(words).arg(binary()?);
        Self::started_by(command)
    }

    fn started_by(mut command: Command) -> Result<Self, ToolError> {
        command.arg("dap").stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |error| ToolError::Start { command: "interleaver dap".to_owned(), error };
        let mut child = command.spawn().map_err(failed)?;
        let input = child.stdin.take().map(|input| Box::new(input) as Box<dyn Write + Send>);
        let output = child.stdout.take().ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self::talking(Some(child), None, input, output))
    }

    fn talking(
        child: Option<Child>,
        stream: Option<TcpStream>,
        input: Option<Box<dyn Write + Send>>,
        output: impl Read + Send + 'static,
    ) -> Self {
        let (said, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(message) = message(&mut output) {
                if said.send(message).is_err() {
                    break;
                }
            }
        });
        Self { child, input, stream, messages, events: VecDeque::new(), seq: 0 }
    }

    /// Starts it, launches a schedule, and waits until the session stands.
    ///
    /// # Panics
    /// When the schedule is refused.
    #[must_use]
    pub fn launched(schedule: &Path, folder: &Path) -> (Self, Value) {
        let mut adapter = Self::start().unwrap_or_else(|error| panic!("{error}"));
        adapter.succeed("initialize", &json!({"adapterID": "interleaver"}));
        adapter.succeed("launch", &json!({"schedule": schedule, "folder": folder}));
        adapter.event("initialized");
        adapter.succeed("configurationDone", &Value::Null);
        let stop = adapter.event("stopped");
        (adapter, stop)
    }

    /// The adapter's process; none at a port.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Sends bytes that need not be a message.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            // An adapter that has gone is noticed when its answer is waited for.
            let _ = input.write_all(bytes).and_then(|()| input.flush());
        }
    }

    /// Sends a request, and returns its number.
    pub fn send(&mut self, command: &str, arguments: &Value) -> i64 {
        self.seq += 1;
        let mut message = json!({"seq": self.seq, "type": "request", "command": command});
        if !arguments.is_null() {
            message["arguments"] = arguments.clone();
        }
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        self.seq
    }

    /// Sends a request and waits for its response.
    ///
    /// # Panics
    /// When there is none within [`WATCHDOG`].
    pub fn request(&mut self, command: &str, arguments: &Value) -> Value {
        let seq = self.send(command, arguments);
        self.response(seq)
    }

    /// Waits for the response to a request.
    ///
    /// # Panics
    /// When there is none within [`WATCHDOG`].
    pub fn response(&mut self, seq: i64) -> Value {
        loop {
            let message = self.next(&format!("the response to request {seq}"));
            if message["type"] == "response" && message["request_seq"] == seq {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// The body of the response to a request that must succeed.
    ///
    /// # Panics
    /// When it does not.
    pub fn succeed(&mut self, command: &str, arguments: &Value) -> Value {
        let mut response = self.request(command, arguments);
        assert_eq!(response["success"], true, "{command} {arguments}: {response}");
        response["body"].take()
    }

    /// The sentence of the response to a request that must fail.
    ///
    /// # Panics
    /// When it does not.
    pub fn refused(&mut self, command: &str, arguments: &Value) -> String {
        let response = self.request(command, arguments);
        assert_eq!(response["success"], false, "{command} {arguments}: {response}");
        response["message"].as_str().unwrap_or_default().to_owned()
    }

    /// The body of the next event of a kind; others are kept.
    ///
    /// # Panics
    /// When there is none within [`WATCHDOG`].
    pub fn event(&mut self, event: &str) -> Value {
        let known = self.events.iter().position(|message| message["event"] == event);
        if let Some(mut message) = known.and_then(|at| self.events.remove(at)) {
            return message["body"].take();
        }
        loop {
            let mut message = self.next(&format!("the event `{event}`"));
            if message["event"] == event {
                return message["body"].take();
            }
            self.events.push_back(message);
        }
    }

    /// Makes a move, and returns the stop that it ends with.
    pub fn go(&mut self, command: &str, arguments: &Value) -> Value {
        self.succeed(command, arguments);
        self.event("stopped")
    }

    /// The bodies of the events of a kind that have come and have not been asked for yet.
    pub fn seen(&mut self, event: &str) -> Vec<Value> {
        let (wanted, others) = self.events.drain(..).partition(|message| message["event"] == event);
        let wanted: VecDeque<Value> = wanted;
        self.events = others;
        wanted.into_iter().map(|mut message| message["body"].take()).collect()
    }

    fn next(&mut self, what: &str) -> Value {
        self.messages
            .recv_timeout(WATCHDOG)
            .unwrap_or_else(|error| panic!("{what} is waited for ({error}); so far: {:#?}", self.events))
    }

    /// Closes its standard input, as a client that dies does, and waits for it to end. Returns its exit code.
    ///
    /// # Panics
    /// When it does not end within [`WATCHDOG`].
    pub fn close(mut self) -> Option<i32> {
        self.input = None;
        if let Some(stream) = &self.stream {
            // The server may have closed it first.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.wait()
    }

    /// Waits for it to end. Returns its exit code.
    ///
    /// # Panics
    /// When it does not end within [`WATCHDOG`].
    pub fn wait(&mut self) -> Option<i32> {
        // Its standard output closes when it ends.
        while self.messages.recv_timeout(WATCHDOG).is_ok() {}
        let ended = self.messages.recv_timeout(std::time::Duration::ZERO);
        assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected), "the adapter is still running");
        self.child.as_mut()?.wait().ok().and_then(|status| status.code())
    }

    /// Kills it by a signal that it cannot catch.
    pub fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An adapter that serves clients at a port, one after another.
pub struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it at a free port.
    ///
    /// # Errors
    /// When it cannot be built or started.
    pub fn start() -> Result<Self, ToolError> {
        let failed = |error| ToolError::Start { command: "interleaver dap --port 0".to_owned(), error };
        let mut command = Command::new(binary()?);
        command.args(["dap", "--port", "0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(errors) = child.stderr.take() {
            BufReader::new(errors).read_line(&mut line).map_err(failed)?;
        }
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Ok(Self { child, address })
    }

    /// One more client.
    ///
    /// # Panics
    /// When the server does not listen.
    #[must_use]
    pub fn connect(&self) -> Adapter {
        let connect = || -> io::Result<Adapter> {
            let stream = TcpStream::connect(&self.address)?;
            let input: Box<dyn Write + Send> = Box::new(stream.try_clone()?);
            let output = stream.try_clone()?;
            Ok(Adapter::talking(None, Some(stream), Some(input), output))
        };
        connect().unwrap_or_else(|error| panic!("{}: {error}", self.address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        self.kill();
    }
}

fn message(output: &mut impl BufRead) -> io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim().split_once(':') {
            Some(("Content-Length", value)) => length = value.trim().parse().map_err(io::Error::other)?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body)?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}
