//! What reports say about why something fails.

use super::*;
use crate::explanation::{Depth, Original};

#[test]
fn the_simplest_schedule_takes_the_place_of_the_one_that_was_found() {
    let explored = explore_with(LOST_UPDATE, |request| {
        (request.explain, request.strategy, request.seed) = (true, Strategy::Random, 3);
    });
    let finding = &explored.report.findings[0];
    assert_eq!((finding.preemptions, finding.fewest), (Some(1), true));
    let why = finding.explanation.as_ref().unwrap();
    assert_eq!((why.switches, why.depth), (4, Some(Depth { value: 2, exact: true })));
    let Some(Original { preemptions, schedule_file: Some(file), .. }) = &why.original else {
        panic!("the schedule that was found is kept");
    };
    let (original, simplest) =
        (ScheduleFile::read(file.as_ref()), ScheduleFile::read(&explored.schedule_file()));
    assert_eq!(original.unwrap().failure.preemptions, Some(*preemptions));
    assert_eq!(simplest.unwrap().failure.preemptions, Some(1));
    assert!(explored.report.other > why.executions);
    let text = explored.text();
    assert!(text.contains("\n  bug depth 2 · 1 preemption · 4 switches · "), "{text}");
    assert!(text.contains(&format!("\nAs it was found, with {preemptions} preemption")), "{text}");
}

#[test]
fn what_was_found_with_the_simplest_schedule_has_no_other() {
    let explored = explore_with(LOCK_ORDER, |request| request.explain = true);
    let finding = &explored.report.findings[0];
    let why = finding.explanation.as_ref().unwrap();
    assert_eq!((why.switches, why.depth), (2, Some(Depth { value: 2, exact: true })));
    assert_eq!(why.original, None);
}
