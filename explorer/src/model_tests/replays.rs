//! Saved schedules, run again: by the same build, by others.

use super::*;
use crate::report::verdict::Verdict;

#[test]
fn a_replay_shows_the_same_story() {
    for program in [LOST_UPDATE, LOCK_ORDER] {
        let explored = explore(program);
        let replayed = replay(&explored.schedule_file(), program, "build-1").unwrap();
        assert_eq!(replayed.verdict, Verdict::Found);
        let (first, again) = (&explored.report.findings[0], &replayed.findings[0]);
        assert_eq!(
            (&first.message, &first.events, &first.parties),
            (&again.message, &again.events, &again.parties)
        );
        assert_eq!(again.reproduced, "1/1");
    }
}

#[test]
fn a_schedule_that_does_not_come_out_says_at_which_event() {
    let file = explore(LOST_UPDATE).schedule_file_kept();
    let changed = LOST_UPDATE.replace("T3: r x, w x x+1", "T3: lock m, w x 2");
    let error = replay(file.path(), &changed, "build-1").unwrap_err().to_string();
    insta::assert_snapshot!(error, @"the schedule could not be replayed: event 2 should be main/2 read in thread3, src/model.c:1, but was main/2 lock in thread3, src/model.c:1. Likely cause: files that an execution leaves behind (try --fresh-dir), the network, another process, or a system call whose result is not controlled");
}

#[test]
fn a_later_build_tells_whether_the_schedule_applies() {
    let file = explore(LOST_UPDATE).schedule_file_kept();
    // Registers only: other sites in the main thread, the same operations.
    let rebuilt = LOST_UPDATE.replace("r x, assert x==2", "set a 1, r x, assert x==2");
    let report = replay(file.path(), &rebuilt, "build-2").unwrap();
    assert_eq!(report.verdict, Verdict::Found);
    assert!(report.notes[0].contains("still applies"), "{:?}", report.notes);

    let fixed = LOST_UPDATE.replace("r x, w x x+1", "add x");
    let error = replay(file.path(), &fixed, "build-2").unwrap_err().to_string();
    insta::assert_snapshot!(error, @"the program was rebuilt since the schedule was saved, and the schedule no longer applies: event 2 was main/2 read in thread3, src/model.c:1, and now is main/2 update in thread3, src/model.c:1");
}
