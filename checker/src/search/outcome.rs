//! The report of a search.

use serde::{Deserialize, Serialize};

use super::findings::identity::Identity;
use super::note::SearchNote;
use crate::event::failure::Failure;
use crate::limit::StopRequest;
use crate::lock_order::LockOrders;
use crate::program::{Epoch, ExecutionSummary};
use crate::race::{Pairs, TornAccesses, Triangle};
use crate::strategy::Coverage;
use crate::trace::Trace;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The numbers of executions of each kind.
    pub stats: Stats,
    /// The part that was explored completely.
    pub covered: Coverage,
    /// If threads were switched at synchronisation only: the part that was explored completely of the schedules that do so. The
    /// others are covered by these if there was no race.
    pub at_synchronisation: Option<Coverage>,
    /// One for each failure, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Data races, once per pair of locations, in the order in which they were found. They need not be failures.
    pub races: Pairs,
    /// Locks that are taken in opposite orders, where no execution deadlocked on them.
    pub lock_orders: LockOrders,
    /// The triangular races of executions that a claim rests on: x86 may do more than they show.
    pub triangles: Vec<Triangle>,
    /// The accesses of these executions that another thread may find half done.
    pub torn: TornAccesses,
    /// The reason for which the search ended.
    pub ended: SearchEnd,
    /// Things to tell the user.
    pub notes: Vec<SearchNote>,
}

/// The reason for which a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// There was nothing left to explore within the bound.
    Covered,
    /// A failure was found, and no others were asked for.
    FirstBug,
    /// The schedules or the time allowed were used up.
    Budget,
    /// The user stopped it.
    Cancelled,
}

impl From<StopRequest> for SearchEnd {
    fn from(go: StopRequest) -> Self {
        match go {
            StopRequest::Cancelled => Self::Cancelled,
            StopRequest::Continue | StopRequest::HalfSpent | StopRequest::BudgetSpent => Self::Budget,
        }
    }
}

/// The numbers of executions of each kind, since the last restart where not said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Ran to an end (all finished, deadlocked, or failed) that no other one had: happens-before classes.
    pub schedules: u64,
    /// Those of [`Stats::schedules`] that deadlocked.
    pub deadlocked: u64,
    /// Ran to an end that another one had had.
    pub redundant: u64,
    /// Cut short: all that could follow was known, or a limit on one execution was reached.
    pub pruned: u64,
    /// Those of [`Stats::pruned`] that had as many events as one may have.
    pub too_long: u64,
    /// Those of [`Stats::pruned`] in which a thread ran for as long as it may without coming to a key point.
    pub too_slow: u64,
    /// Cut short by a limit, be it on the search, when a thread had waited for what comes from outside, and nothing had come.
    pub awaits_outside: u64,
    /// Ran to an end with accesses of few variables as key points: which class that was is not known.
    pub narrow: u64,
    /// No part of the search: replays and checks.
    pub other: u64,
    /// Before key points were added, of whatever kind.
    pub before_restart: u64,
    /// Events of the executions counted in `schedules`, `redundant` and `pruned`.
    pub events: u64,
    /// Events of those counted in `narrow`.
    pub narrow_events: u64,
    /// The most threads that an execution had, before a restart too.
    pub threads: usize,
}

impl Stats {
    /// Every execution of the search.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions_now() + self.before_restart
    }

    /// Every execution of the search since the last restart.
    #[must_use]
    pub fn executions_now(&self) -> u64 {
        self.schedules + self.redundant + self.pruned + self.narrow
    }
}

/// The progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Executions so far.
    pub schedules: u64,
    /// The bound that is being explored.
    pub bound: Option<u32>,
    /// Failures so far.
    pub findings: usize,
    /// Something was seen that is looked at again, by more executions, when the search is over: races, and the like.
    pub is_to_confirm: bool,
}

/// The evidence that a program always fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlwaysFailsEvidence {
    /// The number of schedules that were run, each of which failed in the same way.
    pub schedules: u64,
    /// There is no other one.
    pub is_every: bool,
}

/// A failure, with the schedule that shows it with the fewest preemptions seen.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The failure itself.
    pub failure: Failure,
    /// The identity that makes it the same failure as another one.
    pub identity: Identity,
    /// The failing execution; [`Trace::schedule`] replays it.
    pub trace: Trace,
    /// The evidence, where the failure is said to come always.
    pub always: Option<AlwaysFailsEvidence>,
    /// Of the schedule, as it was run.
    pub preemptions: Option<u32>,
    /// Whether every schedule with fewer preemptions was explored without showing this failure.
    pub fewest: bool,
    /// Of the schedule, as it was run.
    pub delays: Option<u32>,
    /// The number of threads that must be ordered for the failure; only where the schedule tells it exactly.
    pub threads: Option<u32>,
    /// The number of variables that the preemptions of the schedule are at.
    pub variables: Option<u32>,
    /// The number of its execution in the search, from 1.
    pub schedule_number: u64,
    /// The number of executions that were started up to the first that showed it, whatever they were for.
    pub executions: u64,
    /// The number of replays that failed in the same way, and the number of replays.
    pub reproduced: (u32, u32),
    /// The output of the failing execution.
    pub summary: ExecutionSummary,
    /// The set of key points that the schedule is made for.
    pub epoch: Epoch,
    /// Key points were added since, and the failure was not found again with them.
    pub outdated: bool,
}
