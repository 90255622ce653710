//! The simplest schedule that fails in the same way: fewest preemptions, then fewest switches, then the earliest failure.
//!
//! Changes to the schedule are tried until none makes it simpler, which is a local minimum. Up to its number of preemptions
//! icb (PLDI 2007) looks for a failure that no single change leads to; where it has run every schedule with fewer, the number
//! is a minimum, and else an upper bound. The schedule that icb finds takes the place of the one that was given, so that the
//! simplest schedule is the same whichever search found the failure.

use rustc_hash::FxHashSet;

use super::experiment::{Experiment, Experimenter, Halt};
use super::known_executions::KnownExecutions;
use super::plan::{Plan, Segment};
use super::reductions::changes;
use crate::cache::{Cache, SubsumptionRule};
use crate::event::agent::Choice;
use crate::event::step::OpKey;
use crate::execution::RunOutcome;
use crate::program::Program;
use crate::strategy::{Frontier, Next, Preemptions, Strategy, WorkItem};

/// The number of executions that the changes may take, and that icb may, before them and after.
const CHANGES: u64 = 1_500;
const SOON: u64 = 300;
/// So many events at the most before them: a long execution takes so much of the time that the changes would have none.
const SOON_EVENTS: u64 = 300_000;
const ICB: u64 = 3_000;

/// The effort that is made for the simplest schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// As many executions as a search can be made to wait for.
    #[default]
    Bounded,
    /// As many as it takes.
    Full,
}

impl Effort {
    fn executions(self, bound: u64) -> u64 {
        match self {
            Self::Bounded => bound,
            Self::Full => u64::MAX,
        }
    }
}

/// More key points come in so many times at most.
const RESTARTS: u32 = 8;

/// The number of times that the simplest schedule must fail in the same way before it counts.
const REPLAYS: u32 = 2;

/// The simplest schedule that was found.
pub(super) struct Minimum {
    pub(super) simplest: Experiment,
    /// Every schedule with fewer preemptions was run, without this failure.
    pub(super) fewest: bool,
    /// Neither time nor budget has ended it: no change makes the schedule simpler, and icb below its number of preemptions
    /// has come to its end.
    pub(super) ended: bool,
}

/// The facts that are known of a failing schedule from the search that found it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searched {
    /// None with fewer preemptions fails.
    pub(super) fewest: bool,
    /// It was icb's first with so many: icb would find the same again.
    pub(super) by_icb: bool,
}

/// Simplifies a failing schedule. Nothing, where the schedule does not fail in the same way each time.
pub(super) fn minimise<P: Program>(
    experimenter: &mut Experimenter<'_, KnownExecutions<'_, P>>,
    schedule: &[(Choice, OpKey)],
    (searched, effort): (Searched, Effort),
) -> Result<Option<Minimum>, Halt> {
    let mut schedule = schedule.to_vec();
    for _ in 0..RESTARTS {
        match attempt(experimenter, &mut schedule, (searched, effort)) {
            // With the key points that there are now, what has been found so far is another schedule.
            Err(Halt::Promoted) => {}
            result => return result,
        }
    }
    Err(Halt::Promoted)
}

/// One attempt; what it has found when key points are added is left in `schedule`.
fn attempt<P: Program>(
    experimenter: &mut Experimenter<'_, KnownExecutions<'_, P>>,
    schedule: &mut Vec<(Choice, OpKey)>,
    (Searched { mut fewest, by_icb }, effort): (Searched, Effort),
) -> Result<Option<Minimum>, Halt> {
    let mut best = experimenter.run_again(schedule)?;
    if best.failure.is_none() {
        return Ok(None);
    }
    let mut is_first = fewest && by_icb;
    let mut is_of_icb = is_first;
    let mut icb = Icb::new(best.cost().preemptions);
    if !is_first {
        // Most failures take few preemptions: icb comes to them sooner than changes do from a schedule with many.
        let executions = SOON.min(SOON_EVENTS / best.trace.steps.len().max(1) as u64);
        let soon = icb.first(experimenter, best.cost().preemptions, executions)?;
        if let Some(found) = soon.found {
            fewest |= soon.fewest;
            (best, is_first, is_of_icb) = (found, soon.fewest, true);
        }
    }
    let mut ended = simplify(experimenter, &mut best, schedule, effort)?;
    if !is_first {
        let first = icb.first(experimenter, best.cost().preemptions, effort.executions(ICB))?;
        fewest |= first.fewest;
        ended &= fewest;
        // A schedule that icb comes to later with as many preemptions is not its first.
        let is_better = |found: &Experiment| !is_of_icb || found.cost().preemptions < best.cost().preemptions;
        if let Some(found) = first.found.filter(is_better) {
            best = found;
            ended = simplify(experimenter, &mut best, schedule, effort)?;
        }
    }
    for _ in 0..REPLAYS {
        let again = experimenter.run_again(schedule)?;
        if again.failure.is_none() || again.trace.first_difference(&best.trace).is_some() {
            return Ok(None);
        }
    }
    fewest |= best.cost().preemptions == 0;
    Ok(Some(Minimum { simplest: best, fewest, ended }))
}

