//! Dynamic partial-order reduction with source sets and wakeup trees.
//!
//! Parosh Aziz Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Source Sets: A Foundation for Optimal Dynamic
//! Partial Order Reduction, J. ACM 64(4), 2017: the algorithm with wakeup trees. An execution runs to its end; each of its
//! races is reversed by a sequence that goes into the wakeup tree of the state before the earlier event, unless the tree or
//! what is asleep there leads to it anyhow. Deviations:
//!
//! * The recursion of the paper's `Explore` is a stack of states, because states are reached again by running a prefix.
//! * A sequence holds what came before the later event, not what came after it.
//! * Operations block, and go several ways: see [`super::races`] for what races, and [`super::locks`] for what can run
//!   where. The paper takes for granted that it is known what an event does where it is moved to. Here an operation that
//!   succeeds in one order may fail in another, and what is taken to conflict where it does not leads to sequences that
//!   others would have made needless; from there on each of the two is left out because of the other. So wherever an
//!   operation is not one that does the same everywhere, it is first run there (the execution is given up then, and counts
//!   as pruned, or if it is at its end by then, as one that will be repeated).
//! * A thread that gives way may go on all the same.
//! * Arrivals at one barrier are taken to conflict ([`strict`]): any two commute, but the threads that belong to a generation
//!   depend on the order of all of them. So what differs in that order only is run more than once.
//!
//! Known to be missed: a class of `timedlock m, lock m, r x | w x | lock m, unlock m | lock m, w x, unlock m, w x` (52 of
//! 53), and of other programs of that size whose locks or waits have time limits. The reverse search finds all of them.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through. All failures at ends are seen.

mod guide;
mod strict;
mod tree;

use self::guide::WakeupGuide;
use self::tree::WakeupTree;
use super::branch::Branch;
use super::enumerator::Enumeration;
use super::moves::{Move, first};
use super::planned::{PlannedExecution, ReplayPrefix};
use super::races::{Races, Reversal};
use crate::event::agent::Choice;
use crate::event::position::{PerEvent, Position};
use crate::event::step::OpKey;
use crate::strategy::{Guide, Notes};
use crate::trace::Trace;

/// The execution that ran last, and what is to be run from its states.
#[derive(Debug, Default)]
pub struct Wakeup {
    /// Its states, before each of its events.
    states: PerEvent<ExplorationState>,
    /// The reversals that have to be tried before they can be planned.
    probes: Vec<Reversal>,
}

/// A state on the way of the present execution.
#[derive(Debug, Default)]
struct ExplorationState {
    /// The sleep set: moves that were explored first from here, or from an earlier state, and commute with what came since.
    sleep_set: Vec<Move>,
    /// The wakeup tree: the sequences that are to be explored from here.
    tree: WakeupTree,
    /// The move that is being explored.
    taken: Option<Move>,
    /// The sequences that were tried from here.
    tried: Vec<Vec<Move>>,
}

/// The purpose of an execution.
#[derive(Debug, Default)]
pub struct WakeupTask {
    /// The position at which it leaves the one before.
    at: Position,
    /// Of each state that the branch leads to, what is left to explore there.
    left: Vec<WakeupTree>,
    /// It only shows what the last move of this does.
    probe: Option<Reversal>,
}

impl Wakeup {
    /// The next branch: from the last state that has one.
    fn branch(&mut self) -> Option<(Vec<Move>, Vec<WakeupTree>)> {
        loop {
            let state = self.states.last_mut()?;
            state.sleep_set.extend(state.taken.take());
            if let Some(branch) = state.tree.take_first() {
                return Some(branch);
            }
            self.states.pop();
        }
    }

    /// The steps that lead to a state and from there through some moves.
    fn way<'a>(&'a self, at: Position, moves: &'a [Move]) -> impl Iterator<Item = (Choice, OpKey)> + 'a {
        self.states[..at].iter().filter_map(|state| state.taken.as_ref()).chain(moves).map(Move::step)
    }

