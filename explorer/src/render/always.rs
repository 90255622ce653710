//! Sentences about programs that always fail.

use super::stalls;
use crate::report::plural::grouped;
use crate::report::{Finding, Hint};

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

/// A reason as a line of the report.
#[must_use]
pub const fn hint(hint: Hint) -> &'static str {
    match hint {
        Hint::Usage => "it prints how it is to be called: it may need other arguments",
        Hint::MissingFile => {
            "it says that a file is not there: it may need another working directory (--cwd), or other arguments"
        }
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
