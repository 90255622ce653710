//! `interleaver show`: the events of a saved schedule, and which of them happened before which.

use std::collections::BTreeSet;

use serde_json::Value;
use tempfile::{TempDir, tempdir};
use tests::{Build, Optimisation, Tool};

/// The schedule of the bug of a bundled program, and the store that keeps it.
fn found(source: &str, level: Optimisation) -> (TempDir, String) {
    let program = Build::new(source, level).program().unwrap();
    let folder = tempdir().unwrap();
    let outcome = Tool::explore(["--output".as_ref(), folder.path().as_os_str()], &program).run().unwrap();
    let schedule = outcome.finding()["schedule_file"].as_str().unwrap().to_owned();
    (folder, schedule)
}

fn shown(schedule: &str, format: &str) -> String {
    let outcome = Tool::new(["show", "--format", format, schedule]).run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.transcript());
    outcome.stdout
}

fn numbers(pair: &Value) -> (u64, u64) {
    (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap())
}

/// Every event of each thread, and every order between threads, stands in all three formats; and no order follows from others.
#[test]
fn orders_of_events_are_the_transitive_reduction() {
    for (source, level) in [
        ("c/lost_update.c", Optimisation::O0),
        ("cpp/bounded_queue.cpp", Optimisation::O2),
        ("rust/lost_update.rs", Optimisation::O0),
    ] {
        let (_folder, schedule) = found(source, level);
        let graph: Value = serde_json::from_str(&shown(&schedule, "json")).unwrap();
        let events = graph["events"].as_array().unwrap();
        let orders: Vec<(u64, u64)> =
            graph["happens_before"].as_array().unwrap().iter().map(numbers).collect();
        assert!(events.len() > 5 && orders.len() > 3, "{source}: {graph:#}");
        let mut edges: BTreeSet<(u64, u64)> = orders.iter().copied().collect();
        for lane in graph["lanes"].as_array().unwrap() {
            let own: Vec<u64> = events
                .iter()
                .filter(|event| event["thread"] == lane["thread"])
                .map(|event| event["number"].as_u64().unwrap())
                .collect();
            edges.extend(own.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for &(from, to) in &orders {
            assert!(from < to, "{source}: {from} runs before {to}");
            assert!(!is_reached(&edges, from, to), "{source}: {from} before {to} follows from others");
        }
        // The main thread waits for the others: whatever they did happened before.
        let last = events.last().unwrap()["number"].as_u64().unwrap();
        let creation = events[0]["number"].as_u64().unwrap();
        assert!(is_reached(&edges, creation, last), "{source}: {graph:#}");
        let after = graph["failure"]["after"].as_u64().unwrap();
        let dot = shown(&schedule, "dot");
        for event in events {
            assert!(dot.contains(&format!("e{} [label=", event["number"])), "{source}\n{dot}");
        }
        for (from, to) in &edges {
            assert!(dot.contains(&format!("e{from} -> e{to} [")), "{source}\n{dot}");
        }
        let failing = dot.lines().find(|line| line.contains("color=red")).unwrap();
        assert!(failing.trim_start().starts_with(&format!("e{after} ")), "{source}\n{dot}");
        let table = shown(&schedule, "text");
        assert_eq!(table.lines().filter(|line| !line.is_empty()).count(), events.len() + 2, "{table}");
    }
}

/// Whether a path of two edges or more leads from one event to the other.
fn is_reached(edges: &BTreeSet<(u64, u64)>, from: u64, to: u64) -> bool {
    let mut reached: BTreeSet<u64> = BTreeSet::new();
    let mut next: Vec<u64> =
        edges.iter().filter(|edge| edge.0 == from && edge.1 != to).map(|edge| edge.1).collect();
    while let Some(event) = next.pop() {
        if reached.insert(event) {
            next.extend(edges.iter().filter(|edge| edge.0 == event).map(|edge| edge.1));
        }
    }
    reached.contains(&to)
}

/// In the lost update both handlers read before either writes, so neither read is ordered with the other one.
#[test]
fn reads_of_a_lost_update_are_not_ordered() {
    let (_folder, schedule) = found("c/lost_update.c", Optimisation::O0);
    let graph: Value = serde_json::from_str(&shown(&schedule, "json")).unwrap();
    let events = graph["events"].as_array().unwrap();
    let of = |thread: &str, text: &str| {
        let is_it = |event: &&Value| event["thread"] == thread && event["text"] == text;
        events.iter().find(is_it).unwrap()["number"].as_u64().unwrap()
    };
    let orders: BTreeSet<(u64, u64)> =
        graph["happens_before"].as_array().unwrap().iter().map(numbers).collect();
    let (reads, writes) =
        (["T2", "T3"].map(|t| of(t, "read `page_views`")), ["T2", "T3"].map(|t| of(t, "write `page_views`")));
    let [first, second] = if reads[0] < reads[1] { [0, 1] } else { [1, 0] };
    assert!(!orders.contains(&(reads[first], reads[second])), "{graph:#}");
    // The later write of the two comes after the earlier one, and the read that it makes stale before that.
    let (early, late) = (writes[0].min(writes[1]), writes[0].max(writes[1]));
    let stale = reads[usize::from(early == writes[0])];
    assert!(orders.contains(&(stale, early)) && orders.contains(&(early, late)), "{graph:#}");
}

#[test]
fn what_cannot_be_shown_is_told() {
    let folder = tempdir().unwrap();
    let outcome = Tool::new(["show"]).and([folder.path().join("none.json")]).run().unwrap();
    assert_eq!(outcome.code, 3);
    assert!(outcome.stderr.contains("none.json"), "{}", outcome.stderr);
}
