//! The part of the report that tells of potential deadlocks.

use crate::report::plural::plural;
use crate::report::{LockUse, PotentialDeadlock};

/// One potential deadlock; ends with a line break.
pub(crate) fn section(potential: &PotentialDeadlock, (number, of): (usize, usize)) -> String {
    let which = if of > 1 { format!(" {number} of {of}") } else { String::new() };
    let locks: Vec<String> = potential.locks.iter().map(|lock| format!("`{lock}`")).collect();
    let mut text = format!("Potential deadlock{which}: {}\n", locks.join(", "));
    for order in &potential.threads {
        let mut taken = |what: &str, LockUse { lock, stack, .. }: &LockUse| {
            text.push_str(&format!("  {} {what} `{lock}`\n", order.thread));
            for frame in stack {
                text.push_str(&format!("       in {}\n", frame.words()));
            }
        };
        taken("locks", &order.holds);
        taken("then locks", &order.takes);
    }
    text.push_str("  no execution of the search deadlocked there\n");
    text
}

/// `1 potential deadlock`; `None` where there is none.
pub(crate) fn summary(all: &[PotentialDeadlock], suppressed: u64) -> Option<String> {
    if all.is_empty() && suppressed == 0 {
        return None;
    }
    let more = if suppressed > 0 { format!("; {suppressed} suppressed") } else { String::new() };
    Some(format!("{}{more}", plural(all.len() as u64, "potential deadlock")))
}
