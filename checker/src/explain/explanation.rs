//! An explanation, and the stages that it is made in.

use std::sync::Mutex;

use super::bug_depth::{Depth, depth};
use super::critical_pair::{CriticalPair, critical_pair};
use super::diagnosis::cause::Diagnosis;
use super::diagnosis::{always_fails, diagnose};
use super::evidence::Evidence;
use super::experiment::{Experiment, Experimenter, Halt};
use super::fault_localisation;
use super::fault_localisation::{Suspect, rank};
use super::known_executions::KnownExecutions;
use super::minimise::{Effort, Minimum, Searched, minimise};
use super::missing::{ExplanationStage, Missing, Stages};
use super::point_of_no_return::{PointOfNoReturn, point_of_no_return};
use crate::event::agent::Choice;
use crate::event::failure::FailureKind;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::event::step::OpKey;
use crate::execution::{Limits, SearchError};
use crate::program::Program;
use crate::search::{Finding, Options};
use crate::strategy::StrategyKind;
use crate::trace::{Trace, cost};

/// So many times at most the comparison with other executions begins again because they show more key points.
const RESTARTS: u32 = 4;

/// Longer executions are not explained unless all effort is made: hundreds of them would take hours, and several at a time
/// more memory than one of a million events may.
pub const LONGEST: usize = 250_000;

/// All that is known of a failure beyond the schedule that showed it first.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The finding with the simplest schedule.
    pub finding: Finding,
    /// The trace that the search had found, where that was another schedule.
    pub original: Option<Trace>,
    /// Its schedule is minimised to the end: no change makes it simpler, and icb below its number of preemptions has ended.
    pub minimised: bool,
    /// The number of times that another thread runs than before, up to the failure.
    pub switches: u32,
    /// Its bug depth, if that could be measured.
    pub depth: Option<Depth>,
    /// Patterns of accesses, the most suspicious first.
    pub suspects: Vec<Suspect>,
    /// The number of other failing executions that they were taken from, and of those that ended well.
    pub compared: (u32, u32),
    /// The events whose order decides.
    pub pair: Option<CriticalPair>,
    /// The point of no return.
    pub point_of_no_return: Option<PointOfNoReturn>,
    /// The kind of mistake.
    pub diagnosis: Diagnosis,
    /// The things that could not be found out, and why.
    pub missing: Vec<Missing>,
    /// The number of executions that it took.
    pub executions: u64,
}

/// The reason for which there is no explanation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExplanationError {
    /// No order of threads makes a difference, and its execution alone does not tell why.
    #[error("it fails whatever the schedule")]
    Always,
    /// Its execution has so many events.
    #[error(
        "its execution has {0} events, and an explanation, which runs hundreds like it, is made of up to {LONGEST}"
    )]
    TooLong(usize),
    /// The schedule did not fail in the same way again.
    #[error("its schedule did not fail in the same way again")]
    Lost,
    /// The time or the user's patience was over before anything was known.
    #[error("it was stopped")]
    Stopped,
    /// An execution could not go on.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Explains a finding of a search with these options, within their limit. `tick` is called at every event. The effort is what
/// the simplest schedule is worth; the stages after that have budgets of their own. `compared` is told of the simplest
/// execution that fails, and then of each one that it is compared with, and whether it failed in the same way.
///
/// # Errors
/// When there is nothing to explain, or nothing that could be found out; the finding itself is as good as before.
pub fn explain<P: Program>(
    program: &P,
    found: &Finding,
    (options, effort): (&Options, Effort),
    tick: &mut dyn FnMut(),
    compared: &mut dyn FnMut(&Trace, bool),
) -> Result<Explanation, ExplanationError> {
    if found.failure.kind == FailureKind::AlwaysFails {
        return by_itself(found).ok_or(ExplanationError::Always);
    }
    let events = found.trace.steps.len();
    if events > LONGEST && effort == Effort::Bounded {
        return Err(ExplanationError::TooLong(events));
    }
    let limits = Limits::of(options);
    let tree = Mutex::default();
    let known = KnownExecutions::new(program, &tree);
    let mut experimenter = Experimenter::new(&known, limits, &found.identity, (&options.limit, tick));
    let by_icb = options.strategy == StrategyKind::Icb;
    let searched = Searched { fewest: found.fewest, by_icb };
    let (minimum, learnt) =
        learn(&mut experimenter, &known, &found.trace.schedule(), (searched, effort), options.seed)?;
    let minimised = minimum.ended && !learnt.is_promoted;
    let Minimum { simplest, fewest, .. } = minimum;
    let ExperimentResults { evidence, pair, depth, point_of_no_return, missing, .. } = learnt;
    let switches = simplest.cost().switches;
    compared(&simplest.trace, true);
    evidence.failing.iter().for_each(|trace| compared(trace, true));
    evidence.passing.iter().for_each(|trace| compared(trace, false));
    let Experiment { trace, failure, summary, point, .. } = simplest;
    let failure = failure.unwrap_or_else(|| found.failure.clone());
    let mut suspects = suspects(&trace, last_of(failure.thread, &trace, point), &evidence);
    fault_localisation::without_owners(&mut suspects, &|obj| program.is_reference_count(obj));
    if let Some(PointOfNoReturn { event, exhaustive: true, .. }) = point_of_no_return {
        fault_localisation::without_what_comes_after(&mut suspects, &trace, event);
    }
    let diagnosis = diagnose(&failure, &trace, &suspects, (pair.as_ref(), &evidence));
    let finding = Finding {
        failure,
        preemptions: Some(trace.preemptions()),
        fewest,
        delays: Some(trace.delays()),
        threads: Some(cost::threads(&trace)).filter(|&threads| threads == 2),
        variables: Some(cost::variables(&trace)),
        summary,
        epoch: program.epoch(),
        outdated: false,
        trace,
        identity: found.identity.clone(),
        always: found.always,
        schedule_number: found.schedule_number,
        executions: found.executions,
        reproduced: found.reproduced,
    };
    Ok(Explanation {
        minimised,
        switches,
        depth,
        suspects,
        compared: (evidence.failing.len() as u32, evidence.passing.len() as u32),
        pair,
        point_of_no_return,
        diagnosis,
        missing,
        original: finding.trace.first_difference(&found.trace).map(|_| found.trace.clone()),
        executions: experimenter.executions() - known.recalled(),
        finding,
    })
}

