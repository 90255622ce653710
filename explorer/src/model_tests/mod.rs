//! Reports and schedule files of fixed runs of the in-memory model, from the search to the text that a person reads.

mod explanations;
mod failures;
mod older_stores;
mod outcomes;
mod replays;
mod reports;
mod scrambled;
mod workers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use checker::model::Model;
use checker::names::{Obj, Site};
use checker::object_description::ObjectDescription;
use checker::program::Program;

use crate::config::Suppressions;
use crate::input::portable_path::Place;
use crate::input::request::{Request, Strategy};
use crate::program::source::{Frame, Source};
use crate::program::worker_pool::Replicable;
use crate::render;
use crate::report::Report;
use crate::schedule_file::{SavedTarget, ScheduleFile};
use crate::store::Store;
use crate::verbs::deadline::Deadline;
use crate::verbs::replay::ReplayContext;
use crate::verbs::search::session::SearchSession;
use crate::verbs::watch::Unwatched;
use crate::{Error, json};

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

    fn describe(&self, obj: Obj) -> Option<ObjectDescription> {
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
        link: None,
        name: None,
        build_id: build_id.to_owned(),
        arguments: Vec::new(),
        directory: Place::Relative("".into()),
        fresh_directory: false,
        stdin: None,
        client: String::new(),
        ready: String::new(),
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
        render::render(&self.timeless())
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
    explore_on(program, None::<&Model>, change)
}

/// The same with a program that other workers can have as well.
fn explore_on(
    program: &str,
    workers: Option<&impl Replicable>,
    change: impl FnOnce(&mut Request),
) -> Explored {
    let model: Model = program.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Races, and what it takes to explain a finding, are other tests' business.
    let mut request =
        Request { strategy: Strategy::Icb, explain: false, races: false, ..Request::new("model".into()) };
    change(&mut request);
    let deadline = Deadline::never(&Arc::default());
    deadline.begin(request.time_limit);
    let report = SearchSession {
        request: &request,
        name: "model".to_owned(),
        target: target("build-1"),
        root: Path::new("/checkout"),
        store: &Store::at(folder.path()).unwrap(),
        source: &Words(&model, "build-1"),
        instead: &|| None,
        suppressions: &Suppressions::default(),
        deadline: &deadline,
        stalls: None,
    }
    .run(&model, workers, &mut Unwatched)
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
    let deadline = Deadline::never(&Arc::default());
    let root = Path::new("/checkout");
    let file = Path::new("s.json");
    ReplayContext { saved: &saved, file, root, source: &source, instead: &|| None, deadline: &deadline }
        .run(&model)
}

impl Explored {
    /// The schedule file, after the store is gone.
    fn schedule_file_kept(&self) -> tempfile::NamedTempFile {
        let kept = tempfile::NamedTempFile::new().unwrap();
        std::fs::copy(self.schedule_file(), kept.path()).unwrap();
        kept
    }
}
