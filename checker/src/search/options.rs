//! The space to explore, and the limits of its exploration.

use serde::{Deserialize, Serialize};

use crate::event::operation::MOST_YIELDS;
use crate::execution::Limits;
use crate::limit::Limit;
use crate::strategy::StrategyKind;

/// Settings of a search.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The search.
    pub strategy: StrategyKind,
    /// For auto, icb and bounded-dpor: the highest number of preemptions, iterated from 0.
    pub max_preemptions: u32,
    /// For idb: the highest number of delays, iterated from 0.
    pub max_delays: u32,
    /// For pct: the depth of the failures that are looked for.
    pub depth: u32,
    /// For vtb and pctvb: the number of variables that preemptions are at.
    pub max_variables: u32,
    /// For vtb: the number of threads whose order matters, iterated from 2.
    pub max_threads: u32,
    /// For period: the highest number of periods, iterated from 2.
    pub max_periods: u32,
    /// The number of timed waits that may run out of time in one execution by choice. Where no other thread can move, more do.
    pub max_timeouts: u32,
    /// The number of times that a thread may be let past a yield or sleep while others could go and none of them moves; at the
    /// next one they go first. At least 1 and at most 15. A loop that gives way and does something else in each round would
    /// never end without it; one that backs off by a few yields, or a few sleeps in a row, is to be run as it may.
    pub max_yields: u32,
    /// At most this many executions.
    pub max_schedules: Option<u64>,
    /// At most this many events in one execution.
    pub step_limit: u32,
    /// For random choices.
    pub seed: u64,
    /// Look for further failures after the first.
    pub keep_going: bool,
    /// Do not explore from a state that was explored before.
    pub cache: bool,
    /// Look for data races.
    pub races: bool,
    /// Look for locks that are taken in opposite orders.
    #[serde(default)]
    pub lock_order: bool,
    /// Switch threads at synchronisation only; for icb, idb, dfs, random and pct, which take the choices that they are given.
    /// Data races are looked for then in any case: they say whether it was enough.
    pub only_synchronisation: bool,
    /// The limit from outside that ends it.
    #[serde(skip)]
    pub limit: Limit,
}

/// With the search that makes no choices by chance and covers what it says. Users that name none get
/// [`StrategyKind::unless_named`].
impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: StrategyKind::Icb,
            max_preemptions: 2,
            max_delays: 2,
            depth: 3,
            max_variables: 2,
            max_threads: 3,
            max_periods: 6,
            max_timeouts: 1,
            max_yields: 8,
            max_schedules: Some(10_000),
            step_limit: 100_000,
            seed: 0,
            keep_going: false,
            cache: true,
            races: false,
            lock_order: false,
            only_synchronisation: false,
            limit: Limit::default(),
        }
    }
}

impl Limits {
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            events: options.step_limit.max(1),
            timeouts: options.max_timeouts,
            yields: options.max_yields.clamp(1, MOST_YIELDS),
        }
    }

    /// As usual, but with so many events.
    pub(crate) fn of_events(events: u32) -> Self {
        Self::of(&Options { step_limit: events, ..Options::default() })
    }
}
