//! The holders of a lock, and the number of times that a semaphore was raised, after any set of events that is closed under
//! happens-before.
//!
//! The operations on a lock are split into chains, each of which happens-before orders: one chain, if it orders all of them, as
//! with a mutex; else one for each thread, as with readers that commute, where what resets the lock is in each. A closed set
//! holds a first part of each chain, and the end of that is found by binary search: O(log n) with one chain, O(t log n)
//! with t threads. The state after each operation of a chain is kept; that is O(n) as long as few hold a lock at once.

use super::locks::{self, Holders, Units};
use crate::event::lock_action::{Hold, LockAction};
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;

/// The state of a lock or a semaphore after some events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct LockState {
    pub(super) holders: Holders,
    pub(super) units: Units,
}

impl LockState {
    fn take_in(&mut self, at: Position, event: &TraceEvent) {
        self.holders.take_in(at, event);
        self.units.take_in(at, event);
    }

    /// The state after the events of several chains.
    fn and(self, other: &Self) -> Self {
        Self { holders: self.holders.and(&other.holders), units: self.units.and(other.units) }
    }
}

/// An operation, and the state after it and those of its chain before it.
type Chain = Vec<(Position, LockState)>;

/// The operations on one lock or semaphore.
#[derive(Debug)]
pub(super) struct LockHistory {
    changes: Changes,
    /// Those on semaphores, failed attempts included.
    of_semaphores: Vec<Position>,
}

/// The operations that change something.
#[derive(Debug)]
enum Changes {
    Ordered(Vec<Chain>),
    /// Happens-before orders them in no such chains: all have to be looked at.
    Unordered(Vec<Position>),
}

/// Whether an event may change the holders of a lock or the value of a semaphore: a failed attempt does not.
fn changes(event: &TraceEvent) -> bool {
    match event.op.kind.lock_action() {
        Some(action) => action.acquires().is_none() || event.acquired().is_some(),
        None => false,
    }
}

/// Whether an event ends all that was held.
fn clears(event: &TraceEvent) -> bool {
    let action = event.op.kind.lock_action();
    matches!(action, Some(LockAction::Reset | LockAction::Release(Hold::Initialiser)))
}

impl LockHistory {
    /// The history of the operations at these positions, which are in order. `is_after`: whether happens-before orders two of
    /// them.
    pub(super) fn of<'t>(
        operations: &[Position],
        event: impl Fn(Position) -> &'t TraceEvent,
        is_after: impl Fn(Position, Position) -> bool,
    ) -> Self {
        let changing: Vec<Position> = operations.iter().copied().filter(|&at| changes(event(at))).collect();
        let is_chain = |chain: &[Position]| chain.windows(2).all(|pair| is_after(pair[1], pair[0]));
        let chains = if is_chain(&changing) { vec![changing.clone()] } else { by_thread(&changing, &event) };
        let with_states = |chain: Vec<Position>| {
            let mut state = LockState::default();
            let after = |at| {
                state.take_in(at, event(at));
                (at, state.clone())
            };
            chain.into_iter().map(after).collect()
        };
        let changes = if chains.iter().all(|chain| is_chain(chain)) {
            Changes::Ordered(chains.into_iter().map(with_states).collect())
        } else {
            Changes::Unordered(changing)
        };
        let is_of_semaphore = |&at: &Position| locks::is_of_semaphore(event(at).op.kind);
        Self { changes, of_semaphores: operations.iter().copied().filter(is_of_semaphore).collect() }
    }

    /// The state after the operations that `holds` is true of, which are closed under happens-before.
    pub(super) fn state<'t>(
        &self,
        event: impl Fn(Position) -> &'t TraceEvent,
        holds: impl Fn(Position) -> bool,
    ) -> LockState {
        match &self.changes {
            Changes::Ordered(chains) => {
                let mut last = chains.iter().filter_map(|chain| {
                    let held = chain.partition_point(|&(at, _)| holds(at));
                    Some(&chain[held.checked_sub(1)?].1)
                });
                let first = last.next().cloned().unwrap_or_default();
                last.fold(first, LockState::and)
            }
            Changes::Unordered(operations) => {
                let mut state = LockState::default();
                operations.iter().filter(|&&at| holds(at)).for_each(|&at| state.take_in(at, event(at)));
                state
            }
        }
    }

    /// Whether one of these operations is on a semaphore.
    pub(super) fn is_of_semaphore(&self, holds: impl Fn(Position) -> bool) -> bool {
        self.of_semaphores.iter().any(|&at| holds(at))
    }
}

