//! The requests of the tests to an adapter, in few words.

use serde_json::{Value, json};
use tests::{Adapter, Found, Optimisation, workspace};

/// A session of a target program, and where its source is.
pub(crate) struct Client {
    pub(crate) found: Found,
    pub(crate) adapter: Adapter,
    /// The last stop.
    pub(crate) stop: Value,
    /// The output until the session stood for the first time.
    pub(crate) said: Vec<Value>,
    lines: Vec<String>,
}

/// A place in the source: the thread, the innermost function of the user's own, and the words of the line's comment.
pub(crate) type Place = (u64, String, String);

impl Client {
    /// Explores a target, and opens the schedule that was found.
    pub(crate) fn of(source: &str, level: Optimisation) -> Self {
        Self::open(Found::in_target(source, level))
    }

    pub(crate) fn open(found: Found) -> Self {
        let text = std::fs::read_to_string(&found.source).unwrap();
        let (mut adapter, stop) = Adapter::launched(&found.schedule, workspace());
        let said = adapter.seen("output");
        let is_why = |said: &&Value| {
            said["output"].as_str().is_some_and(|text| text.starts_with("only the recorded steps"))
        };
        assert_eq!(said.iter().find(is_why), None, "the program does not run");
        Self { found, adapter, stop, said, lines: text.lines().map(str::to_owned).collect() }
    }

    /// Makes a move of a thread, and says where it is then.
    pub(crate) fn go(&mut self, command: &str, thread: u64) -> Place {
        self.stop = self.adapter.go(command, &json!({"threadId": thread}));
        self.place()
    }

    /// The words of the lines that a thread comes to by so many moves.
    pub(crate) fn words(&mut self, command: &str, thread: u64, moves: usize) -> Vec<String> {
        (0..moves).map(|_| self.go(command, thread).2).collect()
    }

    /// The place of the thread of the last stop.
    pub(crate) fn place(&mut self) -> Place {
        let thread = self.stop["threadId"].as_u64().unwrap();
        let frame = self.own_frame(thread);
        let name = frame["name"].as_str().unwrap_or_default().to_owned();
        (thread, name, self.word(frame["line"].as_u64().unwrap_or_default()))
    }

    /// The comment of a line.
    fn word(&self, line: u64) -> String {
        let text = usize::try_from(line).ok().and_then(|line| self.lines.get(line.checked_sub(1)?));
        let comment = text.and_then(|text| text.split_once("/*").or(text.split_once("// ")));
        comment.map_or_else(
            || format!("line {line}"),
            |(_, words)| words.trim_end_matches("*/").trim().to_owned(),
        )
    }

    /// The innermost frame of the user's own.
    pub(crate) fn own_frame(&mut self, thread: u64) -> Value {
        let body = self.adapter.succeed("stackTrace", &json!({"threadId": thread}));
        let frames = body["stackFrames"].as_array().cloned().unwrap_or_default();
        frames.into_iter().find(|frame| frame["presentationHint"].is_null()).unwrap_or_default()
    }

    /// The value of an expression in the innermost frame of the user's own in the thread of the last stop.
    pub(crate) fn value(&mut self, expression: &str) -> String {
        let thread = self.stop["threadId"].as_u64().unwrap();
        let frame = self.own_frame(thread)["id"].clone();
        let body = self.adapter.succeed("evaluate", &json!({"expression": expression, "frameId": frame}));
        body["result"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn position(&mut self) -> Value {
        self.adapter.succeed("interleaver/position", &Value::Null)
    }

    pub(crate) fn description(&self) -> String {
        self.stop["description"].as_str().unwrap_or_default().to_owned()
    }

    /// Goes back to the first line of the program.
    pub(crate) fn rewind(&mut self) -> Place {
        self.go("reverseContinue", 1)
    }
}
