//! The notes of a search in words.

use std::time::Duration;

use checker::search::{SearchError, SearchNote};

use crate::narrate::sentences::phrasing::Phrasing;
use crate::program::run_notes::{Cost, ExecutionCosts};
use crate::report::plural::plural;

/// The note where no time was left for what a report needs of the program.
pub(crate) const READ_IN_PART: &str = "the time was up before all of the program's debug information was read that the report \
     needs: lines and names are missing in it";

/// The note where executions were cut of a program that waits to be used.
pub(crate) const AWAITS_OUTSIDE: &str = "in executions that were cut a thread waited for connections or input from outside, and \
     none came (--client starts a client with the program)";

/// So many executions in the time of a search are few.
const FEW: u32 = 20;

/// The time that executions take, where few come in the time that a search had; `ended`: number of those that have ended.
pub(crate) fn long_executions(pace: &ExecutionCosts, ended: u64, time: Duration) -> Option<String> {
    let words = |cost: Cost| (seconds(cost.time), plural(cost.events, "event"));
    if ended == 0 && pace.executions == 1 {
        let (time, events) = words(pace.last);
        let events = if pace.last.events > 0 { format!(": {events}") } else { String::new() };
        return Some(format!("the first execution had not ended after {time}{events}"));
    }
    let (time, events) = words(pace.each().filter(|each| each.time > time / FEW)?);
    Some(format!("one execution takes about {time} ({events})"))
}

/// `15 s`, `1.5 s`.
fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.95 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

impl Phrasing<'_> {
    /// A note of a search, as a sentence; `in_words` tells an error.
    pub(crate) fn search_note(&self, note: &SearchNote, in_words: impl Fn(&SearchError) -> String) -> String {
        match note {
            SearchNote::StoppedEarly(error) => format!("the search stopped early: {}", in_words(error)),
            SearchNote::ManyRaces(most) => {
                format!("more than {most} pairs of locations race: the others are left out")
            }
            SearchNote::ManyLockOrders(most) => {
                format!("locks are taken in opposite orders in more than {most} ways: the others are left out")
            }
            SearchNote::UnknownPreemptions => "nothing is covered, since of some execution it could not be told how many \
                 preemptions it takes at least: its threads are too many, or wait for signals or for several variables \
                 (--strategy icb covers a bound)"
                .to_owned(),
            SearchNote::Mispredicted => "not everything is covered, since some orders of events that dpor had predicted from \
                 others did not come out: a thread may count how often it looks, or take the time (--strategy icb runs \
                 each order as it comes)"
                .to_owned(),
            SearchNote::SwitchedEverywhere => "a thread gives way (it yields or sleeps), and when its next turn is may \
                 depend on any access of others: threads were switched at every operation, not at synchronisation only"
                .to_owned(),
            SearchNote::NotAgain(failure) => format!("{}, but not again on replay", self.failure(failure)),
            SearchNote::FewVariablesOnly(failure) => format!(
                "an execution failed with few variables watched, and not with all of them, which changes the time that the \
                 program sees: {}",
                self.failure(failure)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_that_take_long_are_told_with_their_cost() {
        let cost = |seconds, events| Cost { time: Duration::from_secs(seconds), events };
        let after = |costs: &[Cost], ended, limit| {
            let mut pace = ExecutionCosts::default();
            costs.iter().for_each(|cost| pace.note(*cost));
            long_executions(&pace, ended, Duration::from_secs(limit))
        };
        let told = |words: &str| Some(words.to_owned());
        let first = told("the first execution had not ended after 30 s: 120,000 events");
        assert_eq!(after(&[cost(30, 120_000)], 0, 30), first);
        assert_eq!(after(&[cost(3, 0)], 0, 3), told("the first execution had not ended after 3.0 s"));
        let each = told("one execution takes about 12 s (41,000 events)");
        assert_eq!(after(&[cost(14, 42_000), cost(10, 40_000), cost(6, 20_000)], 2, 30), each);
        assert_eq!(after(&[cost(1, 42_000), cost(1, 40_000), cost(1, 20_000)], 2, 30), None);
        assert_eq!(after(&[], 0, 30), None);
    }
}
