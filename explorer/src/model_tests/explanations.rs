//! Tests of the explanations in reports.

use super::*;
use crate::report::explanation::{Depth, Original};

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

#[test]
fn a_lost_update_is_told_with_its_names_and_the_schedule_that_passes() {
    let explored = explore_with(LOST_UPDATE, |request| request.explain = true);
    let text = explored.text();
    for part in [
        "\n  why: lost update: T3 reads `x` (model.c:1), T2 writes it (model.c:2), and then T3 writes it (model.c:2), which \
         undoes that\n",
        "\nThis schedule passes if these two swap places:\n",
        "\n   ✓ it ends well\n",
        "\nPoint of no return: after it every schedule fails (of random ones ",
        " % before it, 100 % after it)\n  event 3: T2 read `x`",
        "\nAccesses that tell 2 failing schedules from ",
        "\nThe nearest one that passes: interleaver replay ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let why = explored.report.findings[0].explanation.as_ref().unwrap();
    assert_eq!(why.missing, [""; 0]);
    let [first, second] = &why.pair.as_ref().unwrap().swaps[0];
    assert_eq!((&*first.thread, &*first.text), ("T3", "read `x`"));
    assert_eq!((&*second.thread, &*second.text), ("T2", "write `x`"));
}

#[test]
fn the_schedule_that_passes_is_saved_with_the_choices_that_it_takes() {
    let explored = explore_with(LOST_UPDATE, |request| request.explain = true);
    let why = explored.report.findings[0].explanation.as_ref().unwrap();
    let pair = why.pair.as_ref().unwrap();
    let file = ScheduleFile::read(pair.schedule_file.as_ref().unwrap().as_ref()).unwrap();
    let threads = |lines: &[crate::report::EventLine]| -> Vec<String> {
        lines.iter().map(|line| line.thread.to_string()).collect()
    };
    let label = |thread| pair.lanes.iter().find(|lane| lane.path == thread).unwrap().thread.clone();
    let chosen: Vec<String> = file.choices.iter().map(|choice| label(choice.thread)).collect();
    assert_eq!(chosen, threads(&pair.passing));
    assert_ne!(chosen, threads(&explored.report.findings[0].events));
}

#[test]
fn a_circle_of_locks_is_told_with_who_holds_what() {
    let explored = explore_with(LOCK_ORDER, |request| request.explain = true);
    let why = explored.report.findings[0].explanation.as_ref().unwrap();
    assert_eq!(
        why.sentence,
        "lock-order cycle: T2 waits for `b` (model.c:2), which T3 holds since model.c:1; T3 waits for `a` (model.c:2), \
         which T2 holds since model.c:1"
    );
    assert!(!why.thin);
}
