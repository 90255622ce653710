//! Views of a standing session: threads, stacks.

use explorer::debug::StackLine;
use serde_json::json;

use crate::handlers::sources::source;
use crate::handles::Frames;
use crate::protocol::{Request, StackFrame, StackTraceArguments};
use crate::request::{Answer, Launched, Numbering, arguments};

pub(crate) fn list_threads(launched: Launched<'_>) -> Answer {
    let threads = match launched.0 {
        Some(session) => session.threads()?,
        None => Vec::new(),
    };
    let threads: Vec<_> =
        threads.into_iter().map(|thread| json!({"id": thread.number, "name": thread.name})).collect();
    Ok(json!({"threads": threads}))
}

pub(crate) fn stack_trace(
    launched: Launched<'_>,
    (numbers, numbering): (&mut Frames, Numbering),
    request: &Request,
) -> Answer {
    let StackTraceArguments { thread_id, start_frame, levels } = arguments(request)?;
    let stack = launched.session()?.stack(thread_id)?;
    let total = stack.len();
    let levels = if levels == 0 { total } else { levels };
    let mut frames = Vec::new();
    for line in stack.into_iter().skip(start_frame).take(levels) {
        let id = numbers.add(thread_id, line.id);
        frames.push(frame(id, line, numbering));
    }
    Ok(json!({"stackFrames": frames, "totalFrames": total}))
}

fn frame(id: i64, line: StackLine, numbering: Numbering) -> StackFrame {
    let source = line.file.as_deref().map(|file| source(file, line.explored, line.is_own));
    let from_one = |number: Option<u32>, is_from_one: bool| {
        number.filter(|_| source.is_some()).map_or(0, |number| number.saturating_sub(u32::from(!is_from_one)))
    };
    StackFrame {
        id,
        name: line.function,
        line: from_one(line.line, numbering.lines_from_one),
        column: from_one(line.column.or(line.line.map(|_| 1)), numbering.columns_from_one),
        source,
        instruction_pointer_reference: (line.address != 0).then(|| format!("{:#x}", line.address)),
        presentation_hint: (!line.is_own).then_some("subtle"),
    }
}
