//! The notes of a search in words.

use checker::search::SearchNote;

use crate::narrate::sentences::phrasing::Phrasing;

/// The note where no time was left for what a report needs of the program.
pub(crate) const READ_IN_PART: &str = "the time was up before all of the program's debug information was read that the report \
     needs: lines and names are missing in it";

impl Phrasing<'_> {
    /// A note of a search, as a sentence.
    pub(crate) fn search_note(&self, note: &SearchNote) -> String {
        match note {
            SearchNote::StoppedEarly(error) => format!("the search stopped early: {error}"),
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
