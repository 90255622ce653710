//! The account of what ran outside of what a backend watches: for each entry, a claim about all schedules does not hold unless
//! it is shown that it cannot matter.
//!
//! A claim that every schedule was run rests on this: whatever one thread does that another one can find out is an event, so
//! that a search can put it elsewhere. A backend enters here all that it cannot make an event.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::names::ThreadName;
use crate::event::operation::Access;
use crate::event::position::Position;

/// Something that ran and was not watched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Unwatched {
    /// The kind of the entry.
    pub kind: UnwatchedKind,
    /// The file name of the module whose code it is, where it is code.
    pub module: Option<String>,
    /// The function or system call, where it is one.
    pub function: Option<String>,
}

/// The kinds of what is not watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnwatchedKind {
    /// A function of a library was called while there were several threads, and what it does to memory is not known.
    LibraryFunction,
    /// Code that was loaded after the program had started (`dlopen`).
    LoadedCode,
    /// Code that the program has made itself.
    GeneratedCode,
    /// Threads may come to code in which no instruction is known.
    UndecodedCode,
    /// Instructions that touch memory ran too often to be watched each time.
    LiftedTraps,
    /// Memory is mapped at two addresses, or shared with another process.
    SharedMapping,
    /// A thread uses memory of a function of another thread that has returned.
    DeadFrame,
    /// A thread has memory for a stack, as a coroutine does, that another thread uses.
    SwitchedStack,
    /// The memory of a synchronisation object is read or written while threads hold it or wait for it.
    HeldObject,
    /// An address of a block that has been freed is compared with another one's, which could have got the same address.
    AddressReuse,
    /// A thread or process that is not scheduled has the same memory.
    Task,
    /// Several threads use a file or a stream.
    File,
    /// A system call was made whose meaning for other threads is not known.
    SystemCall,
    /// A thread can be cancelled at any instruction.
    AsynchronousCancellation,
    /// An access that processors may carry out in several steps, which another thread may find half done
    /// ([`crate::race::TornAccesses`]).
    TornAccess,
    /// A store may still be in its processor's buffer while its thread reads what other threads write: x86 then does what no
    /// execution of sequential consistency does ([`crate::race::Triangles`]).
    StoreBuffering,
    /// All threads wait in the end, one of them for what comes from outside of the program, and nothing came: what the program
    /// does with it did not run.
    OutsideInput,
    /// The client of the program did something to it beside its connections, or several of its processes could have gone on, of
    /// which one did.
    Client,
}

impl UnwatchedKind {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::LibraryFunction,
        Self::LoadedCode,
        Self::GeneratedCode,
        Self::UndecodedCode,
        Self::LiftedTraps,
        Self::SharedMapping,
        Self::DeadFrame,
        Self::SwitchedStack,
        Self::HeldObject,
        Self::AddressReuse,
        Self::Task,
        Self::File,
        Self::SystemCall,
        Self::AsynchronousCancellation,
        Self::TornAccess,
        Self::StoreBuffering,
        Self::OutsideInput,
        Self::Client,
    ];

    /// Its name, as it is written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LibraryFunction => "library-function",
            Self::LoadedCode => "loaded-code",
            Self::GeneratedCode => "generated-code",
            Self::UndecodedCode => "undecoded-code",
            Self::LiftedTraps => "lifted-traps",
            Self::SharedMapping => "shared-mapping",
            Self::DeadFrame => "dead-frame",
            Self::SwitchedStack => "switched-stack",
            Self::HeldObject => "held-object",
            Self::AddressReuse => "address-reuse",
            Self::Task => "task",
            Self::File => "file",
            Self::SystemCall => "system-call",
            Self::AsynchronousCancellation => "asynchronous-cancellation",
            Self::TornAccess => "torn-access",
            Self::StoreBuffering => "store-buffering",
            Self::OutsideInput => "outside-input",
            Self::Client => "client",
        }
    }

    /// Whether such an entry stands for processes or threads that run beside the schedule: one schedule need not do the same
    /// twice.
    #[must_use]
    pub const fn is_unscheduled(self) -> bool {
        matches!(self, Self::Task | Self::Client)
    }
}

impl fmt::Display for UnwatchedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Unwatched {
    /// An entry without module and function.
    #[must_use]
    pub const fn of(kind: UnwatchedKind) -> Self {
        Self { kind, module: None, function: None }
    }

    /// A system call.
    #[must_use]
    pub fn call(kind: UnwatchedKind, function: &str) -> Self {
        Self { kind, module: None, function: Some(function.to_owned()) }
    }
}

/// An access of memory by code that is not scheduled: it runs along with the event of its thread before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HiddenAccess {
    /// The point at which it was made.
    pub after: Position,
    /// The thread.
    pub thread: ThreadName,
    /// The memory.
    pub access: Access,
    /// It is part of an indivisible read-modify-write.
    pub indivisible: bool,
}
