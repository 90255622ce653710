//! Opening of a session: the schedule is run once and recorded. Where that cannot be, the text of the file must do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use checker::failure::FailureKind;
use checker::names::{Obj, Site};
use checker::object_description::ObjectDescription;
use checker::program::{Choice, OpKey, Program};
use checker::search;
use ptrace_backend::{PtraceProgram, preflight};

use super::debuggee::Debuggee;
use super::error::DebugError;
use super::recording::Recording;
use super::request::{Controls, LaunchRequest};
use crate::Error;
use crate::debug::live::replica::Replica;
use crate::debug::live::texts::Texts;
use crate::debug::recording::passing::Passing;
use crate::debug::recording::recorder::{RecordedProgram, Recorder};
use crate::input::portable_path::Place;
use crate::input::project_root::{STORE, roots_for_file};
use crate::narrate::locations::Places;
use crate::narrate::user_frames::places_of_events;
use crate::program::fresh_dir::Fresh;
use crate::program::launch::Launched;
use crate::program::return_line::Body;
use crate::program::source::{Frame, Source};
use crate::schedule_file::{SavedTarget, ScheduleFile};
use crate::store::findings::{self, KeptFinding, KeptFolder};
use crate::trust::{self, Consent};
use crate::verbs::adapt::adapt;
use crate::verbs::deadline::Deadline;
use crate::verbs::divergence::ErrorPhrasing;
use crate::verbs::replay;
use crate::verbs::search::save::key_points;

