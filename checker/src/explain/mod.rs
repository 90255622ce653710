//! Why a failure happens: from a failing schedule to the simplest one that fails in the same way.
//!
//! An explanation is made of further executions of the program, [`Explanation::executions`] of them; each stage has a
//! budget of its own.

mod changes;
mod depth;
mod lab;
mod minimise;
mod plan;
#[cfg(test)]
mod tests;

pub use self::depth::Depth;
use self::lab::{Halt, Lab};
use crate::cost;
use crate::failure::FailureKind;
use crate::run::{Go, Limits};
use crate::seam::Program;
use crate::search::{Finding, Options, SearchError};
use crate::trace::Trace;

/// What is known of a failure beyond the schedule that showed it first.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The finding with the simplest schedule.
    pub finding: Finding,
    /// What the search had found, where that was another schedule.
    pub original: Option<Trace>,
    /// How often another thread runs than before, up to the failure.
    pub switches: u32,
    /// Its bug depth, if that could be measured.
    pub depth: Option<Depth>,
    /// How many executions it took.
    pub executions: u64,
}

/// Why there is no explanation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unexplained {
    /// No order of threads makes a difference.
    #[error("it fails whatever the schedule")]
    Always,
    /// Its executions are as long as they may be.
    #[error("its executions do not end, which makes each experiment as long as the limit allows")]
    Endless,
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

/// Explains a finding of a search with these options. `go` is asked at every event.
///
/// # Errors
/// When there is nothing to explain, or nothing that could be found out; the finding itself is as good as before.
pub fn explain<P: Program>(
    program: &P,
    found: &Finding,
    options: &Options,
    go: &mut dyn FnMut() -> Go,
) -> Result<Explanation, Unexplained> {
    match found.failure.kind {
        FailureKind::AlwaysFails => return Err(Unexplained::Always),
        FailureKind::StepLimit | FailureKind::Timeout => return Err(Unexplained::Endless),
        _ => {}
    }
    let limits = Limits { events: options.step_limit.max(1), timeouts: options.max_timeouts };
    let mut lab = Lab::new(program, limits, &found.identity, go);
    let minimum = minimise::minimise(&mut lab, &found.trace.schedule(), found.fewest)?;
    let minimise::Minimum { simplest, fewest } = minimum.ok_or(Unexplained::Lost)?;
    let switches = simplest.cost().switches;
    let depth = stage(depth::depth(&mut lab, &simplest, switches))?;
    let trace = simplest.trace;
    let finding = Finding {
        failure: simplest.failure.unwrap_or_else(|| found.failure.clone()),
        preemptions: Some(trace.preemptions()),
        fewest,
        delays: Some(trace.delays()),
        threads: Some(cost::threads(&trace)).filter(|&threads| threads == 2),
        variables: Some(cost::variables(&trace)),
        ending: simplest.ending,
        epoch: program.epoch(),
        outdated: false,
        trace,
        ..found.clone()
    };
    Ok(Explanation {
        switches,
        depth,
        original: finding.trace.first_difference(&found.trace).map(|_| found.trace.clone()),
        executions: lab.executions(),
        finding,
    })
}

/// What a stage came to: nothing, if its budget did not do or the program showed more key points on the way.
fn stage<T>(result: Result<Option<T>, Halt>) -> Result<Option<T>, Unexplained> {
    match result {
        Err(Halt::Spent | Halt::Promoted) => Ok(None),
        result => Ok(result?),
    }
}

impl From<Halt> for Unexplained {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Spent | Halt::Cancelled | Halt::Promoted => Self::Stopped,
            Halt::Failed(error) => Self::Search(error.while_searching()),
        }
    }
}