    /// Takes in the states of an execution after the one where it branched off.
    fn follow(&mut self, task: WakeupTask, run: &Trace) {
        let mut left = task.left.into_iter();
        for (at, step) in run.steps.since(task.at) {
            if at == self.states.end() {
                let sleep_set = self.states.last().map_or_else(Vec::new, ExplorationState::sleep_set_after);
                let tree = if at > task.at { left.next() } else { None };
                self.states.push(ExplorationState {
                    sleep_set,
                    tree: tree.unwrap_or_default(),
                    ..ExplorationState::default()
                });
            }
            self.states[at].taken = Some(Move::of(step));
        }
    }

    fn plan(&mut self, reversal: Reversal) {
        let Reversal { at, moves } = &reversal;
        let state = &mut self.states[*at];
        if state.sleep_set.iter().any(|sleeper| first(sleeper, moves).is_some()) {
            return;
        }
        if moves.iter().all(|each| each.certain) {
            state.tree.insert(reversal.moves);
        } else if !state.tried.contains(moves) {
            state.tried.push(moves.clone());
            self.probes.push(reversal);
        }
    }

    /// Plans what was tried, now that it is known what its last move does, and tries the other ways in which that can go.
    fn resolve_probe(&mut self, mut reversal: Reversal, run: &Trace) {
        let Some(last) = reversal.moves.pop() else { return };
        let at = Position::after(reversal.at.count() + reversal.moves.len());
        let ran = Move::of(&run.steps[at]);
        let ways =
            run.choices(at).iter().filter(|way| way.agent == ran.agent && Some(way.outcome) != ran.outcome);
        for way in ways.filter(|_| last.outcome.is_none()) {
            let mut other = reversal.clone();
            other.moves.push(Move { outcome: Some(way.outcome), ..last.clone() });
            self.plan(other);
        }
        reversal.moves.push(ran);
        self.plan(reversal);
    }
}

impl ExplorationState {
    /// The moves that are still asleep after the one that was taken from here.
    fn sleep_set_after(&self) -> Vec<Move> {
        let stays = |sleeper: &&Move| self.taken.as_ref().is_none_or(|taken| sleeper.commutes(taken));
        self.sleep_set.iter().filter(stays).cloned().collect()
    }
}

impl Enumeration for Wakeup {
    type Task = WakeupTask;

    fn next(&mut self) -> Option<PlannedExecution<WakeupTask>> {
        if let Some(reversal) = self.probes.pop() {
            let (next, before) = reversal.moves.split_last()?;
            let prefix: ReplayPrefix = self.way(reversal.at, before).collect();
            let next = Some(next.clone());
            let branch = Branch { at: Position::after(prefix.len()), next, probe: true, ..Branch::default() };
            let task = WakeupTask { probe: Some(reversal), ..WakeupTask::default() };
            return Some(PlannedExecution { prefix, branch, task, speculation_id: None });
        }
        let (mut moves, left) = self.branch()?;
        let at = self.states.end().previous()?;
        let next = moves.pop();
        let sleep_set = self.states[at].sleep_set.clone();
        let branch = Branch { at, sleep_set, next, ..Branch::default() };
        let (prefix, task) = (self.way(at, &moves).collect(), WakeupTask { at, left, probe: None });
        Some(PlannedExecution { prefix, branch, task, speculation_id: None })
    }

    fn guide(branch: Branch) -> Box<dyn Guide> {
        Box::new(WakeupGuide::new(branch))
    }

    fn learn(&mut self, task: WakeupTask, run: &Trace, to: Position, _notes: Notes) -> bool {
        let run = &*strict::trace(run);
        if let Some(reversal) = task.probe {
            self.resolve_probe(reversal, run);
            return true;
        }
        let from = task.at;
        self.follow(task, run);
        let races = Races::new(run);
        races.reversals(from, to).into_iter().for_each(|reversal| self.plan(reversal));
        true
    }

    fn is_done(&self) -> bool {
        self.states.is_empty() && self.probes.is_empty()
    }
}
