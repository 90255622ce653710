//! Sentences about programs that always fail.

use super::stalls;
use crate::report::Finding;
use crate::report::plural::grouped;

/// `it fails whatever the schedule, in whatever order threads run`, or what is known less.
#[must_use]
pub fn sentence(finding: &Finding) -> String {
    match finding.tried {
        None => {
            let unless = if finding.unless_stalled { stalls::UNLESS } else { "" };
            format!("it fails whatever the schedule, in whatever order threads run{unless}")
        }
        Some(1) => "it failed in the one schedule that was run".to_owned(),
        Some(tried) => format!("it failed in each of the {} schedules that were run", grouped(tried)),
    }
}

/// The same, as short as a lens.
#[must_use]
pub fn in_short(tried: Option<u64>) -> String {
    match tried {
        None => "fails whatever the schedule".to_owned(),
        Some(1) => "failed in the one schedule that was run".to_owned(),
        Some(tried) => format!("failed in all {} schedules that were run", grouped(tried)),
    }
}
