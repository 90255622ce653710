//! The events of a failing schedule as a table: one column per thread, a line for every switch, the rest folded.

use checker::failure::FailureKind;

use crate::explanation::Pair;
use crate::report::{EventLine, Finding, Why};

/// Events that are shown before and after a switch; those further away are folded.
const AROUND: usize = 2;

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
    let table = Table::of(finding);
    let mut text = table.header(finding);
    let mut folded = 0;
    let mut preemption = 0;
    for (position, event) in finding.events.iter().enumerate() {
        if let Some(switch) = &event.switch {
            text.push_str(&fold(std::mem::take(&mut folded)));
            let count = if switch.why == Why::Preempted {
                preemption += 1;
                format!(" (preemption {preemption} of {})", table.preemptions)
            } else {
                String::new()
            };
            text.push_str(&format!("   ⇄ {} runs: {}{count}\n", event.thread, switch.reason));
        }
        if table.shown[position] {
            text.push_str(&fold(std::mem::take(&mut folded)));
            text.push_str(&table.row(event));
        } else {
            folded += 1;
        }
        if position == at {
            text.push_str(&format!("   {mark}\n"));
        }
    }
    text.push_str(&fold(folded));
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
        (None, FailureKind::Deadlock | FailureKind::DeadlockButTimeouts | FailureKind::Livelock) => {
            "nobody can go on".to_owned()
        }
        (None, _) => finding.message.clone(),
    }
}

fn fold(events: usize) -> String {
    match events {
        0 => String::new(),
        1 => "   … 1 event\n".to_owned(),
        _ => format!("   … {events} events\n"),
    }
}

struct Table {
    lanes: Vec<String>,
    widths: Vec<usize>,
    shown: Vec<bool>,
    preemptions: usize,
}

impl Table {
    fn of(finding: &Finding) -> Self {
        let shown = shown(&finding.events, failing_event(finding));
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

/// Which events are near a switch or the failure, or first or last.
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

fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text, cut or filled up to the width.
fn padded(text: &str, to: usize) -> String {
    let missing = to.saturating_sub(width(text));
    if width(text) <= to {
        return format!("{text}{}", " ".repeat(missing));
    }
    let kept: String = text.chars().take(to.saturating_sub(1)).collect();
    format!("{kept}…")
}
