//! One client's requests, one after another.

use std::io::Write;

use explorer::debug::{Controls, Move, Session, Stop};
use serde_json::{Value, json};

use crate::client::Client;
use crate::client_events::ClientEvents;
use crate::handlers::{breakpoints, launching, sources, stack_trace, stepping, variables};
use crate::handles::{Frames, Handles};
use crate::protocol::Request;
use crate::request::{Answer, Launched, Numbering, Refusal};

/// The state of a connection.
pub(crate) struct Adapter<W> {
    client: Client<W>,
    /// Those of the launch that comes next.
    pub(crate) controls: Controls,
    session: Option<Session>,
    client_events: ClientEvents,
    frames: Frames,
    handles: Handles,
    numbering: Numbering,
    /// A failure is shown as an exception.
    stops_at_bug: bool,
}

impl<W: Write> Adapter<W> {
    pub(crate) fn new(output: W) -> Self {
        Self {
            client: Client::new(output),
            controls: Controls::default(),
            session: None,
            client_events: ClientEvents::default(),
            frames: Frames::default(),
            handles: Handles::default(),
            numbering: Numbering { lines_from_one: true, columns_from_one: true },
            stops_at_bug: true,
        }
    }

    /// Something that was no message.
    pub(crate) fn fault(&mut self, sentence: &str) -> bool {
        self.client.refuse(0, "", sentence);
        true
    }

    /// Handles a message. Returns whether there is more to come.
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
        let launched = Launched(self.session.as_ref());
        let numbers = (&self.frames, &mut self.handles);
        match request.command.as_str() {
            "initialize" => {
                let (numbering, supported) = launching::initialize(request);
                self.numbering = numbering;
                Ok(supported)
            }
            "launch" => self.launch(request),
            "attach" => Err(Refusal("a schedule is launched: there is nothing to attach to".to_owned())),
            // The client has said all that it wanted to before the first stop.
            "configurationDone" => {
                launched.session()?;
                self.client_events.is_due = true;
                Ok(Value::Null)
            }
            "restart" => {
                let stop = launched.session()?.go(Move::ToBeginning)?;
                self.stand(stop);
                Ok(Value::Null)
            }
            "disconnect" | "terminate" => {
                self.end();
                Ok(Value::Null)
            }
            "threads" => stack_trace::list_threads(launched),
            "stackTrace" => stack_trace::stack_trace(launched, (&mut self.frames, self.numbering), request),
            "source" => sources::source_text(launched, request),
            "loadedSources" => sources::loaded_sources(launched),
            "scopes" => variables::scopes(launched, numbers, request),
            "variables" => variables::variables(launched, numbers.1, request),
            "evaluate" => variables::evaluate(launched, numbers, request),
            "setBreakpoints" => breakpoints::set_breakpoints(launched, self.numbering, request),
            "setExceptionBreakpoints" => {
                self.stops_at_bug = breakpoints::set_filters(launched, request)?;
                Ok(Value::Null)
            }
            "exceptionInfo" => {
                breakpoints::exception_info(launched, self.client_events.stop.as_ref(), self.stops_at_bug)
            }
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
            "interleaver/position" => stepping::position(launched),
            "pause" => {
                // The move that it was to break off came before it, and is over.
                if let Some(session) = &self.session {
                    session.clear_interrupt();
                }
                Ok(Value::Null)
            }
            other => Err(Refusal(format!("`{other}` is not supported"))),
        }
    }

    /// Carries out the effects of a request once it has been answered. Returns whether there is more to come.
    fn after(&mut self, request: &Request) -> bool {
        match request.command.as_str() {
            "launch" => self.client.event("initialized", Value::Null),
            "terminate" => self.client.event("terminated", Value::Null),
            "disconnect" => return false,
            _ => {
                self.client_events.tell(&mut self.client, Launched(self.session.as_ref()), self.stops_at_bug)
            }
        }
        true
    }

    fn launch(&mut self, request: &Request) -> Answer {
        let (session, opening) = launching::launch(Launched(self.session.as_ref()), &self.controls, request)?;
        self.session = Some(session);
        for note in &opening.notes {
            self.client.say(note);
        }
        self.client_events.stop = Some(opening.stop);
        Ok(Value::Null)
    }

    fn go(&mut self, request: &Request) -> Answer {
        let stop = stepping::go(Launched(self.session.as_ref()), request)?;
        let thread = stop.thread;
        self.stand(stop);
        match request.command.as_str() {
            "continue" => Ok(json!({"allThreadsContinued": true})),
            command if command.starts_with("interleaver/") => {
                // Of moves that the protocol does not know, editors do not know that the last stop is over.
                let moved = json!({"threadId": thread, "allThreadsContinued": true});
                self.client.event("continued", moved);
                stepping::position(Launched(self.session.as_ref()))
            }
            _ => Ok(Value::Null),
        }
    }

    /// The session stands somewhere new, of which the client is told after the answer.
    fn stand(&mut self, stop: Stop) {
        self.client_events.stop = Some(stop);
        self.client_events.is_due = true;
        self.handles.age();
    }

    /// Ends the program. The client's knowledge of it means nothing any more.
    fn end(&mut self) {
        self.session = None;
        self.client_events = ClientEvents::default();
        self.frames.clear();
        self.handles.clear();
    }
}
