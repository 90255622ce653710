//! The changes to a plan that make it simpler, the largest ones first.
//!
//! Leaving out ever smaller runs of legs is Andreas Zeller, Ralf Hildebrandt: Simplifying and Isolating Failure-Inducing
//! Input, TSE 2002; for schedules see Jong-Deok Choi, Andreas Zeller: Isolating Failure-Inducing Thread Schedules,
//! ISSTA 2002. A leg left out is a switch less: what it ran is run by the next leg of its thread.

use super::plan::{Leg, Plan};

/// Every plan that is one change away.
pub(super) fn changes(plan: &Plan) -> impl Iterator<Item = Plan> {
    let legs = &plan.legs;
    let cut = (0..legs.len()).map(|at| plan.with(legs[..at].iter().copied()));
    cut.chain(without(plan)).chain(joined(plan)).chain(swapped(plan)).chain(moved(plan))
}

/// Runs of legs left out: halves, quarters, down to single ones.
fn without(plan: &Plan) -> impl Iterator<Item = Plan> {
    let legs = &plan.legs;
    let lengths = std::iter::successors(Some(legs.len() / 2), |length| Some(length / 2));
    let lengths = lengths.take_while(|&length| length > 0);
    lengths.flat_map(move |length| {
        (0..legs.len()).step_by(length).map(move |at| {
            let end = (at + length).min(legs.len());
            plan.with(legs[..at].iter().chain(&legs[end..]).copied())
        })
    })
}

/// A leg goes on to where the next one of its agent ends, or does not begin before that one.
fn joined(plan: &Plan) -> impl Iterator<Item = Plan> {
    let legs = &plan.legs;
    pairs(legs).flat_map(move |(at, next)| {
        let mut early = legs.clone();
        early[at].until = legs[next].until;
        early.remove(next);
        let mut late = legs.clone();
        late.remove(at);
        [plan.with(early), plan.with(late)]
    })
}

/// Each leg with the next one of its agent.
fn pairs(legs: &[Leg]) -> impl Iterator<Item = (usize, usize)> {
    (0..legs.len()).filter_map(|at| {
        let next = legs[at + 1..].iter().position(|leg| leg.agent == legs[at].agent)?;
        Some((at, at + 1 + next))
    })
}

fn swapped(plan: &Plan) -> impl Iterator<Item = Plan> {
    (1..plan.legs.len()).map(|at| {
        let mut legs = plan.legs.clone();
        legs.swap(at - 1, at);
        plan.with(legs)
    })
}

/// Switches earlier and later: any other event at which a leg can end.
fn moved(plan: &Plan) -> impl Iterator<Item = Plan> {
    let legs = &plan.legs;
    (0..legs.len()).flat_map(move |at| {
        let Leg { agent, until } = legs[at];
        let same = |leg: &&Leg| leg.agent.thread() == agent.thread();
        let before = legs[..at].iter().rev().find(same).map_or(0, |leg| leg.until);
        let after = legs[at + 1..].iter().find(same).map_or(until, |leg| leg.until);
        let ends = (before + 1..after).filter(move |&end| end != until);
        ends.map(move |end| {
            let mut legs = legs.clone();
            legs[at].until = end;
            plan.with(legs)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::agent::Agent;
    use crate::event::names::ThreadName;

    fn plan(text: &str) -> Plan {
        let leg = |word: &str| {
            let (thread, until) = word.split_at(1);
            let name = match thread {
                "a" => ThreadName::MAIN,
                _ => ThreadName::MAIN.child(1).unwrap(),
            };
            Leg { agent: Agent::Thread(name), until: until.parse().unwrap() }
        };
        Plan::default().with(text.split_whitespace().map(leg))
    }

    fn words(plans: impl Iterator<Item = Plan>) -> Vec<String> {
        let word = |leg: &Leg| {
            format!("{}{}", if leg.agent.thread() == ThreadName::MAIN { "a" } else { "b" }, leg.until)
        };
        plans.map(|plan| plan.legs.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn legs_are_left_out_in_halves_and_one_by_one() {
        let four = plan("a1 b2 a3 b4");
        assert_eq!(words(without(&four)), ["a3 b4", "a1 b2", "b2 a3 b4", "a3 b4", "a1 b4", "a1 b2 a3"]);
    }

    #[test]
    fn legs_of_one_thread_are_joined_either_way() {
        assert_eq!(words(joined(&plan("a1 b2 a3"))), ["a3 b2", "b2 a3"]);
    }

    #[test]
    fn legs_are_swapped_and_their_ends_moved() {
        assert_eq!(words(swapped(&plan("a1 b2 a3"))), ["b2 a3", "a3 b2"]);
        assert_eq!(words(moved(&plan("a2 b1 a4"))), ["a1 b1 a4", "a3 b1 a4", "a2 b1 a3"]);
    }
}
