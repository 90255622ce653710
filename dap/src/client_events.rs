//! News for the client after a move: threads, output, the stop.

use std::collections::BTreeSet;
use std::io::Write;

use explorer::debug::{Cause, Stop};
use serde_json::{Value, json};

use crate::client::Client;
use crate::output::Console;
use crate::request::Launched;

/// Position of the session, and the client's knowledge of it.
#[derive(Default)]
pub(crate) struct ClientEvents {
    /// The last stop.
    pub(crate) stop: Option<Stop>,
    /// The client has not been told of it.
    pub(crate) is_due: bool,
    /// The threads that the client knows.
    threads: BTreeSet<u32>,
    console: Console,
}

impl ClientEvents {
    /// Tells the client of threads, of output and of the stop, if that is new.
    pub(crate) fn tell<W: Write>(
        &mut self,
        client: &mut Client<W>,
        launched: Launched<'_>,
        stops_at_bug: bool,
    ) {
        if !std::mem::take(&mut self.is_due) {
            return;
        }
        let (Some(session), Some(stop)) = (launched.0, &self.stop) else { return };
        match session.threads() {
            Ok(threads) => {
                let now: BTreeSet<u32> = threads.iter().map(|thread| thread.number).collect();
                for (ended, reason) in [(&self.threads - &now, "exited"), (&now - &self.threads, "started")] {
                    for thread in ended {
                        client.event("thread", json!({"reason": reason, "threadId": thread}));
                    }
                }
                self.threads = now;
            }
            Err(error) => client.say(&error.to_string()),
        }
        match session.written().and_then(|written| Ok((written, session.standing()?))) {
            Ok((written, standing)) => self.console.show(client, &written, &standing),
            Err(error) => client.say(&error.to_string()),
        }
        for line in &stop.log {
            client.say(line);
        }
        client.event("stopped", stopped(stop, stops_at_bug));
    }
}

fn stopped(stop: &Stop, stops_at_bug: bool) -> Value {
    let (reason, hits) = match &stop.cause {
        Cause::Step | Cause::End => ("step", None),
        // It is the end all the same: there is nothing behind it.
        Cause::Failure(_) if !stops_at_bug => ("step", None),
        Cause::Goto => ("goto", None),
        Cause::Entry => ("entry", None),
        Cause::Breakpoints(hits) => ("breakpoint", Some(hits)),
        // Editors show an exception as an error in the text, which a switch is not.
        Cause::Preemption => ("preemption", None),
        Cause::Switch => ("switch", None),
        Cause::Failure(_) => ("exception", None),
    };
    let mut body = json!({
        "reason": reason, "description": stop.description, "threadId": stop.thread, "allThreadsStopped": true,
    });
    if let Some(text) = &stop.text {
        body["text"] = json!(text);
    }
    if let Some(hits) = hits {
        body["hitBreakpointIds"] = json!(hits);
    }
    body
}
