//! The request that opens a session, and its moves.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::stop::Stop;

/// Access of other threads to a session while it is busy.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Set to end the session at once.
    pub cancel: Arc<AtomicBool>,
    /// Set to break off the moves that are being made, until [`crate::debug::Session::clear_interrupt`].
    pub interrupt: Arc<AtomicBool>,
}

/// The schedule to debug, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchRequest {
    /// The schedule file.
    pub schedule: PathBuf,
    /// The executable, where it is not the one that the schedule names.
    pub program: Option<PathBuf>,
    /// The workspace folder.
    pub folder: PathBuf,
    /// The user trusts the files of that folder, whatever their origin.
    pub trusted: bool,
}

/// The first state of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The failure; of a schedule that passes, the order that makes it pass.
    pub stop: Stop,
    /// Notes for the user, a sentence each.
    pub notes: Vec<String>,
}

/// A move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// One key point of any thread.
    Event(Direction),
    /// To the nearest change of thread, else to the end in that direction.
    Switch(Direction),
    /// By line of one thread.
    Line {
        /// Its number.
        thread: u32,
        /// Direction of the move.
        direction: Direction,
        /// Length of the move.
        step: Step,
    },
    /// To the next breakpoint or filter, else to the end in that direction.
    Run(Direction),
    /// So many events have run. The number is the client's: there may be fewer.
    ToStep(usize),
    /// Back to the place where the session began.
    ToBeginning,
}

/// Direction of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// As the program runs.
    Forward,
    /// Back in time.
    Back,
}

/// Length of a step by line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To another line, past the calls in this one.
    Over,
    /// To another line, also inside of a call.
    Into,
    /// To the caller.
    Out,
}
