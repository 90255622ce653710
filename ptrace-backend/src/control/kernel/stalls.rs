//! When time passes. A sleep or a timed wait is over once the virtual clock has come to its deadline, and the clock goes on where
//! nobody can run, or where all that could run give way. While a thread could run and does not, it is *stalled*: an execution in
//! which a sleep of a second ends before another thread's next instruction is one in which that thread stood still for a second.
//!
//! A deadline can come where no thread is stalled for longer than [`Process::max_stall`] by it, and deadlines keep their order
//! but for as much. The thread of the earliest deadline can always go where nobody else can, so that no execution ends here.
//!
//! Whether a deadline can come follows from what threads are about to do and from their clocks, which are Lamport clocks: it is
//! the same in two executions with the same happens-before relation.

use checker::names::{EventId, ThreadName};
use checker::timing::{Stall, Timing};

use crate::control::process::Process;
use crate::control::state::pending::{Need, Pending};
use crate::control::state::sync_objects::Index;
use crate::stalls::LEAST_STALL;

/// Another agent that a deadline could come before.
struct Rival {
    index: Index,
    /// Since when it could run, or its own deadline.
    since: u64,
}

impl Process {
    /// Whether time can pass to a deadline of this thread.
    pub(crate) fn is_due(&self, index: Index, deadline: u64) -> bool {
        let Some(earliest) = self.rivals(index).map(|rival| rival.since).min() else { return true };
        let needed = deadline.saturating_sub(earliest);
        let is_due = needed <= self.scheduling.max_stall;
        if !is_due {
            self.scheduling.stalls.note_needed(needed);
        }
        is_due
    }

    /// The relation of a thread's deadline to the others if it comes now.
    pub(crate) fn timing(&self, index: Index, deadline: u64) -> Box<Timing> {
        let longest = self.rivals(index).min_by_key(|rival| rival.since);
        let stall = longest.and_then(|rival| {
            let nanos = deadline.saturating_sub(rival.since);
            (nanos > LEAST_STALL).then(|| Stall { thread: self.scheduling.threads[rival.index].name, nanos })
        });
        let others = || self.scheduling.threads.iter().enumerate().filter(|(other, _)| *other != index);
        let is_early = |since: &u64| since.saturating_add(self.scheduling.max_stall) < deadline;
        let after = others().filter_map(|(_, thread)| {
            let last = thread.begun.partition_point(is_early).checked_sub(1)?;
            Some(EventId { thread: thread.name, index: last as u32 })
        });
        let overtakes = others().any(|(_, thread)| {
            let gives_way = thread.pending.as_ref().is_some_and(|pending| pending.op.kind.gives_way());
            gives_way && thread.runnable_since.as_ref().is_some_and(is_early)
        });
        Box::new(Timing { after: after.collect(), stall, overtakes })
    }

    /// The threads that a deadline of this thread would stall for too long.
    pub(crate) fn stalled_by(&self, index: Index, deadline: u64) -> Vec<ThreadName> {
        let is_early = |rival: &Rival| rival.since.saturating_add(self.scheduling.max_stall) < deadline;
        self.rivals(index).filter(is_early).map(|rival| self.scheduling.threads[rival.index].name).collect()
    }

    /// Notes since when a thread could run, at its next event.
    pub(crate) fn note_begun(&mut self, index: Index) {
        let thread = &mut self.scheduling.threads[index];
        let since = thread.runnable_since.unwrap_or(0).max(thread.world.now);
        // The thread's clock goes on by then at the latest.
        let last = thread.begun.last().copied().unwrap_or(0);
        thread.begun.push(since.max(last));
    }

    /// Notes since when threads can run, after an event of this one.
    pub(crate) fn note_runnable(&mut self, mover: Index) {
        let now = self.scheduling.threads[mover].world.now;
        for index in 0..self.scheduling.threads.len() {
            let runs = self.could_run(index);
            let thread = &mut self.scheduling.threads[index];
            thread.runnable_since = match thread.runnable_since {
                _ if !runs => None,
                Some(since) if index != mover => Some(since),
                _ => Some(now.max(thread.world.now)),
            };
        }
    }

    /// Whether a thread can run now, and does not wait for a time.
    fn could_run(&self, index: Index) -> bool {
        let thread = &self.scheduling.threads[index];
        let pending = thread.pending.as_ref().filter(|_| thread.is_live() && !self.tracee.gone);
        pending.is_some_and(|pending| {
            !self.waits_for_test(index)
                && (!pending.sleeps() && self.holds(index, &pending.need)
                    || self.interruption(index, pending).is_some())
        })
    }

    /// All others that can run and do not give way, and all others that wait for a time.
    fn rivals(&self, index: Index) -> impl Iterator<Item = Rival> {
        (0..self.scheduling.threads.len()).filter(move |&other| other != index).filter_map(|other| {
            let thread = &self.scheduling.threads[other];
            let pending = thread.pending.as_ref().filter(|_| thread.is_live())?;
            let since = match thread.runnable_since {
                Some(_) if pending.op.kind.gives_way() => return None,
                Some(since) => since,
                None => pending.awaited_time().filter(|_| !self.waits_for_test(other))?,
            };
            Some(Rival { index: other, since })
        })
    }
}

impl Pending {
    /// When it can go on at the latest, if that is a matter of time.
    fn awaited_time(&self) -> Option<u64> {
        match self.need {
            Need::Deadline(time) => Some(time),
            _ => self.deadline,
        }
    }
}