/// Opens a session on the calling thread, which from then on owns the program, and hands it over with notes.
pub(super) fn open(
    request: &LaunchRequest,
    controls: &Controls,
    serve: impl FnOnce(&mut Debuggee<'_>, Vec<String>),
) -> Result<(), DebugError> {
    let mut saved = ScheduleFile::read(&request.schedule).map_err(Error::from)?;
    let file = request.schedule.canonicalize().unwrap_or_else(|_| request.schedule.clone());
    let kept = Kept::of_schedule(&file);
    let mut notes = Vec::new();
    let provenance = Provenance::of(request, &saved, &file);
    let deadline = Deadline::never(&controls.cancel);
    let found = || root(request, (&mut saved, &provenance.roots), kept.as_ref(), &mut notes);
    let root = deadline.in_time(found).and_then(|root| root);
    if let Ok(root) = &root {
        deadline.in_time(|| provenance.check(&file, &saved.target, root))??;
    }
    let launched = match &root {
        Ok(root) => replay::launch(&saved.target, root).and_then(|launch| launch.start(&deadline.limit())),
        Err(error) => Err(Error::NotLive(error.to_string())),
    };
    let root = root.unwrap_or_else(|_| kept.as_ref().map_or(&request.folder, |kept| &kept.root).clone());
    let texts = || kept.as_ref().map(|kept| kept.texts(&root)).unwrap_or_default();
    let newer = kept.as_ref().and_then(Kept::newer_sources);
    let archive =
        |error: &Error, serve| archive(&saved, (&root, texts()), controls, error, newer.clone(), serve);
    let Launched { program, fresh } = match launched {
        Ok(launched) => launched,
        Err(error) => return archive(&error, serve),
    };
    let places = Places::new(&program, &root);
    let recorded = record(&saved, &program, &Fresh::new(&program, fresh.as_ref()), &places, &controls.cancel);
    let (recording, stdout, said) = match recorded {
        Ok(recorded) => recorded,
        Err(error) => return archive(&error, serve),
    };
    notes.extend(said);
    // Another build has the lines of the text that it was made of.
    let is_same_build = Source::build_id(&program) == saved.target.build_id;
    let texts = if is_same_build { texts() } else { Texts::default() };
    notes.extend(newer.filter(|_| is_same_build));
    let replica = Replica::new(&program, fresh.as_ref());
    let mut debuggee = Debuggee::new(recording, places, Ok(replica), texts, controls);
    let arguments: Vec<OsString> = saved.target.arguments.iter().map(|argument| argument.0.clone()).collect();
    let body = Body::of(&program, &arguments);
    if program.harness().is_none() {
        debuggee.landmarks.body = body.addresses();
    }
    if let Err(error) = debuggee.find_failure(stdout, &body) {
        notes.push(format!("the session begins at the end of the program, not at the failure: {error}"));
    }
    serve(&mut debuggee, notes);
    Ok(())
}

/// The part that the store keeps of the finding of a schedule.
struct Kept {
    root: PathBuf,
    folder: KeptFolder,
    finding: KeptFinding,
}

impl Kept {
    fn of_schedule(file: &Path) -> Option<Self> {
        let (root, folder) = findings::stores_of(file)?;
        let finding = folder.finding_of_schedule(file)?;
        Some(Self { root, folder, finding })
    }

    fn texts(&self, root: &Path) -> Texts {
        Texts::of(&self.finding, &self.folder, root)
    }

    /// Says which sources had been changed after the program was built when it was explored.
    fn newer_sources(&self) -> Option<String> {
        let newer = self.finding.sources.iter().filter(|source| source.newer);
        let names: Vec<String> = newer.map(|source| format!("`{}`", source.file)).collect();
        (!names.is_empty()).then(|| {
            format!(
                "the program was older than {} when it was explored: its lines may be others than those that are shown",
                names.join(", ")
            )
        })
    }

    /// The program as it was explored, if this user has kept it.
    fn program(&self) -> Option<PathBuf> {
        self.folder.program(&self.finding)
    }
}

/// The origin of a schedule: its maker, and the checkouts that it may be of.
struct Provenance {
    /// Folders that its relative paths may start from, the likeliest first.
    roots: Vec<PathBuf>,
    /// The one for which this user has sealed it.
    home: Option<PathBuf>,
    consent: Consent<'static>,
}

impl Provenance {
    fn of(request: &LaunchRequest, saved: &ScheduleFile, file: &Path) -> Self {
        let mut roots = vec![request.folder.clone()];
        roots
            .extend(roots_for_file(file, &request.folder).into_iter().filter(|root| *root != request.folder));
        let home = trust::home(saved, &roots);
        if let Some(home) = &home {
            roots.retain(|root| root != home);
            roots.insert(0, home.clone());
        }
        // Trust in a workspace is trust in what lies in it.
        let is_inside = request.folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
        let consent = if request.trusted && is_inside { Consent::Given } else { Consent::Refused };
        Self { roots, home, consent }
    }

    fn check(&self, file: &Path, target: &SavedTarget, root: &Path) -> Result<(), Error> {
        trust::check(file, target, (root, self.home.as_deref()), self.consent)
    }
}

/// The root of the checkout that the program is in. Where the program is another one by now, or gone, the one that was
/// explored takes its place, if the store has it.
fn root(
    request: &LaunchRequest,
    (saved, roots): (&mut ScheduleFile, &[PathBuf]),
    kept: Option<&Kept>,
    notes: &mut Vec<String>,
) -> Result<PathBuf, Error> {
    let found = replay::root_of_program(&saved.target, roots.to_vec());
    let named = request.program.as_ref().filter(|program| is_usable(program, kept, request.trusted));
    let (program, root) = if let Some(program) = named {
        let program = program.canonicalize().map_err(|_| Error::ProgramNotHere {
            program: program.display().to_string(),
            roots: vec![request.folder.clone()],
        })?;
        // The rest of what the target names is where it would be for the program of the file, if that is there.
        (program, found.unwrap_or_else(|_| request.folder.clone()))
    } else {
        let is_explored = |root: &PathBuf| {
            let program = saved.target.program.in_checkout(root);
            preflight::inspect(&program).is_ok_and(|program| program.build_id == saved.target.build_id)
        };
        let copy = kept.and_then(|kept| Some((kept.program()?, kept.root.clone())));
        match copy.filter(|_| !found.as_ref().is_ok_and(is_explored)) {
            None => return found,
            Some((program, root)) => {
                notes.push(
                    "the program was rebuilt or removed since: the one that was explored runs".to_owned(),
                );
                (program, found.unwrap_or(root))
            }
        }
    };
    saved.target.program = Place::Absolute(program.as_path().into());
    Ok(root)
}

/// Whether a program that the client names may run. One that lies in a store has to be a copy that this user has kept.
fn is_usable(program: &Path, kept: Option<&Kept>, trusted: bool) -> bool {
    let is_kept = program.components().any(|part| part.as_os_str() == STORE);
    !is_kept || trusted || kept.and_then(Kept::program).is_some_and(|own| own == program)
}

/// A session of what the file says alone.
fn archive(
    saved: &ScheduleFile,
    (root, texts): (&Path, Texts),
    controls: &Controls,
    error: &Error,
    newer: Option<String>,
    serve: impl FnOnce(&mut Debuggee<'_>, Vec<String>),
) -> Result<(), DebugError> {
    if controls.cancel.load(Ordering::Relaxed) {
        return Err(DebugError::Over);
    }
    let why = format!("only the recorded steps are shown, without stacks and variables: {error}");
    let recording = Recording::of_file(saved);
    let places = Places::new(&Nothing, root);
    let notes = [why.clone()].into_iter().chain(newer).collect();
    serve(&mut Debuggee::new(recording, places, Err(why), texts, controls), notes);
    Ok(())
}

/// Runs the schedule once. Gives the recording, the program's standard output, and notes for the user.
fn record(
    saved: &ScheduleFile,
    backend: &PtraceProgram,
    program: &impl Program,
    places: &Places<'_>,
    cancel: &Arc<AtomicBool>,
) -> Result<(Recording, Vec<u8>, Vec<String>), Error> {
    let recorder = Recorder::default();
    let program_on_record = RecordedProgram { program, recorder: &recorder };
    let mut notes = Source::notes(backend);
    let limit = Deadline::never(cancel).limit();
    let is_same_build = Source::build_id(backend) == saved.target.build_id;
    let steps: Vec<(Choice, OpKey)> = if is_same_build {
        let key_points = &saved.found_by.key_points;
        backend.fix_key_points(&key_points.instructions, &key_points.memory);
        saved.choices.iter().map(|choice| (choice.choice(), choice.key())).collect()
    } else {
        notes.push(
            "the program was rebuilt since the schedule was saved; the schedule still applies".to_owned(),
        );
        adapt(&program_on_record, &saved.choices, places, &limit)?
    };
    let replayed = search::replay(&program_on_record, &steps, saved.target.step_limit, &limit)
        .map_err(|error| ErrorPhrasing(places).search_error(error))?;
    let log = recorder.take();
    if !is_same_build {
        // So that every later run has the key points of this one.
        let found = key_points(&replayed.trace, backend);
        backend.fix_key_points(&found.instructions, &found.memory);
    }
    let at = places_of_events(program, &replayed.trace, places);
    if replayed.failure.is_some() && saved.passes.is_some() {
        notes.push("the schedule was saved because nothing fails in it; by now it fails".to_owned());
    } else if let Some(failure) = &replayed.failure
        && failure.kind != saved.failure.kind
        && saved.failure.kind != FailureKind::AlwaysFails
    {
        notes.push(format!("the schedule was saved for another failure: {}", saved.failure.message));
    }
    let mut recording = Recording::of(&replayed, &log, &at, places);
    recording.passing = Passing::of_file(saved).filter(|_| replayed.failure.is_none());
    Ok((recording, replayed.summary.stdout, notes))
}

/// Knows nothing, where there is no program.
struct Nothing;

impl Source for Nothing {
    fn locate(&self, _: Site) -> Vec<Frame> {
        Vec::new()
    }

    fn is_own_code(&self, _: Site) -> bool {
        false
    }

    fn describe(&self, _: Obj) -> Option<ObjectDescription> {
        None
    }

    fn build_id(&self) -> String {
        String::new()
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }
}
