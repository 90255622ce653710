//! The client of the program, as an agent and as the kernel has it.

use std::sync::Arc;

use checker::failure::Failure;
use checker::names::ThreadName;

use crate::control::state::pending::FileEvents;
use crate::os::wait::WaitStatus;
use crate::os::{Regs, Tid, ptrace};
use crate::target::client::ClientLaunchPlan;
use crate::virtual_syscalls::{START_OF_TIME, VirtualSystem};

/// The client as the scheduler has it.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) phase: ClientPhase,
    /// The number of its events.
    pub(crate) events: u32,
    /// The times from which on each of them could run, in nanoseconds of virtual time.
    pub(crate) begun: Vec<u64>,
    /// The time from which on it could run; `None` where it cannot, or waits for a time.
    pub(crate) runnable_since: Option<u64>,
    /// The time that it waits for, if it waits for one.
    pub(crate) awaits: Option<u64>,
    /// Its clock.
    pub(crate) now: u64,
    /// Its next step, as of this moment ([`Tracee::moment`](crate::control::tracee::Tracee::moment)).
    pub(crate) next_seen: Option<(u64, ClientStep)>,
}

/// The progress of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientPhase {
    /// The program is not ready for it.
    Awaits,
    /// The program listens.
    Ready,
    Runs,
    /// It has ended, and the program has not been asked to end.
    Ended,
    /// The program has been asked to end.
    Over,
    Failed(Box<Failure>),
}

impl Client {
    pub(crate) fn new() -> Self {
        Self {
            phase: ClientPhase::Awaits,
            events: 0,
            begun: Vec::new(),
            runnable_since: None,
            awaits: None,
            now: START_OF_TIME,
            next_seen: None,
        }
    }

    /// Whether it has something to do yet that the end of the program does not end.
    pub(crate) fn is_running(&self) -> bool {
        self.phase == ClientPhase::Runs
    }
}

/// The next step of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClientStep {
    Begin,
    /// An operation of its thread at this place.
    Operation(usize),
    /// The end of a sleep or of a wait with a time limit, of its thread at this place.
    Time(usize, u64),
    /// It waits for the program.
    Nothing,
    AskToEnd,
}

/// The client's processes, each of which stands still except while it is let run.
pub(crate) struct Processes {
    pub(crate) launch_plan: Arc<ClientLaunchPlan>,
    /// Its threads and processes that have not ended, in the order of their creation.
    pub(crate) tasks: Vec<ClientTask>,
    /// Processes by the process that has created them, also those that have ended.
    pub(crate) children: Vec<(Tid, Tid)>,
    /// The one whose end is the client's.
    pub(crate) root: Option<Tid>,
    /// The end of that, if it has ended.
    pub(crate) ended: Option<WaitStatus>,
    /// Descriptors at which the program listens.
    pub(crate) listens: Vec<i32>,
    /// The clock and the random numbers that it sees.
    pub(crate) virtual_system: VirtualSystem,
    /// The moment at which they had gone as far as they can ([`Tracee::moment`](crate::control::tracee::Tracee::moment)).
    pub(crate) settled_at: Option<u64>,
    /// The number of calls in a row that have found out that they would have to wait.
    pub(crate) vain: u32,
    /// It has done something to the program beside its connections, or one of several processes went first.
    pub(crate) goes_unwatched: bool,
}

/// A thread or process of the client.
#[derive(Debug)]
pub(crate) struct ClientTask {
    pub(crate) tid: Tid,
    pub(crate) process: Tid,
    /// As of its last system call.
    pub(crate) regs: Regs,
    pub(crate) position: ClientPosition,
    /// The end of its wait for another thread, in nanoseconds of virtual time, if there is a limit: the kernel knows of none.
    pub(crate) deadline: Option<u64>,
}

/// The place where a thread of the client stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientPosition {
    /// It can go on, with this signal unless it is 0.
    Free(i32),
    /// Before a system call.
    Call(ClientSyscall),
    /// It has created this process, which has its memory.
    Creation(Tid),
    /// In a system call, in which it waits for other threads or processes.
    Kernel,
}

/// A system call of the client, by what it takes to let it go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientSyscall {
    /// On connections: an operation, which waits for any of these, and for so long at most, in nanoseconds.
    Operation(Vec<FileEvents>, Option<u64>),
    /// A connection is wanted: an operation that waits where the program has no room for it.
    Connect,
    /// A sleep until this virtual time: an operation.
    Sleep(u64),
    /// The end of a process that has connections: an operation.
    End,
    /// A wait for any of these files, which only the client has.
    Files(Vec<FileEvents>),
    /// A wait for the end of a process of its own: of this one, or of any.
    Child(Option<Tid>),
    /// A wait for another thread of the client, until this virtual time if there is a limit.
    Thread(Option<u64>),
    /// Another one, which may wait for the client's own threads and processes.
    Other,
}

impl ClientSyscall {
    /// Whether it is an operation of the client as an agent.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(self, Self::Operation(..) | Self::Connect | Self::Sleep(_) | Self::End)
    }

    /// Whether the kernel may keep it waiting where what it waits for was there: what is written may be more than there is room
    /// for.
    pub(crate) fn may_wait_longer(&self) -> bool {
        let writes = |files: &[FileEvents]| files.iter().any(|(_, events)| events & libc::POLLOUT != 0);
        match self {
            Self::Operation(files, None) | Self::Files(files) => writes(files),
            Self::Operation(_, Some(_)) | Self::Sleep(_) | Self::End => false,
            Self::Connect | Self::Child(_) | Self::Thread(_) | Self::Other => true,
        }
    }
}

impl ClientTask {
    /// A thread or process that has not been looked at.
    pub(crate) fn new(tid: Tid, process: Tid) -> Self {
        Self { tid, process, regs: ptrace::no_registers(), position: ClientPosition::Free(0), deadline: None }
    }
}

impl Processes {
    pub(crate) fn new(launch_plan: Arc<ClientLaunchPlan>) -> Self {
        Self {
            launch_plan,
            tasks: Vec::new(),
            children: Vec::new(),
            root: None,
            ended: None,
            listens: Vec::new(),
            virtual_system: VirtualSystem::new(ThreadName::CLIENT, START_OF_TIME),
            settled_at: None,
            vain: 0,
            goes_unwatched: false,
        }
    }

    /// Kills all of them. They are still to be reaped.
    pub(crate) fn kill(&mut self) -> Vec<Tid> {
        let tids: Vec<Tid> = self.tasks.drain(..).map(|task| task.tid).collect();
        tids.iter().for_each(|&tid| ptrace::kill(tid));
        tids
    }
}
