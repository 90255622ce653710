//! The events of a failing schedule as a table: one column per thread, a line for every switch, the rest folded; of a long
//! schedule with many switches, where it begins and what comes before the failure.

use checker::failure::FailureKind;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::explanation::Pair;
use crate::report::plural::plural;
use crate::report::{EventLine, Finding, Why};

/// Events that are shown before and after a switch; those further away are folded.
const AROUND: usize = 2;

/// So many events are shown at the most, and so many of them of the beginning.
const MOST: usize = 1_000;
const OF_THE_BEGINNING: usize = 100;

/// Wider cells are cut.
const MAX_WIDTH: usize = 34;

/// The table; empty if nothing ran.
pub(crate) fn render(finding: &Finding) -> String {
    if finding.events.is_empty() {
        return String::new();
    }
    marked(finding, failing_event(finding), &format!("✗ {}", failure_words(finding)))
}

/// The same of an execution that ends well.
pub(crate) fn render_passing(finding: &Finding, pair: &Pair) -> String {
    let Some(last) = pair.passing.len().checked_sub(1) else { return String::new() };
    let passing = Finding { lanes: pair.lanes.clone(), events: pair.passing.clone(), ..finding.clone() };
    marked(&passing, last, "✓ it ends well")
}

/// The events, with a mark after one of them.
fn marked(finding: &Finding, at: usize, mark: &str) -> String {
    let table = Table::of(finding, at);
    let mut text = table.header(finding);
    let mut folded = Folded::default();
    let mut preemption = 0;
    for (position, event) in finding.events.iter().enumerate() {
        let is_preemption = event.switch.as_ref().is_some_and(|switch| switch.why == Why::Preempted);
        preemption += usize::from(is_preemption);
        if table.shown[position] {
            text.push_str(&std::mem::take(&mut folded).words());
            if let Some(switch) = &event.switch {
                let count = format!(" (preemption {preemption} of {})", table.preemptions);
                let count = if is_preemption { count.as_str() } else { "" };
                text.push_str(&format!("   ⇄ {} runs: {}{count}\n", event.thread, switch.reason));
            }
            text.push_str(&table.row(event));
        } else {
            folded.events += 1;
            folded.switches += u64::from(event.switch.is_some());
        }
        if position == at {
            text.push_str(&format!("   {mark}\n"));
        }
    }
    text.push_str(&folded.words());
    text
}

/// The event after which the failure shows: the last one of the thread that failed; the last one of all if none did.
fn failing_event(finding: &Finding) -> usize {
    let is_its = |event: &EventLine| finding.thread.as_ref().is_none_or(|thread| *event.thread == *thread);
    finding.events.iter().rposition(is_its).unwrap_or(0)
}

fn failure_words(finding: &Finding) -> String {
    match (&finding.thread, finding.kind) {
        (Some(thread), _) => format!("{thread} fails"),
        (None, FailureKind::Deadlock | FailureKind::Livelock) => "nobody can go on".to_owned(),
        (None, _) => finding.message.clone(),
    }
}

/// Counts of the events and switches that are not shown at a place.
#[derive(Default)]
struct Folded {
    events: u64,
    switches: u64,
}

impl Folded {
    fn words(self) -> String {
        let switches = match self.switches {
            0 => String::new(),
            switches => format!(", {}", plural(switches, "switch")),
        };
        match self.events {
            0 => String::new(),
            events => format!("   … {}{switches}\n", plural(events, "event")),
        }
    }
}

struct Table {
    lanes: Vec<String>,
    widths: Vec<usize>,
    shown: Vec<bool>,
    preemptions: usize,
}

impl Table {
    /// Of a long one, with what comes before the event at this position.
    fn of(finding: &Finding, at: usize) -> Self {
        let mut shown = shown(&finding.events, failing_event(finding));
        without_the_middle(&mut shown, at);
        let lanes: Vec<String> = finding.lanes.iter().map(|lane| lane.thread.clone()).collect();
        let mut widths: Vec<usize> =
            finding.lanes.iter().map(|lane| width(&heading(&lane.thread, &lane.path.to_string()))).collect();
        for event in finding.events.iter().zip(&shown).filter_map(|(event, shown)| shown.then_some(event)) {
            if let Some(lane) = lanes.iter().position(|lane| *lane == *event.thread) {
                widths[lane] = widths[lane].max(width(&event.text).min(MAX_WIDTH));
            }
        }
        let preempted =
            |event: &&EventLine| event.switch.as_ref().is_some_and(|switch| switch.why == Why::Preempted);
        let preemptions = finding.events.iter().filter(preempted).count();
        Self { lanes, widths, shown, preemptions }
    }

