//! Bounded partial-order reduction: every class that a number of preemptions reaches, without remembering any state.
//!
//! Katherine E. Coons, Madanlal Musuvathi, Kathryn S. McKinley: Bounded Partial-Order Reduction, OOPSLA 2013. The bound
//! is iterated from 0. An execution goes on with the thread that runs as long as it can. Where two operations race, the
//! later one's thread is tried before the earlier one *and* at the start of the earlier one's block, where trying it may
//! cost nothing: without these conservative points classes within the bound are lost. Deviations:
//!
//! * A race is one with any earlier event that conflicts and need not come before, not with the last one of each thread
//!   only; the operations of [`super::later`] that did not run race as well.
//! * What was explored from a state goes to sleep only if nothing below it was cut by the bound. Sleep sets as they are
//!   lose classes under a bound: of `r x, w x | r x` only one of two would be left at 0 preemptions.
//! * Who may run past a yield depends on who has moved, and a thread whose time runs out goes on for nothing if it ran last,
//!   whatever came since: a program that shows a yield, a sleep, or a time-out that could happen is explored without
//!   reduction, from its beginning.
//!
//! Classes are visited more than once by design; each is counted once over all bounds, the rest is redundant.

mod guide;
mod state;

use self::guide::Stayer;
use self::state::State;
use super::branch::{Branch, Order};
use super::moves::Move;
use super::races::Races;
use crate::cache::Cache;
use crate::cost;
use crate::seam::{Agent, Choice, Epoch};
use crate::strategy::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::trace::Trace;

/// A planner that explores one bound after the other by partial-order reduction.
#[derive(Debug)]
pub struct BoundedDpor {
    max: u32,
    bound: u32,
    /// The states of the execution that ran last, before each of its events.
    states: Vec<State>,
    started: bool,
    next_id: u64,
    /// The item that was handed out, and the state at which it leaves the execution before.
    under_way: Option<(u64, usize)>,
    /// Something costs more than the present bound.
    beyond: bool,
    /// Time-outs were left out, or the end of an execution that was ended by a limit.
    incomplete: bool,
    /// What a choice costs depends on more than conflicts.
    unreduced: bool,
    /// Every bound up to the highest is exhausted, or nothing is beyond the present one.
    done: bool,
}

impl BoundedDpor {
    /// A search of at most `max` preemptions.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self {
            max,
            bound: 0,
            states: Vec::new(),
            started: false,
            next_id: 0,
            under_way: None,
            beyond: false,
            incomplete: false,
            unreduced: false,
            done: false,
        }
    }

    /// The next choice to explore: at the last state that has one.
    fn branch(&mut self) -> Option<Choice> {
        loop {
            let state = self.states.last_mut()?;
            state.leave();
            if let Some(choice) = state.next() {
                return Some(choice);
            }
            let cut = state.cut;
            self.states.pop();
            if let Some(above) = self.states.last_mut() {
                above.cut_below |= cut;
                above.cut |= cut;
            }
        }
    }

    fn hand_out(&mut self, next: Option<Choice>) -> WorkItem {
        let id = self.next_id;
        self.next_id += 1;
        let at = self.states.len().saturating_sub(1);
        self.under_way = Some((id, at));
        let prefix = self.states.iter().filter_map(|state| state.taken.as_ref()).map(Move::step).collect();
        let (asleep, cost) =
            self.states.last().map_or((Vec::new(), 0), |state| (state.asleep.clone(), state.cost));
        let next = next.map(Move::towards);
        WorkItem {
            id,
            prefix,
            cost,
            branch: Some(Box::new(Branch { at: at as u32, asleep, next, order: Order::default() })),
        }
    }

    /// Takes in the states of an execution from the one on where it branched off.
    fn follow(&mut self, from: usize, run: &Trace) {
        for (at, step) in run.steps.iter().enumerate().skip(from) {
            if at == self.states.len() {
                let cost = run.steps[..at].last().map_or(0, |step| step.preemptions);
                self.states.push(State::after(self.states.last(), cost));
            }
            self.states[at].take(Move::of(step));
        }
    }

    /// Wants an agent tried at a state; where it cannot be chosen, everybody who can.
    fn want(&mut self, run: &Trace, at: usize, agent: Agent) {
        let is_there = run.choices(at).iter().any(|choice| choice.agent == agent);
        for &choice in run.choices(at).iter().filter(|choice| !is_there || choice.agent == agent) {
            let state = &mut self.states[at];
            if state.is_known {
                continue;
            }
            if state.cost + cost::preemption(run.steps[at].last, choice) > self.bound {
                state.cut = true;
                self.beyond = true;
            } else {
                state.want(choice);
            }
        }
    }

    fn want_all(&mut self, run: &Trace, from: usize, to: usize) {
        for at in from..to {
            run.choices(at).iter().for_each(|choice| self.want(run, at, choice.agent));
        }
    }

    /// Wants every race of an execution seen the other way round whose later operation comes at `from` or after, but
    /// before `to`.
    fn plan(&mut self, run: &Trace, from: usize, to: usize) {
        for at in from..to {
            self.want(run, at, run.steps[at].choice.agent);
        }
        for (agent, rivals) in Races::new(run).pairs(from, to) {
            for rival in rivals {
                self.want(run, rival, agent);
                self.want(run, start_of_block(run, rival), agent);
            }
        }
    }
}

