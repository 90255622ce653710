//! Errors of the backend, as data; the words for each stand beside it.

use std::io;

use checker::peculiarity::EarlyStart;
use checker::program::{BackendError, ExecutionError};

use crate::attention::Ended;
use crate::debuginfo::ImageError;
use crate::preflight::Refusal;

/// The program could not be launched. Each text is one sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It cannot be explored at all.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The user wants to stop.
    #[error("stopped before the program had come to its first key point")]
    Cancelled,
    /// The time for everything is up.
    #[error("time was up before the program had come to its first key point")]
    OutOfTime,
    /// The program did something on its way to `main` that cannot be controlled, or does not get there.
    #[error(transparent)]
    Startup(#[from] StartupError),
}

impl LaunchError {
    /// For `map_err`: an error of the operating system with what was being done.
    pub(crate) fn system(action: SystemAction) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System(SystemError { action, error })
    }
}

impl From<Ended> for LaunchError {
    fn from(ended: Ended) -> Self {
        if ended.is_cancelled { Self::Cancelled } else { Self::OutOfTime }
    }
}

impl From<LaunchError> for ExecutionError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Cancelled => Self::Cancelled,
            LaunchError::OutOfTime => Self::OutOfTime,
            error => Self::Backend(BackendError::new(error)),
        }
    }
}

/// An action that the operating system refused.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action}: {error}")]
pub struct SystemError {
    /// The action.
    pub action: SystemAction,
    /// The reason of the refusal.
    pub error: io::Error,
}

/// For `map_err`: an error of the operating system in an execution, with what was being done.
pub(crate) fn system(action: SystemAction) -> impl FnOnce(io::Error) -> ExecutionError {
    move |error| ExecutionError::Backend(BackendError::new(SystemError { action, error }))
}

/// An action for which the operating system is needed; its words complete "failed to …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SystemAction {
    /// The attempt to block signals.
    #[error("block signals")]
    BlockSignals,
    /// The attempt to copy the program.
    #[error("copy the program")]
    CopyProgram,
    /// The attempt to interrupt the client.
    #[error("interrupt the client")]
    InterruptClient,
    /// The attempt to let the main thread end.
    #[error("let the main thread end")]
    LetMainThreadEnd,
    /// The attempt to let a thread go on.
    #[error("let a thread go on")]
    LetThreadGoOn,
    /// The attempt to let time stamps fault.
    #[error("let time stamps fault")]
    LetTimeStampsFault,
    /// The attempt to lift traps.
    #[error("lift traps")]
    LiftTraps,
    /// The attempt to open the program's memory.
    #[error("open the program's memory")]
    OpenMemory,
    /// The attempt to plant traps.
    #[error("plant traps")]
    PlantTraps,
    /// The attempt to prepare the program's arguments.
    #[error("prepare the program's arguments")]
    PrepareArguments,
    /// The attempt to prepare the client's arguments.
    #[error("prepare the client's arguments")]
    PrepareClientArguments,
    /// The attempt to prepare the client's output.
    #[error("prepare the client's output")]
    PrepareClientOutput,
    /// The attempt to prepare random numbers.
    #[error("prepare random numbers")]
    PrepareRandomNumbers,
    /// The attempt to prepare standard input.
    #[error("prepare standard input")]
    PrepareStandardInput,
    /// The attempt to read an event.
    #[error("read an event")]
    ReadEvent,
    /// The attempt to read the program's memory map.
    #[error("read the program's memory map")]
    ReadMemoryMap,
    /// The attempt to read registers.
    #[error("read registers")]
    ReadRegisters,
    /// The attempt to read a signal.
    #[error("read a signal")]
    ReadSignal,
    /// The attempt to reset the program's streams.
    #[error("reset the program's streams")]
    ResetStreams,
    /// The attempt to resume a new process.
    #[error("resume a new process")]
    ResumeChild,
    /// The attempt to resume the client.
    #[error("resume the client")]
    ResumeClient,
    /// The attempt to resume the program.
    #[error("resume the program")]
    ResumeProgram,
    /// The attempt to resume a thread.
    #[error("resume a thread")]
    ResumeThread,
    /// The attempt to set up the fork server.
    #[error("set up the fork server")]
    SetUpForkServer,
    /// The attempt to start the client.
    #[error("start the client")]
    StartClient,
    /// The attempt to start the program under ptrace.
    #[error("start the program under ptrace")]
    StartProgram,
    /// The attempt to start the watchdog.
    #[error("start the watchdog")]
    StartWatchdog,
    /// The attempt to step the program.
    #[error("step the program")]
    StepProgram,
    /// The attempt to step a thread.
    #[error("step a thread")]
    StepThread,
    /// The attempt to stop a thread.
    #[error("stop a thread")]
    StopThread,
    /// The attempt to trace a thread's end.
    #[error("trace a thread's end")]
    TraceThreadEnd,
    /// The attempt to unblock signals.
    #[error("unblock signals")]
    UnblockSignals,
    /// The attempt to wait for the client.
    #[error("wait for the client")]
    WaitForClient,
    /// The attempt to wait for a copy of the program.
    #[error("wait for a copy of the program")]
    WaitForCopy,
    /// The attempt to wait for the program.
    #[error("wait for the program")]
    WaitForProgram,
    /// The attempt to wait for a thread.
    #[error("wait for a thread")]
    WaitForThread,
    /// The attempt to write the program's code.
    #[error("write the program's code")]
    WriteCode,
    /// The attempt to write the program's data.
    #[error("write the program's data")]
    WriteData,
    /// The attempt to write a flag.
    #[error("write a flag")]
    WriteFlag,
    /// The attempt to write the log.
    #[error("write the log")]
    WriteLog,
    /// The attempt to write a mutex.
    #[error("write a mutex")]
    WriteMutex,
    /// The attempt to write registers.
    #[error("write registers")]
    WriteRegisters,
    /// The attempt to write a signal.
    #[error("write a signal")]
    WriteSignal,
    /// The attempt to write the program's stack.
    #[error("write the program's stack")]
    WriteStack,
}