    fn header(&self, finding: &Finding) -> String {
        let headings = finding.lanes.iter().map(|lane| heading(&lane.thread, &lane.path.to_string()));
        let names = self.cells("    #", headings, "where");
        let rules = self.widths.iter().map(|width| "─".repeat(*width));
        names + &self.cells("─────", rules, "─────").replace(' ', "─").replace("│", "┼")
    }

    fn row(&self, event: &EventLine) -> String {
        let cells = self
            .lanes
            .iter()
            .map(|lane| if *lane == *event.thread { event.text.to_string() } else { String::new() });
        let line = event.place.short_words();
        let place = if line.is_empty() { event.place.words() } else { line };
        self.cells(&format!("{:5}", event.number), cells, &place)
    }

    fn cells(&self, number: &str, cells: impl Iterator<Item = String>, place: &str) -> String {
        let mut text = number.to_owned();
        for (cell, width) in cells.zip(&self.widths) {
            text.push_str(" │ ");
            text.push_str(&padded(&cell, *width));
        }
        let text = format!("{text} │ {place}");
        format!("{}\n", text.trim_end())
    }
}

fn heading(thread: &str, path: &str) -> String {
    format!("{thread} {path}")
}

/// Marks the events that are near a switch or the failure, or first or last.
fn shown(events: &[EventLine], failing: usize) -> Vec<bool> {
    let mut shown = vec![false; events.len()];
    let mut show = |from: usize, to: usize| shown[from..to.min(events.len())].fill(true);
    show(0, 1);
    show(failing.saturating_sub(AROUND - 1), failing + 1);
    show(events.len() - 1, events.len());
    for (position, event) in events.iter().enumerate() {
        if event.switch.is_some() {
            show(position.saturating_sub(AROUND), position + AROUND);
        }
    }
    // A fold takes a line: hiding one event saves nothing.
    for position in 1..events.len().saturating_sub(1) {
        if shown[position - 1] && shown[position + 1] {
            shown[position] = true;
        }
    }
    shown
}

/// Hides what is neither among the first events that are shown nor among those before the one at this position, where they are many.
fn without_the_middle(shown: &mut [bool], at: usize) {
    let rows: Vec<usize> = (0..shown.len()).filter(|&position| shown[position]).collect();
    if rows.len() <= MOST {
        return;
    }
    let end = rows.partition_point(|&position| position <= at);
    let start = end.saturating_sub(MOST - OF_THE_BEGINNING);
    let hide =
        |row: usize| (row >= OF_THE_BEGINNING && row < start) || row >= start + MOST - OF_THE_BEGINNING;
    rows.into_iter()
        .enumerate()
        .filter(|&(row, _)| hide(row))
        .for_each(|(_, position)| shown[position] = false);
}

/// The columns that a text takes on a terminal.
fn width(text: &str) -> usize {
    text.width()
}

/// The text, cut or filled up to the width. It begins with what is done, and ends with the part of the variable.
fn padded(text: &str, to: usize) -> String {
    let width = width(text);
    if width <= to {
        return format!("{text}{}", " ".repeat(to - width));
    }
    let kept = to.saturating_sub(1);
    let begin: String = within(text.chars(), kept - kept / 2).collect();
    let end: Vec<char> = within(text.chars().rev(), kept / 2).collect();
    let end: String = end.into_iter().rev().collect();
    let cut = format!("{begin}…{end}");
    // A character of two columns may have no room on either side.
    let rest = to.saturating_sub(cut.width());
    cut + &" ".repeat(rest)
}

/// As many of the first characters as have room in so many columns.
fn within(chars: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    chars
        .scan(0, |taken, c| {
            *taken += c.width().unwrap_or(0);
            Some((*taken, c))
        })
        .take_while(move |(taken, _)| *taken <= columns)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_are_too_wide_keep_both_ends() {
        assert_eq!(padded("read `a`", 10), "read `a`  ");
        assert_eq!(padded("read `a`", 8), "read `a`");
        assert_eq!(padded("lock `Queue<Work>.lock`", 16), "lock `Qu…>.lock`");
        assert_eq!(padded("read `ünüsüal`", 5), "re…l`");
        assert_eq!(padded("read", 1), "…");
        assert_eq!(padded("read `在庫の数量`", 12), "read `…数量`");
        assert_eq!(padded("read `在庫の数量`", 11), "read …数量`");
        assert_eq!(padded("read `在庫の数量`", 10), "read …量` ");
    }
}
