//! Steps back by source line of one thread.
//!
//! The lines that a thread came to on its way are found by running through it once more, from a little before where the
//! session stands, and then from further and further back until the line before is found. The marks of that run are kept
//! for the next step back.

use std::collections::BTreeSet;

use checker::names::ThreadName;
use checker::position::Position;

use super::cursor::Cursor;
use super::filters::Filters;
use super::landmarks::Landmarks;
use super::scan::{Mark, Seen};
use super::scan_cache::ScanCache;
use crate::debug::error::DebugError;
use crate::debug::live::code::UserCodePosition;
use crate::debug::live::replica::Replica;
use crate::debug::recording::Recording;
use crate::debug::replay_position::ReplayPosition;
use crate::debug::request::Step;
use crate::debug::stop::{Cause, Stop};

/// So many stretches are looked through first, and one in [`SHARE`] of all. Each look runs everything before it once more,
/// which takes far longer than to look through a few more, for which the next steps back need no look of their own.
const FIRST_WINDOW: usize = 8;
const SHARE: usize = 32;

/// The stop that is found on the way back.
pub(in crate::debug) enum ScanStop {
    Line(ReplayPosition),
    Breakpoints(ReplayPosition, ThreadName, Vec<u64>),
    Switch(Position),
}

impl ScanStop {
    fn position(&self) -> ReplayPosition {
        match self {
            Self::Line(at) | Self::Breakpoints(at, ..) => at.clone(),
            Self::Switch(point) => ReplayPosition::at_rest(*point),
        }
    }
}

impl Cursor {
    /// Stands where a step back has led.
    pub(in crate::debug) fn go_back(&mut self, found: Option<ScanStop>, thread: ThreadName) -> Stop {
        match found {
            Some(ScanStop::Line(at)) => {
                let words = self.step_words(at.point, thread);
                self.arrive(at, thread, Cause::Step, words, None)
            }
            Some(ScanStop::Breakpoints(at, thread, hits)) => self.at_breakpoint(at, thread, hits),
            Some(ScanStop::Switch(step)) => self.at_switch(step),
            None => self.begins_here(thread),
        }
    }
}

/// Looks for where a step back of a thread leads: over calls to the line before, into the last line of a call, or out to the
/// line of the call. `passed` is what the last look has seen.
pub(in crate::debug) fn look_behind(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
    passed: &mut Option<ScanCache>,
    (thread, step): (ThreadName, Step),
) -> Result<Option<ScanStop>, DebugError> {
    let Cursor { recording, at, log: said, .. } = cursor;
    let copy = replica.go_to(at, recording)?;
    let here = landmarks.code.here(&copy.inspection, thread, &landmarks.places);
    let lines: BTreeSet<u64> = match step {
        Step::Over | Step::Out if here.is_some() => landmarks.code.of_stack(&copy.inspection, thread),
        _ => landmarks.lines(),
    };
    let mut scan = landmarks.scan(recording, Some((thread, lines)));
    let ends = Position::START.until(at.point.next());
    let stretches: Vec<Position> = ends.filter(|&end| scan.may_run(thread, end)).collect();
    let find = |marks: &[Mark], is_all| {
        let begins = |mark: &Mark| matches!(mark, Mark::Seen(seen) if landmarks.body.contains(&seen.address));
        let start = marks.iter().position(begins).filter(|_| is_all).unwrap_or(0);
        let marks = &marks[start..];
        let past = Past { marks, at, thread, step, here: here.as_ref(), is_all };
        let found = past.nearest(past.line(recording)?, &landmarks.filters, recording);
        Some((log_back(marks, Some(&found.position()), at), found))
    };
    let counts = landmarks.breakpoints.count_hits();
    let mut window = if counts { stretches.len() } else { FIRST_WINDOW.max(stretches.len() / SHARE) };
    let known = passed.as_ref().and_then(|it| Some((it.first(), it.marks_to(&scan, at)?)));
    if let Some((first, marks)) = known {
        let looked_at = stretches.iter().filter(|&&end| end >= first).count();
        if let Some((log, found)) = find(&marks, looked_at == stretches.len()) {
            said.extend(log);
            return Ok(Some(found));
        }
        window = window.max(looked_at * 2);
    }
    loop {
        let is_all = window >= stretches.len();
        let first = stretches.get(stretches.len().saturating_sub(window)).copied().unwrap_or(Position::START);
        let copy = match first.previous().filter(|_| !counts) {
            Some(rest) => replica.go_to(&ReplayPosition::at_rest(rest), recording)?,
            None => replica.anew()?,
        };
        let marks = match scan.marks_to(copy, at) {
            Ok(marks) => marks,
            Err(error) => {
                replica.discard();
                return Err(error);
            }
        };
        *passed = ScanCache::new(&scan, first, at, &marks);
        if let Some((log, found)) = find(&marks, is_all) {
            said.extend(log);
            return Ok(Some(found));
        }
        if is_all {
            return Ok(None);
        }
        window *= 2;
    }
}

/// The marks on the way to the session's position.
struct Past<'a> {
    marks: &'a [Mark],
    at: &'a ReplayPosition,
    thread: ThreadName,
    step: Step,
    here: Option<&'a UserCodePosition>,
    /// The marks begin with the beginning of the thread.
    is_all: bool,
}

