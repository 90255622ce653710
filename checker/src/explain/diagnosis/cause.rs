//! Kinds of mistakes, as data.

use crate::event::names::{Obj, Site, ThreadName};
use crate::event::position::Position;
use crate::event::wait::BlockedOn;
use crate::explain::swap::Swap;
use crate::trace::queries::ObservedAccess;

/// A class of mistakes, with the threads and objects of this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A thread waits for a lock that it holds itself, since the event at this position.
    DoubleLock {
        /// The thread.
        thread: ThreadName,
        /// The lock.
        lock: Obj,
        /// The position of the event that took the lock.
        taken: Option<Position>,
    },
    /// Threads each hold a lock that the next one waits for.
    LockOrder(Vec<WaitForEdge>),
    /// Threads each wait for the next one, and not all of them for a lock that it has.
    Circle(Vec<WaitForEdge>),
    /// A thread waits for a lock, or a semaphore that is used as one, that another thread took and ended with.
    MissingRelease(WaitForEdge),
    /// A signal came before the wait that it was meant for.
    LostWakeUp {
        /// The waiting thread.
        thread: ThreadName,
        /// The condition variable, or futex.
        condition: Obj,
        /// The position of the signal.
        signal: Position,
    },
    /// No thread wakes a thread up any more.
    MissedNotification {
        /// The waiting thread.
        thread: ThreadName,
        /// The condition variable, or semaphore.
        condition: Obj,
        /// The last signal, if there was one.
        last: Option<SignalDelivery>,
        /// The write of another thread after that, and after the one that waits had looked at what was written.
        changed: Option<ObservedAccess>,
    },
    /// A thread was woken up for what another one had taken by then, and goes on all the same.
    StolenWakeUp(StolenWakeUp),
    /// A thread tries to take a lock, and goes on without it.
    FailedTry {
        /// The position of the attempt.
        attempt: Position,
        /// The lock.
        lock: Obj,
        /// The thread that had it, and the event since which it did.
        held: Option<(ThreadName, Position)>,
    },
    /// A compare-and-swap succeeds although what it compares was changed, and changed back.
    Aba([ObservedAccess; 4]),
    /// Threads wait for what no thread does; those come first that wait for no other thread. All that is known of this is the
    /// execution that fails.
    Standstill(Vec<WaitingThread>),
    /// Threads run on and change nothing.
    Livelock(Vec<SpinningThread>),
    /// A block is used after it was freed.
    UseAfterFree(FreedBlock),
    /// A block is freed twice.
    DoubleFree(FreedBlock),
    /// A thread writes over what another one has written since it has read, and has not looked again.
    LostUpdate(Vec<ObservedAccess>),
    /// Another thread's access comes between two of a thread.
    Atomicity(Vec<ObservedAccess>),
    /// Another thread sees an update of two variables half done.
    Torn(TornUpdate),
    /// Two accesses come in the wrong order.
    Order(Vec<ObservedAccess>),
    /// No pattern of accesses tells failing executions from others, but the order of two events does.
    Pair(Swap),
    /// Nothing that was looked at tells failing executions from others.
    Unclear,
}

/// A signal, and the threads that it woke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignalDelivery {
    /// The position of the signal.
    pub signal: Position,
    /// The threads that it woke.
    pub woken: Vec<WokenThread>,
}

/// A thread that a signal woke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WokenThread {
    /// The thread.
    pub thread: ThreadName,
    /// The position of the event with which it waits again, if it has changed nothing by then.
    pub again: Option<Position>,
    /// The write of another thread after the signal, to what the thread has read before it waited again.
    pub overtaken: Option<ObservedAccess>,
}

/// A wake-up for something that another thread had taken by then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StolenWakeUp {
    /// The thread that was woken.
    pub thread: ThreadName,
    /// The condition variable.
    pub condition: Obj,
    /// The position of the event with which it began to wait.
    pub wait: Position,
    /// The position of the signal.
    pub signal: Position,
    /// The write to what the thread had looked at before it waited: after the signal, and before the thread could go on.
    pub write: ObservedAccess,
}

/// The end of a block's life, and what came after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreedBlock {
    /// The block, as far as it was used or freed again.
    pub block: Obj,
    /// The position of the event that came too late.
    pub late: Position,
    /// The thread that freed the block.
    pub freed_by: ThreadName,
    /// The block can be freed after that event, and the execution ends well then.
    pub unordered: bool,
}

/// A thread that waits for another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitForEdge {
    /// The thread.
    pub thread: ThreadName,
    /// The thread that it waits for.
    pub owner: ThreadName,
    /// The action of that thread that it waits for.
    pub wants: AwaitedAction,
}

/// The action of another thread that a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AwaitedAction {
    /// To give back a lock, or a semaphore that is used as one, which it took in the event at this position.
    Lock(Obj, Option<Position>),
    /// To take this lock, which it waits for to write: until then no reader gets in.
    Turn(Obj),
    /// To post this semaphore.
    Post(Obj),
    /// To signal this condition variable.
    Signal(Obj),
    /// To arrive at this barrier.
    Arrival(Obj),
    /// To end.
    End,
}

/// A thread that waits at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingThread {
    /// The thread.
    pub thread: ThreadName,
    /// The object or event that it waits for.
    pub on: BlockedOn,
    /// The thread that has the lock that it waits for, if that is one, and the position of the event since which it does.
    pub held: Option<(ThreadName, Option<Position>)>,
    /// The position of the event after which no thread did what it waits for: the last signal, or the last time that a thread
    /// took from the semaphore.
    pub last: Option<Position>,
    /// The threads that come to the barrier where it waits in executions that end well, and not in this one.
    pub absent: Vec<ThreadName>,
}

/// A thread that does the same again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpinningThread {
    /// The thread.
    pub thread: ThreadName,
    /// The objects that its loop looks at, one of which would have to change; empty if it only gives way.
    pub awaits: Vec<Obj>,
    /// The position of the last event in which another thread changed one of these.
    pub changed: Option<Position>,
}

/// A cause, and how sure it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// The way in which both threads came past a lock of the program's own: one reads it, the other one writes it, and then the
    /// first one does.
    pub bypassed_lock: Option<[ObservedAccess; 3]>,
    /// The waits of threads, where no thread can go on and the cause is an order of something else.
    pub stuck: Vec<WaitingThread>,
    /// The evidence is thin: the pattern is not in every failing execution alone, or one of many.
    pub thin: bool,
}

/// Such an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TornUpdate {
    /// The one variable is written.
    pub written: ObservedAccess,
    /// Another thread reads it after that.
    pub seen: ObservedAccess,
    /// It reads the other variable as it was.
    pub stale: ObservedAccess,
    /// The write of the first thread to it, which comes later, or never if the execution has failed by then.
    pub late: LateWrite,
}

/// A write that comes too late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateWrite {
    /// The event at this position.
    Event(Position),
    /// No event: the instruction with which its thread writes there in other executions.
    Missing(Site),
}
