//! Moves, and what the client is told when one has been made.

use std::collections::BTreeSet;
use std::io::Write;

use explorer::debug::{Cause, Direction, Move, Step, Stop};
use serde_json::{Value, json};

use crate::adapter::{Adapter, Answer, Refusal, arguments};
use crate::protocol::{Granularity, MoveArguments, Request, StepArguments};

impl<W: Write> Adapter<W> {
    pub(crate) fn go(&mut self, request: &Request) -> Answer {
        let movement = movement(request)?;
        let stop = self.session()?.go(movement)?;
        let thread = stop.thread;
        self.stand(stop);
        match request.command.as_str() {
            "continue" => Ok(json!({"allThreadsContinued": true})),
            command if command.starts_with("interleaver/") => {
                // Of moves that the protocol does not know, editors do not know that the last stop is over.
                let moved = json!({"threadId": thread, "allThreadsContinued": true});
                self.client.event("continued", moved);
                self.position()
            }
            _ => Ok(Value::Null),
        }
    }

    /// The session stands somewhere new, of which the client is told after the answer.
    pub(crate) fn stand(&mut self, stop: Stop) {
        self.stop = Some(stop);
        self.is_told = false;
        self.handles.age();
    }

    /// Tells the client of threads, of output and of the stop, if that is new.
    pub(crate) fn tell(&mut self) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let (Some(session), Some(stop)) = (&self.session, &self.stop) else { return };
        match session.threads() {
            Ok(threads) => {
                let now: BTreeSet<u32> = threads.iter().map(|thread| thread.number).collect();
                for (ended, reason) in [(&self.threads - &now, "exited"), (&now - &self.threads, "started")] {
                    for thread in ended {
                        self.client.event("thread", json!({"reason": reason, "threadId": thread}));
                    }
                }
                self.threads = now;
            }
            Err(error) => self.client.say(&error.to_string()),
        }
        match session.written().and_then(|written| Ok((written, session.standing()?))) {
            Ok((written, standing)) => self.console.show(&mut self.client, &written, &standing),
            Err(error) => self.client.say(&error.to_string()),
        }
        for line in &stop.log {
            self.client.say(line);
        }
        self.client.event("stopped", stopped(stop, self.stops_at_bug));
    }

    pub(crate) fn position(&mut self) -> Answer {
        let standing = self.session()?.standing()?;
        let event =
            standing.next.map(|next| json!({"thread": next.thread, "text": next.text, "place": next.place}));
        Ok(json!({
            "step": standing.step, "steps": standing.steps, "thread": standing.thread, "event": event,
        }))
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

/// The move that a request asks for.
fn movement(request: &Request) -> Result<Move, Refusal> {
    let (direction, step) = match request.command.as_str() {
        "interleaver/goToStep" => {
            let StepArguments { step } = arguments(request)?;
            return Ok(Move::ToStep(step));
        }
        "interleaver/nextSwitch" => return Ok(Move::Switch(Direction::Forward)),
        "interleaver/previousSwitch" => return Ok(Move::Switch(Direction::Back)),
        "continue" => return Ok(Move::Run(Direction::Forward)),
        "reverseContinue" => return Ok(Move::Run(Direction::Back)),
        "stepIn" => (Direction::Forward, Step::Into),
        "stepOut" => (Direction::Forward, Step::Out),
        "stepBack" => (Direction::Back, Step::Over),
        "interleaver/stepBackInto" => (Direction::Back, Step::Into),
        "interleaver/stepBackOut" => (Direction::Back, Step::Out),
        _ => (Direction::Forward, Step::Over),
    };
    let MoveArguments { thread_id: thread, granularity } = arguments(request)?;
    Ok(match granularity {
        Granularity::Instruction => Move::Event(direction),
        Granularity::Statement | Granularity::Line => Move::Line { thread, direction, step },
    })
}
