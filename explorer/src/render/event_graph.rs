//! The graph of an execution's events, as a table and as a graph in the language of Graphviz.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr;

use crate::escaping::{escaped, escaped_line};
use crate::report::{EventGraph, EventLine};

/// A table with a row for each event. The last column has the events of other threads that come immediately before.
#[must_use]
pub fn table(graph: &EventGraph) -> String {
    let earlier = earlier(graph);
    let mut rows = vec![["#", "thread", "event", "where", "after"].map(str::to_owned)];
    rows.extend(graph.events.iter().map(|event| {
        let after = earlier.get(&event.number).into_iter().flatten().map(u32::to_string);
        let after: Vec<String> = after.collect();
        [
            event.number.to_string(),
            event.thread.to_string(),
            event.text.to_string(),
            place(event),
            after.join(", "),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let blank = " ".repeat(width - cell.width());
            format!("{cell}{blank}")
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text.push_str(&match &graph.failure {
        Some(failure) => format!("\n✗ {}\n", failure.message),
        None => "\n✓ nothing fails\n".to_owned(),
    });
    escaped(&text).into_owned()
}

/// A graph for `dot`: a column for each thread, an edge from each event to those that come immediately after.
#[must_use]
pub fn dot(graph: &EventGraph) -> String {
    let mut text =
        "digraph schedule {\n  node [shape=box, fontname=\"monospace\"];\n  labelloc=t;\n".to_owned();
    text.push_str(&format!("  label={};\n", quoted(&heading(graph))));
    for (column, lane) in graph.lanes.iter().enumerate() {
        text.push_str(&format!("  subgraph cluster_{column} {{\n"));
        text.push_str(&format!("    label={};\n", quoted(&format!("{} {}", lane.thread, lane.path))));
        let events: Vec<&EventLine> =
            graph.events.iter().filter(|event| *event.thread == lane.thread).collect();
        for event in &events {
            text.push_str(&format!("    {}\n", node(event, graph)));
        }
        for pair in events.windows(2) {
            // The columns are straight.
            text.push_str(&format!("    e{} -> e{} [weight=100];\n", pair[0].number, pair[1].number));
        }
        text.push_str("  }\n");
    }
    for [from, to] in &graph.happens_before {
        text.push_str(&format!("  e{from} -> e{to} [color=blue];\n"));
    }
    text.push_str("}\n");
    text
}

fn heading(graph: &EventGraph) -> String {
    match &graph.failure {
        Some(failure) => format!("{}: {}", graph.target, failure.message),
        None => format!("{}: nothing fails", graph.target),
    }
}

fn node(event: &EventLine, graph: &EventGraph) -> String {
    let fails = graph.failure.as_ref().is_some_and(|failure| failure.after == Some(event.number));
    let mark = if fails { ", color=red, penwidth=2" } else { "" };
    let place = Some(place(event)).filter(|place| !place.is_empty());
    let lines = [Some(format!("{}  {}", event.number, event.text)), place];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    format!("e{} [label={}{mark}];", event.number, quoted(&lines.join("\n")))
}

fn place(event: &EventLine) -> String {
    let line = event.place.short_words();
    if line.is_empty() { event.place.words() } else { line }
}

/// The events of other threads that come immediately before each one.
fn earlier(graph: &EventGraph) -> BTreeMap<u32, Vec<u32>> {
    let mut earlier: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &[from, to] in &graph.happens_before {
        earlier.entry(to).or_default().push(from);
    }
    earlier
}

/// A text as a quoted string of the language, its lines flush left.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| escaped_line(line).replace('\\', "\\\\").replace('"', "\\\""));
    let lines: Vec<String> = lines.collect();
    format!("\"{}\\l\"", lines.join("\\l"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_no_string_of_a_graph() {
        assert_eq!(quoted("read `a\"b\\`\nx.c:3"), r#""read `a\"b\\`\lx.c:3\l""#);
        assert_eq!(quoted("\u{1b}[31m"), r#""\\x1b[31m\l""#);
    }
}
