//! A recorded execution with a place in it where the session stands. Lives on the thread that runs the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checker::names::ThreadName;
use ptrace_backend::debuginfo::inspect::Inspector;

use super::breakpoints::{Breakpoints, SetBreakpoint, WantedBreakpoint};
use super::error::DebugError;
use super::live::code::{Code, is_same_file};
use super::live::replica::Replica;
use super::live::stack::{self, StackLine};
use super::live::texts::Texts;
use super::moves::cursor::Cursor;
use super::moves::filters::Filters;
use super::moves::landmarks::Landmarks;
use super::moves::scan_cache::ScanCache;
use super::moves::{back, ending, running, stepping};
use super::recording::{Recording, ThreadLifetime, TraceEvent};
use super::request::{Controls, Direction, Move, Step};
use super::stop::{NextEvent, ProgramOutput, StepPosition, Stop, ThreadLine};
use crate::narrate::locations::Places;
use crate::program::return_line::Body;

/// Everything that a session asks.
pub(crate) struct Debuggee<'p> {
    /// The position of the session in its recording.
    pub(super) cursor: Cursor,
    /// The landmarks that the moves through the program look at.
    pub(super) landmarks: Landmarks<'p>,
    /// The program, or why it cannot be run.
    live: Result<Replica<'p>, String>,
    /// The result of the last look back.
    cache: Option<ScanCache>,
    /// The standard output of the whole execution.
    stdout: Vec<u8>,
    /// Sources as they were.
    pub(super) texts: Texts,
    /// The outermost function of the user's own code in each thread, once known.
    functions: Vec<Option<String>>,
}

impl<'p> Debuggee<'p> {
    /// A session that stands at the failure.
    pub(super) fn new(
        recording: Recording,
        places: Places<'p>,
        live: Result<Replica<'p>, String>,
        texts: Texts,
        controls: &Controls,
    ) -> Self {
        let landmarks = Landmarks {
            code: live.as_ref().map(|replica| Code::of(replica.program, &places)).unwrap_or_default(),
            places,
            body: BTreeSet::new(),
            breakpoints: Breakpoints::default(),
            filters: Filters::default(),
            interrupt: Arc::clone(&controls.interrupt),
        };
        let functions = vec![None; recording.lives.len()];
        let cursor = Cursor::new(recording);
        Self { cursor, landmarks, live, cache: None, stdout: Vec::new(), texts, functions }
    }

    /// Takes in what the whole execution wrote to its standard output, and ends the recording where the program fails, or ends
    /// for its user. `body` is what it consists of for them.
    ///
    /// # Errors
    /// When the program does not do again what was recorded.
    pub(super) fn find_failure(&mut self, stdout: Vec<u8>, body: &Body) -> Result<(), DebugError> {
        self.stdout = stdout;
        let Ok(replica) = &mut self.live else { return Ok(()) };
        ending::find_failure(replica, &self.landmarks, &mut self.cursor, &self.stdout, body)
    }

    /// Makes a move, and says where it ends.
    ///
    /// # Errors
    /// When the move is not possible, or takes too long.
    pub(super) fn go(&mut self, movement: Move) -> Result<Stop, DebugError> {
        // Messages of a move that was broken off are of no interest.
        self.cursor.log.clear();
        let stop = match movement {
            Move::Event(direction) => self.cursor.by_event(direction),
            Move::Switch(direction) => self.cursor.by_switch(direction),
            Move::Line { thread, direction, step } => {
                let thread = self.thread(thread)?;
                Some(match direction {
                    Direction::Forward => self.step(thread, step)?,
                    Direction::Back => self.step_back(thread, step)?,
                })
            }
            Move::Run(direction) => {
                let (live, landmarks) = (self.live.as_mut().ok(), &self.landmarks);
                match direction {
                    Direction::Forward => Some(running::run_on(live, landmarks, &mut self.cursor)?),
                    Direction::Back => running::run_back(live, landmarks, &mut self.cursor)?,
                }
            }
            Move::ToStep(step) => Some(self.cursor.go_to_step(step)?),
            Move::ToBeginning => self.cursor.begin(),
        };
        Ok(stop.unwrap_or_else(|| self.go_to_start()))
    }

