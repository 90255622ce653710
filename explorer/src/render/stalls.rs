//! Sentences about stalled threads.

use std::time::Duration;

use crate::report::plural::plural;
use crate::report::{StallOf, Stalled};

/// After what is said of all schedules, where times have ordered events.
pub const UNLESS: &str = ", as long as none is stalled while another one sleeps or waits for a limited time";

/// `only if T2 is stalled for 80ms while T1 sleeps`.
#[must_use]
pub fn only_if(stall: &StallOf) -> String {
    let StallOf { thread, other, nanoseconds, sleeps } = stall;
    let waits = if *sleeps { "sleeps" } else { "waits for a limited time" };
    format!("only if {thread} is stalled for {} while {other} {waits}", time(*nanoseconds))
}

/// A bound on stalls, after `every schedule`.
pub(super) fn bound(longest: u64) -> String {
    match longest {
        0 => "in which no time runs out while a thread can run".to_owned(),
        _ => format!("in which no thread that can run is stalled for more than {}", time(longest)),
    }
}

/// The result of a search among schedules with stalled threads; `covered`: its bound.
pub(super) fn summary(stalled: &Stalled, covered: &str) -> String {
    let ran = plural(stalled.schedules, "schedule");
    let longest = time(stalled.max_stall_ns);
    let came = match (stalled.findings.as_slice(), stalled.complete) {
        ([], true) => format!("none failed, and {covered} was run"),
        ([], false) => "none failed, but not every one was run".to_owned(),
        (_, _) if stalled.shortest => "one fails, and none with a shorter stall".to_owned(),
        (_, _) => "one fails; whether one with a shorter stall does is not known".to_owned(),
    };
    format!("{ran} with stalls of up to {longest}: {came}")
}

/// A time, to a tenth of its largest unit: each event takes a microsecond of the virtual clock.
fn time(nanoseconds: u64) -> String {
    let tenth = match nanoseconds {
        0..1_000_000 => 1_000,
        1_000_000..1_000_000_000 => 100_000,
        _ => 100_000_000,
    };
    let rounded = nanoseconds.saturating_add(tenth / 2) / tenth * tenth;
    format!("{:?}", Duration::from_nanos(rounded.max(tenth)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded() {
        for (nanoseconds, expected) in [
            (9_998_000, "10ms"),
            (80_012_345, "80ms"),
            (1_234_567_890, "1.2s"),
            (123_456, "123µs"),
            (1_540_000, "1.5ms"),
            (3, "1µs"),
        ] {
            assert_eq!(time(nanoseconds), expected);
        }
    }
}
