//! The calls that have not returned, inlined ones included.

use super::thread::StoppedThread;
use crate::debuginfo::modules::StaticAddress;
use crate::debuginfo::source::SourceFrame;

/// Names a call of a stopped thread; valid as long as its [`Inspector`](super::super::Inspector).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameId {
    /// Index of the function's frame: 0 is the innermost.
    pub(crate) frame: usize,
    /// Index among the calls that were inlined into it: 0 is the innermost, the last is the function itself.
    pub(crate) inlined: usize,
}

/// A call that has not returned, as the source shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackFrame {
    /// The key by which its variables are asked for.
    pub id: FrameId,
    /// Run-time address at which it goes on.
    pub pc: u64,
    /// The value that the stack pointer had before the call; the same for calls inlined into one function. 0 where
    /// the walk could not find it.
    pub cfa: u64,
    /// Whether it was inlined into the next frame.
    pub is_inlined: bool,
    /// The image that holds the code.
    pub place: Option<StaticAddress>,
    /// Function, file and line.
    pub source: SourceFrame,
}

pub(crate) fn stack(thread: &StoppedThread<'_>, limit: usize) -> Vec<StackFrame> {
    let mut found = Vec::new();
    for (index, activation) in thread.frames.iter().enumerate() {
        if found.len() >= limit {
            break;
        }
        let frame = &activation.frame;
        let looked_up = frame.place.and_then(|place| thread.modules.run_time(place)).unwrap_or(frame.pc);
        let calls = thread.modules.frames(looked_up);
        let outermost = calls.len().saturating_sub(1);
        for (inlined, source) in calls.into_iter().enumerate() {
            found.push(StackFrame {
                id: FrameId { frame: index, inlined },
                pc: frame.pc,
                cfa: frame.cfa,
                is_inlined: inlined < outermost,
                place: frame.place,
                source,
            });
        }
    }
    found.truncate(limit);
    found
}
