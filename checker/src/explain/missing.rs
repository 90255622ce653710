//! Stages of an explanation that came to nothing, and why.

use super::experiment::Halt;
use crate::execution::SearchError;

/// A stage that came to nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The stage.
    pub stage: ExplanationStage,
    /// The reason.
    pub why: WhyMissing,
}

/// A stage of an explanation, after the simplest schedule is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExplanationStage {
    /// The patterns of accesses.
    Patterns,
    /// The critical pair.
    CriticalPair,
    /// The bug depth.
    Depth,
    /// The point of no return.
    PointOfNoReturn,
}

/// The reason for which a stage came to nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyMissing {
    /// Its executions were used up.
    Spent,
    /// Its time was up.
    Late,
    /// The user stopped it.
    Stopped,
    /// More key points were found on the way.
    Promoted,
    /// An execution could not go on.
    Failed(SearchError),
}

/// The later stages that came to nothing. The results of earlier ones are as good without them; but executions after the
/// discovery of more key points have other indices.
#[derive(Default)]
pub(super) struct Stages {
    pub(super) missing: Vec<Missing>,
    pub(super) is_promoted: bool,
}

impl Stages {
    /// Runs a stage.
    pub(super) fn run<T>(
        &mut self,
        stage: ExplanationStage,
        run: impl FnOnce() -> Result<T, Halt>,
    ) -> Option<T> {
        let result = if self.is_promoted { Err(Halt::Promoted) } else { run() };
        let why = match result {
            Ok(found) => return Some(found),
            Err(Halt::Spent) => WhyMissing::Spent,
            Err(Halt::Late) => WhyMissing::Late,
            Err(Halt::Cancelled) => WhyMissing::Stopped,
            Err(Halt::Promoted) => {
                self.is_promoted = true;
                WhyMissing::Promoted
            }
            Err(Halt::Failed(error)) => WhyMissing::Failed(error.while_searching()),
        };
        self.missing.push(Missing { stage, why });
        None
    }
}
