//! Strict priorities of which no more is decided than what has mattered.
//!
//! Two agents are put in order when both could go for the first time. So one partial order stands for all priorities that
//! give the same schedule, and going through them goes through schedules, each once or few times.

use rustc_hash::FxHashMap;

use crate::event::agent::Agent;

/// Agents by priority, as far as it is decided.
#[derive(Clone, Debug, Default)]
pub(super) struct PriorityOrder {
    of: FxHashMap<Agent, PriorityRank>,
    /// The number of agents that have sunk to the bottom.
    sunk: u32,
}

/// The priority of an agent. Higher classes go first; within one, an agent that was decided to be above another one.
#[derive(Clone, Debug)]
struct PriorityRank {
    class: Class,
    /// Those of its class below it, and those below them.
    below: Vec<Agent>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    /// Gave way: the latest is the lowest.
    Sunk(std::cmp::Reverse<u32>),
    /// Lowered at a change point. Of two, either may be the higher one, as in the paper.
    Lowered,
    /// As at the beginning.
    Initial,
}

impl PriorityOrder {
    fn class(&self, agent: Agent) -> Class {
        self.of.get(&agent).map_or(Class::Initial, |rank| rank.class)
    }

    fn is_above(&self, one: Agent, other: Agent) -> bool {
        self.of.get(&one).is_some_and(|rank| rank.below.contains(&other))
    }

    /// The agents among these that may have the highest priority.
    pub(super) fn top(&self, agents: &[Agent]) -> Vec<Agent> {
        let Some(class) = agents.iter().map(|&agent| self.class(agent)).max() else { return Vec::new() };
        let peers = agents.iter().copied().filter(|&agent| self.class(agent) == class);
        peers.filter(|&agent| !agents.iter().any(|&other| self.is_above(other, agent))).collect()
    }

    /// Decides that one of the [`Self::top`] of these is above all of them.
    pub(super) fn put_first(&mut self, first: Agent, agents: &[Agent]) {
        let class = self.class(first);
        let rank = |order: &mut Self, agent| {
            order.of.entry(agent).or_insert(PriorityRank { class, below: Vec::new() }).below.clone()
        };
        let mut below = rank(self, first);
        for &agent in agents.iter().filter(|&&agent| agent != first) {
            if self.class(agent) == class {
                below.push(agent);
                below.extend(rank(self, agent));
            }
        }
        below.sort_unstable();
        below.dedup();
        for (&agent, rank) in &mut self.of {
            if agent == first || rank.below.contains(&first) {
                rank.below.extend(&below);
                rank.below.sort_unstable();
                rank.below.dedup();
            }
        }
    }

    /// A change point: below all that have not been lowered, and anywhere among those that have.
    pub(super) fn lower(&mut self, agent: Agent) {
        self.place(agent, Class::Lowered);
    }

    /// Lowers agents until none of these stands above this one, which has not given way; returns their number. Each of them
    /// stands above it before and not afterwards, so that there are no more than these.
    pub(super) fn raise(&mut self, agent: Agent, agents: &[Agent]) -> u32 {
        let mut lowered = 0;
        for &other in agents {
            if self.class(other) > self.class(agent) || self.is_above(other, agent) {
                self.lower(other);
                lowered += 1;
            }
        }
        lowered
    }

    /// Whether a change point makes a difference to an agent.
    pub(super) fn can_be_lowered(&self, agent: Agent) -> bool {
        !matches!(self.class(agent), Class::Sunk(_))
    }

    /// Puts an agent below all others.
    pub(super) fn sink(&mut self, agent: Agent) {
        self.sunk += 1;
        self.place(agent, Class::Sunk(std::cmp::Reverse(self.sunk)));
    }

    fn place(&mut self, agent: Agent, class: Class) {
        for rank in self.of.values_mut() {
            rank.below.retain(|&other| other != agent);
        }
        self.of.insert(agent, PriorityRank { class, below: Vec::new() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::names::ThreadName;

    fn agent(nth: u16) -> Agent {
        Agent::Thread(ThreadName::MAIN.child(nth).unwrap())
    }

    #[test]
    fn what_is_decided_stays_and_holds_on() {
        let [a, b, c] = [1, 2, 3].map(agent);
        let mut order = PriorityOrder::default();
        assert_eq!(order.top(&[a, b, c]), [a, b, c]);
        order.put_first(a, &[a, b]);
        order.put_first(b, &[b, c]);
        assert_eq!(order.top(&[a, b, c]), [a]);
        assert_eq!(order.top(&[a, c]), [a], "c is below b, which is below a");
        assert_eq!(order.top(&[b, c]), [b]);
    }

    #[test]
    fn only_what_stands_above_an_agent_is_lowered_for_it() {
        let [a, b, c] = [1, 2, 3].map(agent);
        let mut order = PriorityOrder::default();
        for lowered in [a, b, c] {
            order.lower(lowered);
        }
        order.put_first(b, &[b, c]);
        assert_eq!(order.top(&[a, b, c]), [a, b], "a and c are not in order");
        assert_eq!(order.raise(c, &[a, b, c]), 1, "b");
        assert_eq!(order.top(&[a, b, c]), [a, b, c]);
        order.put_first(a, &[a, b]);
        order.put_first(b, &[b, c]);
        assert_eq!((order.raise(c, &[a, b, c]), order.top(&[c, a])), (2, vec![c, a]));
    }

    #[test]
    fn lowered_ones_are_below_the_others_in_any_order() {
        let [a, b, c] = [1, 2, 3].map(agent);
        let mut order = PriorityOrder::default();
        order.put_first(a, &[a, b, c]);
        order.lower(a);
        assert_eq!(order.top(&[a, b]), [b]);
        order.lower(b);
        assert_eq!((order.top(&[a, b]), order.top(&[a, b, c])), (vec![a, b], vec![c]));
        order.sink(c);
        order.sink(b);
        assert_eq!((order.top(&[a, b, c]), order.top(&[b, c])), (vec![a], vec![c]));
        assert!(!order.can_be_lowered(b));
    }
}
