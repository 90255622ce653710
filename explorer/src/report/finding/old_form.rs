//! Stores and schedule files of before: the data that only sentences told then is read from the sentences.
//!
//! This is the one place where a sentence of the tool is taken apart. Reports of today say the same as data, and do not
//! come here any more.

use super::role::Role;

/// The role of a party that was saved without one.
pub(super) fn role(doing: &str) -> Role {
    match doing {
        "failed" => Role::Failed,
        "freed it" => Role::Freed,
        "allocated it" => Role::Allocated,
        _ if doing.starts_with("was preempted") => Role::Preempted,
        _ => Role::TakesPart,
    }
}

/// The reason for which a run ended, without the option of the command line.
pub(crate) fn without_option(ended: &str) -> &str {
    ended.split(" (--").next().unwrap_or(ended)
}

/// Thread and place of a party, from a line such as `T1 failed: main, a.c:12`.
pub(crate) fn thread_and_place(line: &str) -> Option<(&str, Option<&str>)> {
    let thread = line.split_whitespace().next()?;
    Some((thread, line.rsplit_once(": ").map(|(_, place)| place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_and_place_of_a_party_are_read_from_its_line() {
        let line = "T2 waits for mutex `a: b`, held by T3: lock, src/a.c:12";
        assert_eq!(thread_and_place(line), Some(("T2", Some("lock, src/a.c:12"))));
        assert_eq!(thread_and_place("T1 failed"), Some(("T1", None)));
    }

    #[test]
    fn why_a_run_ended_is_told_without_the_option() {
        assert_eq!(without_option("its time was up after 60s (--time-limit)"), "its time was up after 60s");
        assert_eq!(without_option("it was stopped"), "it was stopped");
    }
}
