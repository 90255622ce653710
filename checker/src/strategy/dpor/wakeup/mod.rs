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
//!   where. Where that cannot be told, it is tried: if the operation waits after all, the execution goes on without it. So
//!   an execution may turn out to lead nowhere (it is pruned, never run twice to the same end).
//! * Sleeping events have run, so their effect is what they did, not what they may do.
//! * A thread that gives way may go on all the same.
//!
//! It finds no trace twice, but misses some: of `w x | r x | r x | cas x 1 2` 12 of 13, and of one in 600 generated programs a
//! few of many, where an operation succeeds in one order and fails in another.
//!
//! Not with the cache, which would lose classes; and time-outs beyond their bound are left out, which is said. A circle of
//! waiting threads that only a time-out breaks is no end: it belongs to a moment, and of the moments of a class only those
//! are seen that the one execution passes through. All failures at ends are seen.

mod guide;
mod tree;

use self::guide::Follower;
use self::tree::Tree;
use super::OF_A_CUT_ONE;
use super::branch::Branch;
use super::moves::{Move, first};
use super::races::{Races, Reversal};
use crate::cache::Cache;
use crate::seam::Epoch;
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// A planner that explores each Mazurkiewicz trace once.
#[derive(Debug, Default)]
pub struct WakeupTrees {
    /// The states of the execution that ran last, before each of its events.
    states: Vec<State>,
    started: bool,
    next_id: u64,
    under_way: Option<UnderWay>,
    /// Something was left out.
    incomplete: bool,
}

/// A state on the way of the present execution.
#[derive(Debug, Default)]
struct State {
    /// What was explored first from here, or from an earlier state and commutes with what came since.
    asleep: Vec<Move>,
    /// What is to be explored from here.
    tree: Tree,
    /// What is being explored.
    taken: Option<Move>,
    /// What could not run here.
    refused: Vec<Move>,
}

/// The branch that was handed out.
#[derive(Debug)]
struct UnderWay {
    id: u64,
    at: usize,
    last: Option<Move>,
    /// Of each state that the branch leads to, what is left to explore there.
    left: Vec<Tree>,
}

impl WakeupTrees {
    /// A search that starts with the default schedule.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next branch: from the last state that has one.
    fn branch(&mut self) -> Option<(Vec<Move>, Vec<Tree>)> {
        loop {
            let state = self.states.last_mut()?;
            state.asleep.extend(state.taken.take());
            if let Some(branch) = state.tree.take_first() {
                return Some(branch);
            }
            self.states.pop();
        }
    }

    fn hand_out(&mut self, mut moves: Vec<Move>, left: Vec<Tree>) -> WorkItem {
        let id = self.next_id;
        self.next_id += 1;
        let at = self.states.len().saturating_sub(1);
        let last = moves.pop();
        let way = self.states.iter().filter_map(|state| state.taken.as_ref()).chain(&moves);
        let prefix = way.map(Move::step).collect();
        let asleep = self.states.last().map_or_else(Vec::new, |state| state.asleep.clone());
        self.under_way = Some(UnderWay { id, at, last: last.clone(), left });
        WorkItem {
            id,
            prefix,
            cost: 0,
            branch: Some(Box::new(Branch { at: at as u32, asleep, next: last, ..Branch::default() })),
        }
    }

    /// Takes in the states of an execution after the one where it branched off.
    fn follow(&mut self, under_way: UnderWay, run: &Trace) {
        let mut left = under_way.left.into_iter();
        for (at, step) in run.steps.iter().enumerate().skip(under_way.at) {
            if at == self.states.len() {
                let asleep = self.states.last().map_or_else(Vec::new, State::asleep_after);
                let tree = if at > under_way.at { left.next() } else { None };
                self.states.push(State { asleep, tree: tree.unwrap_or_default(), ..State::default() });
            }
            self.states[at].taken = Some(Move::of(step));
        }
    }

    fn plan(&mut self, reversal: Reversal) {
        let Reversal { at, moves } = reversal;
        let state = &mut self.states[at];
        let explored = state.asleep.iter().any(|sleeper| first(sleeper, &moves).is_some());
        let refused = moves.len() == 1 && state.refused.contains(&moves[0]);
        if !explored && !refused {
            state.tree.insert(moves);
        }
    }
}

impl State {
    /// What is still asleep after what was taken from here.
    fn asleep_after(&self) -> Vec<Move> {
        let stays = |sleeper: &&Move| self.taken.as_ref().is_none_or(|taken| sleeper.commutes(taken));
        self.asleep.iter().filter(stays).cloned().collect()
    }
}

impl Strategy for WakeupTrees {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        if !self.started {
            self.started = true;
            return Next::Work(self.hand_out(Vec::new(), Vec::new()));
        }
        match self.branch() {
            Some((moves, left)) => Next::Work(self.hand_out(moves, left)),
            None => Next::Done,
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        Box::new(Follower::new(item.branch.as_deref().cloned().unwrap_or_default()))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some(under_way) = self.under_way.take_if(|under_way| under_way.id == item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        if notes.refused {
            if let Some(state) = self.states.last_mut() {
                state.refused.extend(under_way.last);
            }
            return;
        }
        let from = under_way.at;
        self.follow(under_way, run);
        let races = Races::new(run);
        let to = if notes.endless { OF_A_CUT_ONE } else { usize::MAX };
        races.reversals(from, to).into_iter().for_each(|reversal| self.plan(reversal));
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::default() };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let done = self.started && self.states.is_empty() && self.under_way.is_none();
        Coverage { everything: done && !self.incomplete && cut.is_none(), ..Coverage::default() }
    }

    fn bound(&self) -> Option<u32> {
        None
    }
}
