//! Running on, and running back: to the next breakpoint or filter, else to the failure or the start.

use checker::position::Position;

use super::back::{ScanStop, last_stop, log_back};
use super::cursor::Cursor;
use super::landmarks::Landmarks;
use super::scan::Mark;
use crate::debug::error::DebugError;
use crate::debug::live::replica::{Arrival, Replica};
use crate::debug::recording::Recording;
use crate::debug::replay_position::ReplayPosition;
use crate::debug::request::Direction;
use crate::debug::stop::Stop;

/// Runs on; `live` is the program, if it can be run.
pub(in crate::debug) fn run_on(
    live: Option<&mut Replica<'_>>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
) -> Result<Stop, DebugError> {
    let filters = landmarks.filters;
    let found = match live.filter(|_| !landmarks.breakpoints.addresses().is_empty()) {
        Some(replica) => look_ahead_for_breakpoints(replica, landmarks, cursor)?,
        None => cursor.switch(Direction::Forward, |why| filters.wants(why)).map(ScanStop::Switch),
    };
    Ok(match found {
        Some(ScanStop::Breakpoints(at, thread, hits)) => cursor.at_breakpoint(at, thread, hits),
        Some(ScanStop::Switch(step)) => cursor.at_switch(step),
        Some(ScanStop::Line(_)) | None => cursor.go_to_end(),
    })
}

fn look_ahead_for_breakpoints(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
) -> Result<Option<ScanStop>, DebugError> {
    let Cursor { recording, at, log, .. } = cursor;
    let mut scan = landmarks.scan(recording, None);
    let mut look = || {
        let copy = scan.reach(replica, at)?;
        if copy.next_stretch().is_none() {
            copy.set_probes(&scan.probes(at.point), scan.recording)?;
        }
        while let Some(mark) = scan.advance(copy, &[])? {
            match mark {
                Mark::Seen(seen) if seen.ends => {
                    copy.settle_at(&seen.at);
                    return Ok(None);
                }
                Mark::Seen(mut seen) => {
                    log.append(&mut seen.met.log);
                    if !seen.met.hits.is_empty() {
                        scan.stand(copy, &seen)?;
                        return Ok(Some(ScanStop::Breakpoints(seen.at, seen.thread, seen.met.hits)));
                    }
                }
                Mark::Rest(point) if landmarks.filters.stop_at(scan.recording, point) => {
                    return Ok(Some(ScanStop::Switch(point)));
                }
                Mark::Rest(_) => {}
            }
        }
        Ok(None)
    };
    let found = look();
    if found.is_err() {
        replica.discard();
    }
    found
}

/// Runs back; none where nothing is stopped at on the way from the start.
pub(in crate::debug) fn run_back(
    live: Option<&mut Replica<'_>>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
) -> Result<Option<Stop>, DebugError> {
    let filters = landmarks.filters;
    let switch = cursor.switch(Direction::Back, |why| filters.wants(why));
    let found = match live.filter(|_| !landmarks.breakpoints.addresses().is_empty()) {
        Some(replica) => look_behind_for_breakpoints(replica, landmarks, cursor, switch)?,
        None => switch.map(ScanStop::Switch),
    };
    Ok(match found {
        Some(ScanStop::Breakpoints(at, thread, hits)) => Some(cursor.at_breakpoint(at, thread, hits)),
        Some(ScanStop::Switch(step)) => Some(cursor.at_switch(step)),
        Some(ScanStop::Line(_)) | None => None,
    })
}

/// The last breakpoint or filter on the way from the start. Before `since`, nothing is.
fn look_behind_for_breakpoints(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    cursor: &mut Cursor,
    since: Option<Position>,
) -> Result<Option<ScanStop>, DebugError> {
    let Cursor { recording, at, log, .. } = cursor;
    let mut scan = landmarks.scan(recording, None);
    // Breakpoints that are met where the thread changes lie on the way there.
    let copy = match since.and_then(Position::previous) {
        Some(point) if !landmarks.breakpoints.count_hits() => {
            replica.go_to(&ReplayPosition::at_rest(point), recording)?
        }
        _ => replica.anew()?,
    };
    let marks = match scan.marks_to(copy, at) {
        Ok(marks) => marks,
        Err(error) => {
            replica.discard();
            return Err(error);
        }
    };
    let found = last_stop(&marks, at, &landmarks.filters, recording);
    let until = match &found {
        Some(ScanStop::Breakpoints(at, ..)) => Some(at.clone()),
        Some(ScanStop::Switch(point)) => Some(ReplayPosition::at_rest(*point)),
        Some(ScanStop::Line(_)) | None => None,
    };
    log.extend(log_back(&marks, until.as_ref(), at));
    Ok(found)
}

/// The first line of the program, or of the test; none where the compiler has left none before its first key point.
pub(in crate::debug) fn first_line(
    replica: &mut Replica<'_>,
    landmarks: &Landmarks<'_>,
    recording: &Recording,
) -> Option<ReplayPosition> {
    let lines = if landmarks.body.is_empty() { landmarks.lines() } else { landmarks.body.clone() };
    let copy = replica.anew().ok()?;
    copy.set_probes(&lines, recording).ok()?;
    loop {
        match copy.advance(recording) {
            // The harness of a test is no part of it, though it may have a line in the user's file.
            Ok(Arrival::Probe { thread, .. }) if Some(thread) == recording.harness => {}
            Ok(Arrival::Rest) if recording.is_harness(copy.position().point) => {}
            Ok(Arrival::Probe { thread, address, .. }) => {
                let leg = copy.leg(thread, address);
                copy.settle(leg);
                return Some(copy.position());
            }
            Ok(Arrival::Rest) => return Some(copy.position()),
            Ok(Arrival::End) => return None,
            Err(_) => {
                replica.discard();
                return None;
            }
        }
    }
}