    /// Goes where a session begins.
    pub(super) fn begin(&mut self) -> Stop {
        self.cursor.begin().unwrap_or_else(|| self.go_to_start())
    }

    fn go_to_start(&mut self) -> Stop {
        let live = self.live.as_mut().ok();
        let first =
            live.and_then(|replica| running::first_line(replica, &self.landmarks, &self.cursor.recording));
        self.cursor.go_to_start(first)
    }

    /// Steps a thread forward.
    fn step(&mut self, thread: ThreadName, step: Step) -> Result<Stop, DebugError> {
        let cursor = &mut self.cursor;
        let Ok(replica) = &mut self.live else { return Ok(cursor.by_own_event(thread, Direction::Forward)) };
        if cursor.at == cursor.recording.end || !cursor.runs_again(thread) {
            return Ok(cursor.stays(thread, cursor.at.clone()));
        }
        let result = stepping::look_ahead(replica, &self.landmarks, cursor, (thread, step))?;
        Ok(cursor.apply(result, thread))
    }

    /// Steps a thread back: over calls to the line before, into the last line of a call, or out to the line of the call.
    fn step_back(&mut self, thread: ThreadName, step: Step) -> Result<Stop, DebugError> {
        let cursor = &mut self.cursor;
        let Ok(replica) = &mut self.live else { return Ok(cursor.by_own_event(thread, Direction::Back)) };
        let found = back::look_behind(replica, &self.landmarks, cursor, &mut self.cache, (thread, step))?;
        Ok(cursor.go_back(found, thread))
    }

    /// The session's position.
    pub(super) fn standing(&self) -> StepPosition {
        let next = self.cursor.recording.events.at(self.cursor.at.point).map(|event| NextEvent {
            thread: self.cursor.recording.number(event.thread()),
            text: format!("{} {}", self.cursor.recording.label(event.thread()), event.text),
            place: event.place.words(),
        });
        StepPosition {
            step: self.cursor.at.point,
            steps: self.cursor.recording.events.end(),
            thread: self.cursor.recording.number(self.cursor.thread),
            next,
        }
    }

    /// The threads that exist here.
    pub(super) fn threads(&mut self) -> Vec<ThreadLine> {
        self.learn_functions();
        let alive = self.cursor.recording.lives.iter().enumerate().filter(|(_, life)| self.is_alive(life));
        let line = |(index, life): (usize, &ThreadLifetime)| ThreadLine {
            number: index as u32 + 1,
            name: self.name(life, self.functions[index].as_deref()),
        };
        alive.map(line).collect()
    }

    /// Whether a thread exists here. One that ends at its next rest is still on its way there.
    fn is_alive(&self, life: &ThreadLifetime) -> bool {
        let moves = self.cursor.recording.runs_before(self.cursor.at.point) == life.name
            || self.cursor.at.legs.last().is_some_and(|leg| leg.thread == life.name);
        life.is_alive(self.cursor.at.point) || (moves && !self.cursor.at.is_at_rest())
    }

    fn name(&self, life: &ThreadLifetime, function: Option<&str>) -> String {
        let function = function.map(|function| format!(" {function}")).unwrap_or_default();
        let is_on_its_way = self.cursor.at.legs.last().is_some_and(|leg| leg.thread == life.name);
        let moves = is_on_its_way && self.cursor.at != self.cursor.recording.end;
        let state = life.state(self.cursor.at.point).filter(|state| !moves && !state.words.is_empty());
        let state = state.map(|state| format!(" · {}", state.words)).unwrap_or_default();
        format!("{}{function}{state}", life.label)
    }

    /// A thread is called after the outermost function of the user's own code in it, which no recording knows.
    fn learn_functions(&mut self) {
        for index in 0..self.functions.len() {
            let life = &self.cursor.recording.lives[index];
            if self.functions[index].is_some() || !self.is_alive(life) {
                continue;
            }
            let name = life.name;
            let stack = self.stack(name).unwrap_or_default();
            self.functions[index] =
                stack.into_iter().rfind(|line| line.is_own && line.id.is_some()).map(|line| line.function);
        }
    }