/// The way to `main` ends before it.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// Tracing is not permitted.
    #[error(
        "ptrace is not permitted here: allow it (`sysctl kernel.yama.ptrace_scope=1`, or in a container \
         `--cap-add=SYS_PTRACE`)"
    )]
    TracingRefused,
    /// The kernel does not execute the file.
    #[error("the kernel refused to execute the program")]
    ExecRefused,
    /// The working directory is not there, or not permitted.
    #[error("the working directory cannot be entered")]
    NoDirectory,
    /// There are no network namespaces.
    #[error("the kernel refused the program a network of its own")]
    NoNetwork,
    /// There are no filters of system calls.
    #[error("the kernel refused the seccomp filter (is CONFIG_SECCOMP_FILTER on?)")]
    NoFilter,
    /// The process ended in the tool's own code.
    #[error("the program ended before its exec")]
    EndedBeforeExec,
    /// The kernel found out too late that the file cannot be mapped as it says; with the name of the signal.
    #[error("the kernel could not load the program: it was ended by {0}")]
    KilledByLoading(String),
    /// The dynamic linker cannot be read.
    #[error(transparent)]
    Linker(#[from] ImageError),
    /// The dynamic linker is not that of the GNU C library.
    #[error("the program's dynamic linker is not that of the GNU C library, which is required")]
    OtherLinker,
    /// There is no GNU C library.
    #[error("the program does not use the GNU C library (no __libc_start_main found), which is required")]
    OtherLibrary,
    /// The arguments and the environment do not lie on the stack where the kernel puts them.
    #[error("the program's initial stack is not laid out as expected")]
    OddStack,
    /// The stack cannot be written.
    #[error("the program's stack cannot be written")]
    NoStack,
    /// The program does this while its libraries are loaded.
    #[error("the program {0} while its libraries are loaded: run it by itself to see why")]
    WhileLoading(EarlyStart),
    /// A function of the C library does this.
    #[error("the program {0} in the C library")]
    InLibrary(EarlyStart),
    /// The code at this address cannot be read.
    #[error("the program's code at {0:#x} cannot be read")]
    UnreadableCode(u64),
    /// No address is free for the tool's own code.
    #[error("no room for stubs was found")]
    NoRoom,
    /// Addresses of an earlier start are taken.
    #[error("the program's memory is laid out differently each time that it is started")]
    MemoryVaries,
    /// Libraries are at other addresses than before, and the kernel does not switch off randomisation.
    #[error(
        "the program has a client, or creates threads or processes before main (in a constructor), so that it has to be started anew for \
         each execution, and address randomisation cannot be switched off here: `interleaver doctor` says what to do"
    )]
    AddressesVary,
    /// Libraries are at other addresses than before.
    #[error("the program's libraries are not loaded at the same addresses each time")]
    LibrariesVary,
    /// The processor's time stamps cannot be read again.
    #[error("the kernel does not let the program read the processor's time stamps")]
    NoTimeStamps,
    /// Memory cannot be shared with the tool.
    #[error("the kernel does not let the program map memory that it shares with the tool")]
    NoSharedPage,
    /// A system call in the program's name ended otherwise than it should; with the report of the kernel.
    #[error("an injected system call ended with {0}")]
    InjectedCall(String),
}

/// An execution that cannot go on, for another reason than the program or the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BrokenExecution {
    /// The client has no network.
    #[error("failed to start the client: the kernel refused it the network of the program")]
    ClientWithoutNetwork,
    /// The client's working directory is not there, or not permitted.
    #[error("failed to start the client: the working directory cannot be entered")]
    ClientWithoutDirectory,
    /// The kernel does not execute the client.
    #[error("failed to start the client: the kernel refused to execute it")]
    ClientNotExecuted,
    /// The memory of hand-offs does not hold what a thread leaves there.
    #[error("the program has written over the tool's own memory")]
    Overwritten,
    /// Control goes into the middle of what was taken for an instruction, and replaced.
    #[error(
        "the program jumps into the middle of what looks like an instruction (data among its instructions look like that), \
         where a breakpoint stood for it: such code cannot be explored"
    )]
    IntoInstruction,
    /// Code that the program has copied from its own, with breakpoints and jumps in it.
    #[error(
        "the program runs code that it has made, and comes to a breakpoint there: if that is a copy of its own code, \
         which has breakpoints while it is explored, it cannot be explored"
    )]
    CopiedCode,
    /// Code that no execution has come to, and that the program does not let be made executable.
    #[error("the program's code cannot be made executable")]
    ClosedCode,
    /// The kernel lets one thread alone trace a process.
    #[error("a program is explored by the thread that launched it")]
    OtherThread,
    /// No call of the allocator is known to have begun.
    #[error("a thread came to the allocator's exit from nowhere")]
    NoAllocation,
}

impl From<BrokenExecution> for ExecutionError {
    fn from(broken: BrokenExecution) -> Self {
        Self::Backend(BackendError::new(broken))
    }
}
