//! Messages to the client: responses and events, numbered in the order in which they go.

use std::io::Write;

use serde_json::{Value, json};

use crate::framing;
use crate::protocol::Request;

/// Requests that an editor sends by itself whenever a session stands, and whose answers have a place of their own.
const LOOKS: [&str; 5] = ["threads", "stackTrace", "scopes", "variables", "exceptionInfo"];

/// The client's end of the wire.
pub(crate) struct Client<W> {
    output: W,
    seq: i64,
}

impl<W: Write> Client<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, seq: 0 }
    }

    /// A client that has gone is noticed where its messages are read.
    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = json!(self.seq);
        let _ = framing::write(&mut self.output, &message);
    }

    pub(crate) fn respond(&mut self, request: &Request, body: Value) {
        let mut message = json!({
            "type": "response", "request_seq": request.seq, "command": request.command, "success": true,
        });
        if !body.is_null() {
            message["body"] = body;
        }
        self.send(message);
    }

    /// `sentence` is shown to the user, unless the editor asked by itself: editors look at what has just gone.
    pub(crate) fn refuse(&mut self, request_seq: i64, command: &str, sentence: &str) {
        let shown = !LOOKS.contains(&command);
        self.send(json!({
            "type": "response", "request_seq": request_seq, "command": command, "success": false,
            "message": sentence,
            "body": {"error": {"id": 1, "format": "{sentence}", "variables": {"sentence": sentence}, "showUser": shown}},
        }));
    }

    pub(crate) fn event(&mut self, event: &str, body: Value) {
        let mut message = json!({"type": "event", "event": event});
        if !body.is_null() {
            message["body"] = body;
        }
        self.send(message);
    }

    /// A line of the tool's own in the debug console.
    pub(crate) fn say(&mut self, sentence: &str) {
        self.event("output", json!({"category": "console", "output": format!("{sentence}\n")}));
    }
}
