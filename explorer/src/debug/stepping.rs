//! Steps by source line of one thread, both ways. The other threads run as recorded.

use checker::names::ThreadName;

use super::code::{Code, Here};
use super::debuggee::Debuggee;
use super::error::DebugError;
use super::hit_count::Tally;
use super::moves::Direction;
use super::position::Position;
use super::recording::{Stage, State};
use super::replica::Copy;
use super::running::Filters;
use super::scan::{Limit, Mark, Scan, Seen};
use super::stop::{Cause, Stop};

/// How far a step by line goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To another line, past the calls in this one.
    Over,
    /// To another line, also inside of a call.
    Into,
    /// To the caller.
    Out,
}

/// Where a way has come to an end.
enum Met {
    /// The line that was looked for.
    Line(Position),
    Breakpoints(Position, ThreadName, Vec<u64>),
    /// The thread changes before this event, which is stopped at.
    Switch(usize),
    /// The thread ends, or stays blocked, after so many events.
    NoLine(usize),
    End,
}

impl Debuggee<'_> {
    /// Steps a thread forward.
    pub(super) fn step(&mut self, thread: ThreadName, step: Step) -> Result<Stop, DebugError> {
        if self.live.is_err() {
            return Ok(self.by_own_event(thread, Direction::Forward));
        }
        if self.at == self.recording.end || !self.runs_again(thread) {
            return Ok(self.stays(thread, self.at.clone()));
        }
        let met = self.look_ahead(thread, step)?;
        Ok(self.meet(met, thread))
    }

    fn meet(&mut self, met: Met, thread: ThreadName) -> Stop {
        match met {
            Met::Line(at) => {
                let words = self.step_words(at.events, thread);
                self.arrive(at, thread, Cause::Step, words, None)
            }
            Met::Breakpoints(at, thread, hits) => self.at_breakpoint(at, thread, hits),
            Met::Switch(step) => self.at_switch(step),
            Met::NoLine(events) => self.stays(thread, Position::at_rest(events)),
            Met::End => {
                let fails = self.recording.fault.as_ref().is_none_or(|fault| fault.thread == thread);
                if fails { self.go_to_end() } else { self.stays(thread, self.recording.end.clone()) }
            }
        }
    }

    pub(super) fn at_breakpoint(&mut self, at: Position, thread: ThreadName, hits: Vec<u64>) -> Stop {
        let words = self.step_words(at.events, thread);
        self.arrive(at, thread, Cause::Breakpoints(hits), words, None)
    }

    /// Whether a thread runs between here and the end.
    fn runs_again(&self, thread: ThreadName) -> bool {
        let later = self.recording.events.iter().skip(self.at.events);
        let born = self.recording.life(thread).and_then(|life| life.states.first()).map(|(from, _)| *from);
        let is_on_its_way = self.at.legs.last().is_some_and(|leg| leg.thread == thread);
        later.map(|event| event.thread()).any(|runs| runs == thread)
            || is_on_its_way
            || (!self.at.is_at_rest() && born == Some(self.at.events))
    }

    /// A thread does not get to another line.
    fn stays(&mut self, thread: ThreadName, at: Position) -> Stop {
        let label = self.recording.label(thread);
        let state = self.recording.life(thread).and_then(|life| life.state(at.events)).cloned();
        let (at, thread, words) = match state.as_ref().map(|state| (state.stage, state)) {
            Some((Stage::Blocked, state)) => (at, thread, stays_so(&label, state)),
            Some((Stage::Ready, _)) if self.recording.fault.is_none() && thread == self.thread_at_end() => {
                return self.go_to_end();
            }
            Some((Stage::Ready, _)) => {
                let end = self.recording.end.clone();
                (end, thread, format!("{label} does not run again before {}", self.recording.end_word()))
            }
            Some((Stage::Failed, _)) => return self.go_to_end(),
            Some((Stage::Ended, _)) | None => {
                let later = self.recording.events.iter().skip(at.events).map(|event| event.thread());
                let next = later.into_iter().find(|runs| Some(*runs) != self.recording.harness);
                let failed = self.recording.fault.as_ref().map(|fault| fault.thread);
                let other = next.or(failed).unwrap_or_else(|| self.recording.main());
                (at, other, format!("{label} has ended · switched to {}", self.recording.label(other)))
            }
        };
        self.arrive(at, thread, Cause::Step, words, None)
    }

    fn look_ahead(&mut self, thread: ThreadName, step: Step) -> Result<Met, DebugError> {
        let Ok(replica) = &mut self.live else { return Ok(Met::End) };
        let copy = replica.go_to(&self.at, &self.recording)?;
        let here = self.code.here(&copy.inspection, thread, &self.places);
        let lines = match step {
            Step::Into => self.code.all().map(|statement| statement.address).collect(),
            _ if here.is_none() => self.code.all().map(|statement| statement.address).collect(),
            Step::Over => self.code.of_stack(&copy.inspection, thread),
            Step::Out => {
                let mut lines = self.code.of_stack(&copy.inspection, thread);
                let cfa = here.as_ref().map_or(0, |here| here.cfa);
                lines.extend(Code::returns_to(&copy.inspection, thread, cfa, &self.places));
                lines
            }
        };
        let scan = Scan {
            recording: &self.recording,
            places: &self.places,
            code: &self.code,
            thread: Some((thread, lines)),
            breakpoints: &self.breakpoints,
            tally: Tally::default(),
            limit: Limit::new(&self.interrupt),
        };
        let mut way = Way { scan, thread, step, here, filters: &self.filters, log: &mut self.log };
        let result = way.scan.reach(replica, &self.at).and_then(|copy| way.go(copy));
        // Where a way breaks off is no place to stand.
        if result.is_err() {
            replica.discard();
        }
        result
    }

    /// Without a program: to the next or previous event of the thread.
    pub(super) fn by_own_event(&mut self, thread: ThreadName, direction: Direction) -> Stop {
        let events = &self.recording.events;
        let is_own = |step: &usize| events[*step].thread() == thread;
        let found = match direction {
            // Its event at hand is where it stands: the next one is where it stands after that.
            Direction::Forward => (self.at.events..events.len()).find(is_own).map(|step| step + 1),
            Direction::Back => (0..self.at.events.min(events.len())).rev().find(is_own),
        };
        match found {
            Some(step) if step < events.len() => {
                let words = self.step_words(step, thread);
                self.arrive(Position::at_rest(step), thread, Cause::Step, words, None)
            }
            Some(_) => self.go_to_end(),
            None if direction == Direction::Back => self.begins_here(thread),
            None => self.stays(thread, self.at.clone()),
        }
    }

    pub(super) fn begins_here(&mut self, thread: ThreadName) -> Stop {
        let words = format!("{} begins here", self.recording.label(thread));
        self.arrive(self.at.clone(), thread, Cause::Step, words, None)
    }
}

