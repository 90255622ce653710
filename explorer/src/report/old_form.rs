//! Stores and schedule files of before: what was told by sentences alone then is read from the sentences.
//!
//! This is the one place where a sentence of the tool is taken apart. What is written today says the same as data, and
//! comes here no more.

use serde::Deserialize;

use crate::report::{Location, Party, Role};
use crate::schedule_file::{SavedFailure, SavedParty, place};

/// A party as it is read: of an older version without its role.
#[derive(Deserialize)]
pub(crate) struct AnyParty {
    thread: String,
    doing: String,
    stack: Vec<Location>,
    #[serde(default)]
    role: Option<Role>,
}

impl From<AnyParty> for Party {
    fn from(party: AnyParty) -> Self {
        let AnyParty { thread, doing, stack, role } = party;
        let role = role.unwrap_or_else(|| self::role(&doing));
        Self { thread, role, doing, stack }
    }
}

fn role(doing: &str) -> Role {
    match doing {
        "failed" => Role::Failed,
        "freed it" => Role::Freed,
        "allocated it" => Role::Allocated,
        _ if doing.starts_with("was preempted") => Role::Preempted,
        _ => Role::TakesPart,
    }
}

/// The first thread that takes part in the failure of a schedule file, and where it stands.
pub(crate) fn first_party(failure: &SavedFailure) -> Option<SavedParty> {
    failure.parties.first().cloned().or_else(|| party_of_line(failure.at.first()?))
}

/// A party from a line such as `T1 failed: main, a.c:12`.
fn party_of_line(line: &str) -> Option<SavedParty> {
    let thread = line.split_whitespace().next()?.to_owned();
    let place = line.rsplit_once(": ").map(|(_, words)| place(words)).unwrap_or_default();
    Some(SavedParty { thread, place })
}

/// The reason for which a run ended, without the option of the command line.
pub(crate) fn without_option(ended: &str) -> &str {
    ended.split(" (--").next().unwrap_or(ended)
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

    #[test]
    fn the_failing_thread_of_a_schedule_file_is_read_from_its_line() {
        let party = party_of_line("T2 waits for mutex `a: b`, held by T3: lock, src/a.c:12").unwrap();
        assert_eq!((party.thread.as_str(), party.place.words().as_str()), ("T2", "lock, src/a.c:12"));
        assert_eq!(party_of_line("T1 failed").unwrap().place, Location::default());
    }

    #[test]
    fn why_a_run_ended_is_told_without_the_option() {
        assert_eq!(without_option("its time was up after 60s (--time-limit)"), "its time was up after 60s");
        assert_eq!(without_option("it was stopped"), "it was stopped");
    }
}
