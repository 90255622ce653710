//! Reports and schedule files of fixed runs of the in-memory model, from the search to the text that a person reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use checker::model::Model;
use checker::names::{Obj, Site};
use checker::seam::Program;

use crate::place::Place;
use crate::replay::Again;
use crate::report::Report;
use crate::request::{Request, Strategy};
use crate::schedule_file::{SavedTarget, ScheduleFile};
use crate::session::Session;
use crate::source::{Frame, Source};
use crate::store::Store;
use crate::verdict::Verdict;
use crate::watch::Unwatched;
use crate::{Error, json, text};

/// Two threads that each lose the other's update if they are interleaved.
const LOST_UPDATE: &str = "T1: create T2, create T3, join T2, join T3, r x, assert x==2 \
                           | T2: r x, w x x+1 | T3: r x, w x x+1";

const LOCK_ORDER: &str = "T1: create T2, create T3, join T2, join T3 \
                          | T2: lock a, lock b, unlock b, unlock a | T3: lock b, lock a, unlock a, unlock b";

const CLEAN: &str = "T1: create T2, lock m, r x, w x x+1, unlock m, join T2, r x, assert x==2 \
                     | T2: lock m, r x, w x x+1, unlock m";

/// Sites of the model are thread and place; here they are functions and lines of a file.
struct Words<'a>(&'a Model, &'static str);

impl Source for Words<'_> {
    fn locate(&self, site: Site) -> Vec<Frame> {
        let function = format!("thread{}", site.0 >> 32);
        let file = Some(PathBuf::from("/checkout/src/model.c"));
        vec![Frame { function, file, line: u32::try_from(site.0 & 0xffff).ok(), column: None }]
    }

    fn is_own_code(&self, _: Site) -> bool {
        true
    }

    fn describe(&self, obj: Obj) -> Option<String> {
        self.0.describe(obj)
    }

    fn build_id(&self) -> String {
        self.1.to_owned()
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }
}

fn target(build_id: &str) -> SavedTarget {
    SavedTarget {
        program: Place::Relative("build/model".into()),
        build_id: build_id.to_owned(),
        arguments: Vec::new(),
        directory: Place::Relative("".into()),
        fresh_directory: false,
        stdin: None,
        environment: std::collections::BTreeMap::new(),
        ignore_exit_code: false,
        step_limit: 1_000,
        run_timeout: Duration::from_secs(1),
    }
}

struct Explored {
    report: Report,
    folder: tempfile::TempDir,
}

impl Explored {
    /// The report as it would be with a clock that stands still and a store that is always in the same place.
    fn text(&self) -> String {
        text::render(&self.timeless())
    }

    fn timeless(&self) -> Report {
        let folder = self.folder.path().to_string_lossy();
        let mut report = self.report.clone();
        (report.elapsed_seconds, report.schedules_per_second) = (0.01, 1_000.0);
        for file in report.findings.iter_mut().filter_map(|finding| finding.schedule_file.as_mut()) {
            *file = file.replace(&*folder, "STORE");
        }
        report
    }

    fn schedule_file(&self) -> PathBuf {
        self.report.findings[0].schedule_file.as_ref().unwrap().into()
    }
}

fn explore_with(program: &str, change: impl FnOnce(&mut Request)) -> Explored {
    let model: Model = program.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut request = Request::new("model".into());
    change(&mut request);
    let report = Session {
        request: &request,
        target: target("build-1"),
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        cancel: &Arc::new(AtomicBool::new(false)),
    }
    .run(&model, &mut Unwatched)
    .unwrap();
    Explored { report, folder }
}

fn explore(program: &str) -> Explored {
    explore_with(program, |_| {})
}

fn replay(file: &Path, program: &str, build_id: &'static str) -> Result<Report, Error> {
    let model: Model = program.parse().unwrap();
    let saved = ScheduleFile::read(file)?;
    let source = Words(&model, build_id);
    let cancel = AtomicBool::new(false);
    let root = Path::new("/checkout");
    Again { saved: &saved, file: Path::new("s.json"), root, source: &source, cancel: &cancel }.run(&model)
}

