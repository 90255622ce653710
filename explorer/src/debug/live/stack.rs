//! Stacks as a debugger shows them: every call, inlined ones too, and whose code it is.

use std::path::PathBuf;

use checker::names::ThreadName;
use ptrace_backend::Inspection;
use ptrace_backend::debuginfo::inspect::{FrameId, StackFrame};

use super::code::Code;
use crate::narrate::locations::Places;
use crate::report::Location;

/// Deeper stacks are cut: one that has overflowed has a hundred thousand frames.
const DEEPEST: usize = 1000;

/// A call that has not returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackLine {
    /// The function as a person wrote its name.
    pub function: String,
    /// The source file, absolute where it is known.
    pub file: Option<PathBuf>,
    /// From 1.
    pub line: Option<u32>,
    /// The number of the file's text as it was explored, where the file has another one now.
    pub explored: Option<u64>,
    /// From 1.
    pub column: Option<u32>,
    /// Whether the code is the user's own.
    pub is_own: bool,
    /// The instruction at which it goes on.
    pub address: u64,
    /// The frame to ask for its variables with; none where only what was recorded is known.
    pub id: Option<FrameId>,
}

/// A thread's calls, innermost first.
pub(in crate::debug) fn live(
    inspection: &Inspection,
    thread: ThreadName,
    places: &Places<'_>,
    code: &Code,
) -> Vec<StackLine> {
    let line = |frame: StackFrame| {
        let is_own = frame.source.file.as_deref().is_some_and(|file| places.is_own_file(file));
        StackLine {
            function: frame.source.function,
            file: frame.source.file,
            line: frame.source.line,
            explored: None,
            column: frame.source.column,
            is_own,
            address: frame.pc,
            id: Some(frame.id),
        }
    };
    let stack = inspection.look(thread, |inspector| inspector.stack(DEEPEST)).unwrap_or_default();
    let is_inlined = stack.first().is_some_and(|frame| frame.is_inlined);
    let mut stack: Vec<StackLine> = stack.into_iter().map(line).collect();
    if let Some(innermost) = stack.first_mut().filter(|_| !is_inlined)
        && let Some((_, line)) = code.line_at(innermost.address)
    {
        innermost.line = Some(line);
    }
    stack
}

/// A thread's calls as far as a recording knows them: the place of its own code, if that.
pub(in crate::debug) fn recorded(place: Option<&Location>, places: &Places<'_>) -> StackLine {
    let none = || "no step of this thread was recorded".to_owned();
    let named = |place: &Location| {
        format!("{} (as recorded)", place.function.as_deref().unwrap_or("unknown function"))
    };
    let function = place.map_or_else(none, named);
    let place = place.cloned().unwrap_or_default();
    let file = place.file.as_ref().map(|file| places.absolute(file));
    StackLine {
        function,
        file,
        line: place.line,
        explored: None,
        column: None,
        is_own: true,
        address: 0,
        id: None,
    }
}
