//! An explanation as a person reads it, below the schedule that fails.

use crate::render::event_table;
use crate::report::explanation::{AccessLine, Explanation, Pair, PatternLine, PointOfNoReturn, Side};
use crate::report::plural::plural;
use crate::report::{Finding, Location};

/// So many patterns are shown; the report as JSON has more.
const PATTERNS: usize = 3;

/// The text after the schedule; empty where nothing was found out, and else with an empty line before each part.
pub(crate) fn render(finding: &Finding, why: &Explanation) -> String {
    let mut text = String::new();
    if let Some(pair) = &why.pair {
        text.push_str(&critical(finding, pair));
    }
    if let Some(point) = &why.no_return {
        text.push_str(&no_return(point));
    }
    if !why.patterns.is_empty() {
        let compared = why.compared;
        text.push_str(&format!(
            "\nAccesses that tell {} from {} that pass:\n",
            plural(compared.failing.into(), "failing schedule"),
            compared.passing
        ));
        let shown = why.patterns.iter().take(PATTERNS);
        shown.for_each(|line| text.push_str(&pattern(line)));
    }
    for missing in &why.missing {
        text.push_str(&format!("\nNot found out: {missing}\n"));
    }
    text
}

fn critical(finding: &Finding, pair: &Pair) -> String {
    let several = pair.swaps.len() > 1;
    let mut text = if several {
        "\nThese come in the other order in the nearest schedule that passes; no swap of two alone did:\n"
            .to_owned()
    } else {
        "\nThis schedule passes if these two swap places:\n".to_owned()
    };
    for [first, second] in &pair.swaps {
        text.push_str(&format!("  {}\n  {}\n", side(first), side(second)));
    }
    text.push_str(&format!("\n{}", event_table::render_passing(finding, pair)));
    text
}

fn side(side: &Side) -> String {
    let number = side.number.map(|number| format!("event {number}: ")).unwrap_or_default();
    format!("{number}{} {}{}", side.thread, side.text, at(&side.place))
}

fn at(place: &Location) -> String {
    let words = place.words();
    if words.is_empty() { words } else { format!("  in {words}") }
}

fn no_return(point: &PointOfNoReturn) -> String {
    let percent = |share: f64| (share * 100.0).round();
    let how = match point.exhaustive {
        true => "after it every schedule fails",
        false => "after it at least 95 % of random schedules fail",
    };
    format!(
        "\nPoint of no return: {how} (of random ones {} % before it, {} % after it)\n  {}\n",
        percent(point.before),
        percent(point.after),
        side(&point.event)
    )
}

fn pattern(line: &PatternLine) -> String {
    let tied = if line.tied > 1 { format!(", {} of this rank", line.tied) } else { String::new() };
    let mut text = format!("  {}. score {:.2}{tied}\n", line.rank, line.score);
    for AccessLine { thread, access, object, place, stack } in &line.accesses {
        text.push_str(&format!("       {thread} {access}s {object}{}\n", at(place)));
        for caller in stack.iter().skip(1) {
            text.push_str(&format!("         called from {}\n", caller.words()));
        }
    }
    text
}