impl Past<'_> {
    /// The lines that the thread came to, as far as they count for the step.
    fn lines(&self) -> Vec<(usize, &Seen, &UserCodePosition)> {
        let counts = |now: &UserCodePosition| {
            let Some(here) = self.here else { return true };
            let left = now.cfa > here.cfa || (now.cfa == here.cfa && now.depth < here.depth);
            let same = now.cfa == here.cfa && now.depth == here.depth;
            match self.step {
                Step::Over => left || same,
                Step::Into => true,
                Step::Out => left,
            }
        };
        let marks = self.marks.iter().enumerate();
        let lines = marks.filter_map(|(index, mark)| match mark {
            Mark::Seen(seen) if seen.thread == self.thread => Some((index, seen, seen.here.as_ref()?)),
            _ => None,
        });
        lines.filter(|(_, _, now)| counts(now)).collect()
    }

    /// The mark at which the line before begins, or else the thread's first one; none if it may lie further back, or the
    /// thread stands at its first line already.
    fn line(&self, recording: &Recording) -> Option<usize> {
        let first = || self.is_all.then(|| self.first_line(recording)).flatten();
        self.line_before(recording).or_else(first)
    }

    /// The index of the mark at which the thread came to a line first, unless it still stands there.
    fn first_line(&self, recording: &Recording) -> Option<usize> {
        let is_line = |mark: &Mark| matches!(mark, Mark::Seen(seen) if seen.thread == self.thread && seen.here.is_some());
        let first = self.marks.iter().position(is_line)?;
        let Mark::Seen(seen) = &self.marks[first] else { return None };
        (!self.stands_at(first, seen, recording)).then_some(first)
    }

    fn line_before(&self, recording: &Recording) -> Option<usize> {
        let lines = self.lines();
        let mut visit = first_of_visit(&lines, lines.len().checked_sub(1)?);
        // At the very beginning of its line, the thread goes back to the line before.
        if visit + 1 == lines.len() && self.stands_at(lines[visit].0, lines[visit].1, recording) {
            visit = first_of_visit(&lines, visit.checked_sub(1)?);
        }
        (visit > 0 || self.is_all).then(|| lines[visit].0)
    }

    /// Whether the thread still stands where it was seen.
    fn stands_at(&self, index: usize, seen: &Seen, recording: &Recording) -> bool {
        if self.at.legs.last().is_some_and(|leg| leg.thread == self.thread) {
            return index + 1 == self.marks.len();
        }
        let mut since = seen.at.point.until(self.at.point).filter_map(|event| recording.events.at(event));
        seen.rests && since.all(|event| event.thread() != self.thread)
    }

    /// The last place to stop between a mark, or at it, and where the session stands.
    fn nearest(&self, line: usize, filters: &Filters, recording: &Recording) -> ScanStop {
        let Mark::Seen(seen) = &self.marks[line] else { return ScanStop::Line(self.marks[line].position()) };
        let is_rest = |mark: &Mark| matches!(mark, Mark::Rest(point) if *point == seen.at.point);
        let first = if seen.rests { self.marks.iter().position(is_rest).unwrap_or(line) } else { line };
        last_stop(&self.marks[first..], self.at, filters, recording).unwrap_or_else(|| {
            match seen.met.hits.as_slice() {
                [] => ScanStop::Line(seen.at.clone()),
                hits => ScanStop::Breakpoints(seen.at.clone(), seen.thread, hits.to_vec()),
            }
        })
    }
}

/// The first of the arrivals at one line that belong to one visit.
fn first_of_visit(lines: &[(usize, &Seen, &UserCodePosition)], last: usize) -> usize {
    let visited = lines[last].2;
    lines[..last].iter().rposition(|(_, _, here)| *here != visited).map_or(0, |before| before + 1)
}

/// The last of these marks that a breakpoint or a filter stops at; where the session stands is not one of them. Where a
/// thread both hits a breakpoint and gives way to another one, the breakpoint is what comes first on the way forward.
pub(in crate::debug) fn last_stop(
    marks: &[Mark],
    at: &ReplayPosition,
    filters: &Filters,
    recording: &Recording,
) -> Option<ScanStop> {
    let breakpoint = |mark: &Mark| match mark {
        Mark::Seen(seen) if !seen.met.hits.is_empty() => {
            Some(ScanStop::Breakpoints(seen.at.clone(), seen.thread, seen.met.hits.clone()))
        }
        Mark::Seen(_) | Mark::Rest(_) => None,
    };
    let stops = marks.iter().enumerate().rev().filter(|(_, mark)| mark.position() != *at);
    stops.into_iter().find_map(|(index, mark)| match mark {
        Mark::Rest(point) if filters.stop_at(recording, *point) => {
            let before = index.checked_sub(1).map(|before| &marks[before]);
            let same = before.filter(|before| before.position() == mark.position());
            Some(same.and_then(breakpoint).unwrap_or(ScanStop::Switch(*point)))
        }
        _ => breakpoint(mark),
    })
}

/// Messages of log points on the way back from the session's position: the last one first.
pub(in crate::debug) fn log_back(
    marks: &[Mark],
    until: Option<&ReplayPosition>,
    at: &ReplayPosition,
) -> Vec<String> {
    let first = until.and_then(|until| marks.iter().position(|mark| mark.position() == *until));
    let passed = marks[first.unwrap_or(0)..].iter().rev().filter(|mark| mark.position() != *at);
    let log = passed.filter_map(|mark| match mark {
        Mark::Seen(seen) => Some(seen.met.log.iter().rev().cloned()),
        Mark::Rest(_) => None,
    });
    log.flatten().collect()
}