    /// The thread of a number, if it exists here.
    pub(super) fn thread(&self, number: u32) -> Result<ThreadName, DebugError> {
        let life = self.cursor.recording.thread(number).filter(|life| self.is_alive(life));
        life.map(|life| life.name)
            .ok_or_else(|| DebugError::Unknown(format!("there is no thread {number} here")))
    }

    /// A thread's calls, innermost first.
    pub(super) fn stack(&mut self, thread: ThreadName) -> Result<Vec<StackLine>, DebugError> {
        let mut stack = match &mut self.live {
            Ok(replica) => {
                let copy = replica.go_to(&self.cursor.at, &self.cursor.recording)?;
                stack::live(&copy.inspection, thread, &self.landmarks.places, &self.landmarks.code)
            }
            Err(_) => self.recorded_stack(thread),
        };
        for line in &mut stack {
            line.explored = line.file.as_ref().and_then(|file| self.texts.as_explored(file));
        }
        Ok(stack)
    }

    /// The user's own sources that the program is made of, as far as it is known here: each with the number of its text as
    /// it was explored, where that is another one than the file's.
    pub(super) fn sources(&self) -> Vec<(PathBuf, Option<u64>)> {
        let mut sources: BTreeMap<PathBuf, Option<u64>> = self
            .landmarks
            .code
            .files
            .iter()
            .map(|file| (file.clone(), self.texts.as_explored(file)))
            .collect();
        let is_known = |file: &Path| self.landmarks.code.files.iter().any(|known| is_same_file(known, file));
        let edited = self.texts.edited().into_iter().filter(|(file, _)| !is_known(file));
        sources.extend(edited.map(|(file, number)| (file, Some(number))));
        sources.into_iter().collect()
    }

    /// The place of a thread's next event, or of its last one; at the failure, the place of the failure.
    fn recorded_stack(&self, thread: ThreadName) -> Vec<StackLine> {
        let fault = self.cursor.recording.fault.as_ref().filter(|fault| fault.thread == thread);
        if let Some(place) = fault.and_then(|fault| fault.place.as_ref())
            && self.cursor.at == self.cursor.recording.end
        {
            return vec![stack::recorded(Some(place), &self.landmarks.places)];
        }
        let events = &self.cursor.recording.events;
        let point = self.cursor.at.point.min(events.end());
        let is_own = |event: &TraceEvent| event.thread() == thread;
        let event = events.position_from(point, is_own).or_else(|| events.rposition_before(point, is_own));
        vec![stack::recorded(event.map(|event| &events[event].place), &self.landmarks.places)]
    }

    /// Looks into a thread.
    pub(super) fn look<T>(
        &mut self,
        thread: u32,
        look: impl FnOnce(&Inspector<'_>) -> T,
    ) -> Result<T, DebugError> {
        let thread = self.thread(thread)?;
        let replica = self.live.as_mut().map_err(|why| DebugError::NotLive(why.clone()))?;
        let copy = replica.go_to(&self.cursor.at, &self.cursor.recording)?;
        let gone = || DebugError::Unknown("the thread has ended: it has no variables any more".to_owned());
        copy.inspection.look(thread, look).ok_or_else(gone)
    }

    /// Sets the breakpoints of a file.
    pub(super) fn set_breakpoints(&mut self, file: &Path, wanted: &[WantedBreakpoint]) -> Vec<SetBreakpoint> {
        // It has been looked for others.
        self.cache = None;
        let modules = self.live.as_ref().ok().map(|replica| replica.program.modules());
        let code = modules.as_deref().map(|modules| (&self.landmarks.code, modules));
        self.landmarks.breakpoints.set(file, wanted, code)
    }

    /// The output that the program has written up to here, and that which it has printed and not written yet.
    pub(super) fn written(&mut self) -> Result<ProgramOutput, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(ProgramOutput::default()) };
        let copy = replica.go_to(&self.cursor.at, &self.cursor.recording)?;
        let (mut stdout, stderr, is_cut) = copy.inspection.output();
        let waiting = if is_cut { Vec::new() } else { copy.inspection.unwritten() };
        stdout.extend_from_slice(&waiting);
        let is_lost = self.cursor.at == self.cursor.recording.end && !self.stdout.starts_with(&stdout);
        Ok(ProgramOutput { stdout, stderr, lost: if is_lost { waiting.len() } else { 0 } })
    }
}
