//! Tests of what is kept of explorations of small texts: over edits, rebuilds, dismissals, and beside others.

mod fixed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checker::failure::{Failure, FailureDetail, FailureKind};
use checker::names::{Site, ThreadName};
use checker::search::Identity;

use super::*;
use crate::input::portable_path::Place;
use crate::report::verdict::Verdict;
use crate::report::{Covered, Finding, Location, Output, Party, Report, Role};
use crate::schedule_file::{FORMAT, FoundBy, KeyPoints, SavedFailure, SavedTarget, ScheduleFile};
use crate::store::Store;

pub(super) fn finding(kind: FailureKind) -> Finding {
    Finding {
        stall: None,
        tried: None,
        unless_stalled: false,
        hint: None,
        kind,
        message: "it fails".to_owned(),
        headline: None,
        place: Location { file: Some("a.c".to_owned()), line: Some(2), function: Some("main".to_owned()) },
        thread: Some("T1".to_owned()),
        schedule_number: 4,
        executions: 6,
        preemptions: Some(1),
        fewest: true,
        delays: None,
        threads: None,
        variables: None,
        reproduced: "2/2".to_owned(),
        explanation: None,
        id: None,
        dismissed: false,
        schedule_file: None,
        parties: Vec::new(),
        lanes: Vec::new(),
        events: Vec::new().into(),
        left_out: None,
        output: Output::default(),
    }
}

/// A checkout with one source and its program.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new() -> Self {
        let checkout = Self(tempfile::tempdir().unwrap());
        checkout.put("a.c", "int x;\nassert(x);\n");
        checkout.put("app", "a program");
        checkout
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    fn store(&self) -> Store {
        Store::of_target(self.root(), "app").unwrap()
    }

    fn folder(&self) -> KeptFolder {
        KeptFolder::at(self.store().folder())
    }

    /// One exploration that finds a failure in these lines, or none.
    fn explored(&self, build: &str, lines: &[u32], covered: Option<u32>) -> Vec<PathBuf> {
        let failures: Vec<(u32, u32)> = lines.iter().map(|line| (*line, 1)).collect();
        self.explored_deep(build, &failures, covered)
    }

    /// Of each failure: its line, and the fewest preemptions that show it.
    fn explored_deep(&self, build: &str, failures: &[(u32, u32)], covered: Option<u32>) -> Vec<PathBuf> {
        let (store, run) = (self.store(), run(build));
        let bound = Bound::Preemptions(covered.unwrap_or(1));
        let extent = Extent { bound, max_schedules: 10, time_limit_ms: 10 };
        let mut writer = FindingWriter::new(&store, self.root(), "app".to_owned(), &run).within(extent);
        let mut report = report(covered);
        for (line, preemptions) in failures {
            let mut told = finding(FailureKind::Assertion);
            told.preemptions = Some(*preemptions);
            told.place.line = Some(*line);
            told.parties = vec![party(told.place.clone())];
            let schedule = schedule(&run, *line);
            writer.keep(&identity(*line), &mut told, &schedule).unwrap();
            report.findings.push(told);
        }
        writer.end(&report, report.ended.clone()).unwrap();
        report.findings.iter().filter_map(|finding| finding.schedule_file.clone()).map(Into::into).collect()
    }

    fn only(&self) -> KeptFinding {
        let findings = self.folder().findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings.into_iter().next().unwrap()
    }
}

fn party(place: Location) -> Party {
    Party { thread: "T1".to_owned(), role: Role::Failed, doing: "failed".to_owned(), stack: vec![place] }
}

fn identity(line: u32) -> Identity {
    let stack = vec![Site(u64::from(line))];
    Identity::of(&Failure::of_thread(FailureKind::Assertion, FailureDetail::Aborted, ThreadName::MAIN, stack))
}

fn run(build: &str) -> SavedTarget {
    SavedTarget {
        program: Place::Relative("app".into()),
        link: None,
        name: None,
        build_id: build.to_owned(),
        arguments: Vec::new(),
        directory: Place::Relative("".into()),
        fresh_directory: false,
        stdin: None,
        client: String::new(),
        ready: String::new(),
        environment: BTreeMap::new(),
        ignore_exit_code: false,
        step_limit: 1_000,
        run_timeout: Duration::from_secs(1),
    }
}

