//! Potential deadlocks of a search as a report tells them: both acquisitions of each thread with their stacks, which one more
//! execution shows, once per set of stacks.

use checker::byte_set::ByteSet;
use checker::limit::Limit;
use checker::lock_order::{Acquisition, LockOrderEdge, LockOrders, PotentialDeadlock};
use checker::program::Program;

use crate::narrate::locations::Places;
use crate::narrate::run_again::RunAgain;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::stacks::Stacks;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::{self, LockOrder, LockUse};
use crate::say::sentence;

/// Drops the potential deadlocks of a search that are none by what takes no part in scheduling, or became known later.
pub(crate) fn confirm(
    program: &impl Program,
    (found, variables): (&mut LockOrders, &ByteSet),
    places: &Places<'_>,
    limit: &Limit,
) -> RunAgain {
    let mut again = RunAgain::default();
    found.confirm(variables, |trace, events| again.find_out(program, (trace, events), places, limit));
    again
}

/// The potential deadlocks of a search. Those whose threads take locks in the same places are one.
pub(crate) fn report(
    found: LockOrders,
    again: &RunAgain,
    places: &Places<'_>,
) -> Vec<report::PotentialDeadlock> {
    let mut told: Vec<report::PotentialDeadlock> = Vec::new();
    for potential in found.into_found() {
        let potential = one(&potential, again, places);
        if !told.iter().any(|known| stacks(known) == stacks(&potential)) {
            told.push(potential);
        }
    }
    told
}

/// The places of the locks, whichever thread comes first.
fn stacks(potential: &report::PotentialDeadlock) -> Vec<Vec<String>> {
    let words = |order: &LockOrder| {
        let places = order.uses().into_iter().flat_map(|taken| &taken.stack);
        places.map(report::Location::words).collect::<Vec<_>>()
    };
    let mut stacks: Vec<Vec<String>> = potential.threads.iter().map(words).collect();
    stacks.sort();
    stacks
}

fn one(
    PotentialDeadlock { trace, edges, .. }: &PotentialDeadlock,
    again: &RunAgain,
    places: &Places<'_>,
) -> report::PotentialDeadlock {
    let labels = ThreadLabels::of(trace.threads.iter().copied(), places.source().harness());
    let words = Phrasing { labels: &labels, source: places.source() };
    let unknown = Stacks::default();
    let stacks = again.stacks(trace).unwrap_or(&unknown);
    let taken = |taken: &Acquisition| {
        let stack = stacks.told(taken.at, taken.site, places);
        let place = stack.first().cloned().unwrap_or_else(|| places.of_site(taken.site));
        let also_called = words.other_names(taken.lock);
        LockUse { lock: words.name(taken.lock), also_called, place, stack }
    };
    let order = |side: &LockOrderEdge| LockOrder {
        thread: labels.label(side.thread),
        holds: taken(&side.outer),
        takes: taken(&side.inner),
    };
    let threads: Vec<LockOrder> = edges.iter().map(order).collect();
    let locks = threads.iter().map(|order| order.holds.lock.clone()).collect();
    let each: Vec<String> = threads.iter().map(in_words).collect();
    let message =
        format!("potential deadlock: {}; no execution of the search deadlocked there", each.join(" and "));
    report::PotentialDeadlock { message: sentence(message), locks, threads }
}

/// "T2 locks `a` before `b` (copy, work.c:9)".
fn in_words(LockOrder { thread, holds, takes }: &LockOrder) -> String {
    let place = takes.place.words();
    let place = if place.is_empty() { place } else { format!(" ({place})") };
    format!("{thread} locks `{}` before `{}`{place}", holds.lock, takes.lock)
}
