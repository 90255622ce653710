//! A recorded execution with a place in it where the session stands. Lives on the thread that runs the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use checker::names::ThreadName;
use ptrace_backend::debuginfo::inspect::Inspector;

use super::breakpoints::{Breakpoints, SetBreakpoint, WantedBreakpoint};
use super::code::{Code, is_same_file};
use super::error::DebugError;
use super::passed::Passed;
use super::position::Position;
use super::recording::{Life, Recording};
use super::replica::Replica;
use super::running::Filters;
use super::session::Controls;
use super::stack::{self, StackLine};
use super::stop::{NextEvent, Standing, Stop, ThreadLine, Written};
use super::texts::Texts;
use crate::narrate::locations::Places;

/// Everything that a session asks.
pub(crate) struct Debuggee<'p> {
    pub(super) recording: Recording,
    pub(super) places: Places<'p>,
    /// The program, or why it cannot be run.
    pub(super) live: Result<Replica<'p>, String>,
    pub(super) at: Position,
    /// Whom the last stop was about.
    pub(super) thread: ThreadName,
    /// What the whole execution wrote to its standard output.
    pub(super) stdout: Vec<u8>,
    /// The user's own code; none of it without a program.
    pub(super) code: Code,
    /// Where the function has lines that the program consists of for its user, where that is known: what a test framework
    /// runs before is no part of the session, though some of it is generated into the user's files.
    pub(super) body: BTreeSet<u64>,
    pub(super) breakpoints: Breakpoints,
    pub(super) filters: Filters,
    /// What log points have said since the last stop.
    pub(super) log: Vec<String>,
    /// What the last look back has seen.
    pub(super) passed: Option<Passed>,
    /// Sources as they were.
    pub(super) texts: Texts,
    /// Set from another thread to break a move off.
    pub(super) interrupt: Arc<AtomicBool>,
    /// The outermost function of the user's own code in each thread, once known.
    pub(super) functions: Vec<Option<String>>,
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
        let code = live.as_ref().map(|replica| Code::of(replica.program, &places)).unwrap_or_default();
        let at = recording.end.clone();
        let functions = vec![None; recording.lives.len()];
        let thread = recording.fault.as_ref().map_or_else(|| recording.main(), |fault| fault.thread);
        Self {
            recording,
            places,
            live,
            at,
            thread,
            stdout: Vec::new(),
            code,
            body: BTreeSet::new(),
            breakpoints: Breakpoints::default(),
            filters: Filters::default(),
            log: Vec::new(),
            passed: None,
            texts,
            interrupt: Arc::clone(&controls.interrupt),
            functions,
        }
    }

    /// Says where it stands, about a thread.
    pub(super) fn stop(&mut self, at: Position, thread: ThreadName, stop: Stop) -> Stop {
        self.at = at;
        self.thread = thread;
        stop
    }

    /// Where it stands.
    pub(super) fn standing(&self) -> Standing {
        let next = self.recording.events.get(self.at.events).map(|event| NextEvent {
            thread: self.recording.number(event.thread()),
            text: format!("{} {}", self.recording.label(event.thread()), event.text),
            place: event.place.words(),
        });
        Standing {
            step: self.at.events,
            steps: self.recording.len(),
            thread: self.recording.number(self.thread),
            next,
        }
    }

    /// The threads that exist here.
    pub(super) fn threads(&mut self) -> Vec<ThreadLine> {
        self.learn_functions();
        let alive = self.recording.lives.iter().enumerate().filter(|(_, life)| self.is_alive(life));
        let line = |(index, life): (usize, &Life)| ThreadLine {
            number: index as u32 + 1,
            name: self.name(life, self.functions[index].as_deref()),
        };
        alive.map(line).collect()
    }

    /// Whether a thread exists here. One that ends at its next rest is still on its way there.
    fn is_alive(&self, life: &Life) -> bool {
        let moves = self.recording.runs_before(self.at.events) == life.name
            || self.at.legs.last().is_some_and(|leg| leg.thread == life.name);
        life.is_alive(self.at.events) || (moves && !self.at.is_at_rest())
    }

    fn name(&self, life: &Life, function: Option<&str>) -> String {
        let function = function.map(|function| format!(" {function}")).unwrap_or_default();
        let is_on_its_way = self.at.legs.last().is_some_and(|leg| leg.thread == life.name);
        let moves = is_on_its_way && self.at != self.recording.end;
        let state = life.state(self.at.events).filter(|state| !moves && !state.words.is_empty());
        let state = state.map(|state| format!(" · {}", state.words)).unwrap_or_default();
        format!("{}{function}{state}", life.label)
    }

    /// A thread is called after the outermost function of the user's own code in it, which no recording knows.
    fn learn_functions(&mut self) {
        for index in 0..self.functions.len() {
            let life = &self.recording.lives[index];
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
        let life = self.recording.thread(number).filter(|life| self.is_alive(life));
        life.map(|life| life.name)
            .ok_or_else(|| DebugError::Unknown(format!("there is no thread {number} here")))
    }

    /// A thread's calls, innermost first.
    pub(super) fn stack(&mut self, thread: ThreadName) -> Result<Vec<StackLine>, DebugError> {
        let mut stack = match &mut self.live {
            Ok(replica) => {
                let copy = replica.go_to(&self.at, &self.recording)?;
                stack::live(&copy.inspection, thread, &self.places, &self.code)
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
        let mut sources: BTreeMap<PathBuf, Option<u64>> =
            self.code.files.iter().map(|file| (file.clone(), self.texts.as_explored(file))).collect();
        let is_known = |file: &Path| self.code.files.iter().any(|known| is_same_file(known, file));
        let edited = self.texts.edited().into_iter().filter(|(file, _)| !is_known(file));
        sources.extend(edited.map(|(file, number)| (file, Some(number))));
        sources.into_iter().collect()
    }

    /// Where a thread's next event is, or its last one; at the failure, where it failed.
    fn recorded_stack(&self, thread: ThreadName) -> Vec<StackLine> {
        let fault = self.recording.fault.as_ref().filter(|fault| fault.thread == thread);
        if let Some(place) = fault.and_then(|fault| fault.place.as_ref())
            && self.at == self.recording.end
        {
            return vec![stack::recorded(Some(place), &self.places)];
        }
        let (before, after) = self.recording.events.split_at(self.at.events.min(self.recording.len()));
        let next = after.iter().find(|event| event.thread() == thread);
        let event = next.or_else(|| before.iter().rfind(|event| event.thread() == thread));
        vec![stack::recorded(event.map(|event| &event.place), &self.places)]
    }

    /// Looks into a thread.
    pub(super) fn look<T>(
        &mut self,
        thread: u32,
        look: impl FnOnce(&Inspector<'_>) -> T,
    ) -> Result<T, DebugError> {
        let thread = self.thread(thread)?;
        let replica = self.live.as_mut().map_err(|why| DebugError::NotLive(why.clone()))?;
        let copy = replica.go_to(&self.at, &self.recording)?;
        let gone = || DebugError::Unknown("the thread has ended: it has no variables any more".to_owned());
        copy.inspection.look(thread, look).ok_or_else(gone)
    }

    /// Sets the breakpoints of a file.
    pub(super) fn set_breakpoints(&mut self, file: &Path, wanted: &[WantedBreakpoint]) -> Vec<SetBreakpoint> {
        // It has been looked for others.
        self.passed = None;
        let code = self.live.as_ref().ok().map(|replica| (&self.code, replica.program.modules()));
        self.breakpoints.set(file, wanted, code)
    }

    /// What the program has written up to here, and what it has printed and not written yet.
    pub(super) fn written(&mut self) -> Result<Written, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(Written::default()) };
        let copy = replica.go_to(&self.at, &self.recording)?;
        let (mut stdout, stderr, is_cut) = copy.inspection.output();
        let waiting = if is_cut { Vec::new() } else { copy.inspection.unwritten() };
        stdout.extend_from_slice(&waiting);
        let is_lost = self.at == self.recording.end && !self.stdout.starts_with(&stdout);
        Ok(Written { stdout, stderr, lost: if is_lost { waiting.len() } else { 0 } })
    }
}
