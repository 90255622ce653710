//! Looking for a finding again: as far as it was looked for before.

use std::time::Duration;

use super::{Bound, KeptFinding};
use crate::input::request::{Request, Strategy};
use crate::report::Finding;

/// The bound within which a finding is looked for: that of its exploration, and its own if that is larger.
pub(super) fn bound(kept: &KeptFinding) -> Bound {
    let unknown = Bound::Preemptions(Request::new(Default::default()).max_preemptions);
    let bound = kept.extent.as_ref().map_or(unknown, |extent| extent.bound);
    let Finding { preemptions, delays, .. } = kept.finding;
    let own = match (bound, preemptions, delays) {
        (Bound::Delays(_), _, Some(delays)) => Some(Bound::Delays(delays)),
        (_, Some(preemptions), _) => Some(Bound::Preemptions(preemptions)),
        _ => None,
    };
    own.map_or(bound, |own| bound.or_more(own))
}

impl KeptFinding {
    /// Has a request go at least as far as the exploration that found this.
    pub fn look_again(&self, request: &mut Request) {
        if let Some(extent) = &self.extent {
            request.max_schedules = request.max_schedules.max(extent.max_schedules);
            request.time_limit = request.time_limit.max(Duration::from_millis(extent.time_limit_ms));
        }
        let is_unbounded = matches!(request.strategy, Strategy::Dfs | Strategy::Dpor);
        request.strategy = match bound(self) {
            _ if is_unbounded => request.strategy,
            Bound::Preemptions(bound) => {
                request.max_preemptions = request.max_preemptions.max(bound);
                Strategy::Icb
            }
            Bound::Delays(bound) => {
                request.max_delays = request.max_delays.max(bound);
                Strategy::Idb
            }
            Bound::Everything => Strategy::Dpor,
        };
    }
}