#[test]
fn the_report_of_a_lost_update_shows_the_preemption() {
    insta::assert_snapshot!(explore(LOST_UPDATE).text(), @"
    Found: assertion — an assertion failed
      at thread1, src/model.c:6
      1 preemption · 2 delays · 2 threads · 1 variable · schedule 4 · reproduced 2/2

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

    Replay it with: interleaver replay STORE/schedules/assertion-ab8fe855.json

    1 bug found.
      explored  build/model (icb)
      ran       3 schedules, 1 pruned, 4 other
      speed     0.01 s, 1,000 schedules/s, 8.8 key points each
      covered   every schedule without preemptions
      ended     a failure was found (--keep-going looks for more)
    ");
}

#[test]
fn the_report_of_a_deadlock_says_who_holds_what() {
    insta::assert_snapshot!(explore(LOCK_ORDER).text(), @"
    Found: deadlock: T2 and T3 wait for each other
      at thread2, src/model.c:2
      1 preemption · 2 delays · 2 threads · 1 variable · schedule 5 · reproduced 2/2

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

    Replay it with: interleaver replay STORE/schedules/deadlock-65d95cbc.json

    1 bug found.
      explored  build/model (icb)
      ran       3 schedules, 1 deadlocked, 1 redundant, 1 pruned, 4 other
      speed     0.01 s, 1,000 schedules/s, 9.4 key points each
      covered   every schedule without preemptions
      ended     a failure was found (--keep-going looks for more)
    ");
}

#[test]
fn a_program_that_always_fails_has_no_story() {
    insta::assert_snapshot!(explore("T1: create T2, join T2, assert 0 | T2: w x 1").text(), @"
    Found: always-fails — an assertion failed
      at thread1, src/model.c:3
      it fails whatever the schedule, so this is no concurrency bug

      T1 failed
           in thread1, src/model.c:3

    Replay it with: interleaver replay STORE/schedules/always-fails-32c89952.json

    1 bug found.
      explored  build/model (icb)
      ran       1 schedule, 105 other
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
    report.findings[0].events.retain(|event| event.switch.is_some());
    report.findings[0].events.truncate(3);
    insta::assert_snapshot!(String::from_utf8(json(&report)).unwrap(), @r#"
    {
      "format": "interleaver-report",
      "version": 1,
      "tool": "0.1.0",
      "target": "build/model",
      "replayed": null,
      "verdict": "found",
      "strategy": "icb",
      "seed": 0,
      "schedules": 3,
      "deadlocked": 0,
      "redundant": 0,
      "pruned": 1,
      "other": 4,
      "covered": {
        "preemptions": 0
      },
      "ended": "a failure was found (--keep-going looks for more)",
      "elapsed_seconds": 0.01,
      "schedules_per_second": 1000.0,
      "key_points_per_schedule": 8.75,
      "notes": [],
      "findings": [
        {
          "kind": "assertion",
          "message": "an assertion failed",
          "file": "src/model.c",
          "line": 6,
          "function": "thread1",
          "thread": "T1",
          "schedule_number": 4,
          "preemptions": 1,
          "fewest": true,
          "delays": 2,
          "threads": 2,
          "variables": 1,
          "reproduced": "2/2",
          "schedule_file": "STORE/schedules/assertion-ab8fe855.json",
          "parties": [
            {
              "thread": "T1",
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
      ]
    }
    "#);
}

#[test]
fn the_store_holds_what_was_printed() {
    let explored = explore(LOST_UPDATE);
    let kept = |name: &str| std::fs::read(explored.folder.path().join(name)).unwrap();
    assert_eq!(kept("report.json"), json(&explored.report));
    assert_eq!(kept("report.txt"), text::render(&explored.report).into_bytes());
}

#[test]
fn verdicts_are_those_of_what_was_covered() {
    let verdict = |program: &str, change: fn(&mut Request)| explore_with(program, change).report.verdict;
    assert_eq!(verdict(LOST_UPDATE, |_| {}), Verdict::Found);
    assert_eq!(verdict(CLEAN, |_| {}), Verdict::Clean);
    assert_eq!(verdict(CLEAN, |request| request.strategy = Strategy::Idb), Verdict::Clean);
    assert_eq!(verdict(CLEAN, |request| request.strategy = Strategy::Dfs), Verdict::Clean);
    assert_eq!(verdict(CLEAN, |request| request.max_schedules = 1), Verdict::Inconclusive);
    assert_eq!(verdict(CLEAN, |request| request.time_limit = Duration::ZERO), Verdict::Inconclusive);
    let random = |request: &mut Request| (request.strategy, request.max_schedules) = (Strategy::Random, 50);
    assert_eq!(verdict(CLEAN, random), Verdict::Inconclusive);
    assert_eq!(verdict(LOST_UPDATE, |request| request.max_preemptions = 0), Verdict::Clean);
}

#[test]
fn a_cancelled_search_reports_what_it_has() {
    let model: Model = CLEAN.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = Session {
        request: &Request::new("model".into()),
        target: target("build-1"),
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        cancel: &Arc::new(AtomicBool::new(true)),
    };
    let report = session.run(&model, &mut Unwatched).unwrap();
    assert_eq!((report.verdict, report.ended.as_str()), (Verdict::Inconclusive, "it was stopped"));
}

#[test]
fn a_program_outside_the_root_is_said_not_to_be_portable() {
    let model: Model = CLEAN.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = Session {
        request: &Request::new("model".into()),
        target: SavedTarget { program: Place::Absolute("/opt/model".into()), ..target("build-1") },
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        cancel: &Arc::new(AtomicBool::new(false)),
    };
    let report = session.run(&model, &mut Unwatched).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("lies outside `/checkout`")), "{:?}", report.notes);
}

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
    insta::assert_snapshot!(error, @"the schedule could not be replayed: event 2 should be main/2 Read in thread3, src/model.c:1, but was Lock in thread3, src/model.c:1. Likely cause: files that an execution leaves behind (try --fresh-dir), the network, another process, or a system call whose result is not controlled");
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
    insta::assert_snapshot!(error, @"the program was rebuilt since the schedule was saved, and the schedule no longer applies: event 2 was main/2 Read in thread3, src/model.c:1, and now is main/2 Update in thread3, src/model.c:1");
}

impl Explored {
    /// The schedule file, after the store is gone.
    fn schedule_file_kept(&self) -> tempfile::NamedTempFile {
        let kept = tempfile::NamedTempFile::new().unwrap();
        std::fs::copy(self.schedule_file(), kept.path()).unwrap();
        kept
    }
}
