//! The text and the JSON of reports.

use super::*;
use crate::report::verdict::Verdict;

#[test]
fn the_report_of_a_lost_update_shows_the_preemption() {
    insta::assert_snapshot!(explore(LOST_UPDATE).text(), @"
    Found: assertion — an assertion failed
      at thread1, src/model.c:6
      1 preemption · 2 delays · 2 threads · 1 variable · schedule 3 · reproduced 2/2

      T1 failed
           in thread1, src/model.c:6
      T3 was preempted, about to write `x`
           in thread3, src/model.c:2

        # │ T1 main   │ T2 main/1 │ T3 main/2 │ where
    ──────┼───────────┼───────────┼───────────┼──────
        0 │ create T2 │           │           │ model.c:1
        1 │ create T3 │           │           │ model.c:2
       ⇄ T3 runs: T1 waits for T2 to end
        2 │           │           │ read `x`  │ model.c:1
       ⇄ T2 runs: T3 is preempted, about to write `x` (preemption 1 of 1)
        3 │           │ read `x`  │           │ model.c:1
        4 │           │ write `x` │           │ model.c:2
       ⇄ T3 runs: T2 has ended
        5 │           │           │ write `x` │ model.c:2
       ⇄ T1 runs: T3 has ended
        6 │ join T2   │           │           │ model.c:3
        7 │ join T3   │           │           │ model.c:4
        8 │ read `x`  │           │           │ model.c:5
       ✗ T1 fails

    Replay it with: interleaver replay STORE/schedules/assertion-c525fdb9.json

    1 bug found.
      explored  build/model (icb)
      ran       3 schedules, 5 other
      speed     0.01 s, 1,000 schedules/s, 9.0 key points each
      covered   every schedule without preemptions
      ended     a failure was found (--keep-going looks for more)
    ");
}

#[test]
fn the_report_of_a_deadlock_says_who_holds_what() {
    insta::assert_snapshot!(explore(LOCK_ORDER).text(), @"
    Found: deadlock: T2 and T3 wait for each other
      at thread2, src/model.c:2
      1 preemption · 2 delays · 2 threads · 1 variable · schedule 4 · reproduced 2/2

      T1 waits for the end of T2
           in thread1, src/model.c:3
      T2 waits for mutex `b`, held by T3
           in thread2, src/model.c:2
      T3 waits for mutex `a`, held by T2
           in thread3, src/model.c:2

        # │ T1 main   │ T2 main/1 │ T3 main/2 │ where
    ──────┼───────────┼───────────┼───────────┼──────
        0 │ create T2 │           │           │ model.c:1
        1 │ create T3 │           │           │ model.c:2
       ⇄ T3 runs: T1 waits for T2 to end
        2 │           │           │ lock `b`  │ model.c:1
       ⇄ T2 runs: T3 is preempted in thread3, src/model.c:2 (preemption 1 of 1)
        3 │           │ lock `a`  │           │ model.c:1
       ✗ nobody can go on

    Replay it with: interleaver replay STORE/schedules/deadlock-ef8e9d6c.json

    1 bug found.
      explored  build/model (icb)
      ran       3 schedules, 1 deadlocked, 1 pruned, 4 other
      speed     0.01 s, 1,000 schedules/s, 8.8 key points each
      covered   every schedule without preemptions
      ended     a failure was found (--keep-going looks for more)
    ");
}

#[test]
fn a_program_that_always_fails_has_no_story() {
    insta::assert_snapshot!(explore("T1: create T2, join T2, assert 0 | T2: w x 1").text(), @"
    Found: always-fails — an assertion failed
      at thread1, src/model.c:3
      it fails whatever the schedule, in whatever order threads run

      T1 failed
           in thread1, src/model.c:3

    Replay it with: interleaver replay STORE/schedules/always-fails-b4d12418.json

    1 bug found.
      explored  build/model (icb)
      ran       1 schedule, 5 other
      speed     0.01 s, 1,000 schedules/s, 3.0 key points each
      covered   every schedule with at most 2 preemptions
      ended     a failure was found (--keep-going looks for more)
    ");
}

#[test]
fn a_clean_report_says_what_was_covered() {
    insta::assert_snapshot!(explore(CLEAN).text(), @"
    Nothing found: every schedule was run, and none failed.
      explored  build/model (icb)
      ran       2 schedules, 2 other
      speed     0.01 s, 1,000 schedules/s, 11.0 key points each
      covered   every schedule
      ended     nothing was left to explore within the bound
    ");
}

#[test]
fn the_json_report_has_the_documented_members() {
    let mut report = explore(LOST_UPDATE).timeless();
    // The first event after the preemption stands for all of them.
    report.findings[0].events.make_mut().retain(|event| event.switch.is_some());
    report.findings[0].events.make_mut().truncate(3);
    let mut printed = Vec::new();
    json(&report, &mut printed).unwrap();
    insta::assert_snapshot!(String::from_utf8(printed).unwrap(), @r#"
    {
      "format": "interleaver-report",
      "version": 1,
      "tool": "0.1.0",
      "target": "build/model",
      "replayed": null,
      "verdict": "found",
      "strategy": "icb",
      "seed": 0,
      "executions": 3,
      "schedules": 3,
      "deadlocked": 0,
      "redundant": 0,
      "pruned": 0,
      "other": 5,
      "threads": 3,
      "covered": {
        "preemptions": 0
      },
      "complete": false,
      "ended": "a failure was found (--keep-going looks for more)",
      "elapsed_seconds": 0.01,
      "schedules_per_second": 1000.0,
      "key_points_per_schedule": 9.0,
      "notes": [],
      "findings": [
        {
          "kind": "assertion",
          "message": "an assertion failed",
          "file": "src/model.c",
          "line": 6,
          "function": "thread1",
          "thread": "T1",
          "schedule_number": 3,
          "executions": 5,
          "preemptions": 1,
          "fewest": true,
          "delays": 2,
          "threads": 2,
          "variables": 1,
          "reproduced": "2/2",
          "id": "assertion-c525fdb9",
          "schedule_file": "STORE/schedules/assertion-c525fdb9.json",
          "parties": [
            {
              "thread": "T1",
              "role": "failed",
              "doing": "failed",
              "stack": [
                {
                  "file": "src/model.c",
                  "line": 6,
                  "function": "thread1"
                }
              ]
            },
            {
              "thread": "T3",
              "role": "preempted",
              "doing": "was preempted, about to write `x`",
              "stack": [
                {
                  "file": "src/model.c",
                  "line": 2,
                  "function": "thread3"
                }
              ]
            }
          ],
          "lanes": [
            {
              "thread": "T1",
              "path": "main"
            },
            {
              "thread": "T2",
              "path": "main/1"
            },
            {
              "thread": "T3",
              "path": "main/2"
            }
          ],
          "events": [
            {
              "number": 2,
              "thread": "T3",
              "operation": "read",
              "text": "read `x`",
              "file": "src/model.c",
              "line": 1,
              "function": "thread3",
              "switch": {
                "from": "T1",
                "why": "blocked",
                "reason": "T1 waits for T2 to end"
              }
            },
            {
              "number": 3,
              "thread": "T2",
              "operation": "read",
              "text": "read `x`",
              "file": "src/model.c",
              "line": 1,
              "function": "thread2",
              "switch": {
                "from": "T3",
                "why": "preempted",
                "reason": "T3 is preempted, about to write `x`"
              }
            },
            {
              "number": 5,
              "thread": "T3",
              "operation": "write",
              "text": "write `x`",
              "file": "src/model.c",
              "line": 2,
              "function": "thread3",
              "switch": {
                "from": "T2",
                "why": "ended",
                "reason": "T2 has ended"
              }
            }
          ],
          "output": {
            "stdout": "",
            "stderr": "",
            "truncated": false
          }
        }
      ],
      "races": [],
      "potential_deadlocks": []
    }
    "#);
}

#[test]
fn a_race_is_told_below_the_findings() {
    let program = "T1: create T2, w x 1, join T2 | T2: r x, r y";
    insta::assert_snapshot!(explore_with(program, |request| request.races = true).text(), @"
    Data race: `x`
      T1 writes
           in thread1, src/model.c:2
      T2 reads
           in thread2, src/model.c:1

    Nothing found: every schedule was run, and none failed.
      explored  build/model (icb)
      ran       2 schedules, 1 pruned, 3 other
      speed     0.01 s, 1,000 schedules/s, 4.7 key points each
      covered   every schedule
      races     1 pair of locations whose order nothing says
      ended     nothing was left to explore within the bound
    ");
}

#[test]
fn a_harmful_race_says_which_order_fails() {
    let program = "T1: create T2, w x 1, join T2 | T2: r x, assert x==1";
    let report = explore_with(program, |request| request.races = true).report;
    let [race] = &report.races[..] else { panic!("{:?}", report.races) };
    assert_eq!(
        race.message,
        "data race: T1 (thread1, src/model.c:2) writes `x` and T2 (thread2, src/model.c:1) reads it, and nothing orders the \
         two"
    );
    let harm = "1 of 1 execution in which the read at model.c:1 came before the write at model.c:2 failed, 1 of 1 others \
                passed";
    assert_eq!((race.harmful, race.harm.as_deref()), (true, Some(harm)));
}

#[test]
fn what_explains_a_failure_tells_which_order_of_a_race_fails() {
    // The first execution fails, and the search ends with it: no other order has been run.
    let program = "T1: create T2, r x, join T2, assert x==1 | T2: w x 1";
    let is_harmful = |explain| {
        let report = explore_with(program, |request| {
            (request.races, request.strategy, request.explain) = (true, Strategy::Auto, explain);
        });
        assert_eq!(report.report.findings[0].schedule_number, 1);
        report.report.races.iter().map(|race| race.harmful).collect::<Vec<bool>>()
    };
    assert_eq!(is_harmful(false), [false]);
    assert_eq!(is_harmful(true), [true]);
}

#[test]
fn a_race_counts_as_a_bug_where_that_is_asked_for() {
    let report = explore_with("T1: create T2, w x 1, join T2 | T2: r x", |request| {
        (request.races, request.fail_on_races) = (true, true);
    });
    assert!(report.text().contains("\n1 data race found (--fail-on-races).\n"), "{}", report.text());
    assert_eq!((report.report.verdict, report.report.findings.len()), (Verdict::Found, 0));
}

#[test]
fn of_a_long_schedule_with_many_switches_the_beginning_and_the_failure_are_shown() {
    let yields = "yield, ".repeat(2_000);
    let program = format!("T1: create T2, {yields}r x, assert x==1 | T2: {yields}w x 1");
    let text = explore(&program).text();
    let rows = text.lines().filter(|line| line.contains(" │ ")).count();
    // With the head of the table.
    assert_eq!(rows, 1_001, "{text}");
    assert!(text.lines().any(|line| line.contains("0 │ create T2")), "{text}");
    assert!(text.contains("   … 3,0") && text.contains(" switches\n"), "{text}");
    assert!(text.contains(" read `x`"), "{text}");
}
