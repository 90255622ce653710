//! A data race as a report has it.

use checker::operation::OpKind;
use serde::{Deserialize, Serialize};

use crate::report::location::Location;

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// Always `race`.
    pub kind: RaceKind,
    /// One sentence.
    pub message: String,
    /// The variable that both touch.
    pub variable: String,
    /// Other words for that, by which a suppression may name it.
    #[serde(skip)]
    pub also_called: Vec<String>,
    /// Debug information says that both are plain accesses; else they may be atomic ones.
    pub certain: bool,
    /// Every execution with the accesses in one order failed, and one with another order passed.
    pub harmful: bool,
    /// The executions that showed that, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<String>,
    /// In the order in which they ran in the execution that shows it first.
    pub accesses: [RacingAccess; 2],
}

/// Kind of the warning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceKind {
    /// A data race.
    #[default]
    Race,
}

/// One of two accesses that race.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RacingAccess {
    /// The thread (`T1`, `T2` …).
    pub thread: String,
    /// The kind of operation.
    pub operation: OpKind,
    /// Its place.
    #[serde(flatten)]
    pub place: Location,
    /// The calls by which the thread came there, innermost first.
    pub stack: Vec<Location>,
}
