//! Stops: the session's message each time that it stands.

use checker::failure::FailureKind;
use checker::position::Position;

/// A session stands somewhere, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The number of the thread that moved, or that the stop is about.
    pub thread: u32,
    /// Cause of the stop.
    pub cause: Cause,
    /// In a few words.
    pub description: String,
    /// In a sentence, where there is more to say.
    pub text: Option<String>,
    /// Messages of log points on the way, a line each.
    pub log: Vec<String>,
}

/// Causes for which a session stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A step has been made, or could not be made.
    Step,
    /// The user has named the place.
    Goto,
    /// The beginning of the program.
    Entry,
    /// These breakpoints, by number.
    Breakpoints(Vec<u64>),
    /// A thread runs in place of one that could have gone on.
    Preemption,
    /// Another thread runs than before.
    Switch,
    /// The failure that the schedule leads to.
    Failure(FailureKind),
    /// The end of a schedule that leads to no failure.
    End,
}

/// A thread as a client lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadLine {
    /// Number of the thread in its label.
    pub number: u32,
    /// Label, function, and what it is up to.
    pub name: String,
}

/// Position of a session, in numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepPosition {
    /// The point that the execution has come to.
    pub step: Position,
    /// The point behind the last event of the schedule, up to its failure.
    pub steps: Position,
    /// The number of the thread that is shown.
    pub thread: u32,
    /// The event that runs next.
    pub next: Option<NextEvent>,
}

/// The event that runs next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextEvent {
    /// Number of its thread.
    pub thread: u32,
    /// The operation, with the thread's label.
    pub text: String,
    /// Its place, as a report writes it.
    pub place: String,
}

/// Output of the program up to the session's position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramOutput {
    /// To its standard output, with what still waits in the buffer of the C library.
    pub stdout: Vec<u8>,
    /// To its standard error.
    pub stderr: Vec<u8>,
    /// At the failure: number of bytes at the end of the standard output that the program never writes, since it ends with
    /// them in the buffer.
    pub lost: usize,
}
