//! Place of the failure in an execution whose process only ends later: the beginning of the first panic, the line at which
//! an expectation of a test is seen to fail, or the line at which `main` or a test returns what makes the exit code. The
//! session ends there; the execution after it tells of the failure, and is no part of it. Where nothing fails it ends at
//! the last line of `main` or the test.

use std::collections::BTreeSet;

use checker::failure::FailureKind;
use checker::names::ThreadName;
use checker::position::Position;

use super::cursor::Cursor;
use super::landmarks::Landmarks;
use crate::debug::error::DebugError;
use crate::debug::live::code::is_same_file;
use crate::debug::live::replica::{Arrival, LiveCopy, Replica};
use crate::debug::live::stack;
use crate::debug::recording::Recording;
use crate::debug::replay_position::{Leg, ReplayPosition};
use crate::program::return_line::Body;
use crate::program::test_output::{Expectation, failed_expectation};

/// Looks for the place of the failure, and has the session stand there, where the recording ends from then on. `body` is the
/// part of the program that is its user's, `stdout` the standard output of the whole execution.
pub(in crate::debug) fn find_failure(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
    stdout: &[u8],
    body: &Body,
) -> Result<(), DebugError> {
    let Cursor { recording, at, thread, .. } = cursor;
    let found = Ending { replica, landmarks, recording, at, thread: *thread, stdout }.look_for_failure(body);
    // Wherever the copy stands, it is no position of the session's.
    replica.discard();
    if let Some((place, failed)) = found? {
        recording.end_at(place.clone(), failed);
        (*at, *thread) = (place, failed);
    }
    Ok(())
}

/// The inputs of the search for a session's end.
struct Ending<'a, 'p> {
    replica: &'a mut Replica<'p>,
    landmarks: &'a Landmarks<'a>,
    recording: &'a mut Recording,
    /// The end of the execution, and its thread.
    at: &'a ReplayPosition,
    thread: ThreadName,
    stdout: &'a [u8],
}

impl Ending<'_, '_> {
    fn look_for_failure(&mut self, body: &Body) -> Result<Option<(ReplayPosition, ThreadName)>, DebugError> {
        Ok(match self.recording.fault.as_ref().map(|fault| fault.kind) {
            Some(FailureKind::Panic) => self.first_panic()?,
            Some(FailureKind::ExitCode) => match failed_expectation(self.stdout) {
                Some(expectation) => {
                    let found = self.failed_line(&expectation)?;
                    if let (Some(_), Some(fault)) = (&found, &mut self.recording.fault) {
                        fault.message = expectation.message();
                    }
                    found
                }
                None if self.ends_in_own_code()? => None,
                None => self.last_line(body),
            },
            Some(_) => None,
            None => Some(self.last_place(body)),
        })
    }

    /// The end of an execution that passes: the last line of `main`, or of the test; where other threads run on after that,
    /// and where there is no such line, the last event at which a thread is left.
    fn last_place(&mut self, body: &Body) -> (ReplayPosition, ThreadName) {
        let line = self.last_line(body).filter(|(at, thread)| {
            let mut later = self.recording.threads_since(at.point);
            later.all(|runs| runs == *thread || Some(runs) == self.recording.harness)
        });
        line.unwrap_or_else(|| {
            let recording = &*self.recording;
            let is_left = |point: &Position| recording.lives.iter().any(|life| life.is_alive(*point));
            let points = Position::START.until(recording.events.end().next());
            let point = points.rev().find(is_left).unwrap_or(Position::START);
            (ReplayPosition::at_rest(point), recording.shown_at(point))
        })
    }

    /// Whether the thread that failed still is in the user's own code: a thread that exits there shows the place.
    fn ends_in_own_code(&mut self) -> Result<bool, DebugError> {
        let copy = self.replica.go_to(self.at, self.recording)?;
        let stack = stack::live(&copy.inspection, self.thread, &self.landmarks.places, &self.landmarks.code);
        Ok(stack.iter().any(|line| line.is_own))
    }

    /// The position at which `main`, or the test, comes to the last of its lines.
    fn last_line(&mut self, body: &Body) -> Option<(ReplayPosition, ThreadName)> {
        let events = self.recording.events.iter();
        let schedule: Vec<_> = events.map(|event| (event.choice, event.key.clone())).collect();
        let last = self.replica.alone(|program, restore| body.last_visit(program, &schedule, restore).0)?;
        let leg = Leg { thread: last.thread, address: last.address, count: last.count };
        let legs = if last.rests { Vec::new() } else { vec![leg] };
        Some((ReplayPosition { point: Position::after(last.events), legs }, last.thread))
    }

    /// The position at which the first panic has printed its message, and is about to unwind.
    fn first_panic(&mut self) -> Result<Option<(ReplayPosition, ThreadName)>, DebugError> {
        let panics = self.replica.program.panics();
        let copy = self.replica.anew()?;
        copy.set_probes(&panics, self.recording)?;
        loop {
            match copy.advance(self.recording)? {
                Arrival::Probe { thread, address, .. } => {
                    return Ok(Some((arrived(copy, thread, address, false), thread)));
                }
                Arrival::Rest => {}
                Arrival::End => return Ok(None),
            }
        }
    }

    /// The last time that a thread comes to the line of an expectation before the framework says that it has failed.
    fn failed_line(
        &mut self,
        failed: &Expectation,
    ) -> Result<Option<(ReplayPosition, ThreadName)>, DebugError> {
        let file = self.landmarks.places.of_named(&failed.file, failed.line).and_then(|place| place.file);
        let Some(file) = file.map(|file| self.landmarks.places.absolute(&file)) else { return Ok(None) };
        let is_it: Vec<bool> =
            self.landmarks.code.files.iter().map(|known| is_same_file(known, &file)).collect();
        let line = self.landmarks.code.all().filter(|it| is_it[it.file] && it.line == failed.line);
        let line: BTreeSet<u64> = line.map(|statement| statement.address).collect();
        let copy = self.replica.anew()?;
        copy.set_probes(&line, self.recording)?;
        let mut found = None;
        let mut read = 0;
        loop {
            let arrival = copy.advance(self.recording)?;
            // Some frameworks leave it to the end of the program to write what they have printed.
            let (mut stdout, _, _) = copy.inspection.output();
            stdout.extend(copy.inspection.unwritten());
            let is_said = stdout.len() > read && failed_expectation(&stdout).is_some();
            read = stdout.len();
            match arrival {
                _ if is_said => return Ok(found),
                Arrival::Probe { thread, address, rests, .. } => {
                    found = Some((arrived(copy, thread, address, rests), thread));
                }
                Arrival::Rest => {}
                Arrival::End => return Ok(found),
            }
        }
    }
}

/// The position of a copy that stands at a probe.
fn arrived(copy: &LiveCopy, thread: ThreadName, address: u64, rests: bool) -> ReplayPosition {
    let ReplayPosition { point, mut legs } = copy.position();
    if !rests {
        legs.push(copy.leg(thread, address));
    }
    ReplayPosition { point, legs }
}
