//! Peculiarities of a program that limit what its executions show, as data: [`crate::program::ExecutionSummary::notes`].

use std::fmt;

/// A peculiarity that an execution has shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Peculiarity {
    /// It starts other processes, which run unscheduled.
    StartsProcesses,
    /// It forks while it has several threads: the child's copy of their memory is not explored.
    ForksBesideThreads,
    /// It replaces itself by another program, which runs unscheduled.
    ReplacesItself,
    /// It does this before `main`, so that each execution starts it anew.
    StartsEarly(EarlyStart),
    /// Its executions begin where `main` has loaded libraries (plug-ins): what `main` does before has no events.
    BeginsBehindLoading,
    /// It never created a second thread.
    OneThread,
    /// It wrote more than is kept of a stream: 16 MiB.
    FloodsOutput,
    /// It sends signals between its threads: where their handlers could run elsewhere is not explored.
    SignalsThreads,
    /// Its timers send it signals: where their handlers could run elsewhere is not explored.
    TimerSignals,
    /// It cancels threads, which act on that at their cancellation points.
    CancelsThreads,
    /// The same, where cancellation points between key points are not explored.
    CancelsThreadsAtKeyPoints,
    /// A thread ran for longer than its time limit in a loop, which is watched from then on.
    RunsLongInLoop,
    /// A thread that looks at the same for hundreds of times had to give way.
    LooksForLong,
    /// It waits with a time limit for a read-write lock that prefers writers.
    TimedWaitForWriterPreferringLock,
    /// It frees more than is kept from being allocated again.
    FreesMuch,
    /// Its client never began: it ended, or stood still, before it was ready for one.
    ClientNeverBegan,
    /// It handles SIGTERM, by which it is asked to end: where the handler could run elsewhere is not explored.
    HandlesSigterm,
    /// It and its client have the network of the machine: their ports are open to every other process.
    SharesNetwork,
    /// It calls the allocator more than 5,000 times: what it frees after that is not watched.
    AllocatesOften,
    /// It asks the kernel for io_uring, and is told that there is none.
    AsksForUring,
    /// It traces a process, which the kernel is said not to permit.
    TracesProcesses,
}

impl Peculiarity {
    /// Whether something runs beside the schedule then: one schedule need not do the same twice.
    #[must_use]
    pub const fn has_unscheduled(self) -> bool {
        matches!(
            self,
            Self::StartsProcesses | Self::ForksBesideThreads | Self::ReplacesItself | Self::SharesNetwork
        )
    }
}

/// An action of a program before `main` that its copies would lack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum EarlyStart {
    /// It creates threads.
    Threads,
    /// It starts other processes.
    Processes,
    /// It stops at a breakpoint of its own.
    Breakpoint,
    /// It replaces itself by another program.
    Replacement,
    /// It runs for long.
    LongRun,
    /// It sets timers.
    Timers,
    /// It maps memory that its copies would have in common.
    SharedMemory,
    /// It opens files, or what stands for one, that its copies would have in common: their positions, and what is in pipes.
    Files,
    /// It ends.
    End,
    /// It is killed.
    Killed,
}

/// A verb of which the program is the subject.
impl fmt::Display for EarlyStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Threads => "creates threads",
            Self::Processes => "starts processes",
            Self::Breakpoint => "stops at a breakpoint of its own",
            Self::Replacement => "executes another program",
            Self::LongRun => "runs for long",
            Self::Timers => "sets timers",
            Self::SharedMemory => "maps memory that its copies would share",
            Self::Files => "opens files that its copies would share",
            Self::End => "ends",
            Self::Killed => "is killed",
        })
    }
}
