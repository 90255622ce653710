//! How a session begins: the schedule is run once and taken down. Where that cannot be, what the file says must do.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use checker::failure::FailureKind;
use checker::names::{Obj, Site};
use checker::seam::{Choice, OpKey, Program};
use checker::search::{self, Go};
use ptrace_backend::PtraceProgram;

use super::debuggee::Debuggee;
use super::error::DebugError;
use super::recording::Recording;
use super::replica::Replica;
use super::session::{Controls, Request};
use super::tape::{Tape, Taped};
use crate::adapt::adapt;
use crate::backend::Launched;
use crate::callers::places_of_events;
use crate::diverged::Readable;
use crate::fresh_dir::Fresh;
use crate::place::Place;
use crate::places::Places;
use crate::root::roots_for_file;
use crate::saving::key_points;
use crate::schedule_file::ScheduleFile;
use crate::source::{Frame, Source};
use crate::{Error, replay};

/// Opens a session on the calling thread, which from then on owns the program, and hands it over with notes.
pub(super) fn open(
    request: &Request,
    controls: &Controls,
    serve: impl FnOnce(&mut Debuggee<'_>, Vec<String>),
) -> Result<(), DebugError> {
    let mut saved = ScheduleFile::read(&request.schedule).map_err(Error::from)?;
    let root = root(request, &mut saved);
    let launched = match &root {
        Ok(root) => replay::launch(&saved.target, root).and_then(|launch| launch.start(&controls.cancel)),
        Err(error) => Err(Error::NotLive(error.to_string())),
    };
    let Launched { program, fresh } = match launched {
        Ok(launched) => launched,
        Err(error) => return archive(&saved, request, controls, &error, serve),
    };
    let root = root.unwrap_or_else(|_| request.folder.clone());
    let places = Places::new(&program, &root);
    match record(&saved, &program, &Fresh::new(&program, fresh.as_ref()), &places, &controls.cancel) {
        Ok((recording, notes)) => {
            let replica = Replica::new(&program, fresh.as_ref());
            serve(&mut Debuggee::new(recording, places, Ok(replica), controls), notes);
            Ok(())
        }
        Err(error) => archive(&saved, request, controls, &error, serve),
    }
}

/// The root of the checkout that the program is in.
fn root(request: &Request, saved: &mut ScheduleFile) -> Result<PathBuf, Error> {
    let file = request.schedule.canonicalize().unwrap_or_else(|_| request.schedule.clone());
    let mut roots = vec![request.folder.clone()];
    roots.extend(roots_for_file(&file, &request.folder).into_iter().filter(|root| *root != request.folder));
    let Some(program) = &request.program else { return replay::root_of_program(&saved.target, roots) };
    let program = program.canonicalize().map_err(|_| Error::ProgramNotHere {
        program: program.display().to_string(),
        roots: vec![request.folder.clone()],
    })?;
    // What else the target names is where it would be for the program of the file, if that is there.
    let root = replay::root_of_program(&saved.target, roots).unwrap_or_else(|_| request.folder.clone());
    saved.target.program = Place::Absolute(program.as_path().into());
    Ok(root)
}

/// A session of what the file says alone.
fn archive(
    saved: &ScheduleFile,
    request: &Request,
    controls: &Controls,
    error: &Error,
    serve: impl FnOnce(&mut Debuggee<'_>, Vec<String>),
) -> Result<(), DebugError> {
    if controls.cancel.load(Ordering::Relaxed) {
        return Err(DebugError::Over);
    }
    let why = format!("only the recorded steps are shown, without stacks and variables: {error}");
    let recording = Recording::of_file(saved);
    let places = Places::new(&Nothing, &request.folder);
    serve(&mut Debuggee::new(recording, places, Err(why.clone()), controls), vec![why]);
    Ok(())
}

/// Runs the schedule once.
fn record(
    saved: &ScheduleFile,
    backend: &PtraceProgram,
    program: &impl Program,
    places: &Places<'_>,
    cancel: &Arc<AtomicBool>,
) -> Result<(Recording, Vec<String>), Error> {
    let tape = Tape::default();
    let taped = Taped { program, tape: &tape };
    let mut notes = Source::notes(backend);
    let mut go = || if cancel.load(Ordering::Relaxed) { Go::Cancelled } else { Go::Continue };
    let is_same_build = Source::build_id(backend) == saved.target.build_id;
    let steps: Vec<(Choice, OpKey)> = if is_same_build {
        let key_points = &saved.found_by.key_points;
        backend.fix_key_points(&key_points.instructions, &key_points.memory);
        saved.choices.iter().map(|choice| (choice.choice(), choice.key())).collect()
    } else {
        notes.push(
            "the program was rebuilt since the schedule was saved; the schedule still applies".to_owned(),
        );
        adapt(&taped, &saved.choices, places, &mut go)?
    };
    let replayed = search::replay(&taped, &steps, saved.target.step_limit, &mut go)
        .map_err(|error| Readable(places).search_error(error))?;
    let taken = tape.take();
    if !is_same_build {
        // So that every later run has the key points of this one.
        let found = key_points(&replayed.trace);
        backend.fix_key_points(&found.instructions, &found.memory);
    }
    let at = places_of_events(program, &replayed.trace, places);
    if let Some(failure) = &replayed.failure
        && failure.kind != saved.failure.kind
        && saved.failure.kind != FailureKind::AlwaysFails
    {
        notes.push(format!("the schedule was saved for another failure: {}", saved.failure.message));
    }
    Ok((Recording::of(&replayed, &taken, &at, places), notes))
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

    fn describe(&self, _: Obj) -> Option<String> {
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
