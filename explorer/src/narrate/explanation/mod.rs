//! From what the checker found out about a failure to what a report says.

mod cause;
mod deadlock;
mod notifications;

use checker::explain::{self, Missing, Second, Seen, Stage, Suspect, Swap, WhyMissing};
use checker::failure::Failure;
use checker::names::ThreadName;
use checker::seam::Program;
use checker::trace::Trace;

use crate::narrate::event_lines::Story;
use crate::narrate::locations::Places;
use crate::narrate::phrasing::Words;
use crate::narrate::stacks::Stacks;
use crate::narrate::thread_labels::Lanes;
use crate::narrate::user_frames::places_of_events;
use crate::report::explanation::{
    AccessLine, Compared, Explanation, NoReturn, Original, Pair, PatternLine, Side,
};
use crate::report::{EventLine, Finding, Location};
use crate::say::sentence;

/// So many patterns are told.
const PATTERNS: usize = 10;

/// An explanation, and the finding with its schedule as it is told.
pub(crate) struct Telling<'a> {
    pub(crate) told: &'a Finding,
    pub(crate) failure: &'a Failure,
    pub(crate) lanes: Lanes,
    pub(crate) places: &'a Places<'a>,
}

impl<'a> Telling<'a> {
    pub(crate) fn new(
        explained: &'a explain::Explanation,
        told: &'a Finding,
        places: &'a Places<'a>,
    ) -> Self {
        let lanes = Lanes::of(explained.finding.trace.threads.iter().copied(), places.source().harness());
        Self { told, failure: &explained.finding.failure, lanes, places }
    }

    /// What the report says.
    pub(crate) fn explanation(
        &self,
        program: &impl Program,
        explained: &explain::Explanation,
    ) -> Explanation {
        let original = explained.original.as_ref().map(|trace| Original {
            preemptions: trace.preemptions(),
            events: trace.steps.len() as u64,
            schedule_file: None,
        });
        let (failing, passing) = explained.compared;
        let trace = &explained.finding.trace;
        let suspects = &explained.suspects[..explained.suspects.len().min(PATTERNS)];
        let seen = suspects.iter().flat_map(|suspect| &suspect.seen);
        let stacks = Stacks::of(program, trace, seen.map(|seen| seen.position).collect());
        Explanation {
            sentence: sentence(cause::sentence(self, &explained.diagnosis)),
            thin: explained.diagnosis.thin,
            minimised: explained.minimised,
            switches: explained.switches,
            depth: explained.depth,
            patterns: suspects.iter().map(|suspect| self.pattern(suspect, trace, &stacks)).collect(),
            // The failing one that is shown counts as well.
            compared: Compared { failing: failing + 1, passing },
            pair: explained.pair.as_ref().map(|pair| self.pair(program, explained, pair)),
            no_return: explained.no_return.map(|point| NoReturn {
                event: self.side(point.event),
                exhaustive: point.exhaustive,
                before: point.before,
                after: point.after,
            }),
            missing: explained.missing.iter().map(|missing| sentence(missing_words(missing))).collect(),
            executions: explained.executions,
            original,
        }
    }

    fn pair(
        &self,
        program: &impl Program,
        explained: &explain::Explanation,
        pair: &explain::CriticalPair,
    ) -> Pair {
        let at = places_of_events(program, &pair.passing, self.places);
        let story = Story::tell(&pair.passing, &at, &explained.finding.failure, self.places);
        Pair {
            swaps: pair.swaps.iter().map(|swap| self.swap(*swap)).collect(),
            failed: pair.failed,
            infeasible: pair.infeasible,
            lanes: story.lanes.columns(),
            passing: story.events.into(),
            schedule_file: None,
        }
    }

    fn pattern(&self, suspect: &Suspect, trace: &Trace, stacks: &Stacks) -> PatternLine {
        let stack = |position: u32| {
            let site = trace.steps[position as usize].event.site;
            stacks.told(position, site, self.places)
        };
        let access = |seen: &Seen| AccessLine {
            thread: self.lanes.label(seen.thread),
            access: if seen.writes { "write" } else { "read" }.to_owned(),
            object: self.object(seen.obj),
            place: self.event(seen.position).map(|event| Location::clone(&event.place)).unwrap_or_default(),
            stack: stack(seen.position),
        };
        PatternLine {
            rank: suspect.rank,
            tied: suspect.tied,
            score: suspect.score,
            failing: suspect.failing,
            passing: suspect.passing,
            accesses: suspect.seen.iter().map(access).collect(),
        }
    }

    pub(crate) fn swap(&self, swap: Swap) -> [Side; 2] {
        let second = match swap.second {
            Second::Event(position) => self.side(position),
            Second::Pending(thread) => self.left(thread),
        };
        [self.side(swap.first), second]
    }

    /// The event at a position of the trace.
    pub(crate) fn event(&self, position: u32) -> Option<&EventLine> {
        self.told.events.iter().find(|event| event.number == position)
    }

    fn side(&self, position: u32) -> Side {
        let event = self.event(position);
        Side {
            number: Some(position),
            thread: event.map(|event| event.thread.to_string()).unwrap_or_default(),
            text: event.map(|event| event.text.to_string()).unwrap_or_default(),
            place: event.map(|event| Location::clone(&event.place)).unwrap_or_default(),
        }
    }

    /// What a thread was left with.
    pub(crate) fn left(&self, thread: ThreadName) -> Side {
        let label = self.lanes.label(thread);
        let party = self.told.parties.iter().find(|party| party.thread == label);
        Side {
            number: None,
            thread: label,
            text: party.map(|party| party.doing.clone()).unwrap_or_default(),
            place: party.and_then(|party| party.stack.first().cloned()).unwrap_or_default(),
        }
    }

    /// An object, in backquotes.
    pub(crate) fn object(&self, obj: checker::names::Obj) -> String {
        self.words().object(obj)
    }

    pub(crate) fn words(&self) -> Words<'_> {
        Words { lanes: &self.lanes, source: self.places.source() }
    }
}

/// A stage that came to nothing, and why.
fn missing_words(Missing { stage, why }: &Missing) -> String {
    let stage = match stage {
        Stage::Patterns => "the patterns of accesses",
        Stage::CriticalPair => "the critical pair",
        Stage::Depth => "its bug depth",
        Stage::NoReturn => "the point of no return",
    };
    match why {
        WhyMissing::Spent => format!("{stage}: its executions were used up"),
        WhyMissing::Late => format!("{stage}: its time was up"),
        WhyMissing::Stopped => format!("{stage}: it was stopped"),
        WhyMissing::Promoted => format!("{stage}: more key points were found on the way"),
        WhyMissing::Failed(error) => format!("{stage}: {error}"),
    }
}
