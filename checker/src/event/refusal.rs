//! Choices and deeds of a program that an execution refuses, as data.

use super::agent::Agent;
use super::names::ThreadName;

/// A choice that is not possible where it is made: a fault of the caller, or of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImpossibleChoice {
    /// The agent has ended, or has not begun.
    #[error("{0} does not exist")]
    NoAgent(Agent),
    /// The agent waits, or its operation cannot have that outcome.
    #[error("{0} cannot move")]
    NotEnabled(Agent),
    /// The agent has nothing left to do.
    #[error("{0} has no operation")]
    NoOperation(Agent),
    /// Stores are not delayed.
    #[error("{0} has no store buffer")]
    NoStoreBuffer(Agent),
    /// The thread's wait has no time limit, or has ended.
    #[error("no timed wait of {0} is open")]
    NoTimedWait(ThreadName),
    /// The timer has expired, or was stopped.
    #[error("{0} is not set")]
    TimerNotSet(ThreadName),
    /// The program has no client.
    #[error("the program has no client")]
    NoClient,
    /// The execution has ended.
    #[error("the execution is over")]
    Over,
}

/// A deed of a program that cannot be controlled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedFeature {
    /// A call, with those of its arguments that make it so, as the system's manual writes it.
    #[error("the program calls {0}, which is not supported")]
    Call(String),
    /// A timer of processor time, by the call that makes it: that time is not virtual.
    #[error("the program calls {0} (a timer of processor time), which is not supported")]
    ProcessorTimer(&'static str),
    /// A timer of a thread for which there is no name, for the depth of the thread or the number of its timers.
    #[error(
        "the program makes a timer in a thread nested more than 6 deep, or too many, which is not supported"
    )]
    TooManyTimers,
    /// A thread for which there is no name: it was created by a thread that was created by one, and so on.
    #[error("the program nests thread creation more than 7 deep, which is not supported")]
    NestedThreads,
    /// Asynchronous cancellation of a thread that comes to no key point.
    #[error(
        "{0} runs on without coming to a key point and allows asynchronous cancellation (pthread_setcanceltype), which is not \
         supported where nothing else could end it"
    )]
    AsynchronousCancellation(ThreadName),
    /// A client that takes too long from one call on a connection to the next.
    #[error(
        "the client runs for longer than a thread may without coming to a call on a connection (--run-timeout)"
    )]
    ClientRunsOn,
    /// A thread of a model program that is created twice.
    #[error("a model thread can be created once only")]
    CreatedTwice,
}