/// That a thread does not go on.
fn stays_so(label: &str, state: &State) -> String {
    let how = if state.adjective { "stays" } else { "still" };
    format!("{label} {how} {}", state.words)
}

/// The way to a thread's next line.
struct Way<'a> {
    scan: Scan<'a>,
    thread: ThreadName,
    step: Step,
    here: Option<Here>,
    filters: &'a Filters,
    /// What log points say on the way.
    log: &'a mut Vec<String>,
}

impl Way<'_> {
    /// Where it ends: there the copy stands.
    fn go(&mut self, copy: &mut Copy) -> Result<Met, DebugError> {
        if copy.next_stretch().is_none() {
            copy.set_probes(&self.scan.probes(copy.position().events), self.scan.recording)?;
        }
        // The thread has come to a line that is a key point: it is about to rest there.
        let mut line = false;
        loop {
            let Some(mark) = self.scan.advance(copy, &[])? else { return Ok(Met::End) };
            match mark {
                Mark::Seen(seen) if seen.ends => {
                    copy.settle_at(&seen.at);
                    return Ok(Met::End);
                }
                Mark::Seen(mut seen) => {
                    self.log.append(&mut seen.met.log);
                    if !seen.met.hits.is_empty() {
                        self.scan.stand(copy, &seen)?;
                        return Ok(Met::Breakpoints(seen.at, seen.thread, seen.met.hits));
                    }
                    if seen.thread == self.thread && self.is_wanted(&seen) {
                        if !seen.rests {
                            self.scan.stand(copy, &seen)?;
                            return Ok(Met::Line(seen.at));
                        }
                        line = true;
                    }
                }
                Mark::Rest(events) if line => return Ok(Met::Line(Position::at_rest(events))),
                Mark::Rest(events) if self.filters.stop_at(self.scan.recording, events) => {
                    return Ok(Met::Switch(events));
                }
                Mark::Rest(events) if self.is_over(events) => return Ok(Met::NoLine(events)),
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
    fn is_over(&self, events: usize) -> bool {
        let recording = self.scan.recording;
        let state = recording.life(self.thread).and_then(|life| life.state(events));
        let later = recording.events.iter().skip(events);
        match state.map(|state| state.stage) {
            Some(Stage::Ended) | None => true,
            Some(Stage::Blocked) => later.map(|event| event.thread()).all(|runs| runs != self.thread),
            Some(Stage::Ready | Stage::Failed) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_thread_is_said_in_a_sentence() {
        let state =
            |words: &str, adjective| State { adjective, ..State::new(Stage::Blocked, words.to_owned()) };
        for (state, expected) in [
            (state("blocked on lock m", true), "T1 stays blocked on lock m"),
            (state("spins until turn changes", false), "T1 still spins until turn changes"),
            (state("waits for T2 to end", false), "T1 still waits for T2 to end"),
        ] {
            assert_eq!(stays_so("T1", &state), expected);
        }
    }
}
