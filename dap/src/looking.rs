//! What a client looks at while the session stands: threads, stacks.

use std::io::Write;

use explorer::debug::{FrameId, StackLine};
use serde_json::json;

use crate::adapter::{Adapter, Answer, Refusal, arguments};
use crate::protocol::{Request, StackFrame, StackTraceArguments};
use crate::sources::source;

/// The numbers by which the client knows frames, from 1: each is a thread's frame at a depth. An editor that asks for one
/// while the session moves is answered with what is there now.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<(u32, Option<FrameId>)>);

impl Frames {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A number for a thread's frame.
    fn add(&mut self, thread: u32, frame: Option<FrameId>) -> i64 {
        let known = self.0.iter().position(|known| frame.is_some() && *known == (thread, frame));
        let index = known.unwrap_or_else(|| {
            self.0.push((thread, frame));
            self.0.len() - 1
        });
        index as i64 + 1
    }
}

impl<W: Write> Adapter<W> {
    pub(crate) fn list_threads(&mut self) -> Answer {
        let threads = match &self.session {
            Some(session) => session.threads()?,
            None => Vec::new(),
        };
        let threads: Vec<_> =
            threads.into_iter().map(|thread| json!({"id": thread.number, "name": thread.name})).collect();
        Ok(json!({"threads": threads}))
    }

    pub(crate) fn stack_trace(&mut self, request: &Request) -> Answer {
        let StackTraceArguments { thread_id, start_frame, levels } = arguments(request)?;
        let stack = self.session()?.stack(thread_id)?;
        let total = stack.len();
        let levels = if levels == 0 { total } else { levels };
        let mut frames = Vec::new();
        for line in stack.into_iter().skip(start_frame).take(levels) {
            let id = self.frames.add(thread_id, line.id);
            frames.push(self.frame(id, line));
        }
        Ok(json!({"stackFrames": frames, "totalFrames": total}))
    }

    /// The thread and the call of a frame's number.
    pub(crate) fn frame_of(&self, number: i64) -> Result<(u32, Option<FrameId>), Refusal> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let known = place.and_then(|place| self.frames.0.get(place));
        known.copied().ok_or_else(|| Refusal("the session has moved on: ask for the stack again".to_owned()))
    }

    fn frame(&self, id: i64, line: StackLine) -> StackFrame {
        let source = line.file.as_deref().map(|file| source(file, line.explored, line.is_own));
        let from_one = |number: Option<u32>, is_from_one: bool| {
            number
                .filter(|_| source.is_some())
                .map_or(0, |number| number.saturating_sub(u32::from(!is_from_one)))
        };
        StackFrame {
            id,
            name: line.function,
            line: from_one(line.line, self.lines_from_one),
            column: from_one(line.column.or(line.line.map(|_| 1)), self.columns_from_one),
            source,
            instruction_pointer_reference: (line.address != 0).then(|| format!("{:#x}", line.address)),
            presentation_hint: (!line.is_own).then_some("subtle"),
        }
    }
}