/// The operations of each thread, with those of all that end what was held.
fn by_thread<'t>(changing: &[Position], event: &impl Fn(Position) -> &'t TraceEvent) -> Vec<Vec<Position>> {
    let mut threads: Vec<_> = changing.iter().map(|&at| event(at).id.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut chains = vec![Vec::new(); threads.len()];
    for &at in changing {
        let event = event(at);
        for (thread, chain) in threads.iter().zip(&mut chains) {
            if *thread == event.id.thread || clears(event) {
                chain.push(at);
            }
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::event::names::Obj;
    use crate::strategy::dpor::races::Races;
    use crate::strategy::dpor::tests::random_run;
    use crate::trace::Trace;

    /// The locks and semaphores of an execution.
    fn locks(run: &Trace) -> Vec<Obj> {
        let events = run.steps.iter().map(|step| &step.event);
        let of_locks = events.filter(|event| event.op.kind.lock_action().is_some());
        let mut all: Vec<Obj> =
            of_locks.flat_map(|event| &event.did.accesses).map(|access| access.obj).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn replayed(run: &Trace, operations: &[Position], holds: impl Fn(Position) -> bool) -> LockState {
        let mut state = LockState::default();
        let held = operations.iter().filter(|&&at| holds(at));
        held.for_each(|&at| state.take_in(at, &run.steps[at].event));
        state
    }

    /// With the operations of a chain taken out one by one, it is what it would be without the index.
    #[test]
    fn the_state_after_a_closed_set_is_that_after_its_events_one_by_one() {
        for text in [
            "loop 4 { lock m, unlock m } | loop 4 { lock m, unlock m } | loop 4 { trylock m, if m { unlock m } }",
            "loop 3 { rdlock l, rdunlock l, wrlock l, wrunlock l } | loop 4 { rdlock l, rdunlock l } \
             | loop 4 { tryrdlock l, if l { rdunlock l } } | loop 3 { trywrlock l, if l { wrunlock l } }",
            "let s=1 | T1: loop 4 { down s, up s } | T2: loop 4 { trydown s, up s } | T3: up s, down s",
            "lock m, wait c m, unlock m | lock m, signal c, unlock m | loop 3 { lock m, unlock m }",
            "unlock m, lock m | lock m, unlock m, unlock m",
        ] {
            for seed in 0..20 {
                let run = random_run(text, seed);
                let races = Races::new(&run);
                let event = |at: Position| &run.steps[at].event;
                let is_after = |later, earlier| races.is_after(later, earlier);
                for lock in locks(&run) {
                    let operations = races.accesses.lock_operations(lock);
                    let history = LockHistory::of(&operations, event, is_after);
                    for (before, undone) in run
                        .steps
                        .positions()
                        .flat_map(|before| before.until(run.steps.end()).map(move |at| (at, before)))
                    {
                        let holds = |at: Position| at < before && !races.is_undone(at, &[undone]);
                        let expected = replayed(&run, &operations, holds);
                        assert_eq!(history.state(event, holds), expected, "{text} {seed} {before} {undone}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_holder_of_a_mutex_is_found_by_binary_search() {
        let looks = |rounds: usize| {
            let body = format!("loop {rounds} {{ lock m, unlock m }}");
            let run = random_run(&format!("{body} | {body}"), 1);
            let races = Races::new(&run);
            let operations = races.accesses.lock_operations(locks(&run)[0]);
            let event = |at: Position| &run.steps[at].event;
            let history =
                LockHistory::of(&operations, event, |later, earlier| races.is_after(later, earlier));
            let looks = Cell::new(0);
            let middle = Position::after(run.steps.len() / 2);
            history.state(event, |at| {
                looks.update(|looks| looks + 1);
                at < middle
            });
            looks.get()
        };
        assert!(looks(1_000) <= looks(250) + 2);
    }
}
