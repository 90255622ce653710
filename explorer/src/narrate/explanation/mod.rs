//! Explanation of a failure: turns what the checker found out into the words of a report.

mod cause;
mod context;
mod deadlock;
mod notifications;
mod phrases;
mod unfinished;

use std::time::Duration;

use checker::explain::{self, ExplanationStage, Missing, ObservedAccess, Suspect, WhyMissing};
use checker::limit::Limit;
use checker::position::Position;
use checker::program::Program;
use checker::trace::Trace;

pub(crate) use self::context::ExplanationContext;
use crate::narrate::event_lines::EventLines;
use crate::narrate::stacks::Stacks;
use crate::narrate::user_frames::places_of_events;
use crate::report::Location;
use crate::report::explanation::{
    AccessLine, Compared, Explanation, Original, Pair, PatternLine, PointOfNoReturn,
};
use crate::say::sentence;

/// So many patterns are told.
const PATTERNS: usize = 10;

/// The explanation as a report tells it. `limit` ends what is run for it.
pub(crate) fn explanation(
    context: &ExplanationContext<'_>,
    program: &impl Program,
    (explained, time): (&explain::Explanation, Duration),
    limit: &Limit,
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
    let stacks = Stacks::of(program, trace, seen.map(|seen| seen.position).collect(), limit);
    Explanation {
        sentence: sentence(cause::sentence(
            context,
            &explained.diagnosis,
            unfinished::words(&explained.missing, time).as_deref(),
        )),
        thin: explained.diagnosis.thin,
        minimised: explained.minimised,
        switches: explained.switches,
        depth: explained.depth,
        patterns: suspects.iter().map(|suspect| pattern(context, suspect, trace, &stacks)).collect(),
        // The failing one that is shown counts as well.
        compared: Compared { failing: failing + 1, passing },
        pair: explained.pair.as_ref().map(|pair| self::pair(context, program, explained, pair)),
        no_return: explained.point_of_no_return.map(|point| PointOfNoReturn {
            event: context.side(point.event),
            exhaustive: point.exhaustive,
            before: point.before,
            after: point.after,
        }),
        unfinished: explained.missing.iter().any(unfinished::is_cut),
        missing: explained.missing.iter().map(|missing| sentence(missing_words(missing))).collect(),
        executions: explained.executions,
        original,
    }
}

fn pair(
    context: &ExplanationContext<'_>,
    program: &impl Program,
    explained: &explain::Explanation,
    pair: &explain::CriticalPair,
) -> Pair {
    let at = places_of_events(program, &pair.passing, context.places);
    let event_lines = EventLines::tell(&pair.passing, &at, Some(&explained.finding.failure), context.places);
    Pair {
        swaps: pair.swaps.iter().map(|swap| context.swap(*swap)).collect(),
        failed: pair.failed,
        infeasible: pair.infeasible,
        lanes: event_lines.labels.columns(),
        passing: event_lines.events.into(),
        left_out: None,
        schedule_file: None,
    }
}

fn pattern(
    context: &ExplanationContext<'_>,
    suspect: &Suspect,
    trace: &Trace,
    stacks: &Stacks,
) -> PatternLine {
    let stack = |position: Position| {
        let site = trace.steps[position].event.site;
        stacks.told(position, site, context.places)
    };
    let access = |seen: &ObservedAccess| AccessLine {
        thread: context.labels.label(seen.thread),
        access: if seen.writes { "write" } else { "read" }.to_owned(),
        object: context.object(seen.obj),
        place: context.event(seen.position).map(|event| Location::clone(&event.place)).unwrap_or_default(),
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

/// A stage that came to nothing, and why.
fn missing_words(Missing { stage, why }: &Missing) -> String {
    let stage = match stage {
        ExplanationStage::Patterns => "the patterns of accesses",
        ExplanationStage::CriticalPair => "the critical pair",
        ExplanationStage::Depth => "its bug depth",
        ExplanationStage::PointOfNoReturn => "the point of no return",
    };
    match why {
        WhyMissing::Spent => format!("{stage}: its executions were used up"),
        WhyMissing::Late => format!("{stage}: its time was up"),
        WhyMissing::Stopped => format!("{stage}: it was stopped"),
        WhyMissing::Promoted => format!("{stage}: more key points were found on the way"),
        WhyMissing::Failed(error) => format!("{stage}: {error}"),
    }
}