/// Where the thread of an event was last switched to.
fn start_of_block(run: &Trace, at: usize) -> usize {
    let starts = |&at: &usize| run.steps[at].last.thread() != Some(run.steps[at].event.id.thread);
    (0..=at).rev().find(starts).unwrap_or(0)
}

/// Whether an execution shows something whose cost or possibility is a matter of turns.
fn shows_turns(run: &Trace) -> bool {
    let timed = |at| run.choices(at).iter().any(|choice| !choice.agent.is_thread());
    (0..run.steps.len()).any(|at| run.steps[at].event.op.kind.gives_way() || timed(at))
}

impl Strategy for BoundedDpor {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.under_way.is_some() {
            return Next::Wait;
        }
        if !self.started {
            self.started = true;
            return Next::Work(self.hand_out(None));
        }
        if let Some(choice) = self.branch() {
            return Next::Work(self.hand_out(Some(choice)));
        }
        if !self.beyond || self.bound == self.max {
            self.done = true;
            return Next::Done;
        }
        self.bound += 1;
        self.beyond = false;
        Next::Work(self.hand_out(None))
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        Box::new(Stayer::new(item.branch.as_deref()))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, _cache: &Cache) {
        let Some((_, from)) = self.under_way.take_if(|(id, _)| *id == item.id) else { return };
        self.incomplete |= notes.withheld || notes.endless;
        if !self.unreduced && shows_turns(run) {
            *self = Self { next_id: self.next_id, unreduced: true, ..Self::new(self.max) };
            return;
        }
        self.follow(from, run);
        let to = if notes.endless { super::OF_A_CUT_ONE } else { run.steps.len() }.min(run.steps.len());
        if self.unreduced {
            self.want_all(run, from, to);
        } else {
            self.plan(run, from, to);
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        *self = Self { next_id: self.next_id, ..Self::new(self.max) };
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        let exhausted = if self.done { Some(self.max) } else { self.bound.checked_sub(1) };
        let below_cut = cut.map_or(Some(u32::MAX), |cut| cut.checked_sub(1));
        let preemptions = exhausted.zip(below_cut).map(|(exhausted, below)| exhausted.min(below));
        let everything = self.done && !self.beyond && !self.incomplete && cut.is_none();
        Coverage { preemptions, everything, ..Coverage::default() }
    }

    fn bound(&self) -> Option<u32> {
        Some(self.bound)
    }
}
