//! Outcomes of searches: the verdict, what is kept of them, and what is said beside the findings.

use super::*;
use crate::report::verdict::Verdict;

#[test]
fn the_store_holds_what_was_printed() {
    let explored = explore(LOST_UPDATE);
    let kept = |name: &str| std::fs::read(explored.folder.path().join(name)).unwrap();
    let mut printed = Vec::new();
    json(&explored.report, &mut printed).unwrap();
    assert_eq!(kept("report.json"), printed);
    assert_eq!(kept("report.txt"), render::render(&explored.report).into_bytes());
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
    // A portfolio covers what icb does; a search through few variables only has run no set of schedules with a name.
    assert_eq!(verdict(CLEAN, |request| request.strategy = Strategy::Auto), Verdict::Clean);
    assert_eq!(verdict(CLEAN, |request| request.strategy = Strategy::Vtb), Verdict::Inconclusive);
    assert_eq!(verdict(LOST_UPDATE, |request| request.max_preemptions = 0), Verdict::Clean);
}

#[test]
fn what_is_left_out_because_a_thread_had_to_let_others_go_is_not_called_run() {
    let polls = "create T2, loop 12 { yield }, r x, assert x == 1, join T2 | T2: w x 1";
    for (strategy, bound) in [(Strategy::Dfs, ""), (Strategy::Icb, " with at most 2 preemptions")] {
        let report = explore_with(polls, |request| request.strategy = strategy).report;
        let of_which =
            "in which no thread yields or sleeps more than 8 times in a row while another one could go";
        let line = format!("Nothing found: every schedule{bound} {of_which} was run, and none failed.\n");
        let text = render::render(&report);
        assert!(text.contains(&line), "{text}");
        assert_eq!((report.covered.everything, report.covered.in_turns_of), (false, Some(8)));
    }
}

#[test]
fn a_search_that_covers_nothing_says_what_it_promises() {
    let text = |strategy| {
        let change = |request: &mut Request| (request.strategy, request.max_schedules) = (strategy, 5);
        render::render(&explore_with(CLEAN, change).report)
    };
    assert!(text(Strategy::Pos).contains("\n  promise   no published bound\n"));
    assert!(text(Strategy::Pct).contains("with probability 1/(n k^(d-1)) or more\n"));
    assert!(!text(Strategy::Icb).contains("promise"));
}

#[test]
fn a_cancelled_search_reports_what_it_has() {
    let model: Model = CLEAN.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = SearchSession {
        request: &Request::new("model".into()),
        name: "model".to_owned(),
        target: target("build-1"),
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        instead: &|| None,
        suppressions: &Suppressions::default(),
        deadline: &Deadline::never(&Arc::new(AtomicBool::new(true))),
        stalls: None,
    };
    let report = session.run(&model, None::<&Model>, &mut Unwatched).unwrap();
    assert_eq!((report.verdict, report.ended.as_str()), (Verdict::Inconclusive, "it was stopped"));
}

#[test]
fn a_program_outside_the_root_is_said_not_to_be_portable() {
    let model: Model = CLEAN.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = SearchSession {
        request: &Request::new("model".into()),
        name: "model".to_owned(),
        target: SavedTarget { program: Place::Absolute("/opt/model".into()), ..target("build-1") },
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        instead: &|| None,
        suppressions: &Suppressions::default(),
        deadline: &Deadline::never(&Arc::default()),
        stalls: None,
    };
    let report = session.run(&model, None::<&Model>, &mut Unwatched).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("lies outside `/checkout`")), "{:?}", report.notes);
}

#[test]
fn what_was_found_is_reported_even_where_it_cannot_be_kept() {
    let model: Model = LOST_UPDATE.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(&folder.path().join("store")).unwrap();
    // The folder turns into a file under the search's feet.
    std::fs::remove_dir(store.folder()).unwrap();
    std::fs::write(store.folder(), "").unwrap();
    let session = SearchSession {
        request: &Request::new("model".into()),
        name: "model".to_owned(),
        target: target("build-1"),
        root: Path::new("/checkout"),
        store: &store,
        source: &Words(&model, "build-1"),
        instead: &|| None,
        suppressions: &Suppressions::default(),
        deadline: &Deadline::never(&Arc::default()),
        stalls: None,
    };
    let report = session.run(&model, None::<&Model>, &mut Unwatched).unwrap();
    assert_eq!((report.verdict, &report.findings[0].schedule_file), (Verdict::Found, &None));
    assert!(report.notes.iter().any(|note| note.starts_with("cannot write to")), "{:?}", report.notes);
}
