//! Experiments with one failure: executions that show it or do not, each of them counted, until the budget is spent.

use std::mem;

use super::known_executions::KnownExecutions;
use super::plan::{Plan, PlanGuide, Recall};
use crate::event::agent::Choice;
use crate::event::failure::Failure;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::execution::{Limits, RunOutcome, Runner, SearchError};
use crate::limit::{Limit, StopRequest};
use crate::program::{ExecutionSummary, Program, Scope};
use crate::search::Identity;
use crate::strategy::Guide;
use crate::trace::{Trace, cost};

/// The reason for which experiments end before they are through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// The executions of this stage are used up.
    Spent,
    /// The time is up. The result that the stage would have had is not known: that depends on the machine.
    Late,
    /// The caller does not want to know any more.
    Cancelled,
    /// Key points were added: what was recorded before has other indices.
    Promoted,
    /// An execution could not go on.
    Failed(SearchError),
}

/// The experimenter of an explanation: it runs the executions.
pub(super) struct Experimenter<'a, P> {
    runner: Runner<'a, P>,
    identity: &'a Identity,
    ends: &'a Limit,
    tick: &'a mut dyn FnMut(),
    /// Executions so far.
    executions: u64,
    /// The number of executions that there may have been at the end of this stage.
    limit: u64,
    /// The present experiments end neither by budget nor by time.
    insists: bool,
    /// The present experiments leave half of the time to those that come after them.
    shares: bool,
}

/// One execution.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    pub(super) trace: Trace,
    /// The failure that is looked for, if it showed.
    pub(super) failure: Option<Failure>,
    /// Nothing went wrong at all.
    pub(super) passes: bool,
    /// The position at which something had failed, or the end.
    pub(super) point: Position,
    pub(super) summary: ExecutionSummary,
}

/// The cost of a schedule, the most important part first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cost {
    pub(super) preemptions: u32,
    pub(super) switches: u32,
    /// The position at which it had failed.
    pub(super) point: Position,
}

impl Experiment {
    pub(super) fn cost(&self) -> Cost {
        let steps = &self.trace.steps[..self.point];
        Cost { preemptions: self.trace.preemptions(), switches: cost::switches(steps), point: self.point }
    }
}

impl<'a, P: Program> Experimenter<'a, P> {
    pub(super) fn new(
        program: &'a P,
        limits: Limits,
        identity: &'a Identity,
        (ends, tick): (&'a Limit, &'a mut dyn FnMut()),
    ) -> Self {
        Self {
            runner: Runner::new(program, limits),
            identity,
            ends,
            tick,
            executions: 0,
            limit: 0,
            insists: false,
            shares: false,
        }
    }

    /// Begins a stage that may take so many executions.
    pub(super) fn allow(&mut self, executions: u64) {
        self.limit = self.executions.saturating_add(executions);
    }

    /// Whether what runs next is worth more than its budget, and its time.
    pub(super) fn insist(&mut self, insists: bool) {
        self.insists = insists;
    }

    /// Whether what runs next leaves half of the time to what comes after it.
    pub(super) fn share(&mut self, shares: bool) {
        self.shares = shares;
    }

    pub(super) fn executions(&self) -> u64 {
        self.executions
    }

    /// A stage with a budget of its own on another program, whose executions count here.
    pub(super) fn within<Q: Program, T>(
        &mut self,
        program: &Q,
        executions: u64,
        stage: impl FnOnce(&mut Experimenter<'_, Q>) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let mut experimenter =
            Experimenter::new(program, self.runner.limits, self.identity, (self.ends, &mut *self.tick));
        experimenter.allow(executions);
        let result = stage(&mut experimenter);
        self.executions += experimenter.executions();
        result
    }

    /// Runs one execution: the prefix, then as the guide says.
    pub(super) fn run(
        &mut self,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
    ) -> Result<Experiment, Halt> {
        let end = self.drive(prefix, guide)?;
        Ok(self.experiment(&end))
    }

    /// Follows a plan.
    pub(super) fn follow(&mut self, plan: &Plan) -> Result<Experiment, Halt> {
        self.run(&[], &mut PlanGuide::new(plan))
    }

    /// The same as [`Self::run`], for callers that need to know how it ended. [`Self::experiment`] takes what it recorded.
    pub(super) fn drive(
        &mut self,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
    ) -> Result<RunOutcome, Halt> {
        if self.executions >= self.limit && !self.insists {
            return Err(Halt::Spent);
        }
        self.executions += 1;
        let (ends, tick, insists, shares) = (self.ends, &mut *self.tick, self.insists, self.shares);
        let mut look = || {
            tick();
            ends.look()
        };
        let mut go = || match look() {
            StopRequest::BudgetSpent | StopRequest::HalfSpent if insists => StopRequest::Continue,
            StopRequest::HalfSpent if shares => StopRequest::BudgetSpent,
            StopRequest::HalfSpent => StopRequest::Continue,
            go => go,
        };
        match self.runner.run_within(&Scope::All, prefix, guide, &mut go) {
            Ok(RunOutcome::Stopped(StopRequest::Cancelled)) => Err(Halt::Cancelled),
            Ok(RunOutcome::Stopped(_)) => Err(Halt::Late),
            Ok(RunOutcome::Promoted(_)) => Err(Halt::Promoted),
            Ok(end) => Ok(end),
            Err(error) => Err(Halt::Failed(error)),
        }
    }

    /// The events of what ran last.
    pub(super) fn trace(&self) -> &Trace {
        &self.runner.trace
    }

    /// A thread had to give way in the last execution, so that what comes of its going on was left out: as far as the backend
    /// made it do so.
    pub(super) fn left_out(&self) -> bool {
        self.runner.summary.left_out
    }

    /// Takes what the execution that ended so has recorded.
    pub(super) fn experiment(&mut self, end: &RunOutcome) -> Experiment {
        let failures: &[Failure] = match end {
            RunOutcome::Completed(failures) | RunOutcome::LimitExceeded(_, failures) => failures,
            RunOutcome::Pruned | RunOutcome::Promoted(_) | RunOutcome::Stopped(_) => &[],
        };
        let failure = failures.iter().find(|failure| Identity::of(failure) == *self.identity).cloned();
        let passes = failures.is_empty() && matches!(end, RunOutcome::Completed(_));
        let over = self.runner.termination().after.filter(|_| !failures.is_empty());
        let trace = mem::take(&mut self.runner.trace);
        let point = over.map_or(trace.steps.end(), |over| over.min(trace.steps.end()));
        Experiment { trace, failure, passes, point, summary: mem::take(&mut self.runner.summary) }
    }
}

impl<P: Program> Experimenter<'_, KnownExecutions<'_, P>> {
    /// Runs a schedule again, whatever is known of it, and even if the time for everything else is up.
    pub(super) fn run_again(&mut self, schedule: &[(Choice, OpKey)]) -> Result<Experiment, Halt> {
        let program = self.runner.program.program();
        self.within(program, 1, |experimenter| {
            experimenter.insist(true);
            experimenter.run(&[], &mut Recall::new(schedule))
        })
    }
}