fn schedule(run: &SavedTarget, line: u32) -> ScheduleFile {
    ScheduleFile {
        format: FORMAT.to_owned(),
        version: 1,
        tool: String::new(),
        target: run.clone(),
        found_by: FoundBy {
            strategy: "icb".to_owned(),
            seed: 0,
            schedule_number: 4,
            epoch: checker::program::Epoch::default(),
            key_points: KeyPoints::default(),
        },
        failure: SavedFailure {
            kind: FailureKind::Assertion,
            message: "it fails".to_owned(),
            at: vec![format!("T1 failed: main, a.c:{line}")],
            parties: Vec::new(),
            place: None,
            preemptions: Some(1),
            fewest: true,
            delays: None,
            tried: None,
            minimised: false,
        },
        passes: None,
        seal: None,
        choices: Vec::new(),
    }
}

fn report(covered: Option<u32>) -> Report {
    Report {
        stalled: None,
        format: crate::report::FORMAT.to_owned(),
        version: 1,
        tool: String::new(),
        target: "app".to_owned(),
        replayed: None,
        verdict: Verdict::Clean,
        strategy: "icb".to_owned(),
        seed: 0,
        executions: 312,
        schedules: 40,
        deadlocked: 0,
        redundant: 0,
        pruned: 0,
        other: 0,
        narrow: None,
        threads: 2,
        covered: Covered { preemptions: covered, ..Covered::default() },
        not_covered: Vec::new(),
        complete: covered.is_some(),
        at_synchronisation: None,
        ended: "it was stopped".to_owned(),
        elapsed_seconds: 0.0,
        schedules_per_second: 0.0,
        key_points_per_schedule: 0.0,
        notes: Vec::new(),
        findings: Vec::new(),
        races: Vec::new(),
        suppressed_races: 0,
        potential_deadlocks: Vec::new(),
        suppressed_potential_deadlocks: 0,
    }
}

#[test]
fn a_finding_keeps_its_sources_and_its_program() {
    let checkout = Checkout::new();
    let schedules = checkout.explored("build-1", &[2], Some(0));
    let kept = checkout.only();
    let folder = checkout.folder();
    assert_eq!(kept.sources.len(), 1);
    assert_eq!(kept.sources[0].hash, content_hash(b"int x;\nassert(x);\n"));
    checkout.put("a.c", "another text");
    fs::remove_file(checkout.root().join("app")).unwrap();
    let text = fs::read_to_string(folder.path().join(&kept.sources[0].copy)).unwrap();
    assert_eq!(text, "int x;\nassert(x);\n");
    let program = folder.path().join(kept.program.as_ref().unwrap());
    assert_eq!(fs::read_to_string(program).unwrap(), "a program");
    assert_eq!(folder.finding_of_schedule(&schedules[0]), Some(kept));
    assert_eq!(folder.target().unwrap().last.findings.len(), 1);
}

#[test]
fn the_same_failure_after_an_edit_is_the_same_finding() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(0));
    let before = checkout.only();
    assert_eq!(before.checked, None);
    checkout.put("a.c", "// more\nint x;\nassert(x);\n");
    checkout.explored("build-2", &[3], Some(0));
    let after = checkout.only();
    assert_eq!((&after.id, after.found), (&before.id, before.found));
    assert_eq!(after.checked.unwrap().result, CheckResult::StillFails);
    assert_eq!(after.finding.place.line, Some(3));
}

/// Keeps a failure in line 2 again, as this explanation tells it, and gives where its schedule is.
fn kept_again(checkout: &Checkout, build: &str, minimised: Option<bool>) -> String {
    let why = |minimised| serde_json::json!({ "switches": 1, "depth": null, "executions": 1, "minimised": minimised });
    let (store, run) = (checkout.store(), run(build));
    let mut told = finding(FailureKind::Assertion);
    told.parties = vec![party(told.place.clone())];
    told.explanation = minimised.map(|minimised| serde_json::from_value(why(minimised)).unwrap());
    let mut writer = FindingWriter::new(&store, checkout.root(), "app".to_owned(), &run);
    writer.keep(&identity(2), &mut told, &schedule(&run, 2)).unwrap();
    told.schedule_file.unwrap()
}

#[test]
fn an_explained_finding_stays_until_there_is_a_better_one() {
    let checkout = Checkout::new();
    let explained = |checkout: &Checkout| checkout.only().finding.explanation.map(|why| why.minimised);
    let first = kept_again(&checkout, "build-1", None);
    assert_eq!(
        (kept_again(&checkout, "build-1", Some(false)), explained(&checkout)),
        (first.clone(), Some(false))
    );
    let again = kept_again(&checkout, "build-1", None);
    assert_eq!((again != first, explained(&checkout)), (true, Some(false)));
    assert_eq!(checkout.folder().finding_of_schedule(Path::new(&again)), Some(checkout.only()));
    assert_eq!(
        (kept_again(&checkout, "build-1", Some(true)), explained(&checkout)),
        (first.clone(), Some(true))
    );
    assert!(Path::new(&again).exists(), "it was told of");
    assert_eq!(
        (kept_again(&checkout, "build-1", Some(false)), explained(&checkout)),
        (again.clone(), Some(true))
    );
    assert_eq!(checkout.only().checked.unwrap().result, CheckResult::StillFails);
    // Of another build nothing was explained yet.
    assert_eq!((kept_again(&checkout, "build-2", None), explained(&checkout)), (first, None));
    assert!(!Path::new(&again).exists());
}

