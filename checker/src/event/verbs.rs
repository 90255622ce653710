//! The names of operations in sentences.

use std::fmt;

use super::operation::OpKind;

impl OpKind {
    /// The verb that the object follows: "lock", "take from".
    #[must_use]
    pub const fn verb(self) -> &'static str {
        self.phrase().0
    }

    /// The verb, and what follows where it is not said which object it is; nothing where the verb is enough.
    const fn phrase(self) -> (&'static str, &'static str) {
        match self {
            Self::Read => ("read", ""),
            Self::Write => ("write", ""),
            Self::Update => ("update", ""),
            Self::CompareExchange => ("compare-and-swap", ""),
            Self::Lock => ("lock", ""),
            Self::TryLock => ("try to lock", ""),
            Self::Unlock | Self::ReadUnlock | Self::WriteUnlock => ("unlock", ""),
            Self::CondWait => ("wait on", "a condition variable"),
            Self::Reacquire => ("lock again", ""),
            Self::Signal => ("signal", ""),
            Self::Broadcast => ("broadcast", ""),
            Self::SemWait => ("take from", "a semaphore"),
            Self::SemTryWait => ("try to take from", "a semaphore"),
            Self::SemPost => ("post to", "a semaphore"),
            Self::ReadLock => ("lock for reading", ""),
            Self::TryReadLock => ("try to lock for reading", ""),
            Self::WriteLock => ("lock for writing", ""),
            Self::TryWriteLock => ("try to lock for writing", ""),
            Self::BarrierArrive => ("arrive at", "a barrier"),
            Self::BarrierLeave => ("leave", "a barrier"),
            Self::Once => ("enter once", ""),
            Self::OnceDone => ("finish once", ""),
            Self::Init => ("initialise", ""),
            Self::Destroy => ("destroy", ""),
            Self::Free => ("free", ""),
            Self::Create => ("create", "a thread"),
            Self::Join => ("join", "a thread"),
            Self::FutexWait => ("sleep on", "a futex"),
            Self::FutexResume => ("wake up", ""),
            Self::FutexWake => ("wake sleepers on", "a futex"),
            Self::Await => ("see the change of", "what was waited for"),
            Self::Yield | Self::SliceEnd => ("give way", ""),
            Self::Sleep => ("sleep", ""),
            Self::Timeout => ("run out of time on", "a wait"),
            Self::SetTimer => ("set", "a timer"),
            Self::Expire => ("expire for", "a thread"),
            Self::Io => ("input or output on", "a file"),
            Self::Kill => ("send a signal to", "another thread"),
            Self::SignalWait => ("wait for a signal to", "the thread"),
            Self::CancelPoint => ("look for a cancellation of", "the thread"),
            Self::ThreadEnd => ("end", ""),
            Self::AskForEnd => ("ask for the end of", "a thread"),
            Self::Exit => ("end the process", ""),
            Self::StartClient => ("begin", ""),
            Self::AskToEnd => ("send SIGTERM to the program", ""),
        }
    }
}

/// Its name where its object is not said.
impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, object) = self.phrase();
        f.write_str(verb)?;
        if object.is_empty() { Ok(()) } else { write!(f, " {object}") }
    }
}
