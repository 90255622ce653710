//! What a client looks at while the session stands: threads, stacks.

use std::io::Write;
use std::path::Path;

use explorer::debug::StackLine;
use serde_json::json;

use crate::adapter::{Adapter, Answer, arguments};
use crate::protocol::{Request, Source, StackFrame, StackTraceArguments};

/// The numbers by which the client knows frames, from 1. They hold until the session moves.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<(u32, usize)>);

impl Frames {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of a thread's frame.
    fn number(&mut self, thread: u32, frame: usize) -> i64 {
        let known = self.0.iter().position(|known| *known == (thread, frame));
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
        let part = stack.into_iter().enumerate().skip(start_frame).take(levels);
        let mut frames = Vec::new();
        for (index, line) in part {
            let id = self.frames.number(thread_id, index);
            frames.push(self.frame(id, line));
        }
        Ok(json!({"stackFrames": frames, "totalFrames": total}))
    }

    fn frame(&self, id: i64, line: StackLine) -> StackFrame {
        let source = line.file.as_deref().filter(|file| file.is_file()).map(|file| source(file, line.is_own));
        let known = source.is_some();
        let from_one = |number: Option<u32>, is_from_one: bool| {
            number.filter(|_| known).map_or(0, |number| number.saturating_sub(u32::from(!is_from_one)))
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

fn source(file: &Path, is_own: bool) -> Source {
    Source {
        name: file.file_name().map(|name| name.to_string_lossy().into_owned()),
        path: Some(file.to_owned()),
        presentation_hint: (!is_own).then(|| "deemphasize".to_owned()),
        ..Source::default()
    }
}
