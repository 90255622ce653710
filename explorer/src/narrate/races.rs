//! Data races of a search as a report tells them: both accesses with their stacks, which one more execution shows, once per
//! pair of lines and variable.

use checker::limit::Limit;
use checker::position::Position;
use checker::program::Program;
use checker::race::{AccessSite, HarmfulOrder, Pairs, RacingPair};
use checker::search::SearchOutcome;

use crate::narrate::locations::Places;
use crate::narrate::run_again::RunAgain;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::stacks::Stacks;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::plural::plural;
use crate::report::{Race, RaceKind, RacingAccess};
use crate::say::sentence;

/// Drops the races of a search that are none by what takes no part in scheduling: the synchronisation of libraries, and what
/// only the text of the source calls atomic. Those that there is no time for stay, and are uncertain.
pub(crate) fn confirm(
    program: &impl Program,
    found: &mut Pairs,
    places: &Places<'_>,
    limit: &Limit,
) -> RunAgain {
    let mut again = RunAgain::default();
    found.confirm(|trace, events| again.find_out(program, (trace, events), places, limit));
    again
}

/// The races of a search. Accesses on the same lines of the same variable are one.
pub(crate) fn report(found: &[RacingPair], again: &RunAgain, places: &Places<'_>) -> Vec<Race> {
    let mut races: Vec<Race> = Vec::new();
    let unknown = Stacks::default();
    for pair in found {
        let stacks = again.stacks(&pair.trace).unwrap_or(&unknown);
        let race = RaceContext::new(pair, stacks, places).race();
        match races.iter_mut().find(|known| is_same(known, &race)) {
            Some(known) => merge(known, race),
            None => races.push(race),
        }
    }
    races
}

/// Number of pairs in which an access may be found half done, the synchronisation of libraries taken into account.
pub(crate) fn torn(program: &impl Program, outcome: &SearchOutcome, limit: &Limit) -> u64 {
    outcome
        .torn
        .confirm(outcome.races.variables(), |trace, events| Stacks::of(program, trace, events, limit).hidden)
}

/// Whether two races are between the same lines and about the same variable.
fn is_same(a: &Race, b: &Race) -> bool {
    let lines = |race: &Race| {
        let mut lines = race.accesses.each_ref().map(|access| access.place.words());
        lines.sort();
        lines
    };
    a.variable == b.variable && lines(a) == lines(b)
}

fn merge(known: &mut Race, race: Race) {
    known.certain |= race.certain;
    if race.harmful && !known.harmful {
        known.harmful = true;
        known.harm = race.harm;
    }
}

struct RaceContext<'a> {
    pair: &'a RacingPair,
    stacks: &'a Stacks,
    places: &'a Places<'a>,
    labels: ThreadLabels,
}

impl<'a> RaceContext<'a> {
    fn new(pair: &'a RacingPair, stacks: &'a Stacks, places: &'a Places<'a>) -> Self {
        let labels = ThreadLabels::of(pair.trace.threads.iter().copied(), places.source().harness());
        Self { pair, stacks, places, labels }
    }

    fn race(&self) -> Race {
        let words = Phrasing { labels: &self.labels, source: self.places.source() };
        let variable = words.name(self.pair.obj());
        let also_called = words.other_names(self.pair.obj());
        let accesses = self.pair.race.events.map(|at| self.access(at));
        let certain = self.pair.certain;
        let [first, second] = &accesses;
        let what = if certain { "data race" } else { "unordered accesses (may be atomic)" };
        let message = sentence(format!(
            "{what}: {} {} `{variable}` and {} {} it, and nothing orders the two",
            at(first),
            self.verb(0),
            at(second),
            self.verb(1)
        ));
        let harm = self.pair.harm.as_ref().map(|harm| sentence(self.harm(harm, &accesses)));
        let harmful = harm.is_some();
        Race { kind: RaceKind::Race, message, variable, also_called, certain, harmful, harm, accesses }
    }

    fn verb(&self, nth: usize) -> &'static str {
        if self.pair.race.places[nth].writes { "writes" } else { "reads" }
    }

    fn access(&self, at: Position) -> RacingAccess {
        let event = &self.pair.trace.steps[at].event;
        let stack = self.stacks.told(at, event.site, self.places);
        let place = stack.first().cloned().unwrap_or_else(|| self.places.of_site(event.site));
        let thread = self.labels.label(event.id.thread);
        RacingAccess { thread, operation: event.op.kind, place, stack }
    }

    fn harm(&self, harm: &HarmfulOrder, accesses: &[RacingAccess; 2]) -> String {
        let HarmfulOrder { order: [first, second], both, failed, others: (all, passed) } = *harm;
        let place = |place: AccessSite| {
            let what = if place.writes { "the write" } else { "the read" };
            let is_here = |nth: &usize| self.pair.race.places[*nth].site == place.site;
            let known = (0..2).find(is_here).map(|nth| accesses[nth].place.short_words());
            match known.filter(|at| !at.is_empty()) {
                Some(at) => format!("{what} at {at}"),
                None => what.to_owned(),
            }
        };
        let order = if both {
            format!("{} and {} each came before the other once", place(first), place(second))
        } else if first == second {
            format!("{} came in one order of the threads", place(first))
        } else {
            format!("{} came before {}", place(first), place(second))
        };
        let executions = plural(failed, "execution");
        format!("{failed} of {executions} in which {order} failed, {passed} of {all} others passed")
    }
}

/// `T1 (work, counter.c:9)`.
fn at(access: &RacingAccess) -> String {
    let place = access.place.words();
    if place.is_empty() { access.thread.clone() } else { format!("{} ({place})", access.thread) }
}