/// Changes the schedule for as long as that makes it simpler, or the budget allows. Says whether no change is left that does.
fn simplify<P: Program>(
    experimenter: &mut Experimenter<'_, P>,
    best: &mut Experiment,
    schedule: &mut Vec<(Choice, OpKey)>,
    effort: Effort,
) -> Result<bool, Halt> {
    experimenter.allow(effort.executions(CHANGES));
    let mut tried = FxHashSet::default();
    let result = loop {
        match simpler(experimenter, best, &mut tried) {
            Ok(Some(simpler)) => *best = simpler,
            Ok(None) => break Ok(true),
            Err(Halt::Spent | Halt::Late) => break Ok(false),
            Err(halt) => break Err(halt),
        }
    };
    *schedule = best.trace.schedule();
    result
}

/// The first change that makes the schedule simpler, among those that were not tried.
fn simpler<P: Program>(
    experimenter: &mut Experimenter<'_, P>,
    best: &Experiment,
    tried: &mut FxHashSet<Vec<Segment>>,
) -> Result<Option<Experiment>, Halt> {
    for change in changes(&Plan::of(&best.trace.steps[..best.point])) {
        if tried.insert(change.segments.clone()) {
            let experiment = experimenter.follow(&change)?;
            if experiment.failure.is_some() && experiment.cost() < best.cost() {
                return Ok(Some(experiment));
            }
        }
    }
    Ok(None)
}

/// The result of icb.
struct IcbResult {
    found: Option<Experiment>,
    /// Every schedule with fewer preemptions than what was found, or than the bound, was run.
    fewest: bool,
}

/// A search for the failure in the schedules with few preemptions, the fewest first.
struct Icb {
    strategy: Frontier<Preemptions>,
    cache: Cache,
    /// The next item, where there was no room for it.
    left: Option<WorkItem>,
    /// The least cost at which something was left unexplored.
    cut: Option<u32>,
}

impl Icb {
    /// With at most so many preemptions.
    fn new(max: u32) -> Self {
        let strategy = Frontier::new(Preemptions { max });
        Self { strategy, cache: Cache::new(Some(SubsumptionRule::Preemptions)), left: None, cut: None }
    }

    /// Looks on, until it is found or more than `bound` preemptions are needed, in so many executions. The bound never grows.
    fn first<P: Program>(
        &mut self,
        experimenter: &mut Experimenter<'_, P>,
        bound: u32,
        executions: u64,
    ) -> Result<IcbResult, Halt> {
        experimenter.allow(executions);
        let found = loop {
            let Some(item) = self.next() else { break None };
            if item.cost > bound {
                // Some that cost more come early; it is left out, and what waits behind it may cost less.
                if self.covers(bound) {
                    break None;
                }
                continue;
            }
            match self.run(experimenter, &item) {
                Ok(experiment) if experiment.failure.is_some() => break Some(experiment),
                Ok(_) => {}
                Err(Halt::Spent | Halt::Late) => {
                    self.left = Some(item);
                    break None;
                }
                Err(halt) => return Err(halt),
            }
        };
        let cost = found.as_ref().map_or(bound, |found| found.cost().preemptions);
        let fewest = cost.checked_sub(1).is_none_or(|fewer| self.covers(fewer));
        Ok(IcbResult { found, fewest })
    }

    /// Whether every schedule with at most so many preemptions was run.
    fn covers(&self, preemptions: u32) -> bool {
        self.strategy.coverage(self.cut).is_whole_to(preemptions)
    }

    fn next(&mut self) -> Option<WorkItem> {
        self.left.take().or_else(|| match self.strategy.next(&self.cache) {
            Next::Work(item) => Some(item),
            Next::Wait | Next::Done => None,
        })
    }

    fn run<P: Program>(
        &mut self,
        experimenter: &mut Experimenter<'_, P>,
        item: &WorkItem,
    ) -> Result<Experiment, Halt> {
        let mut guide = self.strategy.guide(item, &self.cache);
        let end = experimenter.drive(&item.prefix, &mut *guide)?;
        let mut notes = guide.notes();
        if experimenter.left_out() {
            self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
        }
        match end {
            RunOutcome::Completed(_) => {
                self.cache.end(experimenter.trace().hb.state());
            }
            RunOutcome::LimitExceeded(..) => {
                self.cut = Some(self.cut.map_or(item.cost, |cut| cut.min(item.cost)));
                self.cache.withdraw(&notes.entered, item.id);
                notes.limit_reached = true;
            }
            RunOutcome::Pruned | RunOutcome::Promoted(_) | RunOutcome::Stopped(_) => {}
        }
        self.strategy.learn(item, experimenter.trace(), notes, &self.cache);
        Ok(experimenter.experiment(&end))
    }
}