#[test]
fn what_a_dismissed_finding_alone_needed_goes_with_it() {
    let checkout = Checkout::new();
    let schedules = checkout.explored("build-1", &[1, 2], Some(0));
    let folder = checkout.folder();
    let [one, other] = folder.findings().try_into().unwrap();
    folder.dismiss(&one.id).unwrap();
    assert!(folder.path().join(&other.sources[0].copy).exists());
    folder.dismiss(&other.id).unwrap();
    for gone in [&other.sources[0].copy, other.program.as_ref().unwrap(), &other.schedule] {
        assert!(!folder.path().join(gone).exists(), "{gone}");
    }
    assert!(schedules.iter().all(|schedule| !schedule.exists()));
    folder.dismiss(&other.id).unwrap();
}

#[test]
fn what_was_dismissed_stays_dismissed() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[1, 2], Some(0));
    let folder = checkout.folder();
    let [one, other] = folder.findings().try_into().unwrap();
    folder.dismiss(&one.id).unwrap();
    let schedules = checkout.explored("build-2", &[1, 2], Some(0));
    assert_eq!(checkout.only().id, other.id);
    assert!(schedules.iter().all(|schedule| schedule.exists()), "they can be replayed");
    assert_eq!(folder.target().unwrap().last.findings.len(), 2);
    folder.restore().unwrap();
    checkout.explored("build-2", &[1, 2], Some(0));
    assert_eq!(folder.findings().len(), 2);
}

#[test]
fn findings_in_one_line_have_schedules_of_their_own() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(0));
    checkout.put("a.c", "int x;\nassert(x > 0);\n");
    checkout.explored("build-2", &[2], Some(0));
    let folder = checkout.folder();
    let [one, other] = folder.findings().try_into().unwrap();
    folder.dismiss(&one.id).unwrap();
    assert!(!folder.path().join(&one.schedule).exists());
    assert!(folder.path().join(&other.schedule).exists());
}

#[test]
fn a_source_that_is_newer_than_the_program_is_marked() {
    let checkout = Checkout::new();
    let program = fs::File::options().write(true).open(checkout.root().join("app")).unwrap();
    program.set_modified(std::time::UNIX_EPOCH).unwrap();
    checkout.explored("build-1", &[2], Some(0));
    assert!(checkout.only().sources[0].newer);
}

#[test]
fn files_of_others_are_passed_over() {
    let checkout = Checkout::new();
    checkout.explored("build-1", &[2], Some(0));
    let folder = checkout.folder();
    for (name, text) in [("broken", "{"), ("other", r#"{"format":"x"}"#), ("newer", "[]")] {
        fs::write(folder.path().join(format!("findings/{name}.json")), text).unwrap();
    }
    let mut newer = checkout.only();
    newer.version = VERSION + 1;
    newer.id = "newer".to_owned();
    fs::write(folder.path().join("findings/newer.json"), serde_json::to_vec(&newer).unwrap()).unwrap();
    checkout.only();
    assert_eq!(folder.finding("../target"), None);
}

#[test]
fn two_explorations_at_once_lose_nothing() {
    let checkout = Checkout::new();
    checkout.put("a.c", &(0..40).map(|line| format!("assert({line});\n")).collect::<String>());
    std::thread::scope(|threads| {
        for half in [1..21, 21..41] {
            let lines: Vec<u32> = half.collect();
            let checkout = &checkout;
            threads.spawn(move || checkout.explored("build-1", &lines, None));
        }
    });
    let findings = checkout.folder().findings();
    assert_eq!(findings.len(), 40);
    for kept in findings {
        assert!(checkout.folder().path().join(&kept.sources[0].copy).exists());
    }
}

#[test]
fn a_store_is_found_from_any_file_in_it() {
    let file = Path::new("/p/.interleaver/app-1/findings/x.json");
    let (root, folder) = stores_of(file).unwrap();
    assert_eq!((root.as_path(), folder.path()), (Path::new("/p"), Path::new("/p/.interleaver/app-1")));
    assert_eq!(stores_of(Path::new("/p/app-1/x.json")), None);
}
