//! Stacks as a debugger shows them: every call, inlined ones too, and whose code it is.

use std::path::PathBuf;

use checker::names::ThreadName;
use ptrace_backend::Inspection;

use crate::places::Places;
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
    /// From 1.
    pub column: Option<u32>,
    /// Whether the code is the user's own.
    pub is_own: bool,
    /// The instruction at which it goes on.
    pub address: u64,
}

/// A thread's calls, innermost first.
pub(super) fn live(inspection: &Inspection, thread: ThreadName, places: &Places<'_>) -> Vec<StackLine> {
    let modules = inspection.modules();
    let mut lines = Vec::new();
    for frame in inspection.frames(thread, DEEPEST) {
        let looked_up = frame.place.and_then(|place| modules.run_time(place)).unwrap_or(frame.pc);
        for source in modules.frames(looked_up) {
            let is_own = source.file.as_deref().is_some_and(|file| places.is_own_file(file));
            lines.push(StackLine {
                function: source.function,
                file: source.file,
                line: source.line,
                column: source.column,
                is_own,
                address: frame.pc,
            });
        }
    }
    lines
}

/// What a recording knows of a thread's calls: where its own code was.
pub(super) fn recorded(place: &Location, places: &Places<'_>) -> StackLine {
    let function = place.function.clone().unwrap_or_else(|| "unknown".to_owned());
    let file = place.file.as_ref().map(|file| places.absolute(file));
    StackLine { function, file, line: place.line, column: None, is_own: true, address: 0 }
}
