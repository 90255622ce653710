//! The notes of a search for its user, as data: [`crate::search::SearchOutcome::notes`].

use crate::event::failure::Failure;
use crate::execution::SearchError;

/// A circumstance that limits what a search shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchNote {
    /// It stopped early, for this reason; what was found before counts.
    StoppedEarly(SearchError),
    /// More than so many pairs of locations race, and the others are left out.
    ManyRaces(usize),
    /// Locks are taken in opposite orders in more than so many ways, and the others are left out.
    ManyLockOrders(usize),
    /// Nothing is covered, since the least number of preemptions of some execution could not be told.
    UnknownPreemptions,
    /// Orders of events that were predicted from others did not come out, and what they lead to is not known.
    Mispredicted,
    /// Threads were switched at every operation although it was asked for synchronisation only, since one gives way.
    SwitchedEverywhere,
    /// A limit was reached by an execution, and not again on replay.
    NotAgain(Failure),
    /// An execution failed with few variables watched, and not with all of them.
    FewVariablesOnly(Failure),
}