/// Explains what fails whatever the schedule, if its execution tells why.
fn by_itself(found: &Finding) -> Option<Explanation> {
    let cause = always_fails::cause(found.identity.kind(), &found.failure, &found.trace)?;
    let diagnosis = Diagnosis { cause, bypassed_lock: None, stuck: Vec::new(), thin: false };
    Some(Explanation {
        finding: found.clone(),
        original: None,
        minimised: false,
        switches: cost::switches(&found.trace.steps),
        depth: None,
        suspects: Vec::new(),
        compared: (0, 0),
        pair: None,
        point_of_no_return: None,
        diagnosis,
        missing: Vec::new(),
        executions: 0,
    })
}

/// The results of experiments with the simplest schedule.
struct ExperimentResults {
    evidence: Evidence,
    pair: Option<CriticalPair>,
    depth: Option<Depth>,
    point_of_no_return: Option<PointOfNoReturn>,
    missing: Vec<Missing>,
    /// More key points were found on the way.
    is_promoted: bool,
}

/// Looks for the simplest schedule, and for what tells it from others. With more key points executions have more events, so
/// that both begin again.
fn learn<'a, P: Program>(
    experimenter: &mut Experimenter<'_, KnownExecutions<'a, P>>,
    program: &KnownExecutions<'a, P>,
    schedule: &[(Choice, OpKey)],
    (mut searched, effort): (Searched, Effort),
    seed: u64,
) -> Result<(Minimum, ExperimentResults), ExplanationError> {
    let simplest = |experimenter: &mut Experimenter<'_, KnownExecutions<'a, P>>,
                    schedule: &[(Choice, OpKey)],
                    searched| {
        experimenter.share(effort == Effort::Bounded);
        let minimum = minimise(experimenter, schedule, (searched, effort));
        experimenter.share(false);
        minimum
    };
    let mut minimum = simplest(experimenter, schedule, searched)?.ok_or(ExplanationError::Lost)?;
    let mut learnt = ExperimentResults::new(experimenter, program, &minimum.simplest, seed);
    for _ in 0..RESTARTS {
        if !learnt.is_promoted {
            break;
        }
        searched.fewest = minimum.fewest;
        let schedule = minimum.simplest.trace.schedule();
        let Ok(Some(again)) = simplest(experimenter, &schedule, searched) else { break };
        let more = ExperimentResults::new(experimenter, program, &again.simplest, seed);
        if more.missing.len() > learnt.missing.len() {
            // There was no time left for it.
            break;
        }
        (minimum, learnt) = (again, more);
    }
    Ok((minimum, learnt))
}

impl ExperimentResults {
    fn new<'a, P: Program>(
        experimenter: &mut Experimenter<'_, KnownExecutions<'a, P>>,
        program: &KnownExecutions<'a, P>,
        simplest: &Experiment,
        seed: u64,
    ) -> Self {
        let mut stages = Stages::default();
        let evidence =
            stages.run(ExplanationStage::Patterns, || Evidence::collect(experimenter, simplest, seed));
        let evidence = evidence.unwrap_or_default();
        let pair = stages
            .run(ExplanationStage::CriticalPair, || critical_pair(experimenter, simplest, &evidence.passing));
        let switches = simplest.cost().switches;
        let depth = stages.run(ExplanationStage::Depth, || depth(experimenter, simplest, switches));
        let schedule = simplest.trace.schedule();
        let point_of_no_return = stages.run(ExplanationStage::PointOfNoReturn, || {
            point_of_no_return(experimenter, program, &schedule[..simplest.point.count()], seed)
        });
        let Stages { missing, is_promoted } = stages;
        let (pair, depth, point_of_no_return) =
            (pair.flatten(), depth.flatten(), point_of_no_return.flatten());
        Self { evidence, pair, depth, point_of_no_return, missing, is_promoted }
    }
}

/// Patterns that tell the failing execution, and others that fail in the same way, from those that end well. With none of
/// these there is nothing to tell it from.
fn suspects(trace: &Trace, failed: Option<Position>, evidence: &Evidence) -> Vec<Suspect> {
    let failing: Vec<&Trace> = std::iter::once(trace).chain(&evidence.failing).collect();
    let passing: Vec<&Trace> = evidence.passing.iter().collect();
    if passing.is_empty() { Vec::new() } else { rank(&failing, &passing, failed) }
}

/// The position of a thread's last event before a point.
fn last_of(thread: Option<ThreadName>, trace: &Trace, end: Position) -> Option<Position> {
    trace.steps.rposition_before(end, |step| Some(step.event.id.thread) == thread)
}

impl From<Halt> for ExplanationError {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Spent | Halt::Late | Halt::Cancelled | Halt::Promoted => Self::Stopped,
            Halt::Failed(error) => Self::Search(error.while_searching()),
        }
    }
}
