//! The session as its owner sees it: questions and moves, answered by the thread that runs the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use checker::seam::{Choice, OpKey, Program};
use checker::search::{self, Go};
use ptrace_backend::PtraceProgram;

use super::debuggee::Debuggee;
use super::error::DebugError;
use super::moves::Direction;
use super::recording::Recording;
use super::replica::Replica;
use super::stack::StackLine;
use super::stop::{Standing, Stop, ThreadLine, Written};
use super::tape::{Tape, Taped};
use crate::adapt::adapt;
use crate::backend::Launched;
use crate::callers::places_of_events;
use crate::diverged::Readable;
use crate::fresh_dir::Fresh;
use crate::places::Places;
use crate::replay;
use crate::root::roots_for_file;
use crate::schedule_file::ScheduleFile;
use crate::source::Source;

/// What to debug.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The schedule file.
    pub schedule: PathBuf,
    /// The executable, where it is not the one that the schedule names.
    pub program: Option<PathBuf>,
    /// The workspace folder.
    pub folder: PathBuf,
}

/// How a session begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The failure.
    pub stop: Stop,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

type Job = Box<dyn FnOnce(&mut Debuggee<'_>) + Send>;

/// A debug session. Dropping it ends the program.
pub struct Session {
    jobs: Option<Sender<Job>>,
    tracer: Option<JoinHandle<()>>,
    cancel: Arc<AtomicBool>,
}

impl Session {
    /// Runs the schedule once, and stands at its failure. Setting `cancel` ends the session from any thread.
    ///
    /// # Errors
    /// When the schedule cannot be used, or the program cannot be run.
    pub fn open(request: Request, cancel: Arc<AtomicBool>) -> Result<(Self, Opening), DebugError> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (opened, opening) = mpsc::channel();
        let seen = Arc::clone(&cancel);
        let run = move || {
            let serve = |debuggee: &mut Debuggee<'_>, notes| {
                let stop = debuggee.go_to_end();
                // Nobody waits for it any more: the session ends with the next line.
                let _ = opened.send(Ok(Opening { stop, notes }));
                todo.iter().for_each(|job| job(debuggee));
            };
            if let Err(error) = open(&request, &seen, serve) {
                // As above.
                let _ = opened.send(Err(error));
            }
        };
        let tracer = std::thread::Builder::new().name("tracer".to_owned()).spawn(run);
        let tracer = tracer.map_err(|_| DebugError::Over)?;
        let session = Self { jobs: Some(jobs), tracer: Some(tracer), cancel };
        let opening = opening.recv().map_err(|_| DebugError::Over)??;
        Ok((session, opening))
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Debuggee<'_>) -> T + Send + 'static,
    ) -> Result<T, DebugError> {
        let (answer, answered) = mpsc::channel();
        let job: Job = Box::new(move |debuggee| {
            // The session has gone meanwhile.
            let _ = answer.send(question(debuggee));
        });
        let jobs = self.jobs.as_ref().ok_or(DebugError::Over)?;
        jobs.send(job).map_err(|_| DebugError::Over)?;
        answered.recv().map_err(|_| DebugError::Over)
    }

    /// Where the session stands.
    ///
    /// # Errors
    /// When the session is over.
    pub fn standing(&self) -> Result<Standing, DebugError> {
        self.ask(|debuggee| debuggee.standing())
    }

    /// The threads that exist there.
    ///
    /// # Errors
    /// When the session is over.
    pub fn threads(&self) -> Result<Vec<ThreadLine>, DebugError> {
        self.ask(|debuggee| debuggee.threads())
    }

    /// A thread's calls, innermost first.
    ///
    /// # Errors
    /// When there is no such thread, or the program cannot be run up to here again.
    pub fn stack(&self, thread: u32) -> Result<Vec<StackLine>, DebugError> {
        self.ask(move |debuggee| debuggee.stack(debuggee.thread(thread)?))?
    }

    /// What the program has written up to there.
    ///
    /// # Errors
    /// When the program cannot be run up to here again.
    pub fn written(&self) -> Result<Written, DebugError> {
        self.ask(|debuggee| debuggee.written())?
    }

    /// Moves by one key point of any thread.
    ///
    /// # Errors
    /// When the session is over.
    pub fn by_event(&self, direction: Direction) -> Result<Stop, DebugError> {
        self.ask(move |debuggee| debuggee.by_event(direction))
    }

    /// Moves to the nearest change of thread, else to the end in that direction.
    ///
    /// # Errors
    /// When the session is over.
    pub fn by_switch(&self, direction: Direction) -> Result<Stop, DebugError> {
        self.ask(move |debuggee| debuggee.by_switch(direction))
    }

    /// Moves to where so many events have run.
    ///
    /// # Errors
    /// When the schedule is shorter.
    pub fn go_to_step(&self, step: usize) -> Result<Stop, DebugError> {
        self.ask(move |debuggee| debuggee.go_to_step(step))?
    }

    /// Moves to the failure.
    ///
    /// # Errors
    /// When the session is over.
    pub fn go_to_end(&self) -> Result<Stop, DebugError> {
        self.ask(|debuggee| debuggee.go_to_end())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(tracer) = self.tracer.take() {
            // It has said what is wrong, or nobody asks any more.
            let _ = tracer.join();
        }
    }
}

/// Records the schedule and hands the result over, with notes. All on the calling thread, which then owns the program.
fn open(
    request: &Request,
    cancel: &Arc<AtomicBool>,
    serve: impl FnOnce(&mut Debuggee<'_>, Vec<String>),
) -> Result<(), DebugError> {
    let mut saved = ScheduleFile::read(&request.schedule).map_err(crate::Error::from)?;
    let file = request.schedule.canonicalize().unwrap_or_else(|_| request.schedule.clone());
    let root = match &request.program {
        Some(program) => {
            saved.target.program = crate::place::Place::Absolute(program.as_path().into());
            request.folder.clone()
        }
        None => {
            let mut roots = roots_for_file(&file, &request.folder);
            roots.retain(|root| *root != request.folder);
            roots.insert(0, request.folder.clone());
            replay::root_of_program(&saved.target, roots)?
        }
    };
    let Launched { program, fresh } = replay::launch(&saved.target, &root)?.start(cancel)?;
    let (recording, notes) = record(&saved, &program, &Fresh::new(&program, fresh.as_ref()), &root, cancel)?;
    let replica = Replica::new(&program, fresh.as_ref());
    serve(&mut Debuggee::new(recording, Places::new(&program, &root), Ok(replica)), notes);
    Ok(())
}

/// Runs the schedule once.
fn record(
    saved: &ScheduleFile,
    backend: &PtraceProgram,
    program: &impl Program,
    root: &Path,
    cancel: &AtomicBool,
) -> Result<(Recording, Vec<String>), DebugError> {
    let places = Places::new(backend, root);
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
        adapt(&taped, &saved.choices, &places, &mut go)?
    };
    let replayed = search::replay(&taped, &steps, saved.target.step_limit, &mut go)
        .map_err(|error| Readable(&places).search_error(error))?;
    let taken = tape.take();
    let at = places_of_events(program, &replayed.trace, &places);
    Ok((Recording::of(&replayed, &taken, &at, &places), notes))
}
