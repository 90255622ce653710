//! Failures in words: the fault, and the state of each thread that takes part.

use checker::failure::{Doing, Failure, FailureDetail, FailureKind, Party, SignalOrigin};
use checker::names::ThreadName;
use checker::program::BlockedOn;

use super::objects;
use crate::narrate::sentences::phrasing::Phrasing;

impl Phrasing<'_> {
    /// The failure as a sentence.
    pub(crate) fn failure(&self, failure: &Failure) -> String {
        let parties = || self.parties(failure.others.iter());
        match &failure.detail {
            FailureDetail::Circle(_) | FailureDetail::LostWakeUp { .. } => {
                format!("{}; {}", self.detail(failure), parties())
            }
            FailureDetail::Standstill => {
                // A thread that joins another one seldom has a part in it, and many readers stop after the first thread.
                let is_join = |party: &&Party| matches!(party.doing, Doing::Waits(BlockedOn::Join(_)));
                let (joins, others): (Vec<_>, Vec<_>) = failure.others.iter().partition(is_join);
                format!("deadlock: {}", self.parties(others.into_iter().chain(joins)))
            }
            FailureDetail::NothingChanges => {
                format!("livelock: nothing changes any more; {}", parties())
            }
            _ => self.detail(failure),
        }
    }

    /// The text of a report's first line in place of kind and sentence, where the sentence names its kind by itself and goes
    /// on with the wait of every thread.
    pub(crate) fn headline(&self, failure: &Failure) -> Option<String> {
        match (failure.kind, &failure.detail) {
            (FailureKind::Deadlock, FailureDetail::Circle(_)) => Some(self.detail(failure)),
            (FailureKind::Deadlock, FailureDetail::LostWakeUp { .. }) => {
                Some(format!("deadlock — {}", self.detail(failure)))
            }
            (FailureKind::Deadlock, FailureDetail::Standstill) => {
                let is_join = |party: &Party| matches!(party.doing, Doing::Waits(BlockedOn::Join(_)));
                let first = failure.others.iter().find(|party| !is_join(party));
                let first = first.or(failure.others.first());
                Some(format!("deadlock: {}", self.parties(first)))
            }
            (FailureKind::Livelock, FailureDetail::NothingChanges | FailureDetail::GoesRound) => {
                Some(self.failure(failure))
            }
            _ => None,
        }
    }

    /// The same without what the threads that take part are doing.
    fn detail(&self, failure: &Failure) -> String {
        let label = |thread: &ThreadName| self.labels.label(*thread);
        let failed = || failure.thread.map(|thread| self.labels.label(thread)).unwrap_or_default();
        let block = |obj| {
            let words = self.source.describe(obj).map(|object| objects::words(&object));
            words.map_or_else(|| "a block".to_owned(), |words| format!("`{words}`"))
        };
        match &failure.detail {
            FailureDetail::Said(words) => words.clone(),
            FailureDetail::Panicked(Some(words)) => format!("panicked: {words}"),
            FailureDetail::Panicked(None) => "the program panicked".to_owned(),
            FailureDetail::Aborted => "the program aborted".to_owned(),
            FailureDetail::Signal { signal, origin } => of_signal(signal, *origin),
            FailureDetail::ExitCode(code) => format!("the program ended with exit code {code}"),
            FailureDetail::ExitCodeOfReplacement(code) => {
                format!("the program that it was replaced by ended with exit code {code}")
            }
            FailureDetail::ClientExited(code, None) => format!("the client failed: exit code {code}"),
            FailureDetail::ClientExited(code, Some(said)) => {
                format!("the client failed: exit code {code} ({said})")
            }
            FailureDetail::ClientKilled(signal) => format!("the client failed: {signal} ended it"),
            FailureDetail::UnlockedNotHeld { mutex, holder } => {
                let holder = holder.as_ref().map_or_else(|| "nobody".to_owned(), label);
                let mutex = self.object(*mutex);
                format!("mutex {mutex} is unlocked by a thread that does not hold it ({holder} holds it)")
            }
            FailureDetail::DestroyedHeld { mutex, holder } => {
                format!("mutex {} is destroyed while {} holds it", self.object(*mutex), label(holder))
            }
            FailureDetail::DestroyedWaitedFor { condition, waiter } => {
                let condition = self.object(*condition);
                format!("condition variable {condition} is destroyed while {} waits for it", label(waiter))
            }
            FailureDetail::UsedDestroyed { object, destroyed_by } => {
                let by = destroyed_by.as_ref().map_or_else(
                    || "it was destroyed".to_owned(),
                    |thread| format!("{} has destroyed it", label(thread)),
                );
                format!("{} uses {} after {by}", failed(), self.object(*object))
            }
            FailureDetail::UsedFreed { block: used, freed_by } => {
                format!("{} uses {} after {} has freed it", failed(), block(*used), label(freed_by))
            }
            FailureDetail::FreedTwice { block: freed, freed_by } => {
                format!("{} frees {}, which {} has freed already", failed(), block(*freed), label(freed_by))
            }
            FailureDetail::LostWakeUp { waiter, condition, signaller } => format!(
                "lost wake-up: {} waits for a signal on condition variable {}, but the one from {} came while nobody waited",
                label(waiter),
                self.object(*condition),
                label(signaller)
            ),
            FailureDetail::Circle(threads) => match &threads[..] {
                [one] => format!("deadlock: {} waits for itself", label(one)),
                several => {
                    let names: Vec<String> = several.iter().map(label).collect();
                    format!("deadlock: {} wait for each other", names.join(" and "))
                }
            },
            FailureDetail::Standstill => "deadlock".to_owned(),
            FailureDetail::NothingChanges => "livelock: nothing changes any more".to_owned(),
            FailureDetail::GoesRound => format!(
                "livelock: {} goes round in a loop for ever, and looks at nothing there that could change",
                failed()
            ),
            FailureDetail::NoKeyPoint => {
                format!("{} ran longer than the time limit without coming to a key point", failed())
            }
            FailureDetail::WaitedForProcess => {
                format!("{} waited longer than the time limit for another process", failed())
            }
        }
    }

    fn parties<'p>(&self, parties: impl IntoIterator<Item = &'p Party>) -> String {
        let words =
            |party: &Party| format!("{} {}", self.labels.label(party.thread), self.doing(&party.doing));
        parties.into_iter().map(words).collect::<Vec<_>>().join("; ")
    }

    /// The part of a thread in a failure, as the rest of a sentence that begins with its name.
    pub(crate) fn doing(&self, doing: &Doing) -> String {
        match doing {
            Doing::Waits(on) => self.waits_in_failure(on),
            Doing::Yields => "yields".to_owned(),
            Doing::YieldsForever => "yields again and again".to_owned(),
            Doing::InterruptedForever => "is interrupted by a signal again and again".to_owned(),
            Doing::CouldGoOn => "could go on".to_owned(),
            Doing::Failed(detail) => {
                let failure =
                    Failure::of_several(FailureKind::Crash, FailureDetail::clone(detail), Vec::new());
                format!("failed: {}", self.detail(&failure))
            }
            Doing::Ended => "has finished".to_owned(),
            Doing::Freed => "freed it".to_owned(),
            Doing::Allocated => "allocated it".to_owned(),
        }
    }

    fn waits_in_failure(&self, on: &BlockedOn) -> String {
        match on {
            BlockedOn::Mutex { obj, owner: Some(owner) } => {
                format!("waits for mutex {}, held by {}", self.object(*obj), self.labels.label(*owner))
            }
            BlockedOn::Mutex { obj, owner: None } => format!("waits for mutex {}", self.object(*obj)),
            BlockedOn::Read(obj) => format!("waits for a read lock on {}", self.object(*obj)),
            BlockedOn::Write(obj) => format!("waits for a write lock on {}", self.object(*obj)),
            BlockedOn::Cond(obj) => format!("waits for a signal on condition variable {}", self.object(*obj)),
            BlockedOn::Sem(obj) => format!("waits for semaphore {}", self.object(*obj)),
            BlockedOn::Barrier { obj, .. } => {
                format!("waits for the others at barrier {}", self.object(*obj))
            }
            BlockedOn::Join(thread) => format!("waits for the end of {}", self.labels.label(*thread)),
            BlockedOn::Futex(obj) => format!("waits for a futex wake on {}", self.object(*obj)),
            BlockedOn::Once(obj) => {
                format!("waits for the initialiser {}, which another thread runs", self.object(*obj))
            }
            BlockedOn::Await(_)
            | BlockedOn::Test
            | BlockedOn::Input(_)
            | BlockedOn::Output(_)
            | BlockedOn::Outside(_)
            | BlockedOn::Message(_)
            | BlockedOn::Room(_)
            | BlockedOn::Arrival
            | BlockedOn::Process
            | BlockedOn::Time(_) => self.waits(on),
        }
    }
}

fn of_signal(signal: &str, origin: SignalOrigin) -> String {
    match origin {
        SignalOrigin::Fault(0) => format!("{signal} at address 0 (a null pointer)"),
        SignalOrigin::Fault(address) if origin.is_null_pointer() => {
            format!("{signal} at address {address:#x} (a field of a null pointer)")
        }
        SignalOrigin::Fault(address) => format!("{signal} at address {address:#x}"),
        SignalOrigin::Sent => format!("the program was ended by {signal}"),
        SignalOrigin::Timer => format!("the program was ended by {signal}, which a timer of its own sent"),
        SignalOrigin::Outside => format!("the process was killed by {signal}"),
        SignalOrigin::Itself => format!("the program kills itself ({signal})"),
    }
}
