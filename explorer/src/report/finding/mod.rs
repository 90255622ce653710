//! A failure with the schedule that shows it.

pub(super) mod hint;
pub(crate) mod old_form;
pub(super) mod role;
pub(super) mod stall;

use checker::failure::FailureKind;
use serde::{Deserialize, Serialize};

use self::hint::Hint;
use self::role::Role;
use self::stall::StallOf;
use crate::report::event::{EventLine, Lane};
use crate::report::explanation::Explanation;
use crate::report::interned::Shared;
use crate::report::left_out::LeftOut;
use crate::report::location::Location;

/// A failure, with the schedule that shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The kind of failure.
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
    /// The text of a report's first line in place of kind and sentence, where the sentence is long and names its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// The place of the failure.
    #[serde(flatten)]
    pub place: Location,
    /// The thread that failed (`T1`, `T2` …), if one did.
    pub thread: Option<String>,
    /// Number of executions of the search that it took; 0 for a replay.
    pub schedule_number: u64,
    /// Number of executions that were started up to the first that showed it, checks and those before a restart among them;
    /// 1 for a replay.
    #[serde(default)]
    pub executions: u64,
    /// Preemptions of the schedule.
    pub preemptions: Option<u32>,
    /// Whether no schedule with fewer preemptions shows this failure.
    pub fewest: bool,
    /// Delays of the schedule.
    pub delays: Option<u32>,
    /// Threads whose relative order must be constrained.
    pub threads: Option<u32>,
    /// Distinct variables at the preemptions.
    pub variables: Option<u32>,
    /// Number of repetitions in which it failed again, of all of them (`2/2`).
    pub reproduced: String,
    /// The thread that is stalled longest in the schedule; `None` where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<StallOf>,
    /// Of what always fails: number of schedules that were run, each of which failed, where there are more; `None` where
    /// every one was run with all watched that could matter, and of other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<u64>,
    /// Of what always fails: times have ordered events, so that schedules in which threads are stalled may pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unless_stalled: bool,
    /// Of what always fails with an exit code: the reason for which that may be, as the program says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// The reason for which it happens, if that was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Its name among the findings of its target; the same failure keeps it over rebuilds.
    #[serde(default)]
    pub id: Option<String>,
    /// The user has dismissed it: editors do not show it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dismissed: bool,
    /// The file in which the schedule is saved.
    pub schedule_file: Option<String>,
    /// Every thread that takes part, and what it was doing.
    pub parties: Vec<Party>,
    /// All threads of the execution, by creation path.
    pub lanes: Vec<Lane>,
    /// The execution, in order: whole, but for what is left out.
    pub events: Shared<Vec<EventLine>>,
    /// The stretch of a long execution that is not listed, in reports as JSON and in stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Output of the program in this execution.
    pub output: Output,
}

/// A thread that takes part in a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "AnyParty")]
pub struct Party {
    /// The thread (`T1`, `T2` …).
    pub thread: String,
    /// Its part in the failure.
    pub role: Role,
    /// Its state, as the rest of a sentence that starts with its name.
    pub doing: String,
    /// Its own code's frames, innermost first.
    pub stack: Vec<Location>,
}

/// A party as it is read: of an older version without its role.
#[derive(Deserialize)]
struct AnyParty {
    thread: String,
    doing: String,
    stack: Vec<Location>,
    #[serde(default)]
    role: Option<Role>,
}

impl From<AnyParty> for Party {
    fn from(party: AnyParty) -> Self {
        let AnyParty { thread, doing, stack, role } = party;
        let role = role.unwrap_or_else(|| old_form::role(&doing));
        Self { thread, role, doing, stack }
    }
}

/// Output of a program, made valid UTF-8.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Output {
    /// To its standard output.
    pub stdout: String,
    /// To its standard error.
    pub stderr: String,
    /// Something was left out.
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_of_a_party_is_read_from_its_sentence_where_nothing_else_tells_it() {
        for (doing, role, expected) in [
            ("failed", None, Role::Failed),
            ("was preempted, about to write `x`", None, Role::Preempted),
            ("freed it", None, Role::Freed),
            ("allocated it", None, Role::Allocated),
            ("waits for mutex `m`, held by T2", None, Role::TakesPart),
            ("was preempted", Some("takes-part"), Role::TakesPart),
        ] {
            let mut party = serde_json::json!({ "thread": "T1", "doing": doing, "stack": [] });
            if let Some(role) = role {
                party["role"] = role.into();
            }
            let party: Party = serde_json::from_value(party).unwrap();
            assert_eq!((party.role, party.doing.as_str()), (expected, doing));
        }
    }
}
