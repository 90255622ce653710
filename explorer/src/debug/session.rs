//! The session as its owner sees it: questions and moves, answered by the thread that runs the program.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use ptrace_backend::debuginfo::inspect::{FrameId, Handle, Scope, Variable};

use super::breakpoints::{SetBreakpoint, WantedBreakpoint};
use super::debuggee::Debuggee;
use super::error::DebugError;
use super::live::stack::StackLine;
use super::moves::filters::Filters;
use super::opening::open;
use super::request::{Controls, LaunchRequest, Move, Opening};
use super::stop::{ProgramOutput, StepPosition, Stop, ThreadLine};

type Job = Box<dyn FnOnce(&mut Debuggee<'_>) + Send>;

/// A debug session. Dropping it ends the program.
pub struct Session {
    jobs: Option<Sender<Job>>,
    tracer: Option<JoinHandle<()>>,
    interrupt: Arc<AtomicBool>,
}

impl Session {
    /// Runs the schedule once, and stands where the session begins.
    ///
    /// # Errors
    /// When the schedule cannot be used, or the program cannot be run.
    pub fn open(request: LaunchRequest, controls: Controls) -> Result<(Self, Opening), DebugError> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (opened, opening) = mpsc::channel();
        let interrupt = Arc::clone(&controls.interrupt);
        let run = move || {
            let serve = |debuggee: &mut Debuggee<'_>, notes| {
                let stop = debuggee.begin();
                // The client does not wait for it any more: the session ends with the next line.
                let _ = opened.send(Ok(Opening { stop, notes }));
                todo.iter().for_each(|job| job(debuggee));
            };
            if let Err(error) = open(&request, &controls, serve) {
                // As above.
                let _ = opened.send(Err(error));
            }
        };
        let tracer = std::thread::Builder::new().name("tracer".to_owned()).spawn(run);
        let tracer = tracer.map_err(|_| DebugError::Over)?;
        let session = Self { jobs: Some(jobs), tracer: Some(tracer), interrupt };
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

    /// The session's position.
    ///
    /// # Errors
    /// When the session is over.
    pub fn standing(&self) -> Result<StepPosition, DebugError> {
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

    /// The user's own sources that are known here, each with the number of its text as it was explored, where the file has
    /// another one now.
    ///
    /// # Errors
    /// When the session is over.
    pub fn sources(&self) -> Result<Vec<(PathBuf, Option<u64>)>, DebugError> {
        self.ask(|debuggee| debuggee.sources())
    }

    /// The file whose text, as it was explored, has a number; and that text.
    ///
    /// # Errors
    /// When there is no such number.
    pub fn explored_text(&self, number: u64) -> Result<(PathBuf, String), DebugError> {
        self.ask(move |debuggee| {
            let text = debuggee.texts.read(number)?;
            Ok((debuggee.texts.file(number).map(Path::to_owned).unwrap_or_default(), text))
        })?
    }

    /// The output that the program has written up to there.
    ///
    /// # Errors
    /// When the program cannot be run up to here again.
    pub fn written(&self) -> Result<ProgramOutput, DebugError> {
        self.ask(|debuggee| debuggee.written())?
    }

    /// Moves are made to their ends again.
    pub fn clear_interrupt(&self) {
        self.interrupt.store(false, Ordering::Relaxed);
    }

    /// Makes a move, and says where it ends. One that cannot be made leaves the session where it is.
    ///
    /// # Errors
    /// When the move is not possible, or takes too long.
    pub fn go(&self, movement: Move) -> Result<Stop, DebugError> {
        self.ask(move |debuggee| debuggee.go(movement))?
    }

    /// Sets the breakpoints of a file, in place of those that it had.
    ///
    /// # Errors
    /// When the session is over.
    pub fn set_breakpoints(
        &self,
        file: PathBuf,
        wanted: Vec<WantedBreakpoint>,
    ) -> Result<Vec<SetBreakpoint>, DebugError> {
        self.ask(move |debuggee| debuggee.set_breakpoints(&file, &wanted))
    }

    /// Sets the changes of thread that are stopped at.
    ///
    /// # Errors
    /// When the session is over.
    pub fn set_filters(&self, filters: Filters) -> Result<(), DebugError> {
        self.ask(move |debuggee| debuggee.landmarks.filters = filters)
    }

    /// The groups of variables of a call.
    ///
    /// # Errors
    /// When there is no such call, or the program cannot be run up to here again.
    pub fn scopes(&self, thread: u32, frame: FrameId) -> Result<Vec<Scope>, DebugError> {
        self.ask(move |debuggee| debuggee.look(thread, |inspector| inspector.scopes(frame)))?
    }

    /// Content of a group or a variable: the parts that have names.
    ///
    /// # Errors
    /// When the program cannot be run up to here again.
    pub fn named(&self, thread: u32, handle: Handle) -> Result<Vec<Variable>, DebugError> {
        self.ask(move |debuggee| debuggee.look(thread, |inspector| inspector.named(&handle)))?
    }

    /// Content of a variable: the elements at these positions.
    ///
    /// # Errors
    /// When the program cannot be run up to here again.
    pub fn indexed(
        &self,
        thread: u32,
        handle: Handle,
        range: Range<u64>,
    ) -> Result<Vec<Variable>, DebugError> {
        self.ask(move |debuggee| debuggee.look(thread, |inspector| inspector.indexed(&handle, range)))?
    }

    /// The value of an expression in a call.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the expression.
    pub fn evaluate(&self, thread: u32, frame: FrameId, expression: String) -> Result<Variable, DebugError> {
        let look = move |debuggee: &mut Debuggee<'_>| {
            let value = debuggee.look(thread, |inspector| inspector.evaluate(frame, &expression))?;
            value.map_err(|error| DebugError::Unknown(error.to_string()))
        };
        self.ask(look)?
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing is under way: every question waits for its answer. So the thread ends with its last job.
        self.jobs = None;
        if let Some(tracer) = self.tracer.take() {
            // It has reported the error, or no request is left.
            let _ = tracer.join();
        }
    }
}
