//! The changes to a plan that make it simpler, the largest ones first.
//!
//! Leaving out ever smaller runs of segments is Andreas Zeller, Ralf Hildebrandt: Simplifying and Isolating Failure-Inducing
//! Input, TSE 2002; for schedules see Jong-Deok Choi, Andreas Zeller: Isolating Failure-Inducing Thread Schedules,
//! ISSTA 2002. A segment left out is a switch less: what it ran is run by the next segment of its thread.

use super::plan::{Plan, Segment};

/// Every plan that is one change away.
pub(super) fn changes(plan: &Plan) -> impl Iterator<Item = Plan> {
    let segments = &plan.segments;
    let cut = (0..segments.len()).map(|at| plan.with(segments[..at].iter().copied()));
    cut.chain(without(plan)).chain(joined(plan)).chain(swapped(plan)).chain(moved(plan))
}

/// Runs of segments left out: halves, quarters, down to single ones.
fn without(plan: &Plan) -> impl Iterator<Item = Plan> {
    let segments = &plan.segments;
    let lengths = std::iter::successors(Some(segments.len() / 2), |length| Some(length / 2));
    let lengths = lengths.take_while(|&length| length > 0);
    lengths.flat_map(move |length| {
        (0..segments.len()).step_by(length).map(move |at| {
            let end = (at + length).min(segments.len());
            plan.with(segments[..at].iter().chain(&segments[end..]).copied())
        })
    })
}

/// A segment goes on to where the next one of its agent ends, or does not begin before that one.
fn joined(plan: &Plan) -> impl Iterator<Item = Plan> {
    let segments = &plan.segments;
    pairs(segments).flat_map(move |(at, next)| {
        let mut early = segments.clone();
        early[at].until = segments[next].until;
        early.remove(next);
        let mut late = segments.clone();
        late.remove(at);
        [plan.with(early), plan.with(late)]
    })
}

/// Each segment with the next one of its agent.
fn pairs(segments: &[Segment]) -> impl Iterator<Item = (usize, usize)> {
    (0..segments.len()).filter_map(|at| {
        let next = segments[at + 1..].iter().position(|segment| segment.agent == segments[at].agent)?;
        Some((at, at + 1 + next))
    })
}

fn swapped(plan: &Plan) -> impl Iterator<Item = Plan> {
    (1..plan.segments.len()).map(|at| {
        let mut segments = plan.segments.clone();
        segments.swap(at - 1, at);
        plan.with(segments)
    })
}

/// Switches earlier and later: any other event at which a segment can end.
fn moved(plan: &Plan) -> impl Iterator<Item = Plan> {
    let segments = &plan.segments;
    (0..segments.len()).flat_map(move |at| {
        let Segment { agent, until } = segments[at];
        let same = |segment: &&Segment| segment.agent.thread() == agent.thread();
        let before = segments[..at].iter().rev().find(same).map_or(0, |segment| segment.until);
        let after = segments[at + 1..].iter().find(same).map_or(until, |segment| segment.until);
        let ends = (before + 1..after).filter(move |&end| end != until);
        ends.map(move |end| {
            let mut segments = segments.clone();
            segments[at].until = end;
            plan.with(segments)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::agent::Agent;
    use crate::event::names::ThreadName;

    fn plan(text: &str) -> Plan {
        let segment = |word: &str| {
            let (thread, until) = word.split_at(1);
            let name = match thread {
                "a" => ThreadName::MAIN,
                _ => ThreadName::MAIN.child(1).unwrap(),
            };
            Segment { agent: Agent::Thread(name), until: until.parse().unwrap() }
        };
        Plan::default().with(text.split_whitespace().map(segment))
    }

    fn words(plans: impl Iterator<Item = Plan>) -> Vec<String> {
        let word = |segment: &Segment| {
            format!("{}{}", if segment.agent.thread() == ThreadName::MAIN { "a" } else { "b" }, segment.until)
        };
        plans.map(|plan| plan.segments.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
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
