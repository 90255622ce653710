//! The part of the report that tells of data races.

use crate::report::plural::plural;
use crate::report::{OpKind, Race};

/// One race; ends with a line break.
pub(crate) fn section(race: &Race, (number, of): (usize, usize)) -> String {
    let which = if of > 1 { format!(" {number} of {of}") } else { String::new() };
    let what = if race.certain { "Data race" } else { "Unordered accesses (may be atomic)" };
    let harmful = if race.harmful { ", harmful" } else { "" };
    let mut text = format!("{what}{which}: `{}`{harmful}\n", race.variable);
    for access in &race.accesses {
        let verb = if access.operation == OpKind::Write { "writes" } else { "reads" };
        text.push_str(&format!("  {} {verb}\n", access.thread));
        for frame in &access.stack {
            text.push_str(&format!("       in {}\n", frame.words()));
        }
    }
    if let Some(harm) = &race.harm {
        text.push_str(&format!("  {harm}\n"));
    }
    text
}

/// `2 pairs of locations, 1 of them harmful`; `None` where there are none.
pub(crate) fn summary(races: &[Race], suppressed: u64) -> Option<String> {
    if races.is_empty() && suppressed == 0 {
        return None;
    }
    let pairs = plural(races.len() as u64, "pair");
    let harmful = races.iter().filter(|race| race.harmful).count();
    let of_them = if harmful > 0 { format!(", {harmful} of them harmful") } else { String::new() };
    let more = if suppressed > 0 { format!("; {suppressed} suppressed") } else { String::new() };
    Some(format!("{pairs} of locations whose order nothing says{of_them}{more}"))
}
