//! The extent of an exploration: bound and budget. A finding is fixed where a run covers that of the exploration that found it.

use serde::{Deserialize, Serialize};

use crate::input::request::{Request, Strategy};
use crate::report::Covered;
use crate::report::plural::plural;

/// The bound and the budget of an exploration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extent {
    /// The bound.
    pub bound: Bound,
    /// The most executions.
    pub max_schedules: u64,
    /// The time that it may take.
    pub time_limit_ms: u64,
}

/// The schedules that an exploration is to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Those with at most so many preemptions.
    Preemptions(u32),
    /// Those with at most so many delays.
    Delays(u32),
    /// All.
    Everything,
}

impl Extent {
    /// The one that a request asks for. A search by chance covers nothing; one that does, within the request's bound, takes its
    /// place where a finding is looked for again.
    pub(crate) fn of(request: &Request) -> Self {
        let bound = match request.strategy {
            Strategy::Idb => Bound::Delays(request.max_delays),
            Strategy::Dfs | Strategy::Dpor => Bound::Everything,
            _ => Bound::Preemptions(request.max_preemptions),
        };
        let time_limit_ms = u64::try_from(request.time_limit.as_millis()).unwrap_or(u64::MAX);
        Self { bound, max_schedules: request.max_schedules, time_limit_ms }
    }

    /// The larger of both in everything.
    pub(super) fn or_more(self, other: &Self) -> Self {
        Self {
            bound: self.bound.or_more(other.bound),
            max_schedules: self.max_schedules.max(other.max_schedules),
            time_limit_ms: self.time_limit_ms.max(other.time_limit_ms),
        }
    }
}

impl Bound {
    pub(super) fn or_more(self, other: Self) -> Self {
        match (self, other) {
            (Self::Delays(one), Self::Delays(other)) => Self::Delays(one.max(other)),
            // A delay at a point where its thread could go on is a preemption; any other one is none.
            (Self::Preemptions(one) | Self::Delays(one), Self::Preemptions(other) | Self::Delays(other)) => {
                Self::Preemptions(one.max(other))
            }
            (Self::Everything, _) | (_, Self::Everything) => Self::Everything,
        }
    }

    /// Whether these schedules are among those that a run has covered.
    pub(super) fn is_within(self, covered: &Covered) -> bool {
        let Covered { preemptions, delays, everything, in_turns_of, .. } = *covered;
        let by_preemptions = |bound| preemptions.is_some_and(|covered| covered >= bound);
        everything
            || match self {
                Self::Preemptions(bound) => by_preemptions(bound),
                Self::Delays(bound) => {
                    by_preemptions(bound) || delays.is_some_and(|covered| covered >= bound)
                }
                Self::Everything => in_turns_of.is_some() && preemptions.is_none() && delays.is_none(),
            }
    }

    /// The bound in words: `up to 2 preemptions`.
    pub(super) fn words(self) -> String {
        match self {
            Self::Preemptions(bound) => format!("up to {}", plural(bound.into(), "preemption")),
            Self::Delays(bound) => format!("up to {}", plural(bound.into(), "delay")),
            Self::Everything => "in all schedules".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_bound_is_to_be_covered() {
        let covered = |preemptions, delays, everything| Covered {
            preemptions,
            delays,
            everything,
            ..Covered::default()
        };
        let turns = Covered { in_turns_of: Some(8), ..Covered::default() };
        for (bound, covered, is_within) in [
            (Bound::Preemptions(2), covered(Some(2), None, false), true),
            (Bound::Preemptions(2), covered(Some(1), Some(9), false), false),
            (Bound::Preemptions(2), covered(None, None, true), true),
            (Bound::Delays(2), covered(None, Some(2), false), true),
            (Bound::Delays(2), covered(None, Some(1), false), false),
            (Bound::Delays(2), covered(Some(2), None, false), true),
            (Bound::Everything, covered(Some(99), None, false), false),
            (Bound::Everything, covered(None, None, true), true),
            (Bound::Everything, turns, true),
        ] {
            assert_eq!(bound.is_within(&covered), is_within, "{bound:?} {covered:?}");
        }
    }
}
