//! One client's requests, one after another.

use std::collections::BTreeSet;
use std::io::Write;

use explorer::debug::{Controls, DebugError, Session, Stop};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::Client;
use crate::looking::Frames;
use crate::output::Console;
use crate::protocol::Request;
use crate::variables::Handles;

/// The state of a connection.
pub(crate) struct Adapter<W> {
    pub(crate) client: Client<W>,
    /// Those of the launch that comes next.
    pub(crate) controls: Controls,
    pub(crate) session: Option<Session>,
    /// The last stop.
    pub(crate) stop: Option<Stop>,
    /// The client has been told of it.
    pub(crate) is_told: bool,
    /// The threads that the client knows.
    pub(crate) threads: BTreeSet<u32>,
    pub(crate) frames: Frames,
    pub(crate) handles: Handles,
    pub(crate) console: Console,
    /// A failure is shown as an exception.
    pub(crate) stops_at_bug: bool,
    /// Lines and columns begin with 1.
    pub(crate) lines_from_one: bool,
    pub(crate) columns_from_one: bool,
}

/// A request that cannot be met, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(pub(crate) String);

impl From<DebugError> for Refusal {
    fn from(error: DebugError) -> Self {
        Self(error.to_string())
    }
}

/// What a request is answered with, before its events.
pub(crate) type Answer = Result<Value, Refusal>;

impl<W: Write> Adapter<W> {
    pub(crate) fn new(output: W) -> Self {
        Self {
            client: Client::new(output),
            controls: Controls::default(),
            session: None,
            stop: None,
            is_told: true,
            threads: BTreeSet::new(),
            frames: Frames::default(),
            handles: Handles::default(),
            console: Console::default(),
            stops_at_bug: true,
            lines_from_one: true,
            columns_from_one: true,
        }
    }

    /// Something that was no message.
    pub(crate) fn fault(&mut self, sentence: &str) -> bool {
        self.client.refuse(0, "", sentence);
        true
    }

    /// Whether there is more to come.
    pub(crate) fn handle(&mut self, message: Value) -> bool {
        let (seq, kind) =
            (message["seq"].as_i64().unwrap_or(0), message["type"].as_str().unwrap_or_default());
        if kind != "request" {
            // There are no requests to the client, so that this answers none.
            self.client.refuse(seq, "", &format!("a message of type `{kind}` is not expected here"));
            return true;
        }
        let request: Request = match serde_json::from_value(message) {
            Ok(request) => request,
            Err(error) => {
                self.client.refuse(seq, "", &format!("this is no request: {error}"));
                return true;
            }
        };
        match self.answer(&request) {
            Ok(body) => {
                self.client.respond(&request, body);
                self.after(&request)
            }
            Err(Refusal(sentence)) => {
                self.client.refuse(request.seq, &request.command, &sentence);
                true
            }
        }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        match request.command.as_str() {
            "initialize" => self.initialize(request),
            "launch" => self.launch(request),
            "attach" => Err(Refusal("a schedule is launched: there is nothing to attach to".to_owned())),
            "configurationDone" => self.configured(),
            "restart" => self.restart(),
            "disconnect" | "terminate" => {
                self.end();
                Ok(Value::Null)
            }
            "threads" => self.list_threads(),
            "stackTrace" => self.stack_trace(request),
            "source" => self.source_text(request),
            "loadedSources" => self.loaded_sources(),
            "scopes" => self.scopes(request),
            "variables" => self.variables(request),
            "evaluate" => self.evaluate(request),
            "setBreakpoints" => self.set_breakpoints(request),
            "setExceptionBreakpoints" => self.set_filters(request),
            "exceptionInfo" => self.exception_info(),
            "next"
            | "stepIn"
            | "stepOut"
            | "stepBack"
            | "continue"
            | "reverseContinue"
            | "interleaver/stepBackInto"
            | "interleaver/stepBackOut"
            | "interleaver/goToStep"
            | "interleaver/nextSwitch"
            | "interleaver/previousSwitch" => self.go(request),
            "interleaver/position" => self.position(),
            "pause" => {
                // What it was to break off came before it, and is over.
                if let Some(session) = &self.session {
                    session.clear_interrupt();
                }
                Ok(Value::Null)
            }
            other => Err(Refusal(format!("`{other}` is not supported"))),
        }
    }

    /// What a request brings about once it has been answered; whether there is more to come.
    fn after(&mut self, request: &Request) -> bool {
        match request.command.as_str() {
            "launch" => self.client.event("initialized", Value::Null),
            "terminate" => self.client.event("terminated", Value::Null),
            "disconnect" => return false,
            _ => self.tell(),
        }
        true
    }

    /// Ends the program. What the client knew of it means nothing any more.
    fn end(&mut self) {
        self.session = None;
        self.stop = None;
        self.is_told = true;
        self.threads.clear();
        self.frames.clear();
        self.handles.clear();
        self.console = Console::default();
    }

    pub(crate) fn session(&self) -> Result<&Session, Refusal> {
        self.session.as_ref().ok_or_else(|| Refusal("no schedule has been launched yet".to_owned()))
    }
}

/// The arguments of a request.
pub(crate) fn arguments<T: DeserializeOwned>(request: &Request) -> Result<T, Refusal> {
    let arguments = if request.arguments.is_null() { json!({}) } else { request.arguments.clone() };
    serde_json::from_value(arguments).map_err(|error| {
        Refusal(format!("the arguments of `{}` are not understood: {error}", request.command))
    })
}
