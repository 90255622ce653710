//! Moves, and where they lead.

use explorer::debug::{Direction, Move, Step, Stop};
use serde_json::json;

use crate::protocol::{Granularity, MoveArguments, Request, StepArguments};
use crate::request::{Answer, Launched, Refusal, arguments};

/// Makes the move that a request asks for.
pub(crate) fn go(launched: Launched<'_>, request: &Request) -> Result<Stop, Refusal> {
    let movement = movement(request)?;
    Ok(launched.session()?.go(movement)?)
}

pub(crate) fn position(launched: Launched<'_>) -> Answer {
    let standing = launched.session()?.standing()?;
    let event =
        standing.next.map(|next| json!({"thread": next.thread, "text": next.text, "place": next.place}));
    Ok(json!({
        "step": standing.step.count(), "steps": standing.steps.count(), "thread": standing.thread, "event": event,
    }))
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
