//! Takes one execution to the end of its path, and then on by default.

use super::order;
use super::{Branch, Order};
use crate::cost;
use crate::point::Point;
use crate::seam::{Agent, AgentView, Choice, Pick, Status, Until};
use crate::strategy::dpor::moves::Move;
use crate::strategy::{Decision, Guide, Notes};

/// A guide that follows a path.
pub(super) struct Follower {
    /// The end of the path.
    at: usize,
    next: Option<Move>,
    /// What has to run as soon as it can, after the events seen.
    order: Order,
    /// How many events were taken in.
    seen: usize,
    notes: Notes,
}

impl Follower {
    pub(super) fn new(branch: Option<&Branch>) -> Self {
        let (at, next, order) = branch.map_or_else(Default::default, |branch| {
            (branch.at as usize, branch.next.clone(), branch.order.clone())
        });
        Self { at, next, order, seen: at, notes: Notes::default() }
    }

    /// Takes in what has run; says whether something has come that should have been scheduled earlier: another execution
    /// leads to all that can follow.
    fn catch_up(&mut self, at: &Point<'_>) -> bool {
        let mut is_in_time = true;
        for (nth, step) in at.trace.steps.iter().enumerate().skip(self.seen) {
            let thread = step.event.id.thread;
            let happens_before = |earlier: usize| at.trace.hb.ordered(earlier, nth);
            let before = self.order.before.take_if(|_| nth == self.at);
            let next = order::Next { at: nth, thread, effect: &step.event.did, before: before.as_ref() };
            is_in_time &= order::pass(&mut self.order.waiting, &next, happens_before);
            if nth == self.at {
                // What was to happen before the end of the path may not do so any more. Of both orders, one is enough.
                let mut unordered = (self.order.from as usize..nth).filter(|&other| !happens_before(other));
                is_in_time &= unordered.all(|other| at.trace.steps[other].event.id.thread < thread);
                self.notes.late = !is_in_time;
            }
        }
        self.seen = at.position();
        self.notes.withheld |= at.withheld;
        !is_in_time
    }

    /// What was waiting, if it can run; else whoever's turn comes first, rather those who do not come too late; time-outs
    /// last.
    fn by_default(&self, at: &Point<'_>) -> Option<Choice> {
        let waits = |choice: &Choice| self.order.waiting.iter().any(|waiting| waiting.agent == choice.agent);
        if let Some(choice) = enabled(at).find(waits) {
            return Some(choice);
        }
        let turn = |choice: &Choice| {
            let kind = match choice.agent {
                Agent::Thread(_) => 0,
                Agent::Flush(_) => 1,
                Agent::Timeout(_) => 2,
            };
            (self.comes_late(at, *choice), kind, cost::turn(at.last, choice.agent.thread()), choice.pick)
        };
        let fair = at.choices.iter().copied().min_by_key(turn).filter(|&choice| !self.comes_late(at, choice));
        fair.or_else(|| enabled(at).min_by_key(turn))
    }

    /// Whether a choice may turn out to come after something that it should have been scheduled before.
    fn comes_late(&self, at: &Point<'_>, choice: Choice) -> bool {
        let thread = choice.agent.thread();
        let Some(op) = at.agents.agent(choice.agent).and_then(|view| view.pending.as_ref()) else {
            return false;
        };
        let conflicting = self.order.waiting.iter().filter(|waiting| waiting.effect.conflicts(&op.may));
        conflicting.into_iter().any(|waiting| {
            let steps = at.trace.steps.iter().enumerate();
            let direct = steps
                .filter(|(_, step)| step.event.id.thread == thread || step.event.did.conflicts(&op.may))
                .map(|(nth, _)| nth);
            let direct: Vec<usize> = direct.collect();
            let before = |earlier: usize| {
                direct.iter().any(|&nth| nth == earlier || nth > earlier && at.trace.hb.ordered(earlier, nth))
            };
            !waiting.lets_pass(thread, before)
        })
    }

    /// The way in which the end of the path can run here, if it can.
    fn way(at: &Point<'_>, wanted: &Move) -> Option<Choice> {
        enabled(at)
            .find(|choice| choice.agent == wanted.agent && wanted.pick.is_none_or(|pick| pick == choice.pick))
    }
}

impl Guide for Follower {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        if let Some(next) = self.next.take() {
            self.notes.withheld |= at.withheld;
            debug_assert_eq!(at.position(), self.at, "a path is replayed up to its end");
            return Self::way(at, &next).map_or_else(
                || {
                    self.notes.refused = true;
                    Decision::Cut
                },
                |choice| Decision::Run { choice, until: Until::one() },
            );
        }
        if self.catch_up(at) {
            return Decision::Cut;
        }
        let choice = self.by_default(at);
        choice.map_or(Decision::Cut, |choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &Point<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}

/// All that can be chosen. Giving way is no reason to wait here: a class of executions knows nothing of turns.
fn enabled<'a>(at: &'a Point<'_>) -> impl Iterator<Item = Choice> + 'a {
    let picks =
        |view: &'a AgentView| view.picks.iter().map(|&pick: &Pick| Choice { agent: view.agent, pick });
    let threads = at.agents.threads().iter().filter(|view| view.status == Status::Enabled).flat_map(picks);
    threads.chain(at.choices.iter().copied().filter(|choice| !matches!(choice.agent, Agent::Thread(_))))
}
