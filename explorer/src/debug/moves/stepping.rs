//! Steps by source line of one thread, both ways. The other threads run as recorded.

use checker::names::ThreadName;
use checker::position::Position;

use super::cursor::Cursor;
use super::filters::Filters;
use super::landmarks::Landmarks;
use super::scan::{Mark, Scan, Seen};
use crate::debug::error::DebugError;
use crate::debug::live::code::{Code, UserCodePosition};
use crate::debug::live::replica::{LiveCopy, Replica};
use crate::debug::recording::Stage;
use crate::debug::replay_position::ReplayPosition;
use crate::debug::request::Step;
use crate::debug::stop::{Cause, Stop};

/// The end of a way.
pub(in crate::debug) enum StepResult {
    /// The line that was looked for.
    Line(ReplayPosition),
    Breakpoints(ReplayPosition, ThreadName, Vec<u64>),
    /// The thread changes before this event, which is stopped at.
    Switch(Position),
    /// The thread ends, or stays blocked, at this point.
    NoLine(Position),
    End,
}

impl Cursor {
    /// Stands where a step forward has led.
    pub(in crate::debug) fn apply(&mut self, met: StepResult, thread: ThreadName) -> Stop {
        match met {
            StepResult::Line(at) => {
                let words = self.step_words(at.point, thread);
                self.arrive(at, thread, Cause::Step, words, None)
            }
            StepResult::Breakpoints(at, thread, hits) => self.at_breakpoint(at, thread, hits),
            StepResult::Switch(step) => self.at_switch(step),
            StepResult::NoLine(point) => self.stays(thread, ReplayPosition::at_rest(point)),
            StepResult::End => {
                let fails = self.recording.fault.as_ref().is_none_or(|fault| fault.thread == thread);
                if fails { self.go_to_end() } else { self.stays(thread, self.recording.end.clone()) }
            }
        }
    }
}

/// Runs a thread to the end of a step: to another line, or to what is stopped at before.
pub(in crate::debug) fn look_ahead(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
    (thread, step): (ThreadName, Step),
) -> Result<StepResult, DebugError> {
    let code = &landmarks.code;
    let copy = replica.go_to(&cursor.at, &cursor.recording)?;
    let here = code.here(&copy.inspection, thread, &landmarks.places);
    let lines = match step {
        Step::Into => landmarks.lines(),
        _ if here.is_none() => landmarks.lines(),
        Step::Over => code.of_stack(&copy.inspection, thread),
        Step::Out => {
            let mut lines = code.of_stack(&copy.inspection, thread);
            let cfa = here.as_ref().map_or(0, |here| here.cfa);
            lines.extend(Code::returns_to(&copy.inspection, thread, cfa, &landmarks.places));
            lines
        }
    };
    let scan = landmarks.scan(&cursor.recording, Some((thread, lines)));
    let (filters, log) = (&landmarks.filters, &mut cursor.log);
    let mut step_scan = StepScan { scan, thread, step, here, filters, log };
    let result = step_scan.scan.reach(replica, &cursor.at).and_then(|copy| step_scan.go(copy));
    // A copy whose way breaks off stands at no position.
    if result.is_err() {
        replica.discard();
    }
    result
}

/// The way to a thread's next line.
struct StepScan<'a> {
    scan: Scan<'a>,
    thread: ThreadName,
    step: Step,
    here: Option<UserCodePosition>,
    filters: &'a Filters,
    /// Messages of log points on the way.
    log: &'a mut Vec<String>,
}

impl StepScan<'_> {
    /// Follows the way to its end: there the copy stands.
    fn go(&mut self, copy: &mut LiveCopy) -> Result<StepResult, DebugError> {
        if copy.next_stretch().is_none() {
            copy.set_probes(&self.scan.probes(copy.position().point), self.scan.recording)?;
        }
        // The thread has come to a line that is a key point: it is about to rest there.
        let mut line = false;
        loop {
            let Some(mark) = self.scan.advance(copy, &[])? else { return Ok(StepResult::End) };
            match mark {
                Mark::Seen(seen) if seen.ends => {
                    copy.settle_at(&seen.at);
                    return Ok(StepResult::End);
                }
                Mark::Seen(mut seen) => {
                    self.log.append(&mut seen.met.log);
                    if !seen.met.hits.is_empty() {
                        self.scan.stand(copy, &seen)?;
                        return Ok(StepResult::Breakpoints(seen.at, seen.thread, seen.met.hits));
                    }
                    if seen.thread == self.thread && self.is_wanted(&seen) {
                        if !seen.rests {
                            self.scan.stand(copy, &seen)?;
                            return Ok(StepResult::Line(seen.at));
                        }
                        line = true;
                    }
                }
                Mark::Rest(point) if line => return Ok(StepResult::Line(ReplayPosition::at_rest(point))),
                Mark::Rest(point) if self.filters.stop_at(self.scan.recording, point) => {
                    return Ok(StepResult::Switch(point));
                }
                Mark::Rest(point) if self.is_over(point) => return Ok(StepResult::NoLine(point)),
                Mark::Rest(_) => {}
            }
        }
    }

    /// Whether an arrival is the line that is looked for.
    fn is_wanted(&self, seen: &Seen) -> bool {
        let Some(now) = &seen.here else { return false };
        let Some(here) = &self.here else { return true };
        let other_line = (&now.file, now.line) != (&here.file, here.line);
        let left = now.cfa > here.cfa || (now.cfa == here.cfa && now.depth < here.depth);
        let same = now.cfa == here.cfa && now.depth == here.depth;
        match self.step {
            Step::Out => left,
            Step::Over => left || (same && other_line),
            Step::Into => left || other_line || now.cfa < here.cfa,
        }
    }

    /// Whether the thread gets to no line any more.
    fn is_over(&self, point: Position) -> bool {
        let recording = self.scan.recording;
        let state = recording.life(self.thread).and_then(|life| life.state(point));
        match state.map(|state| state.stage) {
            Some(Stage::Ended) | None => true,
            Some(Stage::Blocked) => recording.threads_since(point).all(|runs| runs != self.thread),
            Some(Stage::Ready | Stage::Failed) => false,
        }
    }
}
