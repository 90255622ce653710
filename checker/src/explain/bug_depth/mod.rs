//! Bug depth: the number of things about the order of threads that must be right for a failure.
//!
//! Sebastian Burckhardt, Pravesh Kothari, Madanlal Musuvathi, Santosh Nagarakatte: A Randomized Scheduler with Probabilistic
//! Guarantees of Finding Bugs, ASPLOS 2010: d is one more than the least number of priority change points of a
//! strict-priority schedule that fails. The paper draws such schedules at random; here they are all run, those with few
//! change points first.

mod order;
mod priority;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use self::priority::{PriorityGuide, PriorityMove, PriorityReplay};
use super::experiment::{Experiment, Experimenter, Halt};
use crate::program::Program;

/// The number of executions that measuring a depth may take.
const EXECUTIONS: u64 = 5_000;

/// The greatest depth that is looked for by running every schedule.
const DEEPEST: u32 = 4;

/// The depth of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Depth {
    /// One more than the number of change points.
    pub value: u32,
    /// No schedule with fewer change points fails like this: all of them were run.
    pub exact: bool,
}

/// Moves to follow first, with one more at their end.
struct MovePrefix {
    moves: Rc<Vec<PriorityMove>>,
    length: usize,
    then: Option<PriorityMove>,
}

/// Measures the depth of a failure whose simplest schedule has so many switches. Nothing, where neither was possible.
pub(super) fn depth<P: Program>(
    experimenter: &mut Experimenter<'_, P>,
    simplest: &Experiment,
    switches: u32,
) -> Result<Option<Depth>, Halt> {
    experimenter.allow(EXECUTIONS);
    match least(experimenter) {
        Ok(Some(value)) => Ok(Some(Depth { value, exact: true })),
        Ok(None) | Err(Halt::Spent | Halt::Late) => at_most(experimenter, simplest, switches),
        Err(halt) => Err(halt),
    }
}

/// The least depth of a schedule that fails, if that is at most [`DEEPEST`].
fn least<P: Program>(experimenter: &mut Experimenter<'_, P>) -> Result<Option<u32>, Halt> {
    let start = MovePrefix { moves: Rc::default(), length: 0, then: None };
    let mut waiting: Vec<Vec<MovePrefix>> = vec![vec![start]];
    waiting.resize_with(DEEPEST as usize, Vec::new);
    for changes in 0..DEEPEST as usize {
        while let Some(branch) = waiting[changes].pop() {
            let prefix = branch.moves[..branch.length].iter().chain(&branch.then).copied().collect();
            let mut guide = PriorityGuide::new(prefix);
            let experiment = experimenter.run(&[], &mut guide)?;
            if experiment.failure.is_some() {
                return Ok(Some(changes as u32 + 1));
            }
            let moves = Rc::new(guide.moves);
            for other in guide.others {
                let deeper = changes + usize::from(matches!(other.instead, PriorityMove::Lower(_)));
                // No more than can be run wait; those that are dropped come after what ends the budget.
                if deeper < waiting.len()
                    && (deeper == changes || waiting[deeper].len() <= EXECUTIONS as usize)
                {
                    let (moves, length) = (moves.clone(), other.at);
                    waiting[deeper].push(MovePrefix { moves, length, then: Some(other.instead) });
                }
            }
        }
    }
    Ok(None)
}

/// One more than the number of switches, if a strict-priority schedule with no more change points fails.
fn at_most<P: Program>(
    experimenter: &mut Experimenter<'_, P>,
    simplest: &Experiment,
    switches: u32,
) -> Result<Option<Depth>, Halt> {
    let mut guide = PriorityReplay::new(&simplest.trace.steps[..simplest.point]);
    experimenter.insist(true);
    let experiment = experimenter.run(&[], &mut guide);
    experimenter.insist(false);
    let is_one = experiment?.failure.is_some() && guide.changes <= switches;
    Ok(is_one.then_some(Depth { value: switches + 1, exact: false }))
}
